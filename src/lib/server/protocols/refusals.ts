/** Media types by file extension, and errors before a JSON-RPC call has been read. */
import type { AppError, ErrorCode } from '../../shared/errors.ts';

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
	pdf: 'application/pdf',
	zip: 'application/zip'
};

/** By file extension; null if unknown. */
export function mimeTypeOf(path: string): string | null {
	return TYPES[/\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''] ?? null;
}

/** The file extension for a media type, with its dot; empty if unknown. */
export function endingOf(mediaType: string): string {
	const wanted = mediaType.split(';')[0]?.trim().toLowerCase();
	const ending = Object.keys(TYPES).find((each) => TYPES[each] === wanted);
	return ending === undefined ? '' : `.${ending}`;
}

export interface RpcRefusal {
	jsonrpc: '2.0';
	/** The body hasn't been read, so the call's id is unknown. */
	id: null;
	error: { code: number; message: string; data: { code: ErrorCode } };
}

/** In the range JSON-RPC reserves for servers. */
const REFUSED = -32_000;
const INTERNAL = -32_603;

/** An error of authentication or limits as a JSON-RPC error (E15, E16). */
export function rpcRefusal({ code, message, hint }: AppError, own: Partial<Record<string, number>> = {}): RpcRefusal {
	const number = own[code] ?? (code === 'internal' ? INTERNAL : REFUSED);
	const sentence = hint === undefined ? message : `${message} ${hint}`;
	return { jsonrpc: '2.0', id: null, error: { code: number, message: sentence, data: { code } } };
}
