/**
 * What has changed since the model was last told: the date, files, matching skills. It follows the history, so what stands
 * before it stays byte for byte the same, and a server can reuse its cache of that.
 */
import { plainLine, withoutHidden } from '../../shared/characters.ts';
import { isObject } from '../../shared/json.ts';
import type { ResponseItem } from './model.ts';

/** The content of a note, without what an earlier one said. */
interface Told {
	/** The day and the time zone. */
	date?: string;
	/** `bytes` is null for a file that is gone. */
	files?: { path: string; bytes: number | null }[];
	skills?: { name: string; description: string }[];
	/** Skills that the message means and that can’t be used: told with each such message. */
	unusable?: readonly { name: string; why: string }[];
	/** Not told but kept, for Demo mode: skills that may fit this message, if they could be used. */
	shelved?: readonly { name: string; why: string; description: string }[];
	/** Not told but kept: calls whose results were left out from here on. */
	leftOut?: string[];
	/** Not told but kept: files that a model's server refused. */
	refused?: { model: string; files: string[] };
}

/** A user message of ours. `told` is never sent. */
export type TurnNote = ResponseItem & { told: Told };

/** What the notes of a conversation have said. */
export interface Known {
	date: string | null;
	/** Size by path. */
	files: ReadonlyMap<string, number>;
	/** Description by name. */
	skills: ReadonlyMap<string, string>;
}

export function isNote(item: unknown): item is TurnNote {
	return isObject(item) && item.type === 'message' && item.role === 'user' && isObject(item.told);
}

/** Folds the notes among these items. */
export function knownFrom(items: readonly unknown[]): Known {
	const files = new Map<string, number>();
	const skills = new Map<string, string>();
	let date: string | null = null;
	for (const { told } of items.filter(isNote)) {
		date = told.date ?? date;
		for (const { path, bytes } of told.files ?? []) {
			if (bytes === null) files.delete(path);
			else files.set(path, bytes);
		}
		for (const { name, description } of told.skills ?? []) skills.set(name, description);
	}
	return { date, files, skills };
}

/** Keeps results left out in later requests, too: putting them back would cost the cache of everything after them. */
export function leavesOut(callIds: readonly string[]): TurnNote {
	return { type: 'message', role: 'user', content: [], told: { leftOut: [...callIds] } };
}

/** Ids of the calls whose results the notes among these items leave out. */
export function leftOutBy(items: readonly unknown[]): ReadonlySet<unknown> {
	return new Set(items.filter(isNote).flatMap(({ told }) => told.leftOut ?? []));
}

/** Keeps files that a server refused out of later requests to its model: each would cost a request that fails. */
export function refuses(model: string, files: readonly string[]): TurnNote {
	return { type: 'message', role: 'user', content: [], told: { refused: { model, files: [...files] } } };
}

/** The files that the notes among these items keep from this model. */
export function refusedBy(items: readonly unknown[], model: string): ReadonlySet<string> {
	const refusals = items.filter(isNote).map(({ told }) => told.refused);
	return new Set(refusals.flatMap((refused) => (refused?.model === model ? refused.files : [])));
}

/** Files of the working directory that the model is told about. */
const MAX_FILES = 200;

export interface Now {
	date: Date;
	/** All files of the working directory, in order. */
	files: readonly { path: string; bytes: number }[];
	/** Skills that may fit the question, best first. */
	skills: readonly { name: string; description: string }[];
	/** Content for the files attached to the message. */
	attached?: readonly object[];
	/** Skills that the message names, or that are pinned, and that can’t be used now. */
	unusable?: readonly { name: string; why: string }[];
	/** Others that may fit the question, and that can’t be used now. */
	shelved?: Told['shelved'];
}

/** A note of what isn't known yet; null if nothing is new. */
export function noteOf(
	{ date, files, skills, attached = [], unusable = [], shelved = [] }: Now,
	known: Known
): TurnNote | null {
	const day = dayOf(date);
	const there = new Set(files.map(({ path }) => path));
	const shown = files.slice(0, MAX_FILES);
	const told: Told = {
		date: day === known.date ? undefined : day,
		files: [
			...shown.filter(({ path, bytes }) => known.files.get(path) !== bytes).map(({ path, bytes }) => ({ path, bytes })),
			...[...known.files.keys()].filter((path) => !there.has(path)).map((path) => ({ path, bytes: null }))
		],
		skills: skills
			.filter(({ name, description }) => known.skills.get(name) !== description)
			.map(({ name, description }) => ({ name, description })),
		...(unusable.length > 0 && { unusable: unusable.map(({ name, why }) => ({ name, why })) }),
		...(shelved.length > 0 && { shelved })
	};
	const text = render(told, files.length - shown.length);
	const content = [...(text === '' ? [] : [{ type: 'input_text', text }]), ...attached];
	return content.length === 0 && shelved.length === 0 ? null : { type: 'message', role: 'user', content, told };
}

function render({ date, files = [], skills = [], unusable = [] }: Told, moreFiles: number): string {
	const present = files.flatMap(({ path, bytes }) => (bytes === null ? [] : `- ${fileName(path)} (${bytes} bytes)`));
	const gone = files.flatMap(({ path, bytes }) => (bytes === null ? fileName(path) : []));
	const more = moreFiles > 0 ? [`… and ${moreFiles} more files`] : [];
	const parts = [
		...(date === undefined ? [] : [`Today is ${date}.`]),
		...(present.length > 0
			? [`## Working directory\n\nNew or changed files:\n${[...present, ...more].join('\n')}`]
			: []),
		...(gone.length > 0 ? [`Files that are gone: ${gone.join(', ')}`] : []),
		...(skills.length > 0
			? [
					'## Skills that may fit this message',
					...skills.map(({ name, description }) => `### ${name}\n${inert(description)}`)
				]
			: []),
		...(unusable.length > 0
			? [
					`## Skills that can’t be used now\n\nSay so where they are asked for:\n${unusable.map(({ name, why }) => `- ${plainLine(inert(`${name} is ${why}`))}`).join('\n')}`
				]
			: [])
	];
	return parts.length === 0 ? '' : `<context>\n${parts.join('\n\n')}\n</context>`;
}

function fileName(path: string): string {
	return inert(plainLine(path));
}

/** Keeps a foreign text from ending the block. */
function inert(text: string): string {
	return withoutHidden(text).replace(/<(?=\/?context\b)/gi, '&lt;');
}

function dayOf(date: Date): string {
	const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
	const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
	return `${new Intl.DateTimeFormat('en-GB', day).format(date)}, time zone ${timeZone}`;
}
