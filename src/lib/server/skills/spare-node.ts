/** One Node process that waits for the next JavaScript handler, so that a call need not wait for Node (FEATURES D20). */
import type { PreparedProcess, Sandbox, SandboxCommand, SandboxResult } from '../sandbox/sandbox.ts';
import { NODE_HARNESS } from './handlers/node-harness.ts';

/** A spare that nobody needed for so long is let go; the next call starts cold. */
const IDLE_MS = 5 * 60_000;
/** One that has not said for so long that it has its call is stuck. */
const ACKNOWLEDGE_MS = 5000;

export interface HandlerCommand extends SandboxCommand {
	input: string;
}

export interface SpareNode {
	/**
	 * Runs a handler in the spare process, or in a new one when there is none, or when the spare ends before it says that
	 * it has the call: nothing of the handler has run then. Once it has said so, its end is the call's. Afterwards
	 * another spare is started.
	 */
	run(command: HandlerCommand): Promise<SandboxResult>;
	close(): void;
}

export interface SpareNodeOptions {
	idleMs?: number;
	acknowledgeMs?: number;
}

/** Arguments that make Node read one call from standard input. */
export const HARNESS_ARGUMENTS = ['--input-type=module', '--eval', NODE_HARNESS];

/** `node` is the program's absolute path. The spare has an empty environment: a call brings its own. */
export function createSpareNode(
	sandbox: Sandbox,
	node: string,
	{ idleMs = IDLE_MS, acknowledgeMs = ACKNOWLEDGE_MS }: SpareNodeOptions = {}
): SpareNode {
	let spare: PreparedProcess | null = null;
	let idle: NodeJS.Timeout | undefined;
	let isClosed = false;

	const discard = () => {
		clearTimeout(idle);
		spare?.discard();
		spare = null;
	};
	const prepare = () => {
		if (isClosed || spare?.isAlive) return;
		discard();
		spare = sandbox.prepare?.({ file: node, args: HARNESS_ARGUMENTS, env: {}, cwd: '/' }) ?? null;
		idle = setTimeout(discard, idleMs);
		idle.unref();
	};
	return {
		async run(command) {
			const ready = spare?.isAlive ? spare : null;
			spare = null;
			clearTimeout(idle);
			try {
				return (ready && (await runIn(ready, command, acknowledgeMs))) ?? (await sandbox.run(command));
			} finally {
				prepare();
			}
		},
		close() {
			isClosed = true;
			discard();
		}
	};
}

/** Null when the process ended by itself, or was stuck, without having taken the call. */
async function runIn(
	ready: PreparedProcess,
	command: HandlerCommand,
	acknowledgeMs: number
): Promise<SandboxResult | null> {
	let isAcknowledged = false;
	const stuck = setTimeout(() => ready.discard(), acknowledgeMs);
	const result = await ready.run({
		...command,
		onOutput(stream, text) {
			// The harness writes the mark before it imports the handler, so the first of stdout is the mark.
			if (stream === 'stdout') {
				isAcknowledged = true;
				clearTimeout(stuck);
			}
			command.onOutput?.(stream, text);
		}
	});
	clearTimeout(stuck);
	return isAcknowledged || result.ended !== 'exit' ? result : null;
}
