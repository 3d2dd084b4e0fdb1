/** Messages, parts and files in A2A's shapes; every field that it wants, in one place. */
import { Role, type Artifact, type Message, type Part } from '@a2a-js/sdk';

const NOTHING = { metadata: undefined, filename: '', mediaType: '' };

export function textPart(text: string, mediaType = 'text/plain'): Part {
	return { ...NOTHING, mediaType, content: { $case: 'text', value: text } };
}

export function dataPart(value: Record<string, unknown>): Part {
	return { ...NOTHING, mediaType: 'application/json', content: { $case: 'data', value } };
}

export interface FileFacts {
	filename: string;
	mediaType: string;
}

export function bytesPart(bytes: Buffer, facts: FileFacts): Part {
	return { ...NOTHING, ...facts, content: { $case: 'raw', value: bytes } };
}

export function urlPart(url: string, facts: FileFacts): Part {
	return { ...NOTHING, ...facts, content: { $case: 'url', value: url } };
}

export interface MessagePlace {
	taskId: string;
	contextId: string;
}

export function messageOf(
	{ taskId, contextId }: MessagePlace,
	{ id, role, parts }: { id: string; role: 'user' | 'agent'; parts: Part[] }
): Message {
	return {
		...{ messageId: id, taskId, contextId, parts },
		role: role === 'user' ? Role.ROLE_USER : Role.ROLE_AGENT,
		...{ metadata: undefined, extensions: [], referenceTaskIds: [] }
	};
}

export function artifactOf(artifactId: string, name: string, parts: Part[]): Artifact {
	return { artifactId, name, parts, description: '', metadata: undefined, extensions: [] };
}
