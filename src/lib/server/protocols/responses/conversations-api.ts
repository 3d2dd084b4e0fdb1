/** `/v1/conversations`: items that responses go on from and add to, until they are deleted (F12). */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ModelSource } from '../../agent/model.ts';
import { isNote } from '../../agent/turn-note.ts';
import type { ConversationItem, ResponseConversation } from '../../store/responses.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { type ConversationParts, readItems } from './conversation.ts';
import { keyIsFull, MOST, noConversation, type ListPage, pageOf, shownItem, type ShownItem, withIds } from './items.ts';
import { ApiError, badParameter } from './errors.ts';
import { checkBody, metadataPairs, someItems, type InputItem } from './request.ts';

export interface ConversationObject {
	id: string;
	object: 'conversation';
	/** Unix time in seconds. */
	created_at: number;
	metadata: Record<string, string>;
}

type Owner = Pick<Asker, 'apiKeyId'>;

/** Each method throws an ApiError: 404 for what isn't there or somebody else's, 400 for a wrong body or parameter. */
export interface ConversationsApi {
	create(body: unknown, owner: Owner, signal: AbortSignal): Promise<ConversationObject>;
	retrieve(id: string, owner: Owner): Promise<ConversationObject>;
	update(id: string, body: unknown, owner: Owner): Promise<ConversationObject>;
	/** With its items. */
	remove(id: string, owner: Owner): Promise<{ id: string; object: 'conversation.deleted'; deleted: true }>;
	items(id: string, owner: Owner, query: URLSearchParams): Promise<ListPage<ShownItem>>;
	addItems(id: string, body: unknown, owner: Owner, signal: AbortSignal): Promise<ListPage<ShownItem>>;
	item(id: string, itemId: string, owner: Owner): Promise<ShownItem>;
	removeItem(id: string, itemId: string, owner: Owner): Promise<ConversationObject>;
}

const createBody = z.object({ items: someItems.nullish(), metadata: metadataPairs.nullish() });
const updateBody = z.object({ metadata: metadataPairs });
const itemsBody = z.object({ items: someItems.min(1) });

export function createConversationsApi(parts: ConversationParts & { models: ModelSource }): ConversationsApi {
	const { responseConversations: store } = parts.store;

	const find = async (id: string, { apiKeyId }: Owner): Promise<ResponseConversation> => {
		const found = await store.get(id, apiKeyId);
		if (!found) throw noConversation(id);
		return found;
	};

	const add = async (
		id: string,
		given: InputItem[],
		{ apiKeyId, signal }: Owner & { signal: AbortSignal }
	): Promise<ConversationItem[]> => {
		const model = parts.models.modelFor({});
		const folder = parts.folderOf(apiKeyId, id);
		const before = await store.items(id);
		const read = await readItems(parts, given, { folder, model, apiKeyId, signal, before });
		const items = withIds(read, randomBytes(16).toString('hex')).map((entry) => ({ ...entry, model: model.id }));
		const added = await store.append({ id, apiKeyId }, items, { ...MOST, bytesOfKey: parts.storedBytes });
		if (added === 'key_full') throw keyIsFull('items', parts.storedBytes);
		if (added === 'full') {
			throw badParameter(
				'items',
				`A conversation has at most ${MOST.items} items, of 16 MB together.`,
				'conversation_full'
			);
		}
		if (!added) throw noConversation(id);
		return items;
	};

	const removeAll = async (id: string, { apiKeyId }: Owner): Promise<boolean> => {
		const isRemoved = await store.remove(id, apiKeyId);
		// A key has one workspace for everything.
		if (isRemoved && apiKeyId === null) await parts.workspaces.removeAll(parts.folderOf(null, id));
		return isRemoved;
	};

	return {
		async create(body, owner, signal) {
			const { items, metadata } = checkBody(createBody, body ?? {});
			const conversation: ResponseConversation = {
				id: `conv_${randomBytes(16).toString('hex')}`,
				apiKeyId: owner.apiKeyId,
				metadata: metadata ?? {},
				createdAt: new Date().toISOString()
			};
			if (!(await store.hasRoom(owner.apiKeyId, parts.storedBytes))) throw keyIsFull('items', parts.storedBytes);
			await store.put(conversation);
			try {
				if (items?.length) await add(conversation.id, items, { ...owner, signal });
			} catch (error) {
				await removeAll(conversation.id, owner);
				throw error;
			}
			return toObject(conversation);
		},

		retrieve: async (id, owner) => toObject(await find(id, owner)),

		async update(id, body, owner) {
			const { metadata } = checkBody(updateBody, body);
			if (!(await store.setMetadata(id, owner.apiKeyId, metadata))) throw noConversation(id);
			return toObject(await find(id, owner));
		},

		async remove(id, owner) {
			if (!(await removeAll(id, owner))) throw noConversation(id);
			return { id, object: 'conversation.deleted', deleted: true };
		},

		async items(id, owner, query) {
			await find(id, owner);
			return pageOf(shown(await store.items(id)), query);
		},

		async addItems(id, body, owner, signal) {
			await find(id, owner);
			const { items } = checkBody(itemsBody, body);
			const added = shown(await add(id, items, { ...owner, signal }));
			return pageOf(added, new URLSearchParams({ order: 'asc', limit: '100' }));
		},

		async item(id, itemId, owner) {
			await find(id, owner);
			const found = shown(await store.items(id)).find((item) => item.id === itemId);
			if (!found) throw noItem(itemId);
			return found;
		},

		async removeItem(id, itemId, owner) {
			const conversation = await find(id, owner);
			if (!(await store.removeItem(id, itemId))) throw noItem(itemId);
			return toObject(conversation);
		}
	};
}

/** Without what only the model is told. */
function shown(items: readonly ConversationItem[]): ShownItem[] {
	return items.flatMap(({ id, item }) => (isNote(item) ? [] : [shownItem(item, id)]));
}

function toObject({ id, createdAt, metadata }: ResponseConversation): ConversationObject {
	return { id, object: 'conversation', created_at: Math.floor(Date.parse(createdAt) / 1000), metadata };
}

function noItem(id: string): ApiError {
	return new ApiError(404, `Item with id '${id.slice(0, 100)}' not found.`, { code: 'item_not_found' });
}
