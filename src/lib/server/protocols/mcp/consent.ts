/** Asks a client's user for consent through elicitation (C16, E15, E30). */
import { markHidden } from '../../../shared/characters.ts';
import { createHash, randomUUID } from 'node:crypto';
import {
	CLIENT_CAPABILITIES_META_KEY,
	inputRequired,
	type InputRequiredResult,
	type Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import { SkillError } from '../../skills/types.ts';
import { isObject } from '../../../shared/json.ts';

export interface Consent {
	/** Whether the client supports elicitation. */
	canAsk: boolean;
	/** The user's answer, if this request brings one. */
	answer: { questionId: string; isAllowed: boolean } | null;
}

/** Open questions, each good for one answer. Kept in memory, so after a restart they are asked again. */
export interface Questions {
	/** Returns a new question's id. `subject`: everything the user consents to. Drops the oldest if too many are open. */
	open(subject: string): string;
	/** Closes the question. True if it was open and asked about the same subject. */
	settle(questionId: string, subject: string): boolean;
}

/** Not a failure: the client repeats the call with an answer. */
export class ConsentNeeded extends Error {
	override readonly name = 'ConsentNeeded';
	readonly questionId: string;

	constructor(questionId: string, question: string) {
		super(question);
		this.questionId = questionId;
	}
}

const KEY = 'consent';
const MAX_OPEN = 1000;
/** Characters of arguments shown in the client's dialog. */
const MAX_ARGUMENTS = 2000;

export function createQuestions(): Questions {
	const subjects = new Map<string, string>();
	return {
		open(subject) {
			const id = randomUUID();
			subjects.set(id, subject);
			const [oldest] = subjects.keys();
			if (subjects.size > MAX_OPEN && oldest !== undefined) subjects.delete(oldest);
			return id;
		},
		settle(questionId, subject) {
			const isSame = subjects.get(questionId) === subject;
			subjects.delete(questionId);
			return isSame;
		}
	};
}

export function readConsent(server: Pick<Server, 'getClientCapabilities'>, { mcpReq }: ServerContext): Consent {
	const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
	const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
	const questionId = mcpReq.requestState();
	const answer = mcpReq.inputResponses?.[KEY];
	return {
		canAsk: canAskBy(capabilities),
		answer:
			typeof questionId === 'string' && isObject(answer) ? { questionId, isAllowed: answer.action === 'accept' } : null
	};
}

/** No mode means forms. A client that can only open URLs isn't asked. */
function canAskBy(capabilities: unknown): boolean {
	const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
	return isObject(elicitation) && (elicitation.form !== undefined || Object.keys(elicitation).length === 0);
}

/** Returns if the user allowed it. `subject`: who asks, and for what. @throws ConsentNeeded | SkillError `ApprovalDenied` */
export function requireConsent(
	{ answer }: Consent,
	questions: Questions,
	{ reason, args, subject }: { reason: string; args: readonly string[]; subject: readonly unknown[] }
): void {
	// Hashed, because arguments can be long and unanswered questions stay in memory.
	const key = createHash('sha256').update(JSON.stringify(subject)).digest('base64url');
	if (answer !== null && questions.settle(answer.questionId, key)) {
		if (answer.isAllowed) return;
		throw new SkillError('ApprovalDenied', 'The user didn’t allow this call.', 'Continue without it, or ask the user.');
	}
	throw new ConsentNeeded(questions.open(key), questionOf(reason, args));
}

/** Puts each argument on its own line with hidden characters marked, so none can pass for two or for the text after it. */
function questionOf(reason: string, args: readonly string[]): string {
	const words = args.map(markHidden).join('\n');
	const shown = words.length > MAX_ARGUMENTS ? `${words.slice(0, MAX_ARGUMENTS)}… (${words.length} characters)` : words;
	const lines = words === '' ? 'No arguments.' : `Arguments:\n${shown}`;
	return `${markHidden(reason)}\n\n${lines}\n\nAllow once?`;
}

export function askFor({ questionId, message }: ConsentNeeded): InputRequiredResult {
	// An empty form: accepting it is the answer.
	const requestedSchema = { type: 'object' as const, properties: {} };
	return inputRequired({
		requestState: questionId,
		inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema }) }
	});
}
