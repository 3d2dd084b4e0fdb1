/** The part of the server's API for what people do with conversations: search, marks, deletion with a way back, files of them. */
import type { z } from 'zod';
import type { conversationPatch, ConversationList, ConversationSummary } from '../shared/api.ts';
import { queryOf, request } from './request.ts';
import { upload, type UploadOptions } from './upload.ts';

export type ConversationPatch = z.input<typeof conversationPatch>;

export interface ConversationSearch {
	/** Any text; empty for all. */
	q?: string;
	/** From 1. */
	page?: number;
	limit?: number;
	/** Those that are archived, in place of those that are not. */
	archived?: boolean;
}

/** Every call resolves to the answer or throws an `ApiError`. */
export interface ConversationsClient {
	/** What is found outside of a title has a `snippet`. A search that is not wanted any more ends with its signal. */
	search: (search: ConversationSearch, signal?: AbortSignal) => Promise<ConversationList>;
	patch: (id: string, patch: ConversationPatch) => Promise<ConversationSummary>;
	/** It can be restored for ten minutes. */
	remove: (id: string) => Promise<void>;
	/** `not_found` when it is gone for good. */
	restore: (id: string) => Promise<ConversationSummary>;
	/** Address of a file to be saved. */
	exportUrl: (id: string, format: 'json' | 'markdown') => string;
	/** A conversation of its own from a file that was exported as JSON. */
	importFile: (file: Blob, options: UploadOptions) => Promise<ConversationSummary>;
}

const CONVERSATIONS = '/api/conversations';

export function createConversationsClient(): ConversationsClient {
	const one = (id: string): string => `${CONVERSATIONS}/${encodeURIComponent(id)}`;
	return {
		search: ({ q, page, limit, archived }, signal) =>
			request(
				CONVERSATIONS + queryOf({ q, page, limit, archived: archived ? 'true' : undefined }),
				...(['GET', undefined, signal] as const)
			),
		patch: (id, patch) => request(one(id), 'PATCH', patch),
		remove: (id) => request(one(id), 'DELETE'),
		restore: (id) => request(`${one(id)}/restore`, 'POST', {}),
		exportUrl: (id, format) => `${one(id)}/export${queryOf({ format })}`,
		importFile: (file, options) =>
			upload({ method: 'POST', url: `${CONVERSATIONS}/import`, body: file, contentType: 'application/json' }, options)
	};
}
