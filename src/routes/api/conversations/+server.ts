import { randomUUID } from 'node:crypto';
import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { conversationCreate, type ConversationList, conversationQuery, pageQuery } from '$lib/shared/api.ts';
import { UNTITLED } from '$lib/server/runs/runner.ts';
import { api, readJson, readQuery } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { page, limit } = readQuery(url, pageQuery);
	const { q: query, archived } = readQuery(url, conversationQuery);
	const asked = { page, limit, isArchived: archived === 'true', ...(query ? { query } : {}) };
	const found = await locals.app.store.conversations.list(asked);
	return json({ ...found, page, limit } satisfies ConversationList);
});

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { title } = await readJson(request, conversationCreate);
	const createdAt = new Date().toISOString();
	const conversation = { id: randomUUID(), title: title ?? UNTITLED, createdAt };
	return json(await locals.app.store.conversations.create(conversation), { status: 201 });
});
