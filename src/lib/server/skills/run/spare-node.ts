/** Node processes that wait, each for one call, so that a call need not wait for Node (FEATURES D20). */
import type { PreparedProcess, Sandbox, SandboxCommand, SandboxProgram, SandboxResult } from '../../sandbox/sandbox.ts';
import { ACKNOWLEDGED, HARNESS_ARGUMENTS } from './handlers.ts';

/** A spare that nobody needed for so long is let go; the next call starts cold. */
const IDLE_MS = 5 * 60_000;
/** One that has not said for so long that it has its call is stuck; on a machine that is busy some take seconds. */
const ACKNOWLEDGE_MS = 20_000;
/** Each costs some 18 MB; the one that was needed longest ago goes first. */
const MAX_SPARES = 4;

/** What a spare can be used for: nothing of it can change once it waits. */
export type SpareProgram = Pick<SandboxProgram, 'folders' | 'runtime' | 'limits'>;

export interface SpareNodes {
	/** Starts one ahead of its use, where none waits. */
	warm(program: SpareProgram): void;
	/**
	 * Runs a call of the harness (its `input` is a NodeCall) in a process that waits; `cold` when there is none, or when it
	 * ends before it says that it has the call: nothing of the call has run then. Once it has said so, its end is the
	 * call's. Afterwards another one is started.
	 */
	run(call: SandboxCommand & { input: string }, cold: SandboxCommand): Promise<SandboxResult>;
	close(): void;
}

export interface SpareNodesOptions {
	idleMs?: number;
	acknowledgeMs?: number;
	maxSpares?: number;
}

interface Spare {
	process: PreparedProcess;
	idle: NodeJS.Timeout;
}

/** `node` is the program's absolute path. A spare has an empty environment: a call brings its own. */
export function createSpareNodes(
	sandbox: Sandbox,
	node: string,
	{ idleMs = IDLE_MS, acknowledgeMs = ACKNOWLEDGE_MS, maxSpares = MAX_SPARES }: SpareNodesOptions = {}
): SpareNodes {
	/** By what they can be used for; the newest last. */
	const spares = new Map<string, Spare>();
	let isClosed = false;

	const keyOf = ({ folders, limits }: SpareProgram) =>
		JSON.stringify([sandbox.isolation.files ? folders : null, limits ?? null]);
	const take = (key: string): PreparedProcess | null => {
		const spare = spares.get(key);
		spares.delete(key);
		clearTimeout(spare?.idle);
		return spare?.process.isAlive ? spare.process : null;
	};
	const warm = (program: SpareProgram): void => {
		const key = keyOf(program);
		if (isClosed || spares.get(key)?.process.isAlive) return;
		discard(key);
		const process = sandbox.prepare?.({ ...program, file: node, args: HARNESS_ARGUMENTS, env: {}, cwd: '/' });
		if (!process) return;
		const idle = setTimeout(() => discard(key), idleMs);
		idle.unref();
		spares.set(key, { process, idle });
		for (const oldest of [...spares.keys()].slice(0, -maxSpares)) discard(oldest);
	};
	const discard = (key: string) => {
		const spare = spares.get(key);
		spares.delete(key);
		clearTimeout(spare?.idle);
		spare?.process.discard();
	};
	return {
		warm,
		async run(call, cold) {
			const program = {
				folders: call.folders,
				runtime: call.runtime,
				limits: call.limits
			};
			// What waits has no way out: it was started without one.
			const ready = call.proxySocket ? null : take(keyOf(program));
			try {
				const answer = ready && (await runIn(ready, call, acknowledgeMs));
				if (answer) return answer;
				const result = await sandbox.run(cold);
				return cold.args === HARNESS_ARGUMENTS ? withoutMark(result) : result;
			} finally {
				if (!call.proxySocket) warm(program);
			}
		},
		close() {
			isClosed = true;
			for (const key of [...spares.keys()]) discard(key);
		}
	};
}

/** It had its call in the moment in which it was given up: what has run of it nobody knows, so it is not begun again. */
const ENDED_AS_STUCK = {
	ended: 'spawn-failed',
	spawnError: 'the script process didn’t start in time. Try again'
} as const satisfies Partial<SandboxResult>;

/** Null when the process ended by itself, or was stuck, without having taken the call. */
async function runIn(
	ready: PreparedProcess,
	call: SandboxCommand & { input: string },
	acknowledgeMs: number
): Promise<SandboxResult | null> {
	let isAcknowledged = false;
	let isStuck = false;
	const stuck = setTimeout(() => {
		isStuck = true;
		ready.discard();
	}, acknowledgeMs);
	const result = await ready.run({
		...call,
		onOutput(stream, text) {
			const isMark = stream === 'stdout' && !isAcknowledged;
			if (isMark) {
				// The harness writes the mark before it begins, so the first of stdout is the mark.
				isAcknowledged = true;
				clearTimeout(stuck);
			}
			const shown = isMark ? text.slice(ACKNOWLEDGED.length) : text;
			if (shown) call.onOutput?.(stream, shown);
		}
	});
	clearTimeout(stuck);
	if (isStuck && isAcknowledged && result.ended === 'killed') return withoutMark({ ...result, ...ENDED_AS_STUCK });
	// What somebody else ended is not begun again, nor what had used up its time before it was given up.
	const isGivenUp = isStuck && (result.ended === 'killed' || result.ended === 'spawn-failed');
	const isOver = isAcknowledged || (result.ended !== 'exit' && !isGivenUp);
	return isOver ? withoutMark(result) : null;
}

/** The result without the mark by which the harness says that it has its call. */
function withoutMark(result: SandboxResult): SandboxResult {
	if (!result.stdout.startsWith(ACKNOWLEDGED)) return result;
	const stdout = result.stdout.slice(ACKNOWLEDGED.length);
	const stdoutBytes = result.stdoutBytes - ACKNOWLEDGED.length;
	const { kept } = result;
	if (!kept) return { ...result, stdout, stdoutBytes };
	const keptText = kept.stdout.text.slice(ACKNOWLEDGED.length);
	return { ...result, stdout, stdoutBytes, kept: { ...kept, stdout: { ...kept.stdout, text: keptText } } };
}
