/** Runs a call in the server itself or in a sandbox (D36). */
import { unlessAborted } from '../skills/turns.ts';
import { SkillError } from '../skills/types.ts';
import type { BuiltinContext, BuiltinOutcome } from './builtin.ts';
import type { SandboxRunner } from './programs.ts';

export type ExecutionMode = 'direct' | 'sandbox' | 'hybrid';

export interface HybridOptions {
	/** Default `hybrid`: trusted code runs directly, other code in the sandbox. */
	mode?: ExecutionMode;
	/** Whether to retry in the sandbox after a timeout or lack of memory. Default: true. */
	autoUpgrade?: boolean;
	/** Time limit of direct runs. Default: 5000. */
	maxDirectDurationMs?: number;
}

/** A call that can run either way. */
export interface HybridCall {
	/** Whether it is the server’s own code. */
	isTrusted: boolean;
	/** Whether it may be repeated after an abort. */
	isRepeatable: boolean;
	/** Must have no effect after the signal has fired. */
	direct(signal: AbortSignal): Promise<BuiltinOutcome>;
	/** null without a sandbox. */
	sandboxed: ((signal: AbortSignal) => Promise<BuiltinOutcome>) | null;
}

export interface HybridExecutor {
	/** @throws errors of the call; SkillError without a way to run it */
	execute(call: HybridCall, signal: AbortSignal): Promise<BuiltinOutcome>;
}

export function createHybridExecutor({
	mode = 'hybrid',
	autoUpgrade = true,
	maxDirectDurationMs = 5000
}: HybridOptions = {}): HybridExecutor {
	return {
		async execute({ isTrusted, isRepeatable, direct, sandboxed }, signal) {
			signal.throwIfAborted();
			if (mode === 'sandbox' || (mode === 'hybrid' && !isTrusted)) {
				if (sandboxed) return sandboxed(signal);
				const hint = 'Install bubblewrap, or set SKILLS_SANDBOX to a backend that isolates files.';
				throw new SkillError('SkillDisabled', 'This only runs in a sandbox, and there’s none.', hint);
			}
			const limit = AbortSignal.timeout(maxDirectDurationMs);
			const either = AbortSignal.any([signal, limit]);
			try {
				return await unlessAborted(direct(either), either);
			} catch (error) {
				const isTooMuch = (limit.aborted && !signal.aborted) || isMemoryError(error);
				if (isTooMuch && mode === 'hybrid' && autoUpgrade && isRepeatable && sandboxed) return sandboxed(signal);
				if (!limit.aborted || signal.aborted) throw error;
				throw new SkillError('ExecutionTimeout', `It was stopped after ${maxDirectDurationMs / 1000} s.`);
			}
		}
	};
}

/** Node’s errors for lack of memory. */
function isMemoryError(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code } = error as NodeJS.ErrnoException;
	const isRefused = code === 'ENOMEM' || code === 'ERR_MEMORY_ALLOCATION_FAILED' || code === 'ERR_STRING_TOO_LONG';
	return isRefused || (error instanceof RangeError && /allocation failed|invalid array length/i.test(error.message));
}

// File operations in the sandbox, as a short Node program (D36).

/** Sent to the program’s standard input; `content` is base64. */
type FileCall =
	| { kind: 'read'; path: string; maxBytes: number }
	| {
			kind: 'write';
			path: string;
			maxBytes: number;
			content: string;
			append: boolean;
			overwrite: boolean;
			staging: string;
	  };

interface FileAnswer {
	bytes: number;
	/** The file, in base64. */
	content?: string;
}

/** Follows no links. */
const PROGRAM = `
const fs = require('node:fs'), { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const call = JSON.parse(fs.readFileSync(0, 'utf8'));
const answer = (value) => process.stdout.write(JSON.stringify(value));
const fail = (type, message) => { throw Object.assign(new Error(message), { type }); };
const segments = call.path.split('/');
const read = () => {
	const fd = fs.openSync(call.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	const entry = fs.fstatSync(fd);
	if (!entry.isFile()) fail('InvalidArgs', 'This is not a regular file.');
	if (entry.size > call.maxBytes) fail('OutputTooLarge', 'The file has ' + entry.size + ' bytes, but the limit is ' + call.maxBytes + '.');
	return fs.readFileSync(fd);
};
try {
	for (let index = 1; index < segments.length; index += 1) {
		const folder = segments.slice(0, index).join('/');
		const entry = fs.lstatSync(folder, { throwIfNoEntry: false });
		if (!entry && call.kind === 'write') fs.mkdirSync(folder);
		else if (!entry) fail('FileNotFound', 'File not found.');
		else if (!entry.isDirectory()) fail('InvalidArgs', 'Part of the path is not a folder.');
	}
	const entry = fs.lstatSync(call.path, { throwIfNoEntry: false });
	if (entry && !entry.isFile()) fail('InvalidArgs', 'This is not a regular file.');
	if (call.kind === 'read') {
		if (!entry) fail('FileNotFound', 'File not found.');
		const content = read();
		answer({ bytes: content.length, content: content.toString('base64') });
	} else {
		if (entry && !call.append && !call.overwrite) fail('InvalidArgs', 'The file already exists.');
		const content = Buffer.concat([call.append && entry ? read() : Buffer.alloc(0), Buffer.from(call.content, 'base64')]);
		if (content.length > call.maxBytes) fail('InvalidArgs', 'The file would have ' + content.length + ' bytes, but the limit is ' + call.maxBytes + '.');
		fs.writeFileSync(call.staging, content, { flag: 'wx' });
		fs.renameSync(call.staging, call.path);
		answer({ bytes: content.length });
	}
} catch (error) {
	answer({ error: error.type ?? 'ExecutionFailed', message: error.message });
}
`;

/** @throws SkillError of the program */
export async function runFileProgram(
	runner: SandboxRunner,
	call: FileCall,
	{ context, timeoutMs }: { context: BuiltinContext; timeoutMs: number }
): Promise<FileAnswer> {
	const run = await runner.run(
		{
			program: (interpreters) => interpreters.node(),
			args: [`--eval=${PROGRAM}`],
			input: JSON.stringify(call),
			timeoutMs,
			// Base64 takes 4 bytes for 3.
			maxOutputBytes: Math.ceil(call.maxBytes / 3) * 4 + 1024
		},
		{ ...context, onOutput: () => undefined }
	);
	const failed = (message: string) => new SkillError('ExecutionFailed', message);
	if (run.ended === 'timeout') throw new SkillError('ExecutionTimeout', 'It also took too long in the sandbox.');
	if (run.ended !== 'exit' || run.exitCode !== 0) throw failed(run.spawnError ?? (run.stderr || 'It failed.'));
	const answer = JSON.parse(run.stdout) as FileAnswer & { error?: SkillError['type']; message?: string };
	if (answer.error) throw new SkillError(answer.error, answer.message ?? 'It failed.');
	return answer;
}
