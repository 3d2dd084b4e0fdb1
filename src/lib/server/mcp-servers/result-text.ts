/** What a tool of an MCP server answered, as text that the model reads (FEATURES E36); pure. */
import { plainLine } from './plain-text.ts';

/** A result as the protocol has it, with what of it is used. */
export interface ToolAnswer {
	content?: readonly Record<string, unknown>[] | undefined;
	structuredContent?: unknown;
	isError?: boolean | undefined;
}

/** Texts as they are; of images, sounds and files what they are; what is data alone as JSON. */
export function resultText({ content = [], structuredContent }: ToolAnswer): string {
	const parts = content.map(partText);
	if (structuredContent !== undefined && !content.some(({ type }) => type === 'text')) {
		parts.push(JSON.stringify(structuredContent));
	}
	return parts.join('\n') || '(The tool answered with nothing.)';
}

function partText(part: Record<string, unknown>): string {
	switch (part.type) {
		case 'text':
			return textOf(part.text);
		case 'image':
		case 'audio':
			return `[${part.type}: ${word(part.mimeType)}, ${sizeOf(part.data)}; not shown]`;
		case 'resource_link':
			return `[resource ${word(part.name)}: ${word(part.uri)}${part.mimeType ? `, ${word(part.mimeType)}` : ''}]`;
		case 'resource':
			return resourceText(part.resource);
		default:
			return `[${word(part.type)}: not shown]`;
	}
}

function resourceText(resource: unknown): string {
	const { uri, mimeType, text, blob } = (resource ?? {}) as Record<string, unknown>;
	if (typeof text === 'string') return `[resource ${word(uri)}]\n${textOf(text)}`;
	return `[resource ${word(uri)}: ${word(mimeType)}, ${sizeOf(blob)}; not shown]`;
}

/** NUL is kept by no database. */
function textOf(text: unknown): string {
	return typeof text === 'string' ? text.replaceAll('\0', '').toWellFormed() : '';
}

function word(value: unknown): string {
	return typeof value === 'string' && value !== '' ? plainLine(value, 500) : 'unknown';
}

/** Of what is in base64. */
function sizeOf(data: unknown): string {
	const bytes = typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0;
	return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}
