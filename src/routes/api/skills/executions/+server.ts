import { json } from '@sveltejs/kit';
import { z } from 'zod';
import type { RequestHandler } from './$types';
import { adHocExecution, type SkillExecutionList } from '$lib/shared/api.ts';
import { AppError } from '$lib/shared/errors.ts';
import { api, readJson, readPage } from '$lib/server/http.ts';
import { runAdHoc } from '$lib/server/runs/ad-hoc.ts';

const status = z.enum(['pending', 'running', 'success', 'error', 'timeout']);

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { page, limit } = readPage(url, 50);
	const text = (name: string) => url.searchParams.get(name) ?? undefined;
	const wanted = status.optional().safeParse(text('status'));
	if (!wanted.success) throw new AppError('invalid_input', `status: must be one of ${status.options.join(', ')}`);
	const [skill, apiKeyId, conversationId] = [text('skill'), text('apiKeyId'), text('conversationId')];
	const found = await locals.app.store.skillExecutions.list(
		{
			...(skill ? { skill } : {}),
			...(apiKeyId ? { apiKeyId } : {}),
			...(conversationId ? { conversationId } : {}),
			...(wanted.data ? { status: wanted.data } : {})
		},
		{ page, limit }
	);
	const totalPages = Math.max(1, Math.ceil(found.total / limit));
	return json({ ...found, page, limit, totalPages } satisfies SkillExecutionList);
});

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const wanted = await readJson(request, adHocExecution);
	return json(await runAdHoc(locals.app.adHoc, wanted, request.signal), { status: 201 });
});
