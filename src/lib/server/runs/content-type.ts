/** The few types that a browser shows in our previews; everything else is bytes. */
const TYPES: Readonly<Record<string, string>> = {
	svg: 'image/svg+xml',
	png: 'image/png',
	jpg: 'image/jpeg',
	jpeg: 'image/jpeg',
	gif: 'image/gif',
	webp: 'image/webp',
	csv: 'text/csv; charset=utf-8',
	txt: 'text/plain; charset=utf-8',
	md: 'text/plain; charset=utf-8',
	json: 'application/json'
};

export function contentType(path: string): string {
	return TYPES[path.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}
