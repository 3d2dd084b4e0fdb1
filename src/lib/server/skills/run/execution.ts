/** Executes one process: limits, secrets, network, result (D10–D14, F3). */
import { join } from 'node:path';
import type { Sandbox, SandboxCommand, SandboxFolders, SandboxLimits, SandboxResult } from '../../sandbox/sandbox.ts';
import type { ExecutionContext, ExecutionHost } from './execution-host.ts';
import { carryOut, storedSecrets, WrittenText } from './execution-record.ts';
import { explain, type OutputStore, readHarness, readProgram } from './execution-result.ts';
import { limitsOf, openScratch, type Scratch, timeoutOf } from './environment.ts';
import { findMissing } from './missing.ts';
import type { SpareNodes } from './spare-node.ts';
import { callerKey, type Turns } from '../turns.ts';
import { readPicture } from './picture-format.ts';
import { type MadeFile, type Skill, SkillError, type SkillExecutionResult } from '../types.ts';
import { walkFiles } from '../../foreign-folders.ts';

/** A script or handler to start; paths as the process sees them. */
export interface Invocation {
	skill: Skill;
	/** Relative to the skill's folder. */
	script: string;
	tool?: string;
	/** Where a tool's answer is on stdout: at its end, from a harness, or everything a program prints. */
	answer?: 'harness' | 'program';
	/** The model's arguments: texts, or `toolInput` for a tool. */
	args: string[];
	toolInput?: Record<string, unknown>;
	/** `skill` is the copy. */
	folders: SandboxFolders;
	/** SHA-256 of the copy's files. */
	digest: string;
	runtime: string[];
	file: string;
	argv: string[];
	/** Text for stdin; a function if the text includes the environment. */
	input?: string | ((env: Record<string, string>) => string);
	env: Record<string, string>;
	cwd: string;
	/** Input for a waiting Node process instead. */
	warm?: (env: Record<string, string>) => string;
}

export interface ExecutionParts {
	sandbox: Sandbox;
	spares: SpareNodes;
	outputs: OutputStore;
	turns: Turns;
	host: ExecutionHost;
	timeoutMs: number;
	maxOutputBytes: number;
	limits: SandboxLimits;
	/** The operator's variables; those that reach a script are redacted from its output. */
	offered: Readonly<Record<string, string>>;
}

/** Of each stream, for paging, and of a handler's answer. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** Runs a process; a failing script is a result. @throws SkillError if it can't be started */
export async function execute(
	call: Invocation,
	context: ExecutionContext,
	parts: ExecutionParts
): Promise<SkillExecutionResult> {
	const { sandbox, host, offered } = parts;
	const { skill } = call;
	const stored = await storedSecrets(host, skill);
	const reached = Object.keys(offered).filter((name) => call.env[name] === offered[name]);
	const secrets = [...Object.values(stored), ...reached.map((name) => offered[name] ?? '')];
	// The host's variables override those stored for a skill.
	const given = { ...call, env: { ...stored, ...call.env } };
	const limits = limitsOf(skill, parts.limits);
	const timeoutMs = timeoutOf(skill, context.timeoutMs, parts.timeoutMs);
	const how = { sandbox: sandbox.name, limits: { ...limits, timeoutMs } };
	const caller = callerKey(context.caller);
	const turn = { caller, lane: null, signal: context.signal };
	const atItsTurn = async (id: string, isRunning: () => void) => {
		const network = (await host.openNetwork?.(skill, id)) ?? null;
		let scratch: Scratch | null = null;
		try {
			scratch = await openScratch(sandbox);
			const before = await listWorkspace(context.cwd);
			if (!sandbox.hasQueue) isRunning();
			let hasWaited = false;
			const onWait: SandboxCommand['onWait'] = (isWaiting, waitsFor) => {
				if (!isWaiting) isRunning();
				if (isWaiting || hasWaited) {
					context.onEvent?.({ type: 'waiting', isWaiting, ...(waitsFor && { waitsFor }) });
				}
				hasWaited ||= isWaiting;
			};
			const queue = { caller: { key: caller, runId: context.caller?.runId }, onWait };
			const how = { limits, timeoutMs, redact: secrets, proxySocket: network?.socket, ...queue };
			const env = { ...given.env, ...scratch.env };
			const written = new WrittenText();
			const run = await runCommand(id, { ...given, env }, context, parts, how, written);
			const files = await measured(context.cwd, changedFiles(before, await listWorkspace(context.cwd)));
			const refused = network?.refused() ?? [];
			const result = resultOf(call, run, files, timeoutMs, parts);
			const isCutOff = network === null && sandbox.isolation.network;
			const message = call.answer ? result.message : undefined;
			const isBounded = sandbox.name !== 'container';
			const unreached = network?.unreached?.() ?? [];
			const failed = { skill, env: given.env, isCutOff, isBounded, refused, unreached, message };
			const lacking =
				result.error === 'ExecutionFailed' && run.ended === 'exit' ? await findMissing(failed, run) : null;
			return {
				...result,
				...lacking,
				refused: refused.length > 0 ? refused : undefined,
				streams: run,
				written: call.answer === 'harness' ? undefined : written
			};
		} finally {
			await scratch?.remove();
			await network?.close();
		}
	};
	return carryOut({ ...call, ...how, secrets }, context, parts, (id, isRunning) =>
		parts.turns
			.run(turn, () => atItsTurn(id, isRunning))
			.catch((error: unknown) => {
				if (!context.signal?.aborted || error instanceof SkillError) throw error;
				throw new SkillError('Cancelled', `${call.script} was stopped before it started.`);
			})
	);
}

async function runCommand(
	id: string,
	call: Invocation,
	{ signal, onEvent }: ExecutionContext,
	{ sandbox, spares, maxOutputBytes }: ExecutionParts,
	limits: Pick<SandboxCommand, 'limits' | 'timeoutMs' | 'proxySocket' | 'redact' | 'caller' | 'onWait'>,
	written: WrittenText
): Promise<SandboxResult> {
	const { env } = call;
	const input = typeof call.input === 'function' ? call.input(env) : call.input;
	const command: SandboxCommand = {
		id,
		file: call.file,
		args: call.argv,
		env,
		cwd: call.cwd,
		folders: call.folders,
		runtime: call.runtime,
		maxOutputBytes,
		maxKeptBytes: MAX_KEPT_BYTES,
		...limits,
		input,
		signal,
		onOutput: (stream, text) => {
			// A harness writes only its answer, which is shown once complete.
			if (stream === 'stdout' && call.answer === 'harness') return;
			written.add(stream, text);
			onEvent?.({ type: 'output', stream, text });
		}
	};
	if (!call.warm) return sandbox.run(command);
	return spares.run({ ...command, input: call.warm(env) }, command);
}

function resultOf(
	call: Invocation,
	run: SandboxResult,
	files: SkillExecutionResult['files'],
	timeoutMs: number,
	{ maxOutputBytes }: ExecutionParts
): SkillExecutionResult {
	const result: SkillExecutionResult = {
		success: run.ended === 'exit' && run.exitCode === 0,
		stdout: run.stdout,
		stderr: run.stderr,
		exitCode: run.exitCode ?? -1,
		durationMs: Math.round(run.durationMs),
		truncated: run.stdoutTruncated || run.stderrTruncated,
		files,
		...explain(run, call.script, timeoutMs)
	};
	if (call.answer === 'harness') return readHarness(result, run, maxOutputBytes);
	return call.answer === 'program' ? readProgram(result, run) : result;
}

// Files that a script created or changed in its working directory (F5).

const MAX_FILES = 1000;

interface Listing {
	/** By path; at most `MAX_FILES`. */
	files: Map<string, { bytes: number; stamp: string; changedAt: number }>;
	/** Start time, in milliseconds since 1970. */
	takenAt: number;
}

/** Folders that tools fill with thousands of files, which aren't a script's results. */
const SKIPPED = new Set(['node_modules', '__pycache__']);
const BOUNDS = {
	maxDepth: 4,
	maxEntries: 5000,
	isSkipped: (name: string) => name.startsWith('.') || SKIPPED.has(name)
};

/** Lists up to 1,000 regular files below `dir`, without hidden files and links. */
export async function listWorkspace(dir: string): Promise<Listing> {
	const listing: Listing = { files: new Map(), takenAt: Date.now() };
	for await (const { path, facts } of walkFiles(dir, BOUNDS)) {
		const stamp = `${facts.size}:${facts.mtimeMs}:${facts.ino}`;
		listing.files.set(path, { bytes: facts.size, stamp, changedAt: facts.ctimeMs });
		if (listing.files.size >= MAX_FILES) break;
	}
	return listing;
}

const MAX_MEASURED = 100;

/** With the sizes of pictures, so that a page can leave room for them, and their versions. */
function measured(dir: string, files: MadeFile[]): Promise<MadeFile[]> {
	return Promise.all(
		files.map(async (file, index) =>
			index < MAX_MEASURED ? { ...file, ...(await readPicture(join(dir, file.path), file.bytes)) } : file
		)
	);
}

/** Files in `after` that are new or differ from `before`, by path. */
export function changedFiles(before: Listing, after: Listing): MadeFile[] {
	const changed: MadeFile[] = [];
	const isWhole = before.files.size < MAX_FILES;
	for (const [path, { bytes, stamp, changedAt }] of after.files) {
		const known = before.files.get(path);
		if (known?.stamp === stamp) continue;
		// If `before` was cut, an unknown file may still be an old one.
		if (known || isWhole || changedAt >= before.takenAt) changed.push({ path, bytes });
	}
	return changed.sort((a, b) => (a.path < b.path ? -1 : 1));
}
