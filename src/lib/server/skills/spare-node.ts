/** One Node process that waits for the next JavaScript handler, so that a call need not wait for Node (FEATURES D20). */
import type { PreparedProcess, Sandbox, SandboxCommand, SandboxResult } from '../sandbox/sandbox.ts';
import { NODE_HARNESS } from './handlers/node-harness.ts';

/** A spare that nobody needed for so long is let go; the next call starts cold. */
const IDLE_MS = 5 * 60_000;

export interface HandlerCommand extends SandboxCommand {
	input: string;
}

export interface SpareNode {
	/** Runs a handler in the spare process, or in a new one when there is none; then another spare is started. */
	run(command: HandlerCommand): Promise<SandboxResult>;
	close(): void;
}

/** Arguments that make Node read one call from standard input. */
export const HARNESS_ARGUMENTS = ['--input-type=module', '--eval', NODE_HARNESS];

/** `node` is the program's absolute path. The spare has an empty environment: a call brings its own. */
export function createSpareNode(sandbox: Sandbox, node: string): SpareNode {
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
		idle = setTimeout(discard, IDLE_MS);
		idle.unref();
	};
	return {
		async run(command) {
			const ready = spare?.isAlive ? spare : null;
			spare = null;
			clearTimeout(idle);
			try {
				return await (ready ? ready.run(command) : sandbox.run(command));
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
