import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../../../../tests/support/folder.ts';
import { seccompFilter } from './seccomp.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const dir = sharedFolder();
let python: string;
beforeAll(() => {
	writeFileSync(join(dir, 'filter'), seccompFilter('x64') ?? '');
	python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
});

/** Runs a program on the host's files with only the filter around it. */
function filtered(file: string, args: string[]): SpawnSyncReturns<string> {
	const filter = openSync(join(dir, 'filter'), 'r');
	try {
		return spawnSync('bwrap', ['--dev-bind', '/', '/', '--seccomp', '3', file, ...args], {
			stdio: ['ignore', 'pipe', 'pipe', filter],
			encoding: 'utf8'
		});
	} finally {
		closeSync(filter);
	}
}

/** Makes each call by number in a process of its own and prints the results: 0 or the error number. */
const PROBE = `
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, args):
	reader, writer = os.pipe()
	child = os.fork()
	if child == 0:
		result = libc.syscall(*[ctypes.c_long(value) for value in [number, *args]])
		os.write(writer, str(ctypes.get_errno() if result == -1 else 0).encode())
		os._exit(0)
	os.close(writer)
	answer = os.read(reader, 16)
	os.close(reader)
	os.waitpid(child, 0)
	return int(answer or b'-1')
print(json.dumps([call(number, args) for number, args in json.loads(sys.argv[1])]))
`;

function answers(calls: readonly (readonly [number, readonly number[]])[]): number[] {
	const { stdout, stderr } = filtered(python, ['-c', PROBE, JSON.stringify(calls)]);
	expect(stderr).toBe('');
	return JSON.parse(stdout) as number[];
}

/** Name, x86-64 number, and arguments that do no harm if the call is let through. */
const REFUSED: [string, number, number[]][] = [
	['ptrace (TRACEME)', 101, [0]],
	['process_vm_readv', 310, [1, 0, 0, 0, 0, 0]],
	['process_vm_writev', 311, [1, 0, 0, 0, 0, 0]],
	['kcmp', 312, [1, 1, 0, 0, 0]],
	['pidfd_getfd', 438, [-1, 0, 0]],
	['bpf', 321, [0, 0, 0]],
	['perf_event_open', 298, [0, 0, -1, -1, 0]],
	['userfaultfd', 323, [1]],
	['add_key', 248, [0, 0, 0, 0, 0]],
	['request_key', 249, [0, 0, 0, 0]],
	['keyctl', 250, [0, 0, 0, 0, 0]],
	['mount', 165, [0, 0, 0, 0, 0]],
	['umount2', 166, [0, 0]],
	['pivot_root', 155, [0, 0]],
	['chroot', 161, [0]],
	['open_tree', 428, [-1, 0, 0]],
	['move_mount', 429, [-1, 0, -1, 0, 0]],
	['fsopen', 430, [0, 0]],
	['fsconfig', 431, [-1, 0, 0, 0, 0]],
	['fsmount', 432, [-1, 0, 0]],
	['fspick', 433, [-1, 0, 0]],
	['mount_setattr', 442, [-1, 0, 0, 0, 0]],
	['open_tree_attr', 467, [-1, 0, 0, 0, 0]],
	['setns', 308, [-1, 0]],
	['open_by_handle_at', 304, [-1, 0, 0]],
	['init_module', 175, [0, 0, 0]],
	['delete_module', 176, [0, 0]],
	['finit_module', 313, [-1, 0, 0]],
	['kexec_load', 246, [0, 0, 0, -1]],
	['kexec_file_load', 320, [-1, -1, 0, 0, -1]],
	['shmget', 29, [0, 0, 0]],
	['msgget', 68, [0, 0]],
	['unshare a user namespace', 272, [0x10000000]],
	['unshare a mount namespace', 272, [0x00020000]],
	['unshare a network', 272, [0x40000000]],
	['unshare the clock', 272, [0x80]],
	['clone a user namespace', 56, [0x10000000 | 17, 0, 0, 0, 0]],
	['clone a process namespace, with high bits', 56, [2 ** 40 + 0x20000000 + 17, 0, 0, 0, 0]],
	['ioctl TIOCSTI', 16, [0, 0x5412, 0]],
	['ioctl TIOCSTI, with high bits', 16, [0, 2 ** 32 + 0x5412, 0]],
	['ioctl TIOCLINUX', 16, [0, 0x541c, 0]]
];

describe.skipIf(process.arch !== 'x64' || lacks('bubblewrap'))('SANDBOX pitfall 10: the filter refuses', () => {
	test('what reads other processes, mounts, makes namespaces, loads code into the kernel, types into a terminal', () => {
		const answered = answers(REFUSED.map(([, number, args]) => [number, args]));
		expect(REFUSED.filter((_, index) => answered[index] !== EPERM)).toEqual([]);
	});
	test('io_uring and clone3, as a kernel without them does', () => {
		const calls = [425, 426, 427, 435].map((number) => [number, [0, 0]] as const);
		expect(answers(calls)).toEqual([ENOSYS, ENOSYS, ENOSYS, ENOSYS]);
	});
	test('sockets of VSOCK, PACKET, ALG, BLUETOOTH, XDP and TIPC, and none of UNIX, INET, INET6, NETLINK', () => {
		const families = [40, 17, 38, 31, 44, 30, 2 ** 32 + 40];
		expect(new Set(answers(families.map((family) => [41, [family, 2, 0]])))).toEqual(new Set([EAFNOSUPPORT]));
		expect(answers([1, 2, 10, 16].map((family) => [41, [family, 2, 0]]))).toEqual([0, 0, 0, 0]);
		expect(answers([[53, [30, 1, 0, 0]]])).toEqual([EAFNOSUPPORT]);
	});
	test('every call of the x32 interface', () => {
		expect(answers([39, 101, 520].map((number) => [0x40000000 + number, []]))).toEqual([ENOSYS, ENOSYS, ENOSYS]);
	});
	test('calls by the door of 32-bit programs', () => {
		// mov eax, 20 (getpid); int 0x80; ret
		const program = `
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))())`;
		expect(filtered(python, ['-c', program])).toMatchObject({ stdout: `${-EPERM}\n`, stderr: '' });
	});
});

describe.skipIf(process.arch !== 'x64' || lacks('bubblewrap'))('SANDBOX pitfall 10: behind the filter', () => {
	test('harmless calls of the same numbers go through: ioctl, unshare of files, an ordinary clone', () => {
		expect(answers([[272, [0x400]]])).toEqual([0]);
		// ENOTTY or EBADF: stdin isn't a terminal.
		expect(answers([[16, [0, 0x5413, 0]]])).not.toEqual([EPERM]);
	});
	test('Node runs, with worker threads, a child and a server', () => {
		const program = `
const { Worker } = require('node:worker_threads');
const server = require('node:http').createServer((request, response) => response.end('served'));
server.listen(0, '127.0.0.1', async () => {
	const response = await fetch('http://127.0.0.1:' + server.address().port);
	console.log(await response.text());
	server.close();
	console.log(require('node:child_process').execFileSync('/bin/echo', ['child']).toString().trim());
	new Worker('console.log("worker")', { eval: true });
});`;
		expect(filtered(process.execPath, ['-e', program])).toMatchObject({ stdout: 'served\nchild\nworker\n', status: 0 });
	});
	test('Python runs, with threads and children', () => {
		const program = `
import subprocess, threading
thread = threading.Thread(target=lambda: print('thread', flush=True))
thread.start(); thread.join()
print(subprocess.run(['/bin/echo', 'child'], capture_output=True, text=True).stdout, end='')`;
		expect(filtered(python, ['-c', program])).toMatchObject({ stdout: 'thread\nchild\n', stderr: '', status: 0 });
	});
	test('bash runs pipelines, substitutions and jobs', () => {
		const script = 'seq 3 | while read n; do echo "$n $(echo x)"; done; sleep 0 & wait; cat <(echo end)';
		expect(filtered('/bin/bash', ['-c', script])).toMatchObject({ stdout: '1 x\n2 x\n3 x\nend\n', status: 0 });
	});
});

test('SANDBOX pitfall 10: there is a filter for the one architecture where it was tried', () => {
	expect(seccompFilter('arm64')).toBeNull();
	const filter = seccompFilter('x64');
	expect(filter && filter.length % 8).toBe(0);
	// Every path ends in “allow” or “error”; none kills and none is open-ended.
	const last = filter?.subarray(-8);
	expect([last?.readUInt16LE(0), last?.readUInt32LE(4)]).toEqual([0x06, 0x7fff0000]);
});
