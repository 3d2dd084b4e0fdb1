/** The limits of one process as arguments of `prlimit` (SANDBOX, Limits). */
import { basename } from 'node:path';
import type { SandboxLimits } from './sandbox.ts';

const MB = 1024 * 1024;
const GB = 1024 * MB;
/**
 * V8 reserves 512 MB of addresses for code in each isolate, and RLIMIT_DATA counts them, used or not: without this much
 * Node 24 does not start. It is room for the main thread and two workers.
 */
const NODE_RESERVATION = 3 * 512 * MB;

/**
 * `--data=… --as=… …`, to go before `--` and the program. RLIMIT_DATA is exact for Python; any other program may be Node
 * or start it (a shell script does), so it has Node's reservation on top. RLIMIT_AS is for what DATA misses: shared memory.
 * @param file the program
 * @param isNode whether Node runs whatever the program is: the forwarder of a proxy does
 */
export function rlimitArguments(file: string, limits: SandboxLimits, { isNode = false } = {}): string[] {
	const isPython = !isNode && /^python[\d.]*$/.test(basename(file));
	const { memoryBytes } = limits;
	const data = isPython ? memoryBytes : memoryBytes + NODE_RESERVATION;
	const addresses = isPython ? Math.max(GB, 2 * memoryBytes) : Math.max(4 * GB, 2 * GB + 2 * memoryBytes);
	return [
		`--data=${data}`,
		`--as=${addresses}`,
		`--fsize=${limits.fileBytes}`,
		`--nofile=${limits.openFiles}`,
		`--nproc=${limits.processes}`,
		`--cpu=${limits.cpuSeconds}`,
		'--core=0'
	];
}
