/** What a server and a worker tell each other about one script. The job is sealed: it holds secrets, and says what to run. */
import type { Reach } from '../network/network-access.ts';
import type { SandboxCommand, SandboxName, SandboxResult } from '../sandbox/sandbox.ts';
import { decryptText, encryptText } from '../trust/vault.ts';

export interface ScriptJob {
	/** Servers and workers see the same files under the same path. */
	dataDir: string;
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
}

/** Output in order. */
export type OutputTexts = (readonly ['stdout' | 'stderr', string])[];

/** The key’s purpose: see `keyFor`. */
export const JOB_KEY = 'script-jobs';

/** Bound to the job’s id: another job’s row is worth nothing. */
export function sealJob(key: Buffer, id: string, job: ScriptJob): string {
	return JSON.stringify(encryptText(key, Buffer.from(id), JSON.stringify(job)));
}

/** null if it’s from somebody without the key, for another job, or was changed. */
export function openJob(key: Buffer, id: string, sealed: string): ScriptJob | null {
	try {
		const text = decryptText(key, Buffer.from(id), JSON.parse(sealed) as Parameters<typeof decryptText>[2]);
		return text === null ? null : (JSON.parse(text) as ScriptJob);
	} catch {
		// No JSON, or not of this shape.
		return null;
	}
}
