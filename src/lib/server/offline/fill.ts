/** Fills the slots of an action from the pieces of a message, the surest first. Pure. */
import { stem } from '../skills/find/words.ts';
import { account } from './account.ts';
import type { Action } from './actions.ts';
import {
	type Filling,
	isChoice,
	isFree,
	isLabel,
	isOpenWord,
	isUsed,
	open,
	type Place,
	placesOf,
	PREPOSITIONS,
	put,
	spellings,
	stemsOf,
	TO
} from './filling.ts';
import { isFiller, isUnit, type Message, namesOfUnit, overlaps, type Piece, type Span, type Word } from './message.ts';
import { extensionOf, type Slot, slotWords, wantedExtensions } from './slots.ts';

export interface Filled {
	/** One text for each slot; several for one that is repeated. */
	values: Map<Slot, string[]>;
	/** Required, and the message has nothing certain for them. */
	missing: Slot[];
	/** What was said and would go nowhere: it must be asked about. */
	left: string[];
	/** How many words nothing in the skill speaks of, talk included. */
	strange: number;
}

/** Names of days and months are no names of anything else. */
const DAY_NAME =
	/^((mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august|(sept|octo|novem|decem)(em)?ber)$/;
/** A number after one of these is a limit, no value. */
const LIMITING = /^(every|than|least|most|under|above|below|beyond|within|except)$/;
const PERCENT = stemsOf('percent percentage rate');
const MONEY = stemsOf('amount price cost bill sum money principal loan salary budget payment pay total income fee');
const COUNT = stemsOf(
	'count people days hours minutes seconds weeks months years top limit times length digits rows lines port'
);
const SIZES = stemsOf('max min limit size width height length');
const PEOPLE = stemsOf('people person guest passenger head serving diner');
/** Which forms of pieces a kind of slot takes by themselves, and which only where a word beside them says so. */
const TAKES: Partial<Record<Slot['kind'], [alone: string, told: string]>> = {
	output: ['', 'file quote'],
	text: ['quote url email', 'code name'],
	name: ['quote code name unit span', 'word number file time']
};
/** From so many points on a value is meant. */
const TOLD = 3;
const NEVER = -1;

/** Given are the values that answers to earlier questions have settled. */
export function fillAction(action: Action, message: Message, given: ReadonlyMap<Slot, string[]>): Filled {
	const filling = fill(action, message, new Map(), []);
	// Whoever answers with what the message says already means that place in it, unless it is used.
	const repeated = [...given.values()].flat();
	const said = filling.places.filter((place) => repeated.includes(place.value) && isFree(place, filling));
	return filled(given.size === 0 ? filling : fill(action, message, given, said));
}

function fill(action: Action, message: Message, given: ReadonlyMap<Slot, string[]>, said: readonly Span[]): Filling {
	const places = placesOf(message, action);
	// `Run scripts/x.mjs 42` names the command.
	const script = places.filter(({ value }) => value === action.label.split(' ', 1)[0]);
	const filling: Filling = {
		...{ action, message, places, values: new Map(), taken: [...said, ...script] },
		isAnswered: [...given.keys()].some(({ kind }) => kind === 'name')
	};
	for (const [slot, texts] of given) put(slot, texts, [], filling);
	for (const finder of [switches, cued, lone, implied, colon]) finder(filling);
	return filling;
}

function filled(filling: Filling): Filled {
	const { action, values } = filling;
	const missing = action.slots.filter((slot) => slot.isRequired && !values.has(slot));
	return { values, missing, ...account(filling) };
}

// Finders.

/** A switch is on where its own words are said, and not denied. */
function switches(filling: Filling): void {
	const { words } = filling.message;
	for (const slot of open(filling, 'switch')) {
		const flag = words.find((word) => word.text === slot.flag);
		const isSaid = (label: string) => (word: Word, at: number) =>
			!word.isQuoted && (word.stem === label || stem(`${word.stem}${words[at + 1]?.stem ?? ''}`) === label);
		const said = slot.labels.flatMap((label) => words.find(isSaid(label)) ?? []);
		const from = Math.max(0, Math.min(...said.map((word) => words.indexOf(word))));
		const denial = words
			.slice(Math.max(0, from - 2), from)
			.filter(({ lower }) => /^(no|not|without|never|don['’]?t)$/.test(lower));
		const far = Math.max(...said.map((word) => words.indexOf(word))) - from;
		const isMeant = slot.labels.join('').length > 2 && said.length === slot.labels.length && far <= slot.labels.length;
		const isRight = denial.length === 0 || slot.labels.some((label) => /^(no|without)$/.test(label));
		if (flag ?? (isMeant && isRight)) put(slot, ['true'], flag ? [flag] : [...said, ...denial], filling);
	}
}

/** What a word or sign beside a piece says it is: the surest first, as long as it has no rival. */
function cued(filling: Filling): void {
	const slots = open(filling).filter(({ isRepeated }) => !isRepeated);
	const all = filling.places.flatMap((place) =>
		slots.map((slot) => ({ place, slot, points: pointsOf(place, slot, filling) }))
	);
	let pairs = all.filter(({ points }) => points >= TOLD).sort((a, b) => b.points - a.points);
	for (let [best] = pairs; best; [best] = pairs) {
		const { slot, place, points } = best;
		const top = pairs.filter((pair) => pair.points === points && (pair.slot === slot) !== (pair.place === place));
		const rivals = top.filter((pair) => overlaps(pair.place, place) === (pair.place === place));
		const said = [place, ...rivals.map((pair) => pair.place)];
		if (rivals.length === 0) put(slot, [place.value], said, filling);
		pairs = pairs.filter(
			(pair) => !said.includes(pair.place) && !filling.values.has(pair.slot) && isFree(pair.place, filling)
		);
	}
}

/** Null for never; else what the form alone is worth. */
function takes(slot: Slot, { form, value }: Piece, { action }: Filling): number | null {
	if (slot.choices.length > 0)
		return /^(word|name|unit|code|number)$/.test(form) && slot.choices.some((choice) => isChoice(value, choice))
			? TOLD
			: null;
	if (!isShaped(slot, value)) return null;
	const [alone, told] = TAKES[slot.kind] ?? [slot.kind, ''];
	if (alone.split(' ').includes(form)) {
		const wanted = slot.kind === 'file' ? wantedExtensions(slot) : [];
		if (wanted.length > 0) return Number(wanted.includes(extensionOf(value)));
		if (form !== 'unit') return 1;
		const ways = spellings(value, slot, action).length;
		// A skill for money need not spell its currencies.
		const isMoney = namesOfUnit(value).some((name) => /[$€£¥]/.test(name));
		const isFree = isMoney && ['money', 'currency'].map(stem).some((word) => action.subject.has(word));
		return ways === 1 ? 1 : ways === 0 && (isFree || slot.choices.length > 0) ? 0 : null;
	}
	if (!told.split(' ').includes(form)) return null;
	return Number(form === 'number' && /(^|_|-)(id|no|nr|number|key|issue|ticket)$/i.test(slot.name));
}

/** One character is one, and what is called by a number has a digit. */
export function isShaped({ name }: Slot, value: string): boolean {
	if (/^(char|character|letter|delimiter|symbol)$/i.test(name)) return value.length === 1;
	return !/(^|_|-)(id|no|nr|number|issue|ticket)$/i.test(name) || /\d|^[#@]/.test(value);
}

/** How surely the piece is meant for the slot; NEVER, or below TOLD where only its form speaks for it. */
function pointsOf(place: Place, slot: Slot, filling: Filling): number {
	const { form, own, direct, before, after, isMeasure, isRange } = place;
	const { labels, side, isRequired } = slot;
	const { slots, literals, own: names } = filling.action;
	const base = takes(slot, place, filling);
	const isWord = form === 'word' && slot.choices.length === 0;
	if (form === 'name' && DAY_NAME.test(place.value.toLowerCase()) && slot.kind === 'name' && !isLabel(before, labels))
		return NEVER;
	if (base === null || (form === 'word' && PREPOSITIONS.has(own?.lower ?? ''))) return NEVER;
	if (
		isWord &&
		own &&
		(names.has(own.stem) ||
			(isFiller(own) && (slot.flag === null || !isLabel(direct, labels))) ||
			slots.some((each) => isLabel(own, each.labels)))
	)
		return NEVER;
	if (isRange && side === null && /^(number|date|time)$/.test(form)) return NEVER;
	let points = base;
	const isOther = slots.some((each) => each !== slot && isLabel(before, each.labels));
	if (isLabel(before, labels)) points += 5;
	else if (isLabel(after, labels) && form !== 'word' && !isOther) points += form === 'number' ? 5.5 : 3.5;
	const [said, next] = [direct?.lower ?? '', after?.lower ?? ''];
	const flag = slot.flag?.split('-').at(-1) ?? '';
	if (PREPOSITIONS.has(flag) && (said === flag || (flag === 'by' && said === 'per'))) points += 4;
	// `revenue by region`: of two columns it is the one that is not grouped by.
	const isGrouped = (each: Slot) =>
		/-by$/.test(each.flag ?? '') && slotWords(each.name).at(-1) === slotWords(slot.name).at(-1);
	const isMeant = said === 'of' || isOpenWord(own, filling);
	if (isWord && !isRequired && isMeant && /^(by|per)$/.test(next) && flag !== 'by' && slots.some(isGrouped))
		points += 4;
	if (side === 'target' && TO.has(said)) points += 4;
	if (side === 'source' && /^(from|between)$/.test(said)) points += 4;
	if (side === 'source' && (TO.has(next) || (form !== 'number' && isMeasure))) points += 3;
	// `before 10:00` is no time for a slot that only takes a time.
	const isPast = /^(from|since|after)$/.test(said) && side !== 'source';
	const isAhead = /^(before|until|till)$/.test(said) && side !== 'target';
	if (
		/^(date|time)$/.test(form) &&
		((side === 'source' && /^(since|after)$/.test(said)) || (side === 'target' && /^(before|until|till)$/.test(said)))
	)
		points += 4;
	if ((isPast || isAhead) && /^(name|unit|date|time)$/.test(form) && points < TOLD) return NEVER;
	if (form === 'number' && slot.kind === 'number') {
		// `300 calories` are no minutes.
		const isMany = after !== undefined && /[^s]s$/.test(after.lower) && !isFiller(after) && !isUnit(after.lower);
		if (isMany && !isCounted(after, slot, filling.action)) return NEVER;
		// What is measured is the value that a command cannot do without, where the command takes units.
		const units = [...literals, ...slots.flatMap(({ choices }) => choices)].flatMap(namesOfUnit);
		const isTaken = namesOfUnit(place.unit ?? '').some((name) => units.includes(name));
		const isValue = isMeasure && isTaken && isRequired && slots.some(({ kind }) => kind === 'name');
		return numberPoints(place, slot, points, isValue, filling.action);
	}
	return isWord && points < TOLD ? NEVER : points;
}

/** A sign tells, a fraction counts nothing, and a unit must be the one that the slot speaks of. */
function numberPoints(
	place: Place,
	{ labels, hints }: Slot,
	given: number,
	isValue: boolean,
	{ prose }: Action
): number {
	const { unit = '', value, direct, after, isPeople, period } = place;
	const words = [...labels, ...hints];
	const isPercent = words.some((word) => PERCENT.has(word));
	const isMoney = /^[$€£¥]$/.test(unit);
	const isCount = !isPercent && labels.some((label) => COUNT.has(label)) && !labels.some((label) => MONEY.has(label));
	const names = new Set([unit, ...namesOfUnit(unit)].map(stem));
	const isOwn = (word: string) => names.has(word) || (unit.length === 1 && word.startsWith(unit));
	const isSpoken = !words.some(isUnit) && [...prose].some(isOwn);
	const isKnownUnit = isSpoken || unit === '' || unit === '%' || isMoney || isValue || words.some(isOwn);
	const isKnownPeriod =
		period === '' || (unit === '%' && period === 'year') || words.some((word) => word.startsWith(period));
	const isDay = [direct, after].some((word) => word !== undefined && DAY_NAME.test(word.lower));
	// `by 3` is a change, no size.
	const isChange = direct?.lower === 'by' && labels.some((label) => SIZES.has(label));
	if (LIMITING.test(direct?.lower ?? '') || isChange || isDay || !isKnownUnit || !isKnownPeriod) return NEVER;
	if ((unit === '%' && !isPercent) || (isMoney && (isCount || isPercent))) return NEVER;
	if (isPeople && !words.some((word) => PEOPLE.has(word))) return NEVER;
	const isUnitSaid = unit !== '' && labels.some(isOwn);
	// A count is whole, and a large one has its unit beside it.
	const isWhole = /^[+-]?\d+(\.0+)?$/.test(value) && Number(value) <= 1000;
	if (isCount && given < TOLD && !isUnitSaid && !isWhole) return NEVER;
	const sign = unit === '%' ? 4 : isMoney ? 3 : isPeople || isUnitSaid ? 5 : 0;
	return given - 1 + sign + (isValue ? 3 : 0);
}

/** Pieces that can only be for the slots that are left, because there are as many. */
function lone(filling: Filling): void {
	for (const kind of ['date', 'time', 'url', 'email', 'number', 'file', 'text', 'name'] as const) {
		const slots = open(filling, kind).filter(({ choices }) => choices.length === 0);
		const fits = (place: Place) => (slot: Slot) =>
			(takes(slot, place, filling) ?? -1) > 0 && pointsOf(place, slot, filling) > NEVER;
		const apt = filling.places.filter((place) => isFree(place, filling) && slots.some(fits(place)));
		// A sign or quotation marks tell more than a capital: `to #dev on Discord`.
		const told = apt.filter(({ form }) => form !== 'name');
		const free = told.length > 0 ? told : apt;
		const usable: (Piece & { after?: Word | undefined })[] =
			free.length > 0 || kind !== 'name'
				? free
				: phrases(filling).filter(({ value }) => slots.some((slot) => isShaped(slot, value)));
		const required = slots.filter(({ isRequired }) => isRequired);
		// Numbers have no order: any of several slots may be meant.
		const isNumber = kind === 'number';
		const isOnly = slots.length === 1 && /^(date|time|url|email)$/.test(kind);
		const positional =
			required.length > 0 || isOnly ? (isOnly ? slots : required) : slots.filter(({ flag }) => flag === null);
		const rivals = isNumber ? slots.filter((slot) => free.some((place) => fits(place)(slot))) : positional;
		// `300x200` is a width and a height.
		const isProduct = isNumber && usable[1]?.start === (usable[0]?.end ?? 0) + 1;
		const [slot] = rivals;
		if (slot?.isRepeated)
			put(
				slot,
				usable.flatMap(({ value }) => value.split(/, ?/)),
				usable,
				filling
			);
		else if (
			rivals.length === usable.length &&
			(rivals.length === 1 || isProduct || kind === 'file' || kind === 'date')
		)
			for (const [index, each] of rivals.entries()) putLone(each, usable[index] as Place, filling);
	}
}

function putLone(slot: Slot, place: Place, filling: Filling): void {
	// An option is more than a number that is left: `for 5 friends`, `two tides` are no number of days.
	if (place.form === 'number' && !slot.isRequired && !isCounted(place.after, slot, filling.action)) return;
	if (slot.kind !== 'name' || !filling.isAnswered) put(slot, [place.value], [place], filling);
}

/** Is it a number of these that the slot takes, as far as the skill tells? */
function isCounted(noun: Word | undefined, slot: Slot, { own, prose, subject, counted }: Action): boolean {
	if (noun === undefined) return false;
	const isName = own.has(noun.stem) || subject.has(noun.stem);
	const isCount = /^-{0,2}(n|num|number|count|amount)$/i.test(slot.flag ?? slot.name);
	return [...slot.labels, ...slot.hints, ...counted].includes(noun.stem) || (isName ? isCount : prose.has(noun.stem));
}

/** Lower-case words after a preposition that nothing in the skill speaks of: `weather in rio de janeiro`. */
function phrases(filling: Filling): Piece[] {
	const { words, text } = filling.message;
	return words.flatMap((word, index): Piece[] => {
		const isPlace = /^(in|for|at|of|to|near|around|about)$/.test(words[index - 1]?.lower ?? '');
		if (!isPlace || !isOpenWord(word, filling) || /^\d/.test(word.text)) return [];
		let end = index;
		while (end < index + 3 && isOpenWord(words[end + 1], filling) && !words[end]?.endsClause && !words[end]?.hasComma)
			end += 1;
		const span = { start: word.start, end: words[end]?.end ?? word.end };
		return [{ ...span, value: text.slice(span.start, span.end), form: 'word' }];
	});
}

/** The file that came along, the one before, or the only one of its sort. */
function implied(filling: Filling): void {
	const { attached, earlier, workspace } = filling.message;
	// An option may be a file to write: what came along is for it only where nothing else takes a file.
	const hasOwn = filling.action.slots.some(({ kind, isRequired }) => kind === 'file' && isRequired);
	for (const slot of open(filling, 'file').filter(({ isRequired }) => isRequired || !hasOwn)) {
		const wanted = wantedExtensions(slot);
		const isNew = (path: string) => !isUsed(path, filling) && !filling.places.some(({ value }) => value === path);
		const fits = (path: string) => isNew(path) && (wanted.length === 0 || wanted.includes(extensionOf(path)));
		const others = slot.isRequired ? [...new Set([...earlier, ...workspace])].filter(fits) : [];
		const before = others.filter((path) => earlier.includes(path));
		const lists = [attached.filter(fits), before, others];
		const list = lists.find(({ length }) => length > 0) ?? [];
		if (list.length === 1 || slot.isRepeated) put(slot, list, [], filling);
	}
}

/** The text after the colon; a short one does for a name, too. */
function colon(filling: Filling): void {
	const { payload } = filling.message;
	if (!payload || !isFree(payload, filling)) return;
	const isShort = payload.value.length <= 80 && !payload.value.includes('\n');
	const fits = ({ kind, choices, isRequired, flag }: Slot) =>
		choices.length === 0 && (isRequired || flag === null) && (kind === 'text' || (kind === 'name' && isShort));
	const slot = open(filling).find(fits);
	if (slot) put(slot, [payload.value], [payload], filling);
}
