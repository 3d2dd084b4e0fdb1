/** Starts Node processes ahead of time, so that calls don't wait for Node (D20). */
import type { PreparedProcess, Sandbox, SandboxCommand, SandboxProgram, SandboxResult } from '../../sandbox/sandbox.ts';
import { ACKNOWLEDGED, HARNESS_ARGUMENTS } from './handlers.ts';

/** An unused spare ends after this time; the next call starts cold. */
const IDLE_MS = 5 * 60_000;
/** A process that doesn't acknowledge its call in this time is stuck; on a busy computer some take seconds. */
const ACKNOWLEDGE_MS = 20_000;
/** Each takes about 18 MB; the least recently used ends first. */
const MAX_SPARES = 4;

/** What a spare is started for; fixed while it waits. */
export type SpareProgram = Pick<SandboxProgram, 'folders' | 'runtime' | 'limits'>;

export interface SpareNodes {
	/** Starts a spare, unless one is waiting. */
	warm(program: SpareProgram): void;
	/**
	 * Runs a call of the harness (its `input` is a NodeCall) in a spare, then starts another. Runs `cold` if there is
	 * none, or it ends before acknowledging the call: nothing of the call has run then.
	 */
	run(call: SandboxCommand & { input: string }, cold: SandboxCommand): Promise<SandboxResult>;
	close(): void;
}

export interface SpareNodesOptions {
	idleMs?: number;
	acknowledgeMs?: number;
}

interface Spare {
	process: PreparedProcess;
	idle: NodeJS.Timeout;
}

/** `node` is an absolute path. A spare's environment is empty: each call brings its own. */
export function createSpareNodes(
	sandbox: Sandbox,
	node: string,
	{ idleMs = IDLE_MS, acknowledgeMs = ACKNOWLEDGE_MS }: SpareNodesOptions = {}
): SpareNodes {
	/** By `keyOf`; the newest last. */
	const spares = new Map<string, Spare>();
	let isClosed = false;

	const keyOf = ({ folders, runtime, limits }: SpareProgram) =>
		JSON.stringify([sandbox.isolation.files ? [folders, [...new Set(runtime)].sort()] : null, limits ?? null]);
	const take = (key: string): PreparedProcess | undefined => {
		const spare = spares.get(key);
		spares.delete(key);
		clearTimeout(spare?.idle);
		return spare?.process;
	};
	const discard = (key: string) => take(key)?.discard();
	const warm = (program: SpareProgram): void => {
		const key = keyOf(program);
		if (isClosed || spares.get(key)?.process.isAlive) return;
		discard(key);
		const process = sandbox.prepare?.({ ...program, file: node, args: HARNESS_ARGUMENTS, env: {}, cwd: '/' });
		if (!process) return;
		const idle = setTimeout(() => discard(key), idleMs);
		idle.unref();
		spares.set(key, { process, idle });
		for (const oldest of [...spares.keys()].slice(0, -MAX_SPARES)) discard(oldest);
	};
	return {
		warm,
		async run(call, cold) {
			const program = { folders: call.folders, runtime: call.runtime, limits: call.limits };
			// Spares were started without a network proxy.
			const ready = call.proxySocket ? undefined : take(keyOf(program));
			try {
				const answer = ready?.isAlive && (await runIn(ready, call, acknowledgeMs));
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

/** It got its call just as it was given up: nobody knows what has run, so it isn't retried. */
const ENDED_AS_STUCK = {
	ended: 'spawn-failed',
	spawnError: 'the script process didn’t start in time. Try again'
} as const satisfies Partial<SandboxResult>;

/** null if the process ended or got stuck before taking the call. */
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
				// The harness writes the mark first, so stdout starts with it.
				isAcknowledged = true;
				clearTimeout(stuck);
			}
			const shown = isMark ? text.slice(ACKNOWLEDGED.length) : text;
			if (shown) call.onOutput?.(stream, shown);
		}
	});
	clearTimeout(stuck);
	if (isStuck && isAcknowledged && result.ended === 'killed') return withoutMark({ ...result, ...ENDED_AS_STUCK });
	// Don't retry what somebody else ended, or what had used up its time before it was given up.
	const isGivenUp = isStuck && (result.ended === 'killed' || result.ended === 'spawn-failed');
	const isOver = isAcknowledged || (result.ended !== 'exit' && !isGivenUp);
	return isOver ? withoutMark(result) : null;
}

/** Strips the harness's mark from a result. */
function withoutMark(result: SandboxResult): SandboxResult {
	if (!result.stdout.startsWith(ACKNOWLEDGED)) return result;
	const stdout = result.stdout.slice(ACKNOWLEDGED.length);
	const stdoutBytes = result.stdoutBytes - ACKNOWLEDGED.length;
	const { kept } = result;
	if (!kept) return { ...result, stdout, stdoutBytes };
	const keptText = kept.stdout.text.slice(ACKNOWLEDGED.length);
	return { ...result, stdout, stdoutBytes, kept: { ...kept, stdout: { ...kept.stdout, text: keptText } } };
}
