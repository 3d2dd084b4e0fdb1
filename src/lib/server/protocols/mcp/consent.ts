/** Asks a client's user for consent through elicitation (C16, E15, E30). */
import { markHidden } from '../../../shared/characters.ts';
import { createHash, randomUUID } from 'node:crypto';
import {
	type CallToolResult,
	CLIENT_CAPABILITIES_META_KEY,
	type ElicitRequest,
	type InputRequest,
	inputRequired,
	type InputRequiredResult,
	isInputRequiredResult,
	type Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import type { PackageLock } from '../../../shared/packages.ts';
import { type Missing, SkillError } from '../../skills/types.ts';
import { isObject } from '../../../shared/json.ts';

export interface Consent {
	/** Whether the client supports elicitation. */
	canAsk: boolean;
	/** Of the pages that the client can open for its user; null if it can't. */
	origin: string | null;
	/** The user's answer, if this request brings one. `isTicked`: with `allow` as true, which no form begins with. */
	answer: { questionId: string; isAllowed: boolean; isTicked: boolean } | null;
}

/** What a script lacked, and what the call answers unless that is mended. */
export interface Lack {
	/** Whether a ticked box allows the host, or installs the packages. */
	isForm: boolean;
	/** What has to be installed, as it was looked up. */
	packages?: Pick<PackageLock, 'digest' | 'packages'> | null;
	skillId: string;
	/** As addresses have it. */
	page: string;
	failure: { error: string; message: string; hint?: string | undefined; missing: Missing };
}

/** Not a failure: the client repeats the call with an answer. */
export class ConsentNeeded extends Error {
	override readonly name = 'ConsentNeeded';
	readonly questionId: string;
	readonly request: InputRequest;

	constructor(questionId: string, request: InputRequest) {
		super('The client has to ask its user.');
		this.questionId = questionId;
		this.request = request;
	}
}

/** Names the question in what is answered. */
export const CONSENT_KEY = 'consent';
const MAX_OPEN = 1000;
/** Packages named in the client's dialog. */
const MAX_PACKAGES = 30;
/** Characters of arguments shown in the client's dialog. */
const MAX_ARGUMENTS = 2000;

/** Open questions, each good for one answer. Kept in memory, so after a restart they are asked again. */
export function createQuestions() {
	const questions = new Map<string, { subject: string; lack: Lack | null }>();
	return {
		/** Returns a new question's id. `subject`: everything the user consents to. Drops the oldest if too many are open. */
		open(subject: string, lack?: Lack): string {
			const id = randomUUID();
			questions.set(id, { subject, lack: lack ?? null });
			const [oldest] = questions.keys();
			if (questions.size > MAX_OPEN && oldest !== undefined) questions.delete(oldest);
			return id;
		},
		/** What the open question is about, if not only about a call. */
		lackOf: (questionId: string): Lack | null => questions.get(questionId)?.lack ?? null,
		/** Closes the question. True if it was open and asked about the same subject. */
		settle(questionId: string, subject: string): boolean {
			const isSame = questions.get(questionId)?.subject === subject;
			questions.delete(questionId);
			return isSame;
		}
	};
}

export type Questions = ReturnType<typeof createQuestions>;

export function readConsent(server: Pick<Server, 'getClientCapabilities'>, { mcpReq, http }: ServerContext): Consent {
	const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
	const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
	const questionId = mcpReq.requestState();
	const answer = mcpReq.inputResponses?.[CONSENT_KEY];
	return {
		canAsk: canShowForms(capabilities),
		origin: http?.req && canOpenBy(capabilities) ? new URL(http.req.url).origin : null,
		answer: typeof questionId === 'string' && isObject(answer) ? { questionId, ...readAnswer(answer) } : null
	};
}

/** `action` and `content` of the client’s answer. */
export function readAnswer({ action, content }: { action?: unknown; content?: unknown }): {
	isAllowed: boolean;
	isTicked: boolean;
} {
	const isAllowed = action === 'accept';
	return { isAllowed, isTicked: isAllowed && isObject(content) && content.allow === true };
}

/** Whether a client with these capabilities can put this question to its user. */
export function canBeAsked(capabilities: unknown, { params }: Pick<ElicitRequest, 'params'>): boolean {
	return params.mode === 'url' ? canOpenBy(capabilities) : canShowForms(capabilities);
}

function canOpenBy(capabilities: unknown): boolean {
	const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
	return isObject(elicitation) && isObject(elicitation.url);
}

/** No mode means forms. A client that can only open URLs isn't asked. */
function canShowForms(capabilities: unknown): boolean {
	const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
	return isObject(elicitation) && (elicitation.form !== undefined || Object.keys(elicitation).length === 0);
}

/** Returns if the user allowed it. `subject`: who asks, and for what. @throws ConsentNeeded | SkillError `ApprovalDenied` */
export function requireConsent(
	{ answer }: Consent,
	questions: Questions,
	{ reason, args, subject }: { reason: string; args: readonly string[]; subject: readonly unknown[] }
): void {
	const key = keyOf(subject);
	if (answer !== null && questions.settle(answer.questionId, key)) {
		if (answer.isAllowed) return;
		throw new SkillError('ApprovalDenied', 'The user didn’t allow this call.', 'Continue without it, or ask the user.');
	}
	// An empty form: accepting it is the answer.
	const requestedSchema = { type: 'object' as const, properties: {} };
	const message = questionOf(reason, args);
	throw new ConsentNeeded(questions.open(key), inputRequired.elicit({ message, requestedSchema }));
}

/** Hashed, because arguments can be long and unanswered questions stay in memory. */
function keyOf(subject: readonly unknown[]): string {
	return createHash('sha256').update(JSON.stringify(subject)).digest('base64url');
}

/**
 * Has the user mend what a script lacked: on the skill's page if the client opens pages, which no client can answer by
 * itself; otherwise a host can be allowed or packages installed in a form. Some clients accept each form as it is, so its
 * box has to be ticked. Values of variables are never asked for. @throws ConsentNeeded
 */
export function askToMend(
	{ origin, canAsk }: Consent,
	questions: Questions,
	{ skillId, page, failure, packages = null }: Omit<Lack, 'isForm'>,
	subject: readonly unknown[]
): void {
	const { kind, name } = failure.missing;
	const ask = (isForm: boolean, request: InputRequest) =>
		new ConsentNeeded(questions.open(keyOf(subject), { isForm, skillId, page, failure, packages }), request);
	if (origin !== null && kind !== 'command') {
		const message = markHidden(`${failure.message} You can change that on the page of its skill. Then it runs again.`);
		throw ask(false, inputRequired.elicitUrl({ message, url: new URL(page, origin).href }));
	}
	if (!canAsk || (kind !== 'host' && !packages)) return;
	const title = packages ? `Install ${packages.packages.length} packages` : markHidden(`Allow ${name}`);
	const what = packages
		? `If you allow it, this is installed for this skill’s scripts: ${listOf(packages.packages)}.`
		: `If you allow it, this skill’s scripts can send data there until you remove it on the skill’s page, ${page}.`;
	throw ask(
		true,
		inputRequired.elicit({
			message: markHidden(`${failure.message} ${what} Then it runs again.`),
			requestedSchema: { type: 'object', properties: { allow: { type: 'boolean', title, default: false } } }
		})
	);
}

function listOf(packages: PackageLock['packages']): string {
	const named = packages.slice(0, MAX_PACKAGES).map(({ name, version, from }) => {
		return `${name} ${version} from ${from === 'file:' ? 'a folder on the server' : from}`;
	});
	const more = packages.length - named.length;
	return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** The lack that this request's answer is about, if it was asked for this call; null otherwise. */
export function takeLack({ answer }: Consent, questions: Questions, subject: readonly unknown[]): Lack | null {
	const lack = answer && questions.lackOf(answer.questionId);
	return answer && lack && questions.settle(answer.questionId, keyOf(subject)) ? lack : null;
}

/** Puts each argument on its own line with hidden characters marked, so none can pass for two or for the text after it. */
function questionOf(reason: string, args: readonly string[]): string {
	const words = args.map(markHidden).join('\n');
	const shown = words.length > MAX_ARGUMENTS ? `${words.slice(0, MAX_ARGUMENTS)}… (${words.length} characters)` : words;
	const lines = words === '' ? 'No arguments.' : `Arguments:\n${shown}`;
	return `${markHidden(reason)}\n\n${lines}\n\nAllow once?`;
}

export function askFor({ questionId, request }: ConsentNeeded): InputRequiredResult {
	return inputRequired({ requestState: questionId, inputRequests: { [CONSENT_KEY]: request } });
}

/** The question that `askFor` made a result of; null for any other result. */
export function questionIn(
	result: CallToolResult | InputRequiredResult
): { id: string; request: ElicitRequest } | null {
	if (!isInputRequiredResult(result)) return null;
	const request = result.inputRequests?.[CONSENT_KEY];
	if (request?.method !== 'elicitation/create') throw new Error('a question that isn’t one of ours');
	return { id: result.requestState ?? '', request };
}
