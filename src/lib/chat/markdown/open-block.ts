/** The block that a growing text ends in, when it can be read on line by line and need not be parsed again. */
import type { Node } from './nodes.ts';

export interface OpenBlock {
	/** The block with what `source` has more than the last time; null when that is for the parser to say. */
	read: (source: string) => OpenRead | null;
}

export interface OpenRead {
	node: Node;
	/** Where in the source it is over, and something else begins; null while it may go on. */
	end: number | null;
}
