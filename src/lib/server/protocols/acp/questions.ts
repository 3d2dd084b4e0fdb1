/** Asks the editor's user what the page's card would ask, and takes the answers. */
import type { AgentContext, PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { plainLine } from '../../../shared/characters.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ApprovalDecision } from '../../../shared/events.ts';
import type { Approval, Message, ToolPart } from '../../../shared/message.ts';
import { API_SCOPES, isBuiltinCall, mcpServerOf } from '../../../shared/names.ts';
import { parseArguments } from '../../agent/calls.ts';
import { decide } from '../../conversations/consent.ts';
import type { ConversationChanges } from '../../runs/conversation-changes.ts';
import type { Runner } from '../../runs/runner.ts';
import type { Store } from '../../store/store.ts';
import { waitingIds } from '../../trust/approval-policy.ts';
import { type Editor, placeOf, previewOf } from './editor-tools.ts';
import { type Renderer, textContent } from './render.ts';

interface QuestionParts {
	store: Store;
	runner: Runner;
	changes: ConversationChanges;
}

interface Asked {
	client: AgentContext;
	editor: Editor;
	/** For the run that goes on. */
	instructions(): string;
	mayAcceptEdits(): boolean;
	/** From now on. */
	acceptEdits(): Promise<void>;
}

type WaitingPart = ToolPart & { approval: Approval };

/** The editor's user, who is the owner: the editor runs as the same user as this process. */
const OWNER = { apiKeyId: null, scopes: API_SCOPES };

export function createQuestions(parts: QuestionParts, asked: Asked) {
	const { store, changes } = parts;
	const { client, editor } = asked;
	const { sessionId } = editor.project;

	/** Resolves once the question is decided, or the answer no longer waits; null: once it no longer waits. */
	async function untilElsewhere(answer: Message, interruptId: string | null, signal: AbortSignal): Promise<void> {
		for await (const _ of changes.follow(sessionId, signal)) {
			const now = await store.messages.get(sessionId, answer.id);
			if (now?.status !== 'waiting') return;
			if (interruptId !== null && (await store.approvals.decisions(sessionId, [interruptId])).has(interruptId)) return;
		}
	}

	/** null if it was decided elsewhere, or stopped. */
	async function request(
		answer: Message,
		part: WaitingPart,
		renderer: Renderer,
		stopped: AbortSignal
	): Promise<ApprovalDecision | null> {
		const { approval } = part;
		const parsed = parseArguments(part.arguments);
		const args = typeof parsed === 'string' ? {} : parsed;
		const preview = await previewOf(editor, part.name, args);
		const call = renderer.call(part.id) ?? { toolCallId: `${answer.id}:${part.id}`, title: part.name };
		const content = [...factsOf(approval).map(textContent), ...(preview.length > 0 ? preview : (call.content ?? []))];
		const acceptsEdits = asked.mayAcceptEdits() && preview.length > 0 && (await isPlainEdit(args));
		const over = new AbortController();
		const cancellationSignal = AbortSignal.any([over.signal, stopped]);
		const answered: Promise<RequestPermissionResponse> = client.request(
			'session/request_permission',
			{ sessionId, toolCall: { ...call, content }, options: answersTo(approval, acceptsEdits) },
			{ cancellationSignal, stopWaitingOnCancel: true }
		);
		answered.catch(() => undefined);
		try {
			const elsewhere = untilElsewhere(answer, approval.interruptId, cancellationSignal).then(() => null);
			const said = await Promise.race([answered, elsewhere]);
			if (said === null || stopped.aborted) return null;
			const choice = said.outcome.outcome === 'selected' ? said.outcome.optionId : 'deny';
			if (choice === 'edits' && acceptsEdits) await asked.acceptEdits();
			if (choice === 'once' || (choice === 'edits' && acceptsEdits)) return { choice: 'once' };
			return { choice: choice === 'script' || choice === 'skill' ? choice : 'deny' };
		} catch {
			return stopped.aborted ? null : { choice: 'deny', reason: 'The editor couldn’t ask its user.' };
		} finally {
			over.abort();
		}
	}

	async function isPlainEdit({ path }: Record<string, unknown>): Promise<boolean> {
		const place = await placeOf(editor.project, String(path)).catch(() => null);
		return place !== null && !place.isHidden;
	}

	return {
		/** Asks about each open call of a waiting answer, unless somebody decides elsewhere. Ends early when stopped. */
		async ask(answer: Message, renderer: Renderer, stopped: AbortSignal): Promise<void> {
			const decided = await store.approvals.decisions(sessionId, waitingIds(answer));
			const open = answer.parts.filter((part): part is WaitingPart => {
				if (part.type !== 'tool' || part.status !== 'waiting' || !part.approval) return false;
				return !decided.has(part.approval.interruptId);
			});
			if (open.length === 0) return untilElsewhere(answer, null, stopped);
			for (const part of open) {
				const decision = await request(answer, part, renderer, stopped);
				if (stopped.aborted) return;
				if (decision === null) continue;
				const { interruptId } = part.approval;
				const resumed = { instructions: asked.instructions(), isElsewhere: true };
				try {
					await decide(parts, { by: OWNER, conversationId: sessionId, interruptId, decision, resumed });
				} catch (error) {
					if (!(error instanceof AppError)) throw error;
					// An answer that can't be given, such as “always” for what can only be allowed once.
					const denial = {
						by: OWNER,
						conversationId: sessionId,
						interruptId,
						decision: { choice: 'deny' as const },
						resumed
					};
					if (error.code === 'invalid_input' || error.code === 'forbidden') await decide(parts, denial);
					// Somebody else was faster.
					else if (error.code !== 'conflict' && error.code !== 'not_found') throw error;
				}
			}
		}
	};
}

export type Questions = ReturnType<typeof createQuestions>;

/** The answers to a question, as the app has them. `acceptsEdits`: further changes can be allowed with this one. */
function answersTo(approval: Approval, acceptsEdits: boolean): PermissionOption[] {
	const { skill, trust, install, define } = approval;
	const isServer = mcpServerOf(skill) !== null;
	const isLasting = !trust && !install && !define && !isBuiltinCall(approval);
	const allow = install ? 'Install' : define ? 'Allow this tool' : 'Allow once';
	const options: PermissionOption[] = [{ optionId: 'once', name: allow, kind: 'allow_once' }];
	if (acceptsEdits) options.push({ optionId: 'edits', name: 'Allow, and accept further edits', kind: 'allow_always' });
	if (isLasting)
		options.push({
			optionId: 'script',
			name: `Always allow this ${isServer ? 'tool' : 'script'}`,
			kind: 'allow_always'
		});
	if (isLasting && !isServer)
		options.push({ optionId: 'skill', name: `Always allow scripts of “${skill}”`, kind: 'allow_always' });
	return [...options, { optionId: 'deny', name: 'Deny', kind: 'reject_once' }];
}

const SEVERITIES = { danger: 'Danger', warning: 'Warning', info: 'Note' };

/** What to know before allowing a call, as the page's card says it. */
function factsOf({ reason, reach, missing, install, define, args }: Approval): string[] {
	const facts = [reason];
	if (args.length > 0 && !install && !define) facts.push(`Arguments: ${args.join(' ').slice(0, 2_000)}`);
	if (reach) {
		const { hosts, readsServer } = reach;
		const network =
			hosts === null ? 'use the whole network' : hosts.length === 0 ? 'use no network' : `reach ${hosts.join(', ')}`;
		facts.push(`It can ${network}${readsServer ? ', and read everything this server can read' : ''}.`);
	}
	if (missing?.length) facts.push(`Not set: ${missing.join(', ')}.`);
	if (install) facts.push(`${install.description}\nVersion ${install.version}, from ${install.from}.\n${install.why}`);
	if (define) facts.push(`${define.description}\n\n${define.code}`);
	for (const { severity, message, file, line } of (install ?? define)?.findings ?? [])
		facts.push(`${SEVERITIES[severity]}: ${message} (${file}:${line})`);
	return facts.map((fact) => fact.split('\n').map(plainLine).join('\n\n'));
}
