/** What a placeholder asks for, told by its name, by what is said of it and by the value that an example shows. */
import { stem, tokenize } from '../skills/find/scores.ts';

/** `name`: a word or a short phrase; `text`: any text; `switch`: said or not said. */
export type SlotKind =
	'file' | 'output' | 'folder' | 'number' | 'url' | 'email' | 'date' | 'time' | 'text' | 'name' | 'switch' | 'object';

export interface Slot {
	/** As the instructions write it. */
	name: string;
	/** Stems of the words that call it by its name. */
	labels: string[];
	/** Stems of what is said of it. */
	hints: string[];
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

const EXTENSIONS: Record<string, string> = {
	csv: 'csv tsv',
	tsv: 'tsv csv',
	table: 'csv tsv xlsx',
	spreadsheet: 'xlsx csv ods tsv xls',
	xlsx: 'xlsx xls',
	json: 'json jsonl geojson',
	yaml: 'yaml yml',
	xml: 'xml',
	html: 'html htm',
	markdown: 'md markdown',
	md: 'md markdown',
	pdf: 'pdf',
	image: 'png jpg jpeg gif webp svg bmp tiff',
	picture: 'png jpg jpeg gif webp svg bmp tiff',
	photo: 'jpg jpeg png webp heic',
	png: 'png',
	svg: 'svg',
	audio: 'mp3 wav ogg flac m4a',
	video: 'mp4 mov webm mkv',
	log: 'log txt',
	txt: 'txt md',
	archive: 'zip tar gz tgz',
	zip: 'zip',
	document: 'pdf docx md txt odt',
	docx: 'docx'
};

const KINDS: [SlotKind, string][] = [
	['output', 'output out outfile'],
	[
		'file',
		`file files filename filepath path paths input infile data dataset doc ${Object.keys(EXTENSIONS).join(' ')}`
	],
	['folder', 'dir directory folder root workspace'],
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
	[
		'name',
		'city place location country user username id key channel column columns field name tag branch language unit'
	]
];
const KIND_BY_WORD = new Map(KINDS.flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind] as const)));
const SOURCE = new Set('source src from origin old before a first left base start min'.split(' '));
const TARGET = new Set('target dest destination to into new after b second right end max'.split(' '));
const VAGUE = new Set(
	'a b n k x y s q the of in by for at on with per into as number name id value text string file path input arg argument type to from'.split(
		' '
	)
);
const EXAMPLE_FILE = /^(?:[\w.~-]*\/)*[\w.~-]*[\w-]\.[a-z][a-z0-9]{0,5}$/i;
const DOMAIN_ENDINGS = new Set('com org net io dev edu gov eu de uk fr app ai'.split(' '));
export const ISO_DATE = /^\d{4}-\d{1,2}-\d{1,2}$/;
const CLOCK = /^\d{1,2}:\d{2}$/;

export type SlotOptions = Partial<Omit<Slot, 'name' | 'labels' | 'side' | 'kind' | 'hints'>> & {
	/** Overrules what the name says. */
	kind?: SlotKind | undefined;
	/** What is said of it. */
	about?: string;
};

export function makeSlot(name: string, options: SlotOptions = {}): Slot {
	const { flag = null, example = null, about = '' } = options;
	const words = [...slotWords(flag ?? ''), ...(name.includes('|') ? [] : slotWords(name))];
	const telling = words.filter((word) => !VAGUE.has(word));
	const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
	const kind =
		options.kind ??
		(options.choices?.length ? 'name' : kindOf(slotWords(name), slotWords(flag ?? ''), example)) ??
		'name';
	return {
		name,
		labels: [...new Set((telling.length > 0 ? telling : words.filter((word) => word.length > 2)).map(stem))],
		hints: tokenize(about),
		kind,
		side: kind === 'output' || has(TARGET) ? 'target' : has(SOURCE) ? 'source' : null,
		flag,
		choices: options.choices ?? [],
		isRequired: options.isRequired ?? true,
		isRepeated: options.isRepeated ?? false,
		example
	};
}

/** An example tells most, then the name, then the flag; an output is one wherever that is said. */
function kindOf(words: readonly string[], flag: readonly string[], example: string | null): SlotKind | null {
	const byFlag = kindOfWords(flag);
	const byName = kindOfWords(words);
	const shown = example === null ? null : kindOfValue(example);
	if (byFlag === 'output' && (shown ?? byName ?? 'file') === 'file') return 'output';
	const told = byName ?? byFlag;
	// What is shown is no number, so none is wanted.
	return shown ?? (example !== null && told === 'number' ? 'name' : told);
}

/** The last word that tells decides, as in `NUMBER_COLUMN`. */
export function kindOfWords(words: readonly string[]): SlotKind | null {
	const kinds = words.flatMap((word) => KIND_BY_WORD.get(word) ?? []);
	return kinds.includes('output') ? 'output' : (kinds.at(-1) ?? null);
}

function kindOfValue(value: string): SlotKind | null {
	if (/^[+-]?\d+([.,]\d+)?$/.test(value)) return 'number';
	if (ISO_DATE.test(value)) return 'date';
	if (CLOCK.test(value)) return 'time';
	if (/^https?:\/\//i.test(value) || isDomain(value)) return 'url';
	if (/^[^\s@]+@[^\s@]+\.[a-z]{2,}$/i.test(value)) return 'email';
	if (isFileName(value))
		return /(^|\/)(out|output|result|dest|new)[\w-]*\.\w+$/i.test(value)
			? 'output'
			: value.endsWith('/')
				? 'folder'
				: 'file';
	return null;
}

/** `CHANNEL_ID`, `channelId`, `--channel-id` → `channel`, `id`. */
export function slotWords(name: string): string[] {
	return name
		.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
		.toLowerCase()
		.replace(/\d+$/, '')
		.split(/[^\p{L}\p{N}]+/u)
		.filter((word) => word !== '');
}

/** Extensions that the slot's name or example calls for, best first; empty when any will do. */
export function wantedExtensions({ name, flag, example, hints }: Slot): string[] {
	const shown = example !== null && isFileName(example) ? extensionOf(example) : '';
	const named = [...slotWords(name), ...slotWords(flag ?? ''), ...hints].flatMap(extensionsOf);
	const alike = Object.values(EXTENSIONS).filter((group) => group.split(' ').includes(shown));
	return shown === '' ? named : [shown, ...named, ...alike.join(' ').split(' ')];
}

function extensionsOf(word: string): string[] {
	return Object.hasOwn(EXTENSIONS, word) ? (EXTENSIONS[word] ?? '').split(' ') : [];
}

export function extensionOf(path: string): string {
	return /[^/\\]\.([A-Za-z][A-Za-z0-9]{0,5})$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/** Does the word look like the name of a file or a path, rather than like prose or a web address? */
export function isFileName(word: string): boolean {
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word) || /^(\p{L}{1,3}\/\p{L}{1,3}|\d+\/\d+|and\/or|yes\/no)$/iu.test(word))
		return false;
	if (/^(\.{0,2}\/|~\/)./.test(word) || /^[\w.-]+\/$/.test(word)) return true;
	if (/^[\w.~-]+(\/[\w.~-]+)+$/.test(word)) return /[a-z]/i.test(word);
	return EXAMPLE_FILE.test(word) && !isDomain(word) && !/^([a-z]\.)+[a-z]$/i.test(word);
}

export function isDomain(word: string): boolean {
	return /^([a-z0-9-]+\.)+[a-z]{2,}$/i.test(word) && DOMAIN_ENDINGS.has(extensionOf(word));
}

/** A bare word, such as the values of an option are. */
export function isName(text: string): boolean {
	return /^[A-Za-z][\w-]*$/.test(text) && !isFileName(text);
}
