/** Groups the steps of a reply, and tells which groups fold into a line. Pure. */
import type { ProducedFile } from '../../shared/events.ts';
import { filesOf, openQuestions, type Part, type ToolPart } from '../../shared/message.ts';
import { isEditorTool } from '../../shared/names.ts';
import { isDenied } from './steps.ts';

export interface PartBlock {
	type: 'part';
	/** Index of the part in the reply; stable while the reply grows. */
	index: number;
	part: Part;
	/** What the steps before this text made: it stands below the sentence that answers. */
	files?: ProducedFile[];
}

export interface GroupBlock {
	type: 'group';
	/** Index of its first part. */
	index: number;
	/** Steps and the reasoning between them. A single step is a group too, so that it stays the same when another follows. */
	items: PartBlock[];
	steps: ToolPart[];
	/** Text follows, which shows the files. */
	isAnswered: boolean;
	/** It may fold; never true for a single step. */
	isOver: boolean;
}

export type Block = PartBlock | GroupBlock;

/** Groups consecutive steps with the reasoning between them. Empty text parts are left out. */
export function groupParts(parts: readonly Part[]): Block[] {
	const blocks: Block[] = [];
	let group: GroupBlock | null = null;
	/** Reasoning after the group's last step: part of it only if another step follows. */
	let pending: PartBlock[] = [];
	const end = (isAnswered: boolean): void => {
		if (group) {
			group.isAnswered = isAnswered;
			group.isOver = isAnswered && group.steps.length > 1;
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
			group ??= { type: 'group', index, items: [], steps: [], isAnswered: false, isOver: false };
			group.items.push(...pending, block);
			group.steps.push(part);
			pending = [];
		} else if (part.type === 'reasoning' && group) pending.push(block);
		else {
			// Whitespace isn't an answer yet.
			const isAnswered = part.type === 'text' && /\S/.test(part.text);
			if (isAnswered && group) block.files = allFilesOf(group.steps);
			end(isAnswered);
			blocks.push(block);
		}
	});
	end(false);
	return blocks;
}

/** Whether the step stays visible when its group is folded. */
export function staysInSight(part: ToolPart): boolean {
	if (openQuestions(part).length > 0) return true;
	return part.status === 'waiting' || part.status === 'interrupted' || (part.status === 'failed' && !isDenied(part));
}

export interface GroupFacts {
	/** Skills that ran something. */
	used: number;
	/** Other skills whose instructions were read, such as those it compared. */
	read: number;
	steps: number;
	failed: number;
	/** Total of all executions; null if none has a duration. */
	durationMs: number | null;
}

export function summarise(steps: readonly ToolPart[]): GroupFacts {
	const used = new Set(steps.flatMap(({ execution }) => execution?.skill ?? []).filter((name) => !isEditorTool(name)));
	const read = new Set(steps.flatMap(({ loaded }) => loaded?.skill ?? []).filter((name) => !used.has(name)));
	const durations = steps.flatMap(({ execution }) => execution?.durationMs ?? []);
	return {
		used: used.size,
		read: read.size,
		steps: steps.length,
		failed: steps.filter((part) => part.status === 'failed' && !isDenied(part)).length,
		durationMs: durations.length === 0 ? null : durations.reduce((sum, ms) => sum + ms, 0)
	};
}

/** All files these steps produced; a file written several times appears once, in its last version. */
function allFilesOf(steps: readonly ToolPart[]): ProducedFile[] {
	const files = new Map<string, ProducedFile>();
	for (const step of steps) {
		for (const file of filesOf(step)) {
			files.delete(file.path);
			files.set(file.path, file);
		}
	}
	return [...files.values()];
}
