/** Blocks in groups, so that the browser can skip those that nobody sees without watching each block. */
import type { Block } from './block-stream.ts';

const SECTION_BLOCKS = 12;

export class Sections {
	#groups: Block[][] = [];

	/** Groups of blocks; a group that has the same blocks as last time is that very array. */
	update(blocks: Block[]): Block[][] {
		const groups: Block[][] = [];
		for (let start = 0; start < blocks.length; start += SECTION_BLOCKS) {
			const old = this.#groups[groups.length];
			const end = Math.min(blocks.length, start + SECTION_BLOCKS);
			const isSame = old?.length === end - start && old.every((block, index) => block === blocks[start + index]);
			groups.push(isSame ? old : blocks.slice(start, end));
		}
		return (this.#groups = groups);
	}
}
