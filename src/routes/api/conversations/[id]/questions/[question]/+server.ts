import { questionReply } from '$lib/shared/questions.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'replyToQuestion',
	tag: 'Conversations',
	summary: 'Answer what an MCP server asks during a call',
	params: { ...OF_CONVERSATION, question: 'ID of the question.' },
	body: questionReply,
	answer: null,
	handler: async ({ app, params, body }) => app.questions.reply(params.id, params.question, await body())
});
