/** What a task has made: the text of the answer, and the files that its scripts wrote. */
import type { Artifact } from '@a2a-js/sdk';
import { AppError } from '../../../shared/errors.ts';
import type { Message } from '../../../shared/message.ts';
import { contentType } from '../../runs/content-type.ts';
import type { Workspaces } from '../../runs/workspaces.ts';
import { artifactOf, bytesPart, textPart, urlPart } from './parts.ts';

/** Larger files are told by their address. */
const MAX_INLINE_BYTES = 1024 * 1024;
/** Of all files of one task together. */
export const MAX_INLINE_TOTAL = 8 * 1024 * 1024;
const MAX_FILES = 100;

/** Between two texts of one answer, where the model called a tool. */
export const TEXT_BREAK = '\n\n';
const ANSWER = 'answer';

/** The texts of an answer as one; empty before it has said anything. */
export function textOf(answer: Message): string {
	return answer.parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join(TEXT_BREAK);
}

export function answerArtifact(text: string): Artifact {
	return artifactOf(ANSWER, 'Answer', [textPart(text, 'text/markdown')]);
}

/** Paths that the answer's scripts wrote, each once, in the order of their making. */
function filesOf(answer: Message): string[] {
	const paths = answer.parts.flatMap((part) =>
		part.type === 'tool' ? (part.execution?.files ?? []).map(({ path }) => path) : []
	);
	return [...new Set(paths)].slice(0, MAX_FILES);
}

export interface FileSource {
	workspaces: Pick<Workspaces, 'read'>;
	contextId: string;
	/** By which the client has reached this server. */
	origin: string;
}

/** Bytes that may still go inline. */
export interface InlineBudget {
	bytes: number;
}

/** A file as it is now; null for one that is gone. */
export async function fileArtifact(
	{ workspaces, contextId, origin }: FileSource,
	path: string,
	budget: InlineBudget
): Promise<Artifact | null> {
	const opened = await workspaces.read(contextId, path).catch((error: unknown) => {
		if (error instanceof AppError) return null;
		throw error;
	});
	if (!opened) return null;
	const { file, bytes } = opened;
	try {
		const facts = { filename: path, mediaType: contentType(path) };
		const artifact = (part: ReturnType<typeof urlPart>) => artifactOf(`file:${path}`, path, [part]);
		if (bytes > MAX_INLINE_BYTES || bytes > budget.bytes) {
			const encoded = path.split('/').map(encodeURIComponent).join('/');
			return artifact(urlPart(`${origin}/api/conversations/${contextId}/files/${encoded}`, facts));
		}
		const content = Buffer.alloc(bytes);
		const { bytesRead } = await file.read(content, 0, bytes, 0);
		budget.bytes -= bytesRead;
		return artifact(bytesPart(content.subarray(0, bytesRead), facts));
	} finally {
		await file.close();
	}
}

export async function artifactsOf(source: FileSource, answer: Message): Promise<Artifact[]> {
	const budget = { bytes: MAX_INLINE_TOTAL };
	const text = textOf(answer);
	const artifacts = text === '' ? [] : [answerArtifact(text)];
	for (const path of filesOf(answer)) {
		const artifact = await fileArtifact(source, path, budget);
		if (artifact) artifacts.push(artifact);
	}
	return artifacts;
}
