/** From the end of a program to the outcome of a call, in the shape that OmniRoute documents, and more (FEATURES D12, D33). */
import { explain } from '../skills/execution-result.ts';
import type { BuiltinOutcome } from './builtin.ts';
import type { SandboxedRun } from './sandbox-runner.ts';

export interface ProgramFacts {
	/** What ran, in a sentence's place: `The code`. */
	what: string;
	language: string;
	timeoutMs: number;
	/** Name of the backend. */
	sandbox: string;
	files: { path: string; bytes: number }[];
}

export function programOutcome(run: SandboxedRun, facts: ProgramFacts): BuiltinOutcome {
	const { what, language, timeoutMs, sandbox, files } = facts;
	const { error, message, hint } = explain(run, what, timeoutMs);
	const success = run.ended === 'exit' && run.exitCode === 0;
	const own = error === 'ExecutionTimeout' ? 'Give it less to do, or ask for more with timeoutMs.' : hint;
	return {
		ok: success,
		value: {
			success,
			exitCode: run.exitCode ?? -1,
			stdout: run.stdout,
			stderr: run.stderr,
			output: [run.stdout, run.stderr].filter(Boolean).join('\n'),
			truncated: run.stdoutTruncated || run.stderrTruncated,
			durationMs: Math.round(run.durationMs),
			killed: run.ended !== 'exit' || run.signal !== null,
			timedOut: run.ended === 'timeout',
			image: run.image ?? null,
			language,
			sandbox,
			files,
			...(run.refused.length > 0 ? { refused: run.refused } : {})
		},
		...(error ? { error } : {}),
		...(message ? { message } : {}),
		...(own ? { hint: own } : {}),
		exitCode: run.exitCode,
		files,
		sandbox,
		refused: run.refused,
		stdoutBytes: run.stdoutBytes,
		stderrBytes: run.stderrBytes
	};
}
