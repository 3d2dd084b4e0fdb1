/** What a file is, by its name, and the headers it's served with: it never acts as a page of ours. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Shown in a frame of our page: `plain` without scripts, `scripts` with those in the file, but without network and origin. */
export type FileView = 'plain' | 'scripts' | null;

/** Headers of a workspace file, which must never act as a page of ours. Only HTML and SVG have a view; other types stay downloads. */
export function fileHeaders(path: string, bytes: number, view: FileView): Record<string, string> {
	const name = encodeURIComponent(path.split('/').at(-1) ?? 'file');
	const headers = {
		'content-length': String(bytes),
		'accept-ranges': 'bytes',
		'x-content-type-options': 'nosniff',
		'cache-control': 'no-cache'
	};
	const isPage = /\.html?$/i.test(path);
	if (view !== null && (isPage || /\.svg$/i.test(path))) {
		return {
			...headers,
			'content-type': isPage ? 'text/html; charset=utf-8' : 'image/svg+xml',
			'content-disposition': `inline; filename*=UTF-8''${name}`,
			// Own origin; no forms, popups or requests; only framed by us.
			'content-security-policy': `${view === 'scripts' ? WITH_SCRIPTS : 'sandbox'}; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`,
			'x-frame-options': 'SAMEORIGIN',
			'x-dns-prefetch-control': 'off'
		};
	}
	// Never with `sandbox`, in which no browser shows a PDF; by its type it is nothing else.
	if (view === 'plain' && /\.pdf$/i.test(path)) {
		return {
			...headers,
			'content-type': 'application/pdf',
			'content-disposition': `inline; filename*=UTF-8''${name}`,
			'content-security-policy':
				"default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
			'x-frame-options': 'SAMEORIGIN'
		};
	}
	return {
		...headers,
		'content-type': servedType(path),
		'content-disposition': `attachment; filename*=UTF-8''${name}`,
		'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'"
	};
}

const WITH_SCRIPTS = "sandbox allow-scripts; script-src 'unsafe-inline'";

/** The file, or the range that a player requests. Closes the file. */
export function fileResponse(
	{ file, bytes }: { file: FileHandle; bytes: number },
	{ path, view, range }: { path: string; view: FileView; range: string | null }
): Response {
	const headers = fileHeaders(path, bytes, view);
	const part = partOf(range, bytes);
	const body = Readable.toWeb(file.createReadStream(part ?? {})) as ReadableStream<Uint8Array<ArrayBuffer>>;
	if (!part) return new Response(body, { headers });
	const { start, end } = part;
	return new Response(body, {
		status: 206,
		headers: {
			...headers,
			'content-length': String(end - start + 1),
			'content-range': `bytes ${start}-${end}/${bytes}`
		}
	});
}

/** null for the whole file: without a range, or with several or an unsatisfiable one. */
function partOf(range: string | null, bytes: number): { start: number; end: number } | null {
	const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
	if (first === '' && last === '') return null;
	const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
	const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
	return start <= end ? { start, end } : null;
}

/** By file extension. */
const TYPES: Readonly<Record<string, string>> = {
	md: 'text/markdown',
	txt: 'text/plain',
	json: 'application/json',
	csv: 'text/csv',
	tsv: 'text/tab-separated-values',
	yaml: 'application/yaml',
	yml: 'application/yaml',
	html: 'text/html',
	css: 'text/css',
	js: 'text/javascript',
	mjs: 'text/javascript',
	cjs: 'text/javascript',
	ts: 'text/typescript',
	py: 'text/x-python',
	sh: 'text/x-shellscript',
	bash: 'text/x-shellscript',
	svg: 'image/svg+xml',
	png: 'image/png',
	jpg: 'image/jpeg',
	jpeg: 'image/jpeg',
	gif: 'image/gif',
	webp: 'image/webp',
	avif: 'image/avif',
	mp3: 'audio/mpeg',
	wav: 'audio/wav',
	ogg: 'audio/ogg',
	opus: 'audio/ogg',
	m4a: 'audio/mp4',
	flac: 'audio/flac',
	mp4: 'video/mp4',
	webm: 'video/webm',
	mov: 'video/quicktime',
	pdf: 'application/pdf',
	zip: 'application/zip'
};

/** The media type of a file, by its extension; null if unknown. */
export function mediaTypeOf(path: string): string | null {
	return TYPES[/\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''] ?? null;
}

/** The file extension for a media type, with its dot; empty if unknown. */
export function extensionOf(mediaType: string): string {
	const wanted = mediaType.split(';')[0]?.trim().toLowerCase();
	const extension = Object.keys(TYPES).find((each) => TYPES[each] === wanted);
	return extension === undefined ? '' : `.${extension}`;
}

/** Pictures, sound, films and data have their types; what a browser could run or draw as a page is only bytes. */
function servedType(path: string): string {
	const type = mediaTypeOf(path) ?? '';
	if (/^(image|audio|video)\/|^application\/json$/.test(type)) return type;
	if (type === 'text/csv') return `${type}; charset=utf-8`;
	return /^text\/(plain|markdown)$/.test(type) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}
