/** Which parts of an answer stand together as one group of steps, and which of those fold to a line. Pure, in the order of its parts. */
import type { ProducedFile } from '../../shared/events.ts';
import type { Part, ToolPart } from '../../shared/message.ts';
import { isDenied } from './steps.ts';

export interface PartBlock {
	type: 'part';
	/** Of the part, in the answer: stays the same while the answer grows. */
	index: number;
	part: Part;
}

export interface GroupBlock {
	type: 'group';
	/** Of its first part. */
	index: number;
	/** Steps, and what was thought between them; a single step is a group as well, so that it stays the same when a second comes. */
	items: PartBlock[];
	steps: ToolPart[];
	/** Text of the answer follows, so it may be one line; never true for a single step. */
	isOver: boolean;
}

export type Block = PartBlock | GroupBlock;

/** Consecutive steps are one group, with the reasoning between them; all else stands for itself. Parts without content are left out. */
export function groupParts(parts: readonly Part[]): Block[] {
	const blocks: Block[] = [];
	let group: GroupBlock | null = null;
	/** Behind the group's last step: inside only if another step follows. */
	let pending: PartBlock[] = [];
	const end = (isOver: boolean): void => {
		if (group) {
			group.isOver = isOver && group.steps.length > 1;
			blocks.push(group);
		}
		blocks.push(...pending);
		group = null;
		pending = [];
	};
	parts.forEach((part, index) => {
		if (part.type === 'text' && part.text === '') return;
		const block: PartBlock = { type: 'part', index, part };
		if (part.type === 'tool') {
			group ??= { type: 'group', index, items: [], steps: [], isOver: false };
			group.items.push(...pending, block);
			group.steps.push(part);
			pending = [];
		} else if (part.type === 'reasoning' && group) pending.push(block);
		else {
			// What is only space is no answer yet.
			end(part.type === 'text' && /\S/.test(part.text));
			blocks.push(block);
		}
	});
	end(false);
	return blocks;
}

/** Is it to be seen also where the others are folded? */
export function staysInSight(part: ToolPart): boolean {
	return part.status === 'waiting' || part.status === 'interrupted' || (part.status === 'failed' && !isDenied(part));
}

export interface GroupFacts {
	skills: number;
	steps: number;
	failed: number;
	/** Of all that was run; null where nothing says. */
	durationMs: number | null;
}

export function summarise(steps: readonly ToolPart[]): GroupFacts {
	const skills = new Set(steps.flatMap(({ loaded, execution }) => loaded?.skill ?? execution?.skill ?? []));
	const durations = steps.flatMap(({ execution }) => execution?.durationMs ?? []);
	return {
		skills: skills.size,
		steps: steps.length,
		failed: steps.filter((part) => part.status === 'failed' && !isDenied(part)).length,
		durationMs: durations.length === 0 ? null : durations.reduce((sum, ms) => sum + ms, 0)
	};
}

/** All files that these steps made; one that several have written is there once, as the last left it. */
export function filesOf(steps: readonly ToolPart[]): ProducedFile[] {
	const files = new Map<string, ProducedFile>();
	for (const { execution } of steps) {
		for (const file of execution?.files ?? []) {
			files.delete(file.path);
			files.set(file.path, file);
		}
	}
	return [...files.values()];
}
