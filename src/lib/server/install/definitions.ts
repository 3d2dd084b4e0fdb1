/** Definitions of a chat's tools: what they write, and which of them the chat had at one of its messages; pure (D25). */
import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import { isObject, parseJson } from '../../shared/json.ts';
import type { Message } from '../../shared/message.ts';
import type { SkillFiles } from '../skills/make/templates.ts';
import { DEFINE, planTool, REMOVE, type ToolPreview } from '../skills/make/workshop.ts';
import { digestOfEntries } from '../skills/read/safe-read.ts';
import type { IsReserved } from '../skills/read/tool-names.ts';
import { SkillError } from '../skills/types.ts';

export type Plan = Omit<ToolPreview, 'before'>;

/**
 * `then`: by what was allowed and removed until the message, in any branch. `known`: names of all tools whose definition is
 * in the chat. `messages`: all of them, oldest first.
 */
export function definitionsAt(
	messages: readonly Message[],
	lastId: string,
	isReserved: IsReserved
): { then: Plan[]; known: Set<string> } {
	const end = messages.findIndex(({ id }) => id === lastId);
	const then = new Map<string, Plan>();
	const known = new Set<string>();
	for (const [at, { parts }] of messages.entries()) {
		for (const part of parts) {
			if (part.type !== 'tool' || part.status !== 'done') continue;
			const args = parseJson(part.arguments);
			if (part.name === REMOVE.name && at <= end && isObject(args)) then.delete(String(args.name));
			const plan = part.name === DEFINE.name && isObject(args) ? planOf(args, isReserved) : null;
			if (plan) known.add(plan.tool);
			if (!plan || at > end) continue;
			// Only what somebody has allowed.
			const isAllowed = part.approval?.digest === digestOf(plan.files) && part.approval.decision?.choice !== 'deny';
			if (isAllowed && !plan.persistent) then.set(plan.tool, plan);
			else then.delete(plan.tool);
		}
	}
	return { then: [...then.values()], known };
}

/** null if it couldn't be defined today. */
function planOf(args: Record<string, unknown>, isReserved: IsReserved): Plan | null {
	try {
		return planTool(args, isReserved);
	} catch (error) {
		if (error instanceof SkillError) return null;
		throw error;
	}
}

/** As `readFolder` reads them. */
export function entriesOf(files: SkillFiles) {
	return Object.entries(files)
		.map(([path, text]) => {
			const kind = 'file' as const;
			return {
				path,
				kind,
				text,
				sha256: hash('sha256', text),
				bytes: Buffer.byteLength(text),
				isCut: false,
				isProgram: false
			};
		})
		.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** As `trust` computes it of the folder with these files. */
export function digestOf(files: SkillFiles): string {
	const folders = Object.keys(files).flatMap((path) => (path.includes('/') ? [dirname(path)] : []));
	return digestOfEntries(entriesOf(files), [...new Set(folders)]);
}
