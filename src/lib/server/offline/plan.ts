/** Decides which of the actions at hand a message asks for, with which values, or what must be asked first. */
import type { Action, PlannedCall } from './actions.ts';
import { fillAction, type Filled, type FinderName, isAlike, type Place, placesOf, type Value } from './fill.ts';
import { framing, isFiller, type Message, overlaps, type Word } from './message.ts';
import type { Slot } from './slots.ts';

/** What is asked before anything runs. */
export type Ask =
	| { about: 'value'; action: Action; slot: Slot; guess: string | null }
	/** Something was said that would not be used. */
	| { about: 'left'; action: Action; left: string[] }
	| { about: 'action'; actions: Action[] }
	| { about: 'skill'; skills: string[] };

export type Plan =
	| { kind: 'call'; call: PlannedCall; strange: number; isPlain: boolean }
	| { kind: 'ask'; ask: Ask; points: number }
	/** There is nothing to run. */
	| { kind: 'nothing' };

/** What answers to earlier questions have settled. */
export interface Settled {
	/** By the action's label and the slot's name. */
	values: Map<string, Value>;
	/** Label or form of the action, or name of the skill. */
	chosen: Set<string>;
	/** Left over on purpose; '' for all. */
	ignored: Set<string>;
}

interface Candidate {
	action: Action;
	filled: Filled;
	/** Words of its own name that were said. */
	named: number;
	points: number;
	isComplete: boolean;
	/** Was it chosen in an answer? */
	isChosen: boolean;
}

/** By so many points the better one must lead; by twice as many where it was not called by its name. */
const LEAD = 1;
const MAX_OFFERED = 7;

export function settledNothing(): Settled {
	return { values: new Map(), chosen: new Set(), ignored: new Set() };
}

function keyOf(action: Action, slot: Slot): string {
	return `${action.label} ${slot.flag ?? slot.name}`;
}

export function planActions(
	given: readonly Action[],
	message: Message,
	settled: Settled,
	without: ReadonlySet<FinderName>
): Plan {
	const wanted = given.filter(({ label, form }) => settled.chosen.has(label) || settled.chosen.has(form));
	const actions = wanted.length > 0 ? wanted : given;
	const asked = withoutAddress(message, actions);
	// What all are called says nothing of one.
	const isCommon = (word: string) => actions.length > 1 && actions.every(({ own }) => own.has(word));
	const places = placesOf(asked);
	const rated = actions.map((action) => rate(action, asked, { settled, without, isCommon, places }));
	const candidates = rated.sort((a, b) => b.points - a.points);
	const [top] = candidates;
	if (!top) return { kind: 'nothing' };
	const [best, second] = candidates.filter(({ isComplete }) => isComplete);
	if (!best) return ask(candidates);
	const { action, filled, named, points, isChosen } = best;
	const others = isChosen ? [] : candidates.filter((each) => each !== best);
	const [only, onlyBest] = [
		(each: Candidate) => onlyIn(each, best, asked),
		(each: Candidate) => onlyIn(best, each, asked)
	];
	// What is called by its name and lacks something is asked about, rather than that another is run by chance.
	const isRival = (each: Candidate) =>
		!each.isComplete && each.filled.left.length === 0 && each.named >= Math.max(1, named);
	const rivals = others.filter((each) => isRival(each) && only(each) >= onlyBest(each));
	const clear = rivals.filter((each) => only(each) > onlyBest(each));
	if (clear.length > 0) return ask(clear);
	if (rivals.length > 0) return ask(named > 0 ? [...rivals, best] : rivals);
	if (others.includes(top) && top.points - points >= 4) return ask(candidates);
	const lead = named > (second?.named ?? 0) ? LEAD : 2 * LEAD;
	const call = action.call(valuesOf(filled));
	const isOther = (each: Candidate) => each.action.isTool === action.isTool;
	const isTie = (each: Candidate) =>
		each.isComplete &&
		points - each.points < lead &&
		each.action.call(valuesOf(each.filled)).arguments !== call.arguments;
	const isMeant = (each: Candidate) => each.filled.left.length === 0 && only(each) >= Math.max(1, onlyBest(each));
	const alike = others.filter(
		(each) => (isOther(each) && (isTie(each) || isMeant(each))) || asksAlso(each, best, asked)
	);
	if (alike.length > 0)
		return {
			kind: 'ask',
			ask: { about: 'action', actions: [best, ...alike].map((each) => each.action).slice(0, MAX_OFFERED) },
			points
		};
	return { kind: 'call', call, strange: filled.strange.length, isPlain: filled.talk > 1 };
}

function ask(candidates: readonly Candidate[]): Plan {
	const [{ action, filled, points, named, isChosen }] = candidates as [Candidate];
	const alike = candidates.filter((each) => points - each.points < LEAD && each.named === named);
	const forms = new Set(alike.map((each) => each.action.form));
	if (!isChosen && forms.size > 1 && forms.size <= MAX_OFFERED)
		return { kind: 'ask', ask: { about: 'action', actions: alike.map((each) => each.action) }, points };
	const [slot] = filled.missing;
	if (!slot) return { kind: 'ask', ask: { about: 'left', action, left: filled.left }, points };
	return {
		kind: 'ask',
		ask: { about: 'value', action, slot, guess: filled.values.get(slot)?.texts[0] ?? null },
		points
	};
}

interface Rating {
	settled: Settled;
	without: ReadonlySet<FinderName>;
	isCommon: (word: string) => boolean;
	places: Place[];
}

function rate(action: Action, message: Message, { settled, without, isCommon, places }: Rating): Candidate {
	const { own, prose, slots, isTool, label, form } = action;
	const given = slots.flatMap((slot): [Slot, Value][] => {
		const value = settled.values.get(keyOf(action, slot));
		return value ? [[slot, value]] : [];
	});
	const filled = fillAction(action, message, new Map(given), without, places);
	const isTold = (piece: string) => given.some(([, { texts }]) => texts.some((text) => text.includes(piece)));
	const left = filled.left.filter((piece) => !settled.ignored.has(piece) && !isTold(piece));
	if (left.length === 0 && filled.strange.length > filled.talk && !settled.ignored.has(''))
		left.push(filled.strange.slice(0, 12).join(' '));
	const stems = framing(message)
		.filter(tellsToDo)
		.map((word) => word.stem);
	const count = (words: Iterable<string>) => [...new Set(words)].filter((word) => stems.includes(word)).length;
	const named = [...own].filter((word) => !isCommon(word) && stems.some((said) => isAlike(said, word))).length;
	const about = [...prose].filter((word) => !own.has(word));
	const hints = slots
		.flatMap(({ labels, hints: each }) => [...labels, ...each])
		.filter((word) => !own.has(word) && !prose.has(word));
	const values = [...filled.values.values()].filter(({ isSure }) => isSure).length;
	const words = 3 * named + count([...own].filter(isCommon)) + count(about) + 0.3 * count(hints);
	return {
		action,
		filled: { ...filled, left },
		named,
		points: words + 0.5 * Number(isTool) + 0.25 * values - 3 * left.length - filled.missing.length,
		isComplete: filled.missing.length === 0 && left.length === 0,
		isChosen: settled.chosen.has(label) || settled.chosen.has(form)
	};
}

function valuesOf({ values }: Filled): Map<Slot, string[]> {
	return new Map([...values].map(([slot, { texts }]) => [slot, texts]));
}

/** How many words that were said speak of one action, and not of the other. */
function onlyIn(one: Candidate, other: Candidate, message: Message): number {
	const knows = ({ action: { own, prose, slots }, filled }: Candidate, word: Word) =>
		[...own].some((each) => isAlike(each, word.stem)) ||
		prose.has(word.stem) ||
		slots.some(({ labels, hints }) => labels.includes(word.stem) || hints.includes(word.stem)) ||
		[...filled.values.values()].some(({ spans }) => spans.some((span) => overlaps(span, word)));
	return framing(message).filter((word) => !isFiller(word) && knows(one, word) && !knows(other, word)).length;
}

/** `… and verify it`: a second command is asked for, and one message runs one. */
function asksAlso({ action }: Candidate, best: Candidate, message: Message): boolean {
	const words = framing(message);
	const begins = (before: Word | undefined) =>
		before !== undefined && (before.hasComma || /^(and|then|also)$/.test(before.lower));
	const isOwn = (word: Word) => action.own.has(word.stem) && !best.action.own.has(word.stem) && tellsToDo(word);
	return words.some((word, at) => isOwn(word) && begins(words[at - 1]));
}

/** `deployed` tells about a state, `deploy` tells to do it. */
function tellsToDo(word: Word): boolean {
	return word.stem === word.lower || !word.lower.endsWith('ed');
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
export function settle(
	asked: Ask,
	answer: Message,
	settled: Settled,
	without: ReadonlySet<FinderName>
): Settled | null {
	const next: Settled = {
		values: new Map(settled.values),
		chosen: new Set(settled.chosen),
		ignored: new Set(settled.ignored)
	};
	if (asked.about === 'skill' || asked.about === 'action') {
		const name = pick(asked.about === 'skill' ? asked.skills : asked.actions.map(({ form }) => form), answer);
		return name === null ? null : { ...next, chosen: next.chosen.add(name) };
	}
	const { action } = asked;
	next.chosen.add(action.label);
	if (asked.about === 'left' && isLetGo(answer)) {
		for (const piece of [...asked.left, '']) next.ignored.add(piece);
		return next;
	}
	const open = action.slots.filter((slot) => !settled.values.has(keyOf(action, slot)));
	const named = open.filter(({ flag, labels }) =>
		answer.words.some((word) => word.text.split('=', 1)[0] === flag || labels.includes(word.stem))
	);
	const slot = asked.about === 'value' ? asked.slot : named.length === 1 ? named[0] : undefined;
	if (!slot) return null;
	const isAsked = (each: Slot) => keyOf(action, each) === keyOf(action, slot);
	const read = (slots: readonly Slot[]) => {
		const wanted = slots.map((each) => ({ ...each, isRequired: isAsked(each) }));
		return fillAction({ ...action, slots: wanted }, answer, new Map(), without);
	};
	// What the answer says by a label or a sign, of this slot or of others; else it is read for this slot alone.
	const all = read(open);
	const told = [...all.values].filter(([each, { isSure, isPlain }]) => isSure && (isPlain || isAsked(each)));
	const alone = told.length > 0 && all.left.length === 0 ? null : read([slot]);
	const texts = new Map((alone ? [...alone.values] : told).map(([each, value]) => [each, value.texts]));
	const isRefused = alone !== null && alone.left.length > 0 && texts.size > 0;
	if (texts.size === 0 && asked.about === 'left') {
		const [lost = ''] = asked.left;
		texts.set(slot, [lost]);
		next.ignored.add(lost);
	} else if (texts.size === 0 && isWhole(slot, answer))
		texts.set(slot, [answer.text.replace(/^["“'](.+)["”']$/s, '$1')]);
	const isOther = [...texts].some(
		([{ choices }, values]) => choices.length > 0 && !values.every((each) => choices.includes(each))
	);
	if (texts.size === 0 || isOther || isRefused) return null;
	for (const [each, values] of texts)
		next.values.set(keyOf(action, each), { texts: values, spans: [], isSure: true, isPlain: true });
	return next;
}

function isLetGo({ text, words }: Message): boolean {
	const way = /^\W*(yes|ok|okay|go|run|do it|ignore|without|skip|drop|no|none|nothing|never ?mind|leave)\b/i;
	return words.length <= 8 && way.test(text);
}

/** Is all that the answer says the value? */
function isWhole({ kind }: Slot, { text, words }: Message): boolean {
	return text !== '' && !text.endsWith('?') && (kind === 'text' || (kind === 'name' && words.length <= 4));
}

/** By its number, or by the words that only one of them has. */
function pick(names: readonly string[], answer: Message): string | null {
	const number = /^\W*(\d)\W*$/.exec(answer.text)?.[1];
	if (number !== undefined) return names[Number(number) - 1] ?? null;
	const telling = answer.words.filter((word) => !isFiller(word));
	const said = (telling.length > 0 ? telling : answer.words).map(({ lower }) => lower);
	const wordsIn = (name: string) => name.toLowerCase().split(/[^\p{L}\p{N}]+/u);
	const hits = names.map((name) => said.filter((word) => wordsIn(name).includes(word)).length);
	const most = Math.max(...hits);
	const at = hits.indexOf(most);
	return most > 0 && hits.lastIndexOf(most) === at && answer.words.length <= 8 ? (names[at] ?? null) : null;
}
