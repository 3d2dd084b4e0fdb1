/** What a placeholder asks for, told by its name, by what is said of it and by the value that an example shows. */
import { stem, tokenize } from '../skills/find/words.ts';

/** `name`: a word or a short phrase; `text`: any text; `switch`: said or not said. */
export type SlotKind =
	'file' | 'output' | 'number' | 'url' | 'email' | 'date' | 'time' | 'text' | 'name' | 'switch' | 'object';

export interface Slot {
	/** As the instructions write it. */
	name: string;
	/** Stems of the words that call it by its name. */
	labels: string[];
	/** Stems of what is said of it. */
	hints: string[];
	/** What is said of it; '' for nothing. */
	about: string;
	kind: SlotKind;
	/** Of a pair such as SOURCE and TARGET, FROM and TO. */
	side: 'source' | 'target' | null;
	/** `--days` in `--days NUMBER`; null for a positional argument or a required property. */
	flag: string | null;
	/** The only values it takes; empty when it takes any. */
	choices: string[];
	isRequired: boolean;
	/** Takes all values there are (`FILE...`). */
	isRepeated: boolean;
	/** What the instructions show in its place, such as `data.csv` or `Hello`. */
	example: string | null;
}

/** Endings that are as good as each other, and words that call for such files. */
const EXTENSIONS = [
	'csv tsv table spreadsheet',
	'xlsx xls excel workbook table spreadsheet',
	'json jsonl geojson',
	'yaml yml',
	'html htm',
	'md markdown txt log',
	'png jpg jpeg gif webp svg image picture photo',
	'pdf',
	'zip'
].map((group) => group.split(' '));

const KINDS: [SlotKind, string][] = [
	['output', 'output out outfile'],
	[
		'file',
		`dir directory folder file files filename filepath path paths input infile data dataset doc document ${EXTENSIONS.flat().join(' ')}`
	],
	[
		'number',
		'n k m x y w h num number count int integer limit size width height amount days hours minutes seconds weeks months years day hour minute second ' +
			'year top sides length port percent percentage age price quantity max min maximum minimum seed scale factor depth page rate times dpi rounds ' +
			'rows lines total sum temperature weight distance level digits precision decimals quality duration threshold people bill cost principal value servings'
	],
	['url', 'url uri link website webpage endpoint href'],
	['email', 'email mail recipient'],
	['date', 'date since until start end deadline birthday'],
	['time', 'time'],
	[
		'text',
		'text message query string content sentence prompt body title phrase expression formula words comment note description question pattern keyword ' +
			'keywords expr search msg paragraph word letters regex topic equation summary task s q str code snippet'
	],
	['name', 'column columns id key name unit']
];
const KIND_BY_WORD = new Map(KINDS.flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind] as const)));
const SOURCE = new Set('source src from origin old before a first left base start min since'.split(' '));
const TARGET = new Set('target dest destination to into new after b second right end max until'.split(' '));
const VAGUE = new Set(
	'a b n k x y s q the of in by for at on with per into as number name id value text string file path input arg argument type to from'.split(
		' '
	)
);
const EXAMPLE_FILE = /^(?:[\w.~-]*\/)*[\w.~-]*[\w-]\.[a-z][a-z0-9]{0,5}$/i;
const DOMAIN_ENDINGS = new Set('com org net io dev edu gov eu de uk fr app ai'.split(' '));

export type SlotOptions = Partial<Omit<Slot, 'name' | 'labels' | 'side' | 'kind' | 'hints'>> & {
	/** Overrules what the name says. */
	kind?: SlotKind | undefined;
};

export function makeSlot(name: string, options: SlotOptions = {}): Slot {
	const { flag = null, example = null, about = '', choices = [], isRequired = true, isRepeated = false } = options;
	const words = [...slotWords(flag ?? ''), ...(name.includes('|') ? [] : slotWords(name))];
	const telling = words.filter((word) => !VAGUE.has(word));
	const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
	const kind =
		options.kind ?? (choices.length > 0 ? 'name' : kindOf(slotWords(name), slotWords(flag ?? ''), example)) ?? 'name';
	return {
		name,
		labels: [...new Set((telling.length > 0 ? telling : words.filter((word) => word.length > 2)).map(stem))],
		hints: tokenize(about),
		about,
		kind,
		side: kind === 'output' || has(TARGET) ? 'target' : has(SOURCE) ? 'source' : null,
		flag,
		choices,
		isRequired,
		isRepeated,
		example
	};
}

/** An example tells most, then the name, then the flag. */
function kindOf(words: readonly string[], flag: readonly string[], example: string | null): SlotKind | null {
	const told = kindOfWords(words) ?? kindOfWords(flag);
	const shown = example === null ? null : kindOfValue(example);
	// What is shown is no number, so none is wanted.
	return shown ?? (example !== null && told === 'number' ? 'name' : told);
}

/** `HH:MM`, `YYYY-MM-DD`; else the last word that tells decides, as in `NUMBER_COLUMN`. */
export function kindOfWords(words: readonly string[]): SlotKind | null {
	if (/^(hh mm|yyyy mm dd)$/.test(words.join(' '))) return words.length === 2 ? 'time' : 'date';
	return words.flatMap((word) => KIND_BY_WORD.get(word) ?? []).at(-1) ?? null;
}

function kindOfValue(value: string): SlotKind | null {
	if (/^[+-]?\d+([.,]\d+)?$/.test(value)) return 'number';
	if (/^\d{4}-\d{1,2}-\d{1,2}$/.test(value)) return 'date';
	if (/^\d{1,2}:\d{2}$/.test(value)) return 'time';
	if (/^https?:\/\//i.test(value) || isDomain(value)) return 'url';
	if (/^[^\s@]+@[^\s@]+\.[a-z]{2,}$/i.test(value)) return 'email';
	if (!isFileName(value)) return null;
	return /(^|\/)(out|output|result|dest|new)[\w-]*\.\w+$/i.test(value) ? 'output' : 'file';
}

/** `CHANNEL_ID`, `channelId`, `--channel-id` → `channel`, `id`. */
export function slotWords(name: string): string[] {
	const apart = name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
	return apart.replace(/\d+$/, '').match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Extensions that the slot's name or example calls for, best first; empty when any will do. */
export function wantedExtensions({ name, flag, example }: Slot): string[] {
	const shown = example === null ? '' : extensionOf(example);
	const words = [shown, ...slotWords(name), ...slotWords(flag ?? '')];
	const groups = EXTENSIONS.filter((group) => group.some((word) => words.includes(word))).flat();
	return shown === '' ? groups : [shown, ...groups];
}

/** Files that have to be seen or heard, or hold no plain text. */
const SEEN = new Set('pdf png jpg jpeg gif webp heic bmp docx xlsx pptx mp3 wav m4a mp4 mov'.split(' '));

export function isSeen(path: string): boolean {
	return SEEN.has(extensionOf(path));
}

/** The words that call for files like this one. */
export function wordsForFile(path: string): string[] {
	const extension = extensionOf(path);
	return EXTENSIONS.find((group) => group.includes(extension)) ?? [extension];
}

/** How well a text of these stems speaks of such a file: 3 by its ending, 2 by another word for it, 1 where it speaks of none, 0 of others. */
export function speaksOf(path: string, stems: ReadonlySet<string>): number {
	const speaks = (words: readonly string[]) => words.some((word) => stems.has(stem(word)));
	const extension = extensionOf(path);
	if (speaks([extension])) return 3;
	// `A harbour log` may be kept in any file.
	const isOther = speaks(
		EXTENSIONS.flat().filter((word) => !/^(log|table|spreadsheet|image|picture|photo|zip)$/.test(word))
	);
	return speaks(wordsForFile(path)) ? 2 : Number(extension === '' || !isOther);
}

/** Are files such as this the first that a description speaks of? Then it's about them. */
export function isFirstOf(path: string, description: string): boolean {
	const kinds = new Set(EXTENSIONS.flat());
	const [first] = (description.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => kinds.has(word));
	return first !== undefined && first === extensionOf(path);
}

/** Does the word stand for a file that can be attached? */
export function isFileNoun(word: string): boolean {
	const noun = word.replace(/s$/, '');
	return /^(file|document|doc|attachment)$/.test(noun) || EXTENSIONS.flat().includes(noun);
}

export function extensionOf(path: string): string {
	return /[^/\\]\.([A-Za-z][A-Za-z0-9]{0,5})$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/** Does the word look like the name of a file or a path, rather than like prose or a web address? */
export function isFileName(word: string): boolean {
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return false;
	if (/^(\.{0,2}\/|~\/)./.test(word)) return true;
	if (/^[\w.~-]+(\/[\w.~-]+)+$/.test(word)) return /[a-z]/i.test(word) && !/^\w{1,3}\/\w{1,3}$/.test(word);
	return EXAMPLE_FILE.test(word) && !isDomain(word) && !/^([a-z]\.)+[a-z]$/i.test(word);
}

export function isDomain(word: string): boolean {
	return /^([a-z0-9-]+\.)+[a-z]{2,}$/i.test(word) && DOMAIN_ENDINGS.has(extensionOf(word));
}

/** A bare word, such as the values of an option are. */
export function isName(text: string): boolean {
	return /^[A-Za-z][\w-]*$/.test(text) && !isFileName(text);
}
