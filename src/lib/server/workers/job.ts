/** What a server and a worker tell each other about one script. The job is sealed: it holds secrets, and says what to run. */
import { z } from 'zod';
import { parseJson } from '../../shared/json.ts';
import type { SentFolders } from '../file-storage/sent-folders.ts';
import type { Reach } from '../network/network-access.ts';
import { failed } from '../sandbox/running.ts';
import type { SandboxCommand, SandboxName, SandboxResult } from '../sandbox/sandbox.ts';
import { decryptText, encryptText } from '../trust/vault.ts';

export interface ScriptJob {
	/** When it was sealed, in milliseconds since 1970. */
	at: number;
	/** Servers and workers see the same files under the same path. null: each has its own, and the files are in a bucket. */
	dataDir: string | null;
	/** With a bucket, in place of the command's folders. */
	folders: SentFolders | null;
	/** The backend whose paths the command has. */
	sandbox: SandboxName;
	/** Instead of the worker’s usual container image. */
	image: string | null;
	/** null: no network. */
	reach: Reach | null;
	command: Omit<SandboxCommand, 'signal' | 'onOutput' | 'onWait' | 'proxySocket' | 'caller'> & { id: string };
}

export interface ScriptResult {
	result: SandboxResult;
	/** Of the proxy: see NetworkSession. */
	refused: string[];
	unreached: string[];
	/** Why what it has changed isn't stored. */
	unkept: string | null;
}

/** In order: output, and how it goes with packages that a script needs. It begins when they're there. */
export type OutputTexts = (readonly ['stdout' | 'stderr' | 'packages', string])[];

/** Said with `packages`; anything else: the script begins. */
export const INSTALLING = 'installing';

const kept = z.object({ text: z.string(), truncated: z.boolean() });
const scriptResult = z.object({
	result: z.object({
		...{ stdout: z.string(), stderr: z.string(), stdoutTruncated: z.boolean(), stderrTruncated: z.boolean() },
		...{ stdoutBytes: z.number(), stderrBytes: z.number(), durationMs: z.number() },
		kept: z.object({ stdout: kept, stderr: kept }).optional(),
		exitCode: z.number().nullable(),
		signal: z.string().nullable(),
		ended: z.enum(['exit', 'timeout', 'aborted', 'killed', 'quota', 'lost', 'spawn-failed']),
		spawnError: z.string().optional(),
		image: z.string().optional()
	}),
	refused: z.array(z.string()),
	unreached: z.array(z.string()),
	unkept: z.string().nullable()
});
const outputTexts = z.array(z.tuple([z.enum(['stdout', 'stderr', 'packages']), z.string()]));

/** Counts when a job or its result gets another shape: servers and workers of other versions can't read it. */
const FORMAT = 4;

/** The key’s purpose: see `keyFor`. */
export const JOB_KEY = 'script-jobs';

/** Bound to the job’s id: another job’s row is worth nothing. */
export function sealJob(key: Buffer, id: string, job: ScriptJob): string {
	return JSON.stringify(encryptText(key, labelOf(id), JSON.stringify(job)));
}

/** null if it’s from somebody without the key, or of another version, for another job, or was changed. */
export function openJob(key: Buffer, id: string, sealed: string): ScriptJob | null {
	try {
		const text = decryptText(key, labelOf(id), JSON.parse(sealed) as Parameters<typeof decryptText>[2]);
		return text === null ? null : (JSON.parse(text) as ScriptJob);
	} catch {
		// No JSON, or not of this shape.
		return null;
	}
}

function labelOf(id: string): Buffer {
	return Buffer.from(`${FORMAT} ${id}`);
}

/** What a worker wrote into the database. null if it has another shape. */
export function readResult(text: string): ScriptResult | null {
	return (scriptResult.safeParse(parseJson(text)).data as ScriptResult | undefined) ?? null;
}

/** The result of a script that was stopped before it began, or that nobody waits for any more. */
export function stopped(want: 'abort' | 'kill'): SandboxResult {
	return { ...failed(''), spawnError: undefined, ended: want === 'abort' ? 'aborted' : 'killed' };
}

/** Nothing if it has another shape. */
export function readOutput(text: string): OutputTexts {
	return outputTexts.safeParse(parseJson(text)).data ?? [];
}
