/** What a placeholder asks for, told by its name: `FILE`, `<city>`, `{count}`, `CHANNEL_ID`, or the key of a schema. */

export type SlotKind =
	'file' | 'output' | 'folder' | 'number' | 'url' | 'email' | 'date' | 'text' | 'place' | 'id' | 'column' | 'word';

export interface Slot {
	/** As the instructions write it. */
	name: string;
	/** The name in lower-case words. */
	words: string[];
	kind: SlotKind;
	/** Of a pair such as SOURCE and TARGET, FROM and TO. */
	side: 'source' | 'target' | null;
	/** `--days` in `--days NUMBER`; null for a positional argument or a property. */
	flag: string | null;
	/** The only values it takes; empty when it takes any. */
	choices: string[];
	isRequired: boolean;
	/** Takes all values there are (`FILE...`). */
	isRepeated: boolean;
	/** What the instructions show in its place, such as `data.csv` or `"Hello"`; null for a mere name. */
	example: string | null;
	/** Used when the message says nothing; null when there is no such value. */
	fallback: string | null;
}

/** Extensions of the files that a word in a name speaks of. */
const EXTENSIONS: Record<string, string[]> = {
	csv: ['csv', 'tsv'],
	tsv: ['tsv', 'csv'],
	table: ['csv', 'tsv', 'xlsx'],
	spreadsheet: ['xlsx', 'csv', 'ods', 'tsv', 'xls'],
	xlsx: ['xlsx', 'xls'],
	json: ['json', 'jsonl', 'geojson'],
	yaml: ['yaml', 'yml'],
	xml: ['xml'],
	html: ['html', 'htm'],
	markdown: ['md', 'markdown'],
	md: ['md', 'markdown'],
	pdf: ['pdf'],
	image: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'svg', 'bmp', 'tiff'],
	picture: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'svg', 'bmp', 'tiff'],
	photo: ['jpg', 'jpeg', 'png', 'webp', 'heic'],
	png: ['png'],
	svg: ['svg'],
	audio: ['mp3', 'wav', 'ogg', 'flac', 'm4a'],
	video: ['mp4', 'mov', 'webm', 'mkv'],
	log: ['log', 'txt'],
	txt: ['txt', 'md'],
	archive: ['zip', 'tar', 'gz', 'tgz'],
	zip: ['zip'],
	document: ['pdf', 'docx', 'md', 'txt', 'odt'],
	docx: ['docx']
};

const KIND_WORDS: [SlotKind, string][] = [
	['output', 'output out outfile'],
	[
		'file',
		`file files filename filepath path paths input infile data dataset doc attachment ${Object.keys(EXTENSIONS).join(' ')}`
	],
	['folder', 'dir directory folder root workspace'],
	[
		'number',
		'n k m x y w h num number count int integer limit size width height amount days hours minutes seconds weeks months years day hour minute second ' +
			'year top sides length port percent percentage age price quantity max min maximum minimum seed scale factor depth page value rate times dpi ' +
			'rounds rows lines total sum temperature weight distance level digits precision decimals quality duration threshold'
	],
	['url', 'url uri link website webpage endpoint href'],
	['email', 'email mail recipient'],
	['date', 'date since until start end deadline birthday when'],
	[
		'text',
		'text message query string content sentence prompt body title phrase expression formula words comment note description subject question term ' +
			'pattern keyword keywords expr search msg paragraph word letters input_text regex topic equation summary task s q str code snippet'
	],
	['place', 'city place location country town address where destination_city'],
	[
		'id',
		'id ids key channel user username repo repository ticket issue identifier hash token ref branch tag version host domain'
	],
	['column', 'column columns field fields col']
];

const KIND_BY_WORD = new Map(
	KIND_WORDS.flatMap(([kind, words]) => words.split(' ').map((word): [string, SlotKind] => [word, kind]))
);
const SOURCE_WORDS = new Set(['source', 'src', 'from', 'origin', 'old', 'before', 'a', 'first', 'left', 'base']);
const TARGET_WORDS = new Set(['target', 'dest', 'destination', 'to', 'into', 'new', 'after', 'b', 'second', 'right']);
const EXAMPLE_FILE = /^(?:[\w.~-]*\/)*[\w.~-]*[\w-]\.[a-z][a-z0-9]{0,5}$/i;
const DOMAIN_ENDINGS = new Set(['com', 'org', 'net', 'io', 'dev', 'edu', 'gov', 'eu', 'de', 'uk', 'fr', 'app', 'ai']);

export interface SlotOptions {
	flag?: string | null;
	choices?: string[];
	isRequired?: boolean;
	isRepeated?: boolean;
	example?: string | null;
	fallback?: string | null;
	/** Overrules what the name says. */
	kind?: SlotKind | undefined;
}

export function makeSlot(name: string, options: SlotOptions = {}): Slot {
	const words = slotWords(name);
	const flag = options.flag ?? null;
	const flagWords = flag === null ? [] : slotWords(flag);
	const sided = [...words, ...flagWords];
	return {
		name,
		words,
		kind: options.kind ?? kindOfWords(words) ?? kindOfWords(flagWords) ?? 'word',
		side: sided.some((word) => SOURCE_WORDS.has(word))
			? 'source'
			: sided.some((word) => TARGET_WORDS.has(word))
				? 'target'
				: null,
		flag,
		choices: options.choices ?? [],
		isRequired: options.isRequired ?? true,
		isRepeated: options.isRepeated ?? false,
		example: options.example ?? null,
		fallback: options.fallback ?? null
	};
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

/** The last word that tells decides, as in `NUMBER_COLUMN`; but an output is one wherever that is said. */
export function kindOfWords(words: readonly string[]): SlotKind | null {
	const kinds = words.flatMap((word) => KIND_BY_WORD.get(word) ?? []);
	return kinds.includes('output') ? 'output' : (kinds.at(-1) ?? null);
}

/** Extensions that the slot's name or example calls for, best first; empty when any will do. */
export function wantedExtensions(slot: Slot): string[] {
	const shown = slot.example !== null && isFileName(slot.example) ? extensionOf(slot.example) : '';
	const named = slot.words.flatMap((word) => EXTENSIONS[word] ?? []);
	return shown === ''
		? named
		: [shown, ...named, ...Object.values(EXTENSIONS).flatMap((group) => (group.includes(shown) ? group : []))];
}

export function extensionOf(path: string): string {
	return /[^/\\]\.([A-Za-z][A-Za-z0-9]{0,5})$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/** Does the word look like the name of a file or a path, rather than like prose or a web address? */
export function isFileName(word: string): boolean {
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word) || /^(and\/or|km\/h|n\/a|he\/she|yes\/no|w\/o)$/i.test(word)) return false;
	if (/^(\.{0,2}\/|~\/)./.test(word) || /^[\w.-]+\/$/.test(word)) return true;
	if (/^[\w.~-]+(\/[\w.~-]+)+$/.test(word)) return /[a-z]/i.test(word);
	return EXAMPLE_FILE.test(word) && !isDomain(word) && !/^([a-z]\.)+[a-z]$/i.test(word);
}

export function isDomain(word: string): boolean {
	return /^([a-z0-9-]+\.)+[a-z]{2,}$/i.test(word) && DOMAIN_ENDINGS.has(extensionOf(word));
}
