/** Asks the user of a client for consent, where the client can ask: elicitation (FEATURES C16, E15, E30). */
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

/** What one request has to do with consent. */
export interface Consent {
	/** Can its client ask somebody? */
	canAsk: boolean;
	/** What somebody answered to the question that it comes back with; null for a request that brings no answer. */
	answer: { questionId: string; isAllowed: boolean } | null;
}

/** The questions that are open, each for one answer. After a restart they are asked again. */
export interface Questions {
	/** The id of a new question; `subject` is all that is consented to. The oldest goes where too many are open. */
	open(subject: string): string;
	/** True once, for the very subject that was asked about. */
	settle(questionId: string, subject: string): boolean;
}

/** Not a failure: the call comes again with an answer. */
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
/** Of what is asked: whoever reads it decides in a dialog of the client. */
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

/** Without a mode it is a form; who can only open pages is asked nothing. */
function canAskBy(capabilities: unknown): boolean {
	const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
	return isObject(elicitation) && (elicitation.form !== undefined || Object.keys(elicitation).length === 0);
}

/**
 * Returns when this was allowed, once, by whoever was asked. `subject`: who asks, and for what.
 * @throws ConsentNeeded to have it asked; SkillError `ApprovalDenied`
 */
export function requireConsent(
	{ answer }: Consent,
	questions: Questions,
	{ reason, args, subject }: { reason: string; args: readonly string[]; subject: readonly unknown[] }
): void {
	// Arguments may be long, and questions that nobody answers stay for a while.
	const key = createHash('sha256').update(JSON.stringify(subject)).digest('base64url');
	if (answer !== null && questions.settle(answer.questionId, key)) {
		if (answer.isAllowed) return;
		throw new SkillError('ApprovalDenied', 'The user didn’t allow this call.', 'Continue without it, or ask the user.');
	}
	throw new ConsentNeeded(questions.open(key), questionOf(reason, args));
}

/** Each argument on a line of its own: none can look like two, or like what comes after them. */
function questionOf(reason: string, args: readonly string[]): string {
	const words = args.map(markHidden).join('\n');
	const shown = words.length > MAX_ARGUMENTS ? `${words.slice(0, MAX_ARGUMENTS)}… (${words.length} characters)` : words;
	const lines = words === '' ? 'It gets no arguments.' : `It gets:\n${shown}`;
	return `${markHidden(reason)}\n\n${lines}\n\nAllow it once?`;
}

export function askFor({ questionId, message }: ConsentNeeded): InputRequiredResult {
	// Nothing is to be filled in: accepting is the answer.
	const requestedSchema = { type: 'object' as const, properties: {} };
	return inputRequired({
		requestState: questionId,
		inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema }) }
	});
}
