/**
 * The system call filter that bubblewrap loads before it starts a program, as classic BPF (SANDBOX, pitfall 10).
 *
 * A second line of defence: it refuses calls that namespaces refuse as well, or that no script needs and exploits like.
 * A refused call returns an error, so that programs can fall back.
 */

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Numbers of system calls on x86-64. */
const REFUSED = {
	process_vm_readv: 310,
	process_vm_writev: 311,
	ptrace: 101,
	kcmp: 312,
	pidfd_getfd: 438,
	bpf: 321,
	perf_event_open: 298,
	userfaultfd: 323,
	add_key: 248,
	request_key: 249,
	keyctl: 250,
	mount: 165,
	umount2: 166,
	pivot_root: 155,
	chroot: 161,
	open_tree: 428,
	move_mount: 429,
	fsopen: 430,
	fsconfig: 431,
	fsmount: 432,
	fspick: 433,
	mount_setattr: 442,
	open_tree_attr: 467,
	setns: 308,
	open_by_handle_at: 304,
	fanotify_init: 300,
	init_module: 175,
	delete_module: 176,
	finit_module: 313,
	kexec_load: 246,
	kexec_file_load: 320,
	reboot: 169,
	swapon: 167,
	swapoff: 168,
	acct: 163,
	quotactl: 179,
	quotactl_fd: 443,
	syslog: 103,
	iopl: 172,
	ioperm: 173,
	settimeofday: 164,
	clock_settime: 227,
	// Their memory belongs to the namespace, so no process limit counts it.
	shmget: 29,
	msgget: 68
} as const;

/** Answered like an old kernel, so that libraries fall back: libc uses clone instead of clone3, whose flags a filter can’t read. */
const UNKNOWN = { clone3: 435, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 } as const;

const SOCKET = 41;
const SOCKETPAIR = 53;
const CLONE = 56;
const UNSHARE = 272;
const IOCTL = 16;

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (used by libc to list interfaces). */
const FAMILIES = [1, 2, 10, 16];
/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NEW = 0x7e020000;
/** For unshare only: in clone’s flags, these bits are the exit signal. */
const CLONE_NEWTIME = 0x80;
/** ioctls that inject input into a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

const AUDIT_ARCH_X86_64 = 0xc000003e;
/** Set in call numbers of the x32 ABI, which duplicates the calls. */
const X32_BIT = 0x40000000;

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
/** Low 32 bits of an argument; the kernel ignores the others for the arguments checked here. */
const argument = (index: number) => 16 + 8 * index;

interface Instruction {
	code: number;
	/** Instructions to skip if the comparison is true, or false. */
	jt: number;
	jf: number;
	k: number;
}

/** The filter for `--seccomp`; null for untested architectures. `architecture` is a value of `process.arch`. */
export function seccompFilter(architecture: string = process.arch): Buffer | null {
	if (architecture !== 'x64') return null;
	return encode([
		load(ARCHITECTURE),
		...unless([AUDIT_ARCH_X86_64], EPERM),
		load(NUMBER),
		...when('atLeast', X32_BIT, [refuse(ENOSYS)]),
		...whenAny(Object.values(REFUSED), EPERM),
		...whenAny(Object.values(UNKNOWN), ENOSYS),
		...when('equal', SOCKET, [load(argument(0)), ...unless(FAMILIES, EAFNOSUPPORT), ALLOW]),
		...when('equal', SOCKETPAIR, [load(argument(0)), ...unless(FAMILIES, EAFNOSUPPORT), ALLOW]),
		...when('equal', CLONE, [load(argument(0)), ...when('anyBit', CLONE_NEW, [refuse(EPERM)]), ALLOW]),
		...when('equal', UNSHARE, [
			load(argument(0)),
			...when('anyBit', CLONE_NEW | CLONE_NEWTIME, [refuse(EPERM)]),
			ALLOW
		]),
		...when('equal', IOCTL, [load(argument(1)), ...whenAny([TIOCSTI, TIOCLINUX], EPERM), ALLOW]),
		ALLOW
	]);
}

const ALLOW: Instruction = { code: 0x06, jt: 0, jf: 0, k: 0x7fff0000 };
const refuse = (errno: number): Instruction => ({ code: 0x06, jt: 0, jf: 0, k: 0x00050000 | errno });
/** Loads 32 bits of the call’s data for comparisons. */
const load = (offset: number): Instruction => ({ code: 0x20, jt: 0, jf: 0, k: offset });

const COMPARISONS = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 };

/** Runs `then` if the comparison is true, otherwise skips it. */
function when(comparison: keyof typeof COMPARISONS, k: number, then: Instruction[]): Instruction[] {
	return [{ code: COMPARISONS[comparison], jt: 0, jf: then.length, k }, ...then];
}

/** Refuses these values. */
function whenAny(values: readonly number[], errno: number): Instruction[] {
	const last = values.length - 1;
	return [
		...values.map((k, index) => ({ code: COMPARISONS.equal, jt: last - index, jf: index === last ? 1 : 0, k })),
		refuse(errno)
	];
}

/** Refuses all other values. */
function unless(values: readonly number[], errno: number): Instruction[] {
	return [
		...values.map((k, index) => ({ code: COMPARISONS.equal, jt: values.length - index, jf: 0, k })),
		refuse(errno)
	];
}

/** Encodes as `struct sock_filter`: little-endian, 8 bytes each. */
function encode(instructions: Instruction[]): Buffer {
	const bytes = Buffer.alloc(instructions.length * 8);
	for (const [index, { code, jt, jf, k }] of instructions.entries()) {
		bytes.writeUInt16LE(code, index * 8);
		bytes.writeUInt8(jt, index * 8 + 2);
		bytes.writeUInt8(jf, index * 8 + 3);
		bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
	}
	return bytes;
}
