/** Questions that tools ask a person while they run (E36). What is answered is stored nowhere. */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { CustomRunEvent } from '../../shared/events.ts';
import type { Question } from '../../shared/message-schema.ts';
import { type QuestionReply, readContent } from '../../shared/questions.ts';

export type AskedQuestion = Omit<Question, 'id' | 'reply'> & {
	/** What an answer “for this chat” covers; without it there is none. */
	grant?: string | undefined;
};

/** Where a question is asked. */
interface AskingCall {
	toolCallId: string;
	/** Takes the question back, as if it had been cancelled. */
	signal: AbortSignal;
	emit(event: CustomRunEvent): void;
}

/** Resolves with the answer; never rejects. */
export type Ask = (question: AskedQuestion, call: AskingCall) => Promise<QuestionReply>;

export interface Questions {
	/** For the calls of one conversation. */
	asker(conversationId: string): Ask;
	/**
	 * The first answer counts.
	 * @throws AppError `not_found` if it's not open (any more); `invalid_input` with a sentence about what doesn't fit
	 */
	reply(conversationId: string, id: string, reply: QuestionReply): void;
	/** Whether a question of it is open. */
	isAsking(conversationId: string): boolean;
}

/** Of all chats; the oldest are asked about again. */
const MAX_GRANTS = 1_000;
const CANCEL = { action: 'cancel' } as const;

export function createQuestions(): Questions {
	const open = new Map<string, { conversationId: string; question: AskedQuestion; end(reply: QuestionReply): void }>();
	/** Until the server stops. */
	const granted = new Set<string>();
	const keyOf = (conversationId: string, grant: string) => JSON.stringify([conversationId, grant]);
	return {
		asker:
			(conversationId) =>
			async (asked, { toolCallId, signal, emit }) => {
				const { grant, ...question } = asked;
				if (signal.aborted) return CANCEL;
				if (grant !== undefined && granted.has(keyOf(conversationId, grant))) return { action: 'accept' };
				const id = randomUUID();
				const answered = Promise.withResolvers<QuestionReply>();
				const onAbort = () => answered.resolve(CANCEL);
				signal.addEventListener('abort', onAbort, { once: true });
				open.set(id, { conversationId, question: asked, end: answered.resolve });
				emit({ type: 'CUSTOM', name: 'tool.question', value: { toolCallId, id, ...question } });
				const reply = await answered.promise;
				open.delete(id);
				signal.removeEventListener('abort', onAbort);
				emit({ type: 'CUSTOM', name: 'tool.reply', value: { toolCallId, id, action: reply.action } });
				return reply;
			},
		reply(conversationId, id, { action, content = {}, forChat = false }) {
			const asked = open.get(id);
			if (asked?.conversationId !== conversationId) {
				throw new AppError('not_found', 'This question is no longer open.');
			}
			const { fields, grant } = asked.question;
			if (action === 'accept' && forChat) {
				if (grant === undefined) throw new AppError('invalid_input', 'You can only answer this once.');
				if (granted.size >= MAX_GRANTS) granted.delete([...granted][0] ?? '');
				granted.add(keyOf(conversationId, grant));
			}
			asked.end(action === 'accept' && fields ? { action, content: readContent(fields, content) } : { action });
			open.delete(id);
		},
		isAsking: (conversationId) => [...open.values()].some((each) => each.conversationId === conversationId)
	};
}
