/** The conversation that a request names, and its items (F12). */
import type { ConversationItem, ResponseConversations } from '../../store/response-conversations.ts';
import { ApiError, badParameter } from './errors.ts';
import type { ResponseRequest } from './request.ts';

export interface ConversationStore {
	store: { responseConversations: ResponseConversations };
	/** Limit of what one key's conversations have together, and of its responses. */
	storedBytes: number;
}

/** Null without one. */
export function conversationId(conversation: ResponseRequest['conversation']): string | null {
	return (typeof conversation === 'string' ? conversation : conversation?.id) ?? null;
}

/** Null without a conversation. @throws ApiError 404; 400 if it's full, or all of the key are */
export async function itemsOfConversation(
	{ store: { responseConversations }, storedBytes }: ConversationStore,
	id: string | null,
	apiKeyId: string | null
): Promise<ConversationItem[] | null> {
	if (id === null) return null;
	if (!(await responseConversations.get(id, apiKeyId))) throw noConversation(id);
	if (!(await responseConversations.hasRoom(apiKeyId, storedBytes))) throw keyIsFull('conversation', storedBytes);
	const items = await responseConversations.items(id);
	if (items.length < MOST.items) return items;
	const sentence = `This conversation has ${items.length} items, and can’t take more. Begin another one.`;
	throw badParameter('conversation', sentence, 'conversation_full');
}

/** Of a conversation: more text than any model takes. Pictures and files are in the workspace. */
export const MOST = { items: 5000, bytes: 16 * 1024 * 1024 };

export function keyIsFull(param: string, bytes: number): ApiError {
	const most = `${Math.floor(bytes / 1024 / 1024)} MB`;
	const hint = 'Delete some with DELETE /v1/conversations/{id}, or have RESPONSES_MB raised on the server.';
	return badParameter(param, `The conversations of this key have reached ${most} together. ${hint}`, 'storage_full');
}

export function noConversation(id: string): ApiError {
	const message = `Conversation with id '${id.slice(0, 100)}' not found.`;
	return new ApiError(404, message, { code: 'conversation_not_found', param: 'conversation' });
}
