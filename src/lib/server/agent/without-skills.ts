/** Takes the instructions of skills out of a history: what is left says where they went; pure (FEATURES F7). */
import type { Message, Part } from '../../shared/message.ts';
import type { HistoryMessage } from './history.ts';

/** What the model reads in place of the instructions of a skill; null where they stay. */
export type InsteadOf = (skill: string, message: Message) => string | null;

/** Read by the model in place of what somebody has unloaded. */
export function unloadedStub(skill: string): string {
	return `The skill ${skill} was unloaded by the user: its instructions are not here any more. Load it again if it is needed.`;
}

/** Read by the model in place of what stands in the system prompt. */
export function alwaysStub(skill: string): string {
	return `The skill ${skill} is always loaded: its instructions are in the system prompt.`;
}

/**
 * The history with a sentence in place of each result that gave a skill's instructions, whichever tool gave them. Calls,
 * ids and all other items stay as they are; the parts do not count as loaded any more. What holds no such result is
 * returned itself.
 */
export function withoutSkills(history: readonly HistoryMessage[], instead: InsteadOf): HistoryMessage[] {
	return history.map((entry) => {
		const { message, items } = entry;
		const stubs = new Map<Part, string>();
		for (const part of message.parts) {
			const stub = part.type === 'tool' && part.loaded ? instead(part.loaded.skill, message) : null;
			if (stub !== null) stubs.set(part, stub);
		}
		const changed = items?.map(replacing(message, stubs, instead)) ?? null;
		const isSame = stubs.size === 0 && (items ?? []).every((item, index) => item === changed?.[index]);
		if (isSame) return entry;
		const parts = message.parts.map((part): Part => {
			const stub = stubs.get(part);
			if (stub === undefined || part.type !== 'tool') return part;
			const { loaded: _loaded, result, ...rest } = part;
			return { ...rest, ...(result === undefined ? {} : { result: stub }) };
		});
		return { ...entry, items: changed, message: { ...message, parts } };
	});
}

/** Replaces the outputs of one message's items, in their order: a model may use the id of a call twice. */
function replacing(message: Message, stubs: ReadonlyMap<Part, string>, instead: InsteadOf): (item: unknown) => unknown {
	const calls = new Map<unknown, (string | null)[]>();
	for (const part of message.parts) {
		if (part.type === 'tool') calls.set(part.id, [...(calls.get(part.id) ?? []), stubs.get(part) ?? null]);
	}
	return (item) => {
		if (!isOutput(item)) return item;
		const known = calls.get(item.call_id);
		// Of a message whose parts are lost, the result itself says whose instructions it has.
		const stub = known ? (known.shift() ?? null) : stubFor(item.output, message, instead);
		return stub === null ? item : { ...item, output: stub };
	};
}

function stubFor(output: unknown, message: Message, instead: InsteadOf): string | null {
	const skill = typeof output === 'string' ? /^<skill_content name="([^"]+)"/.exec(output)?.[1] : undefined;
	return skill === undefined ? null : instead(skill, message);
}

function isOutput(item: unknown): item is { type: 'function_call_output'; call_id: unknown; output: unknown } {
	return typeof item === 'object' && item !== null && 'type' in item && item.type === 'function_call_output';
}
