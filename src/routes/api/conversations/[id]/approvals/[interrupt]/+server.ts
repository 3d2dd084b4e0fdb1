import { approvalDecision, runStarted } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { withoutUndefined } from '$lib/server/conversations/agui-input.ts';
import { decide } from '$lib/server/conversations/consent.ts';

export const POST = endpoint({
	id: 'decide',
	tag: 'Conversations',
	summary: 'Answers a question whether a script may run',
	params: { ...OF_CONVERSATION, interrupt: 'Of a question.' },
	body: approvalDecision,
	status: 202,
	answer: runStarted.describe('The run that goes on, or null while other questions are open.'),
	errors: ['conflict'],
	handler: async ({ app, caller, params, body }) => {
		const decision = withoutUndefined(await body());
		const { id: conversationId, interrupt: interruptId } = params;
		const runId = await decide(app, { by: caller, conversationId, interruptId, decision });
		return { runId };
	}
});
