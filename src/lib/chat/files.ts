/** Names and addresses of workspace files. */
import { plainLine } from '../shared/characters.ts';

/** How a file is shown; `page` is HTML. */
export type FileKind = 'image' | 'table' | 'markdown' | 'json' | 'page' | 'text' | 'other';

const IMAGE = /\.(png|jpe?g|gif|webp|avif|svg)$/i;
const TABLE = /\.(csv|tsv)$/i;
const MARKDOWN = /\.(md|markdown)$/i;
const JSON_TEXT = /\.(json|geojson|ipynb)$/i;
const PAGE = /\.html?$/i;
const TEXT =
	/\.(txt|jsonl|log|xml|ya?ml|toml|ini|css|js|mjs|cjs|jsx|ts|tsx|svelte|vue|py|rb|rs|go|java|kt|c|h|cpp|cs|php|sh|bash|ps1|sql|diff|patch|tex|srt|vtt|ics|vcf)$/i;
const MAX_NAME = 120;

export function fileKind(path: string): FileKind {
	if (IMAGE.test(path)) return 'image';
	if (TABLE.test(path)) return 'table';
	if (MARKDOWN.test(path)) return 'markdown';
	if (JSON_TEXT.test(path)) return 'json';
	if (PAGE.test(path)) return 'page';
	return TEXT.test(path) ? 'text' : 'other';
}

export function fileName(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1);
}

/** Where a workspace file is uploaded to and downloaded from. `version` only keeps caches from showing an older one. */
export function fileUrl(conversationId: string, path: string, version?: string): string {
	const segments = path.split('/').map(encodeURIComponent).join('/');
	const query = version === undefined ? '' : `?v=${encodeURIComponent(version)}`;
	return `/api/conversations/${encodeURIComponent(conversationId)}/files/${segments}${query}`;
}

/** The same file, to be looked at in a frame: a page without its scripts. */
export function viewUrl(url: string): string {
	return `${url}${url.includes('?') ? '&' : '?'}view`;
}

/** A name that fits into one path segment on every system, as close to `name` as can be. */
export function safeName(name: string): string {
	const cleaned = plainLine(name.toWellFormed())
		.normalize('NFC')
		.replace(/[/\\:*?"<>|]/g, '_')
		.replace(/^[.\s]+|[.\s]+$/g, '');
	if (cleaned === '') return 'file';
	const [stem, extension] = splitExtension(cleaned);
	// Cutting by code points keeps an emoji whole.
	return [...stem].slice(0, MAX_NAME - extension.length).join('') + extension;
}

/** Each name as it is, or as `name (2)`, `name (3)` … where it is taken; case does not tell names apart. */
export function uniqueNames(names: string[], taken: Iterable<string>): string[] {
	const used = new Set([...taken].map((path) => path.toLowerCase()));
	return names.map((name) => {
		const [stem, extension] = splitExtension(name);
		let candidate = name;
		for (let number = 2; used.has(candidate.toLowerCase()); number++) candidate = `${stem} (${number})${extension}`;
		used.add(candidate.toLowerCase());
		return candidate;
	});
}

function splitExtension(name: string): [stem: string, extension: string] {
	const dot = name.lastIndexOf('.');
	return dot > 0 && name.length - dot <= 12 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
}
