/** What the server and the small process that starts its scripts say to each other; plain data both ways. */
import type { LaunchLimits, LaunchResult, LaunchSpec, LaunchStdin } from './launcher.ts';

/** `n` numbers the programs of one runner. */
export type ToRunner =
	| { type: 'launch'; n: number; spec: LaunchSpec; stdin: LaunchStdin }
	| { type: 'begin'; n: number; limits: LaunchLimits; input?: string }
	| { type: 'end'; n: number; reason: 'aborted' | 'killed' };

export type FromRunner =
	/** It runs, as the leader of the group `pid`. */
	| { type: 'spawned'; n: number; pid: number }
	| { type: 'exited'; n: number }
	| { type: 'output'; n: number; stream: 'stdout' | 'stderr'; text: string }
	| { type: 'result'; n: number; result: LaunchResult };
