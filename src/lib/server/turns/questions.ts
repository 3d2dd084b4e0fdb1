/** Questions that tools ask a person while they run (E36). What is answered is stored nowhere. */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { CustomRunEvent } from '../../shared/events.ts';
import type { Question } from '../../shared/message-schema.ts';
import { type QuestionReply, questionReply, readContent } from '../../shared/questions.ts';
import { type Replica, soleReplica } from '../replica.ts';
import { askForText, assistantItem, type Model, type ModelUsage, userItem } from '../agent/model.ts';

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
	 * The first answer counts. One for another server is handed over to it.
	 * @throws AppError `not_found` if it's not open (any more); `invalid_input` with a sentence about what doesn't fit
	 */
	reply(conversationId: string, id: string, reply: QuestionReply): Promise<void>;
	/** Takes an answer that came to another server, and ignores one that doesn't fit or comes too late. */
	onReply(conversationId: string, id: string, reply: unknown): void;
}

/** Other servers, on which tools ask, too. */
interface Elsewhere {
	/** Only servers have it: whoever may connect to the database can send words, too. */
	key: Buffer;
	replica: Pick<Replica, 'hear' | 'tell'>;
	/** The question that a tool on another server asks; null if none is open there. */
	find(conversationId: string, id: string): Promise<Question | null>;
	/** False if no server runs a tool of the conversation. */
	handOver(conversationId: string, id: string, reply: QuestionReply): Promise<boolean>;
}

/** Of all chats; the oldest are asked about again. */
const MAX_GRANTS = 1_000;
const CANCEL = { action: 'cancel' } as const;

/** A word between servers can't be longer. */
const MAX_WORD = 4_000;
/** A word that was heard is worth nothing later; the clocks of servers differ by less. */
const WORD_LIVES_MS = 60_000;

export function createQuestions(elsewhere: Partial<Elsewhere> = {}): Questions {
	const { replica = soleReplica(), key: secret, find, handOver } = elsewhere;
	const open = new Map<string, { conversationId: string; question: AskedQuestion; end(reply: QuestionReply): void }>();
	/** Until the server stops. */
	const granted = new Set<string>();
	const keyOf = (conversationId: string, grant: string) => JSON.stringify([conversationId, grant]);
	const keep = (key: string): void => {
		if (granted.size >= MAX_GRANTS) granted.delete([...granted][0] ?? '');
		granted.add(key);
	};
	// The chat's next reply may be written by another server. One that didn't hear of it asks again.
	replica.hear('grant', (words) => {
		for (const word of words) {
			const key = secret ? openWord(secret, word) : null;
			if (key !== null) keep(key);
		}
	});

	/** @throws AppError `invalid_input` */
	const checked = (
		{ fields, sample }: Pick<Question, 'fields' | 'sample'>,
		{ action, content = {}, forChat = false }: QuestionReply
	): QuestionReply => {
		if (action !== 'accept') return { action };
		// Only requests to the chat's model come again and again.
		if (forChat && !sample) throw new AppError('invalid_input', 'You can only answer this once.');
		return fields ? { action, content: readContent(fields, content) } : { action };
	};
	const gone = () => new AppError('not_found', 'This question is no longer open.');
	/** False if it isn't asked here. */
	const replyHere = (conversationId: string, id: string, reply: QuestionReply): boolean => {
		const asked = open.get(id);
		if (asked?.conversationId !== conversationId) return false;
		const { grant } = asked.question;
		const answer = checked(asked.question, reply);
		if (reply.action === 'accept' && reply.forChat === true && grant !== undefined) {
			const key = keyOf(conversationId, grant);
			keep(key);
			const word = secret && sealWord(secret, key);
			if (word && word.length <= MAX_WORD) replica.tell('grant', [word]);
		}
		asked.end(answer);
		open.delete(id);
		return true;
	};
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
		async reply(conversationId, id, reply) {
			if (replyHere(conversationId, id, reply)) return;
			const question = (await find?.(conversationId, id)) ?? null;
			if (!question) throw gone();
			checked(question, reply);
			if (!(await handOver?.(conversationId, id, reply))) throw gone();
		},
		onReply(conversationId, id, given) {
			const reply = questionReply.safeParse(given);
			if (!reply.success) return;
			try {
				replyHere(conversationId, id, reply.data);
			} catch (error) {
				// It was checked where it came in, against what the log says of the question.
				if (!(error instanceof AppError)) throw error;
			}
		}
	};
}

/** `time.text.signature` */
function sealWord(secret: Buffer, text: string): string {
	const said = `${Date.now()}.${Buffer.from(text).toString('base64url')}`;
	return `${said}.${signatureOf(secret, said).toString('base64url')}`;
}

/** null if it's from somebody without the key, or old. */
function openWord(secret: Buffer, word: string): string | null {
	const [at = '', text = '', signature = ''] = word.split('.');
	const given = Buffer.from(signature, 'base64url');
	const wanted = signatureOf(secret, `${at}.${text}`);
	if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
	return Math.abs(Date.now() - Number(at)) < WORD_LIVES_MS ? Buffer.from(text, 'base64url').toString() : null;
}

function signatureOf(secret: Buffer, said: string): Buffer {
	return createHmac('sha256', secret).update(said).digest();
}

// What an MCP server asks the chat’s model, without tools and without the chat (E36).

export interface SampleRequest {
	/** The system prompt; '' for none. */
	instructions: string;
	messages: readonly { role: 'user' | 'assistant'; text: string }[];
	maxTokens: number;
}

export interface Sample {
	text: string;
	/** Id of the model. */
	model: string;
	/** Ended at the maximum length. */
	isCut: boolean;
}

export type Sampler = (
	request: SampleRequest,
	call: { signal: AbortSignal; spend: (usage: ModelUsage | null) => void }
) => Promise<Sample>;

/** `spend` receives what it has used. @throws Error with a sentence if the model fails */
export async function sampleFrom(
	model: Model,
	{ instructions, messages, maxTokens }: SampleRequest,
	{ signal, spend }: { signal: AbortSignal; spend: (usage: ModelUsage | null) => void }
): Promise<Sample> {
	const input = messages.map(({ role, text }) => (role === 'user' ? userItem(text) : assistantItem(text)));
	const request = { instructions, input, options: { max_output_tokens: maxTokens } };
	const { text, error, usage, answeredBy, isCut } = await askForText(model, request, { signal });
	if (error) throw new Error(error.message);
	spend(usage);
	return { text, model: answeredBy, isCut };
}
