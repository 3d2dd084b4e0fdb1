import { executionQuery, skillExecutionList, adHocExecution, adHocResult } from '$lib/shared/try-out.ts';
import { pageQuery } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { whileConnected } from '$lib/server/http.ts';
import { checkConversationId } from '$lib/server/conversations/agui-input.ts';
import { putInto } from '$lib/server/conversations/conversations.ts';
import { requireOwnConversation } from '$lib/server/runs/conversation-changes.ts';
import { AppError } from '$lib/shared/errors.ts';
import { allowedIn, requireEnabled, runAdHoc } from '$lib/server/skill-admin/ad-hoc.ts';
import { toFilter } from '$lib/server/skill-admin/executions.ts';

export const GET = endpoint({
	id: 'listExecutions',
	tag: 'Runs',
	summary: 'List runs, newest first',
	scope: 'read',
	query: executionQuery.extend(pageQuery.shape),
	answer: skillExecutionList.describe('One page.'),
	handler: async ({ app, caller, query }) => {
		const { page, limit, ...asked } = query;
		const filter = toFilter({ ...asked, apiKeyId: caller.apiKeyId ?? asked.apiKeyId });
		const found = await app.store.skillExecutions.list(filter, { page, limit });
		const totalPages = Math.max(1, Math.ceil(found.total / limit));
		return { ...found, page, limit, totalPages };
	}
});

const APPROVE =
	'What needs approval is refused with 403 and `details: {error, digest}`. To allow it once, send the same body with ' +
	'`approve` set to that digest; only the server’s admin can. An API key needs the scope `approve` instead. ' +
	'For a skill that isn’t trusted, only the admin can. `files` run in place of the skill’s own, once and without being ' +
	'saved: for the admin alone, and unasked only if the skill is trusted.';

export const POST = endpoint({
	id: 'execute',
	tag: 'Runs',
	summary: 'Run a script, a tool or a built-in skill without a model',
	description: `Without a tool or script, \`input\` goes to the skill’s only one. ${APPROVE}`,
	scope: 'execute',
	body: adHocExecution,
	example: { skillName: 'count-words', script: 'scripts/count.mjs', args: ['the quick brown fox'] },
	status: 201,
	answer: adHocResult.describe('The result and the run.'),
	errors: ['not_found', 'conflict'],
	handler: async (event) => {
		const { app, caller, body } = event;
		requireEnabled(app.adHoc);
		const { approve, ...wanted } = await body();
		const { apiKeyId } = caller;
		const asked = apiKeyId === null ? wanted : { ...wanted, apiKeyId };
		const allow = allowedIn(approve, caller);
		const { conversationId } = wanted;
		// Files of runs by hand lie where those of a chat would, which is never listed.
		const isByHand = apiKeyId === null && conversationId !== undefined && conversationId === wanted.sessionId;
		if (conversationId !== undefined && !isByHand) {
			await requireOwnConversation(app, apiKeyId, conversationId);
			if (!(await app.store.conversations.get(conversationId)))
				throw new AppError('not_found', 'Conversation not found.');
		}
		const run = (signal: AbortSignal) => runAdHoc(app.adHoc, asked, signal, { allow });
		// By hand, it goes on when its page is left: Runs shows it, and stops it. If another client disconnects, don't wait for a
		// turn or finish the script.
		const done = await (isByHand
			? putInto(app, { id: checkConversationId(conversationId), apiKeyId }, () => run(new AbortController().signal))
			: whileConnected(event, run));
		if (conversationId !== undefined) await app.workspaces.keepVersions(conversationId);
		return done;
	}
});
