/** Chooses for each call whether it runs in the server itself or in a sandbox (FEATURES D36). */
import { SkillError } from '../skills/types.ts';
import type { BuiltinContext, BuiltinOutcome } from './builtin.ts';
import type { SandboxRunner } from './sandbox-runner.ts';

export type ExecutionMode = 'direct' | 'sandbox' | 'hybrid';

export interface HybridOptions {
	/** `hybrid`: what is trusted runs directly, all else in the sandbox. */
	mode?: ExecutionMode;
	/** Whether what ran into its time or out of memory directly is tried again in the sandbox; true. */
	autoUpgrade?: boolean;
	/** Longest that something may run directly; 5000. */
	maxDirectDurationMs?: number;
}

/** One call in its two ways. */
export interface HybridCall {
	/** Is it code of this server? */
	isTrusted: boolean;
	/** May it be begun a second time, after it was broken off? */
	isRepeatable: boolean;
	/** Does nothing more that can be seen once the signal has fired. */
	direct(signal: AbortSignal): Promise<BuiltinOutcome>;
	/** null where there is no sandbox for it. */
	sandboxed: ((signal: AbortSignal) => Promise<BuiltinOutcome>) | null;
}

export interface HybridExecutor {
	/** @throws whatever the chosen way throws; SkillError when there is no way */
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
				return await Promise.race([direct(either), rejectWhen(either)]);
			} catch (error) {
				const isTooMuch = (limit.aborted && !signal.aborted) || isMemoryError(error);
				if (isTooMuch && mode === 'hybrid' && autoUpgrade && isRepeatable && sandboxed) return sandboxed(signal);
				if (!limit.aborted || signal.aborted) throw error;
				throw new SkillError('ExecutionTimeout', `It was stopped after ${maxDirectDurationMs / 1000} s.`);
			}
		}
	};
}

function rejectWhen(signal: AbortSignal): Promise<never> {
	return new Promise((_, reject) => {
		const fail = () => reject(signal.reason as Error);
		if (signal.aborted) fail();
		else signal.addEventListener('abort', fail, { once: true });
	});
}

/** What Node says when it gets no memory for something. */
function isMemoryError(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code } = error as NodeJS.ErrnoException;
	const isRefused = code === 'ENOMEM' || code === 'ERR_MEMORY_ALLOCATION_FAILED' || code === 'ERR_STRING_TOO_LONG';
	return isRefused || (error instanceof RangeError && /allocation failed|invalid array length/i.test(error.message));
}

// The files skills' sandboxed way: the same work as a short Node program inside the sandbox (FEATURES D36).

/** What the program is asked on its standard input; contents are base64. */
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
	/** Base64 of what was read. */
	content?: string;
}

/** Walks by lstat, follows no link: whatever the workspace holds, the sandbox shows nothing else. */
const PROGRAM = `
const fs = require('node:fs'), { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const call = JSON.parse(fs.readFileSync(0, 'utf8'));
const answer = (value) => process.stdout.write(JSON.stringify(value));
const fail = (type, message) => { throw Object.assign(new Error(message), { type }); };
const segments = call.path.split('/');
const read = () => {
	const fd = fs.openSync(call.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	const entry = fs.fstatSync(fd);
	if (!entry.isFile()) fail('InvalidArgs', 'It is not a regular file.');
	if (entry.size > call.maxBytes) fail('OutputTooLarge', 'It has ' + entry.size + ' bytes; ' + call.maxBytes + ' are the most.');
	return fs.readFileSync(fd);
};
try {
	for (let index = 1; index < segments.length; index += 1) {
		const folder = segments.slice(0, index).join('/');
		const entry = fs.lstatSync(folder, { throwIfNoEntry: false });
		if (!entry && call.kind === 'write') fs.mkdirSync(folder);
		else if (!entry) fail('FileNotFound', 'There is no such file.');
		else if (!entry.isDirectory()) fail('InvalidArgs', 'A part of the path is not a folder.');
	}
	const entry = fs.lstatSync(call.path, { throwIfNoEntry: false });
	if (entry && !entry.isFile()) fail('InvalidArgs', 'It is not a regular file.');
	if (call.kind === 'read') {
		if (!entry) fail('FileNotFound', 'There is no such file.');
		const content = read();
		answer({ bytes: content.length, content: content.toString('base64') });
	} else {
		if (entry && !call.append && !call.overwrite) fail('InvalidArgs', 'There is a file of this name.');
		const content = Buffer.concat([call.append && entry ? read() : Buffer.alloc(0), Buffer.from(call.content, 'base64')]);
		if (content.length > call.maxBytes) fail('InvalidArgs', 'It would have ' + content.length + ' bytes; ' + call.maxBytes + ' are the most.');
		fs.writeFileSync(call.staging, content, { flag: 'wx' });
		fs.renameSync(call.staging, call.path);
		answer({ bytes: content.length });
	}
} catch (error) {
	answer({ error: error.type ?? 'ExecutionFailed', message: error.message });
}
`;

/** @throws SkillError with what the program says went wrong */
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
			// Base64 takes four bytes for three.
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
