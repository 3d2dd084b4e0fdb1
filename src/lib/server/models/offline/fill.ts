/** Fills placeholders from a message: surest signs first, and no piece of the message is used twice. */
import { derivedOutput, impliedFile, namedFile } from './file-values.ts';
import type { FillContext, Filling, Found, Source } from './filling.ts';
import type { Slot } from './slots.ts';
import { assigned, chosen, labelled, patterned } from './said-values.ts';
import {
	afterOwnWords,
	afterPreposition,
	afterTextNoun,
	besideFolder,
	fallback,
	leftNumber,
	namedColumn
} from './left-values.ts';
import { afterColon, calledName, describedAs, paired, placed, quoted, shaped } from './told-values.ts';

/** In the order of trust. Each is tried for all placeholders before the next. */
const SOURCES: readonly Source[] = [
	assigned,
	chosen,
	patterned,
	namedFile,
	calledName,
	labelled,
	paired,
	quoted,
	afterColon,
	describedAs,
	shaped,
	placed,
	leftNumber,
	impliedFile,
	afterTextNoun,
	afterOwnWords,
	besideFolder,
	afterPreposition,
	derivedOutput,
	namedColumn,
	fallback
];
/** A placeholder with a list of values takes no others; one that is known by an example, what looks like that. */
const CHOICE_SOURCES: ReadonlySet<Source> = new Set([assigned, chosen, fallback]);
const SHAPE_SOURCES: ReadonlySet<Source> = new Set([assigned, shaped, fallback]);

export interface Filled {
	found: ReadonlyMap<Slot, Found>;
	/** Required, and the message has nothing for them. */
	missing: Slot[];
	/** Everything in the message that went into a value. */
	taken: Filling['taken'];
}

export function fillSlots(slots: readonly Slot[], context: FillContext, taken: Filling['taken'] = []): Filled {
	const filling: Filling = { ...context, slots, found: new Map(), taken: [...taken] };
	const ordered = [...slots.filter((slot) => slot.isRequired), ...slots.filter((slot) => !slot.isRequired)];
	for (const source of SOURCES) {
		for (const slot of ordered) {
			if (filling.found.has(slot) || !mayUse(slot, source)) continue;
			const found = sameName(slot, filling) ?? source(slot, filling);
			if (!found || found.value === '') continue;
			filling.found.set(slot, found);
			filling.taken.push(...found.spans);
		}
	}
	return {
		found: filling.found,
		missing: ordered.filter((slot) => slot.isRequired && !filling.found.has(slot)),
		taken: filling.taken
	};
}

function mayUse(slot: Slot, source: Source): boolean {
	if (slot.choices.length > 0) return CHOICE_SOURCES.has(source);
	return slot.kind === 'word' && slot.example !== null && slot.fallback !== null ? SHAPE_SOURCES.has(source) : true;
}

/** A placeholder that is written twice has one value. */
function sameName(slot: Slot, filling: Filling): Found | null {
	if (slot.example !== null) return null;
	const twin = [...filling.found].find(([other]) => other.name === slot.name && other.flag === slot.flag);
	return twin ? { ...twin[1], spans: [] } : null;
}
