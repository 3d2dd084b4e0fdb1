import { approvalDecision, runStarted } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { withoutUndefined } from '$lib/server/conversations/agui-input.ts';
import { decide } from '$lib/server/conversations/consent.ts';

export const POST = endpoint({
	id: 'decide',
	tag: 'Conversations',
	summary: 'Answer an approval question',
	params: { ...OF_CONVERSATION, interrupt: 'ID of the question.' },
	body: approvalDecision,
	status: 202,
	answer: runStarted.describe('The answer that goes on, or null while other questions are open.'),
	errors: ['conflict'],
	handler: async ({ app, caller, params, body }) => {
		const decision = withoutUndefined(await body());
		const { id: conversationId, interrupt: interruptId } = params;
		const runId = await decide(app, { by: caller, conversationId, interruptId, decision });
		return { runId };
	}
});
