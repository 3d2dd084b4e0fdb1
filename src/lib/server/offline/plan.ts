/** Decides which of the actions at hand a message asks for, with which values, or what must be asked first. */
import type { Action, PlannedCall } from './actions.ts';
import { fillAction, type Filled, isAlike, type Place, placesOf, type Value } from './fill.ts';
import { framing, isFiller, type Message, type Word } from './message.ts';
import type { Slot } from './slots.ts';

/** What is asked before anything runs. */
export type Ask =
	| { about: 'value'; action: Action; slot: Slot; guess: string | null }
	/** Something was said that would not be used. */
	| { about: 'left'; action: Action; left: string[] }
	| { about: 'action'; actions: Action[] }
	| { about: 'skill'; skills: string[] };

export type Plan =
	| { kind: 'call'; call: PlannedCall; strange: number }
	| { kind: 'ask'; ask: Ask; points: number }
	/** There is nothing to run. */
	| { kind: 'nothing' };

/** What answers to earlier questions have settled. */
export interface Settled {
	/** By the action's label and the slot's name. */
	values: ReadonlyMap<string, Value>;
	/** Label or form of the action, or name of the skill. */
	chosen: ReadonlySet<string>;
	/** Left over on purpose; '' for all. */
	ignored: ReadonlySet<string>;
}

interface Candidate {
	action: Action;
	filled: Filled;
	/** Words of its own name that were said. */
	named: number;
	points: number;
	isComplete: boolean;
}

/** By so many points the better one must lead. */
const LEAD = 2;
const MAX_OFFERED = 7;

export const SETTLED_NOTHING: Settled = { values: new Map(), chosen: new Set(), ignored: new Set() };

function keyOf(action: Action, slot: Slot): string {
	return `${action.label} ${slot.flag ?? slot.name}`;
}

export function planActions(given: readonly Action[], message: Message, settled: Settled): Plan {
	const wanted = given.filter(({ label, form }) => settled.chosen.has(label) || settled.chosen.has(form));
	const actions = wanted.length > 0 ? wanted : given;
	const said = withoutAddress(message, actions);
	const places = placesOf(said);
	const rated = actions.map((action) => rate(action, said, settled, places, actions));
	const textsOf = ({ filled }: Candidate) => JSON.stringify([...valuesOf(filled).values()]);
	const tools = rated.filter(({ action, isComplete }) => action.isTool && isComplete).map(textsOf);
	// Of a tool and a script that take the same, the tool.
	const candidates = rated
		.filter((each) => each.action.isTool || !each.isComplete || !tools.includes(textsOf(each)))
		.sort((a, b) => b.points - a.points);
	const best = candidates.find(({ isComplete }) => isComplete);
	if (!best) return candidates.length > 0 ? ask(candidates) : { kind: 'nothing' };
	const { action, filled, named, points } = best;
	const others = wanted.length > 0 ? [] : candidates.filter((each) => each !== best);
	const more = (each: Candidate) => onlyIn(each, best, said) - onlyIn(best, each, said);
	// What is called by its name and lacks something is asked about, rather than that another is run by chance.
	const rivals = others.filter(
		(each) => !each.isComplete && each.filled.left.length === 0 && each.named >= Math.max(1, named)
	);
	const clear = rivals.filter((each) => more(each) > 0);
	if (rivals.length > 0) return ask(clear.length > 0 ? clear : [...rivals, best]);
	const call = action.call(valuesOf(filled));
	const isTie = (each: Candidate) =>
		each.isComplete &&
		points - each.points < LEAD &&
		each.action.call(valuesOf(each.filled)).arguments !== call.arguments;
	const isMeant = (each: Candidate) =>
		each.filled.left.length === 0 &&
		onlyIn(each, best, said) > 0 &&
		more(each) >= 0 &&
		each.action.isTool === action.isTool;
	const alike = others.filter((each) => isTie(each) || isMeant(each));
	if (alike.length === 0) return { kind: 'call', call, strange: filled.strange.length };
	return { kind: 'ask', ask: { about: 'action', actions: offered([best, ...alike]) }, points };
}

function offered(candidates: readonly Candidate[]): Action[] {
	return candidates.map(({ action }) => action).slice(0, MAX_OFFERED);
}

function ask(candidates: readonly Candidate[]): Plan {
	const [{ action, filled, points }] = candidates as [Candidate];
	const actions = offered(candidates.filter((each) => points - each.points < LEAD / 2));
	const [slot] = filled.missing;
	const guess = (slot && filled.values.get(slot)?.texts[0]) ?? null;
	if (new Set(actions.map(({ form }) => form)).size > 1)
		return { kind: 'ask', ask: { about: 'action', actions }, points };
	if (slot) return { kind: 'ask', ask: { about: 'value', action, slot, guess }, points };
	return { kind: 'ask', ask: { about: 'left', action, left: filled.left }, points };
}

function rate(action: Action, message: Message, settled: Settled, places: Place[], all: readonly Action[]): Candidate {
	const { own, prose, slots } = action;
	const given = new Map(
		slots.flatMap((slot): [Slot, Value][] => {
			const value = settled.values.get(keyOf(action, slot));
			return value ? [[slot, value]] : [];
		})
	);
	const filled = fillAction(action, message, given, places);
	const told = [...given.values()].flatMap(({ texts }) => texts);
	const left = filled.left.filter((piece) => !settled.ignored.has(piece) && !told.some((text) => text.includes(piece)));
	if (left.length === 0 && filled.strange.length > filled.talk && !settled.ignored.has(''))
		left.push(filled.strange.slice(0, 12).join(' '));
	// What all are called says nothing of one.
	const isCommon = (word: string) => all.length > 1 && all.every((each) => each.own.has(word));
	const stems = framing(message).map((word) => word.stem);
	const named = [...own].filter((word) => !isCommon(word) && stems.some((said) => isAlike(said, word))).length;
	const about = [...prose].filter((word) => !own.has(word) && stems.includes(word)).length;
	return {
		action,
		filled: { ...filled, left },
		named,
		points: 3 * named + about - 3 * left.length - filled.missing.length,
		isComplete: filled.missing.length === 0 && left.length === 0
	};
}

function valuesOf({ values }: Filled): Map<Slot, string[]> {
	return new Map([...values].map(([slot, { texts }]) => [slot, texts]));
}

/** How many words that were said speak of one action, and not of the other. */
function onlyIn(one: Candidate, other: Candidate, message: Message): number {
	const knows = ({ action: { own, prose, slots } }: Candidate, word: Word) =>
		own.has(word.stem) ||
		prose.has(word.stem) ||
		slots.some(({ labels, hints }) => labels.includes(word.stem) || hints.includes(word.stem));
	return framing(message).filter((word) => !isFiller(word) && knows(one, word) && !knows(other, word)).length;
}

/** Where the colon only ends an address (`todo: list my tasks`, `For our demo: …`), what follows is no text to work on. */
function withoutAddress(message: Message, actions: readonly Action[]): Message {
	const { payload, words } = message;
	const said = framing(message);
	const first = payload && words.find((word) => word.start >= payload.start && !word.isQuoted);
	const isCommand =
		first && actions.some(({ own }) => own.has(first.stem) && said.every(({ stem }) => stem !== first.stem));
	const isAbout = ({ own, subject, prose }: Action) =>
		said.some((word) => !isFiller(word) && [own, subject, prose].some((set) => set.has(word.stem)));
	return isCommand || !actions.some(isAbout) ? { ...message, payload: null } : message;
}

// Answers to what was asked.

/** What the answer settles; null where it is no answer, but a request of its own. */
export function settle(asked: Ask, answer: Message, settled: Settled): Settled | null {
	const choosing = (name: string) => ({ ...settled, chosen: new Set([...settled.chosen, name]) });
	if (asked.about === 'skill' || asked.about === 'action') {
		const name = pick(asked.about === 'skill' ? asked.skills : asked.actions.map(({ form }) => form), answer);
		return name === null ? null : choosing(name);
	}
	const { action } = asked;
	const next = choosing(action.label);
	const ignoring = (pieces: string[]) => new Set([...settled.ignored, ...pieces]);
	if (asked.about === 'left' && isLetGo(answer)) return { ...next, ignored: ignoring([...asked.left, '']) };
	const open = action.slots.filter((slot) => !settled.values.has(keyOf(action, slot)));
	const named = open.filter(({ flag, labels }) =>
		answer.words.some((word) => word.text.split('=', 1)[0] === flag || labels.includes(word.stem))
	);
	const slot = asked.about === 'value' ? asked.slot : named.length === 1 ? named[0] : undefined;
	if (!slot) return null;
	const wanted = { ...slot, isRequired: true };
	const read = fillAction({ ...action, slots: [wanted] }, answer, new Map());
	const isWhole =
		answer.text !== '' && !answer.text.endsWith('?') && answer.words.length <= (slot.kind === 'text' ? Infinity : 4);
	let texts = read.values.get(wanted)?.texts;
	if (texts && read.left.length > 0) return null;
	if (!texts && asked.about === 'left') texts = asked.left.slice(0, 1);
	else if (!texts && isWhole && slot.choices.length === 0 && /^(text|name)$/.test(slot.kind))
		texts = [answer.text.replace(/^["“'](.+)["”']$/s, '$1')];
	if (!texts) return null;
	const value = { texts, spans: [], isSure: true, isPlain: true };
	const ignored = asked.about === 'left' ? ignoring(texts) : settled.ignored;
	return { ...next, ignored, values: new Map([...settled.values, [keyOf(action, slot), value]]) };
}

function isLetGo({ text, words }: Message): boolean {
	const way = /^\W*(yes|ok|okay|go|run|do it|ignore|without|skip|drop|no|none|nothing|never ?mind|leave)\b/i;
	return words.length <= 8 && way.test(text);
}

/** By its number, or by the words that only one of them has. */
function pick(names: readonly string[], answer: Message): string | null {
	const number = /^\W*(\d)\W*$/.exec(answer.text)?.[1];
	if (number !== undefined) return names[Number(number) - 1] ?? null;
	const wordsIn = (name: string) => name.toLowerCase().split(/[^\p{L}\p{N}]+/u);
	const hits = names.map((name) => answer.words.filter(({ lower }) => wordsIn(name).includes(lower)).length);
	const most = Math.max(...hits);
	const at = hits.indexOf(most);
	return most > 0 && hits.lastIndexOf(most) === at && answer.words.length <= 8 ? (names[at] ?? null) : null;
}
