/** Media types by the endings of files, and back: of what protocols send and receive. Pure. */
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

/** By its extension; null where that says nothing. */
export function mimeTypeOf(path: string): string | null {
	return TYPES[/\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''] ?? null;
}

/** The ending of a file that has no name yet, with its full stop; empty where the type says nothing. */
export function endingOf(mediaType: string): string {
	const wanted = mediaType.split(';')[0]?.trim().toLowerCase();
	const ending = Object.keys(TYPES).find((each) => TYPES[each] === wanted);
	return ending === undefined ? '' : `.${ending}`;
}

// What the door refuses on the way to a protocol of JSON-RPC, in the words of JSON-RPC; pure (FEATURES E15, E16).

export interface RpcRefusal {
	jsonrpc: '2.0';
	/** The body was not read, so nobody knows its id. */
	id: null;
	error: { code: number; message: string; data: { code: ErrorCode } };
}

/** Of the numbers that JSON-RPC leaves to servers. */
const REFUSED = -32_000;
const INTERNAL = -32_603;

export function rpcRefusal({ code, message, hint }: AppError): RpcRefusal {
	const number = code === 'internal' ? INTERNAL : REFUSED;
	const sentence = hint === undefined ? message : `${message} ${hint}`;
	return { jsonrpc: '2.0', id: null, error: { code: number, message: sentence, data: { code } } };
}
