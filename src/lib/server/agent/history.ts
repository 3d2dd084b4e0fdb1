/** Converts stored messages to input items; repairs or leaves out what can't be sent again. */
import type { ApprovalDecision } from '../../shared/events.ts';
import { isObject } from '../../shared/json.ts';
import { BUILT_IN_MODEL, isServerCall } from '../../shared/names.ts';
import { type Message, messageText, type Part } from '../../shared/message.ts';
import { isAsking } from '../../shared/questions.ts';
import { assistantItem, type ResponseItem } from './model.ts';
import type { HeldCall } from './tool.ts';
import { withoutResult } from './compaction.ts';
import { isNote, leftOutBy } from './turn-note.ts';

export interface HistoryMessage {
	message: Message;
	/** The items of the model's server, verbatim; null if lost or damaged. */
	items: unknown[] | null;
	model: string | null;
}

/** Sent to continue an answer. Not part of the conversation. */
export const GO_ON: ResponseItem = {
	type: 'message',
	role: 'user',
	content: [
		{
			type: 'input_text',
			text: 'Your answer above is unfinished. Continue exactly where it stopped. Don’t repeat anything or mention the break.'
		}
	]
};

/** The whole conversation, for `modelId`. Leaves out other models' reasoning, whose signature servers reject, and what their servers' tools did. */
export function toInput(history: readonly HistoryMessage[], modelId: string): ResponseItem[] {
	const whole = history.flatMap(({ message, items, model }) => {
		if (message.role === 'user') return [questionItem(messageText(message), message.files)];
		const stored = (items ?? []).filter(isItem);
		const sent = hasOwn(stored) ? stored : [...stored, ...fromParts(message)];
		// The model must know the text of a stopped answer, even if it isn't in any item.
		const said = hasOwn(stored) && message.status !== 'complete' ? unrecordedText(message, stored) : [];
		return [...sent, ...said].filter((item) => !isOfModel(item) || model === modelId || item.answered_by === modelId);
	});
	const leftOut = leftOutBy(whole);
	return whole.map((item) => (isOutput(item) && leftOut.has(item.call_id) ? withoutResult(item) : item));
}

/** What only the model that wrote it understands. */
export function isOfModel({ type }: ResponseItem): boolean {
	return type === 'reasoning' || isServerCall(type);
}

/** Shown text of an answer that isn't in any of its items. */
export function unsaidItems(last: HistoryMessage | undefined): ResponseItem[] {
	if (!last) return [];
	const stored = (last.items ?? []).filter(isItem);
	return hasOwn(stored) ? unrecordedText(last.message, stored) : fromParts(last.message);
}

/** What was shown of an unfinished answer and isn't in its items: calls with their results, and text. In order. */
export function missingItems({ parts }: Pick<Message, 'parts'>, items: readonly unknown[]): ResponseItem[] {
	const stored = items.filter(isItem);
	const idsOf = (type: string) => new Set(stored.flatMap((item) => (item.type === type ? [item.call_id] : [])));
	const [calls, outputs] = [idsOf('function_call'), idsOf('function_call_output')];
	const said = JSON.stringify(stored);
	return parts.flatMap((part): ResponseItem[] => {
		if (part.type === 'text') {
			const isSaid = part.text === '' || said.includes(JSON.stringify(part.text).slice(1, -1));
			return isSaid ? [] : [assistantItem(part.text)];
		}
		if (part.type !== 'tool' || isServerCall(part.name) || part.status === 'waiting') return [];
		const call = { type: 'function_call', call_id: part.id, name: part.name, arguments: part.arguments };
		const output = { type: 'function_call_output', call_id: part.id, output: part.result ?? '' };
		return [...(calls.has(part.id) ? [] : [call]), ...(outputs.has(part.id) ? [] : [output])];
	});
}

/** Whether there are items of the model, besides our note. */
function hasOwn(items: readonly ResponseItem[]): boolean {
	return items.some((item) => !isNote(item));
}

/** Waiting calls of an answer, with their decisions. */
export function heldCalls({ parts }: Message, decisions: ReadonlyMap<string, ApprovalDecision>): HeldCall[] {
	return parts.flatMap((part): HeldCall[] => {
		if (part.type !== 'tool' || part.status !== 'waiting' || !part.approval) return [];
		const decision = decisions.get(part.approval.interruptId);
		const approval = decision ? { ...part.approval, decision } : part.approval;
		return [{ callId: part.id, name: part.name, arguments: part.arguments, approval }];
	});
}

/** Digests of the skill instructions in these items, which need no repeating. */
export function seenDigests(input: readonly ResponseItem[]): string[] {
	return input.flatMap(({ type, output }) => {
		const isResult = type === 'function_call_output' && typeof output === 'string';
		const digest = isResult ? /^<skill_content [^>]*\bdigest="([^"]+)"/.exec(output)?.[1] : undefined;
		return digest === undefined ? [] : [digest];
	});
}

/** Names of skills loaded in this conversation, oldest first. */
export function loadedSkills(history: readonly HistoryMessage[]): string[] {
	return history.flatMap(({ message }) =>
		message.parts.flatMap((part) => (part.type === 'tool' && part.loaded ? [part.loaded.skill] : []))
	);
}

/** What a user says, with the paths of files in the workspace. */
export function questionItem(text: string, files: readonly string[]): ResponseItem {
	const texts = [text, ...(files.length > 0 ? [attachedFiles(files)] : [])];
	return { type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) };
}

/** Tells the model about files in the workspace. Demo mode parses it. */
export function attachedFiles(paths: readonly string[]): string {
	return `Attached files:\n${paths.map((path) => `- ${path}`).join('\n')}`;
}

function fromParts(message: Message): ResponseItem[] {
	return message.parts.flatMap((part): ResponseItem[] => {
		if (part.type === 'reasoning' || part.type === 'compaction') return [];
		if (part.type === 'tool' && isServerCall(part.name)) return [];
		if (part.type === 'text') return part.text ? [assistantItem(part.text)] : [];
		return [
			{ type: 'function_call', call_id: part.id, name: part.name, arguments: part.arguments },
			{ type: 'function_call_output', call_id: part.id, output: part.result ?? `{"error":"${part.status}"}` }
		];
	});
}

/** The text of the last part, if it isn't in the stored items. */
function unrecordedText(message: Message, stored: readonly ResponseItem[]): ResponseItem[] {
	const last = message.parts.at(-1);
	return last?.type === 'text' ? unrecorded(last.text, stored) : [];
}

/** `text` as an item, unless the last of `items` contains it. */
export function unrecorded(text: string, items: readonly ResponseItem[]): ResponseItem[] {
	if (text === '' || JSON.stringify(items.at(-1) ?? '').includes(JSON.stringify(text).slice(1, -1))) return [];
	return [assistantItem(text)];
}

function isItem(value: unknown): value is ResponseItem {
	return isObject(value) && typeof value.type === 'string';
}

/** What the model reads instead of a skill's instructions; null to keep them. */
export type InsteadOf = (skill: string, message: Message) => string | null;

export function unloadedStub(skill: string): string {
	return `The user unloaded the skill ${skill}, so its instructions were removed. Load it again if you need it.`;
}

/** Demo mode loads skills to compare them: one of which it then ran nothing, or asked something, is no skill of the chat (F9). */
export function isOnlyLookedAt(messages: readonly Message[]): (skill: string, message: Message) => boolean {
	const ran = messages.map(({ parts }) =>
		parts.flatMap((part) => (part.type === 'tool' && part.execution?.skill) || [])
	);
	return (skill, message) => {
		const at = messages.indexOf(message);
		const isDemo = message.usage?.model === BUILT_IN_MODEL;
		// Where it ran nothing and asked nothing, it answered with the instructions.
		const hasLooked = (ran[at] ?? []).length > 0 || isAsking(messageText(message));
		return isDemo && hasLooked && !ran.slice(at).flat().includes(skill);
	};
}

/** For the skills of Demo mode that no other model is given; itself it goes on comparing. */
export function lookedAtStubs(history: readonly HistoryMessage[], modelId: string): InsteadOf {
	if (modelId === BUILT_IN_MODEL) return () => null;
	const isLookedAt = isOnlyLookedAt(history.map(({ message }) => message));
	const stub = (skill: string) => `Demo mode only looked at the skill ${skill}. Load it if you need it.`;
	return (skill, message) => (isLookedAt(skill, message) ? stub(skill) : null);
}

export function alwaysStub(skill: string): string {
	return `The skill ${skill} is always loaded: its instructions are in the system prompt.`;
}

/**
 * Replaces the results that contain a skill's instructions, whichever tool returned them (F7). Keeps calls, ids
 * and other items; the parts no longer count as loaded. Returns unchanged entries themselves. Pure.
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
			return { ...rest, result: result === undefined ? undefined : stub };
		});
		return { ...entry, items: changed, message: { ...message, parts } };
	});
}

/** Replaces the outputs of a message's items, in order, because a model may use a call's id twice. */
function replacing(message: Message, stubs: ReadonlyMap<Part, string>, instead: InsteadOf): (item: unknown) => unknown {
	const calls = new Map<unknown, (string | null)[]>();
	for (const part of message.parts) {
		if (part.type === 'tool') calls.set(part.id, [...(calls.get(part.id) ?? []), stubs.get(part) ?? null]);
	}
	return (item) => {
		if (!isOutput(item)) return item;
		const known = calls.get(item.call_id);
		// If the message's parts are lost, the result itself names the skill.
		const stub = known ? (known.shift() ?? null) : stubFor(item.output, message, instead);
		return stub === null ? item : { ...item, output: stub };
	};
}

function stubFor(output: unknown, message: Message, instead: InsteadOf): string | null {
	const skill = typeof output === 'string' ? /^<skill_content name="([^"]+)"/.exec(output)?.[1] : undefined;
	return skill === undefined ? null : instead(skill, message);
}

function isOutput(item: unknown): item is { type: 'function_call_output'; call_id: unknown; output: unknown } {
	return isObject(item) && item.type === 'function_call_output';
}
