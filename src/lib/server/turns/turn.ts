/** Runs one turn of a conversation: prepares prompt, skills, tools and history, then runs the agent (DESIGN §4). */
import type { RunEvent } from '../../shared/events.ts';
import { type Approval, handedCalls, type Message, messageText } from '../../shared/message.ts';
import type { ReasoningEffort, WebTool } from '../../shared/names.ts';
import { GO_ON, heldCalls, loadedSkills, seenDigests, toInput, unsaidItems } from '../agent/history.ts';
import { runAgent, type AgentLimits } from '../agent/loop.ts';
import type { Model, ResponseItem } from '../agent/model.ts';
import { startTimeLimit, type TimeLimit } from '../agent/time-limit.ts';
import { knownFrom, noteOf } from '../agent/turn-note.ts';
import type { Store } from '../store/store.ts';
import { attachedParts } from './attachments.ts';
import { createContextBudget, inTime, newestSummary, SHORT_WAIT_MS } from './context-budget.ts';
import { type CustomInstructions, instructionsOf } from './instructions.ts';
import { type Questions, sampleFrom } from './questions.ts';
import type { RunRequest } from './run-request.ts';
import { withAttachments, withSight } from './sent-files.ts';
import { filesToTell, inWorkspace } from './toolbox.ts';
import { equipTurn, offerTurn, type TurnSetupParts } from './turn-setup.ts';
import type { Workspaces } from '../workspaces.ts';

export interface TurnParts extends TurnSetupParts {
	store: Store;
	workspaces: Workspaces;
	questions: Questions;
}

/** Used for the whole turn, even if the settings change. */
export interface Responder {
	model: Model;
	/** Reasoning effort; null: the model's default. */
	effort: ReasoningEffort | null;
	custom: CustomInstructions;
	/** What the model may do on the web. */
	web: readonly WebTool[];
	/** `ask`: every script needs approval. */
	approval: 'ask' | undefined;
}

export interface Turn extends Responder {
	request: RunRequest;
	/** The answer before the run's first event. */
	answer: Message;
	/** Counts the servers that have written this run. */
	epoch: number;
	limits: AgentLimits;
	signal: AbortSignal;
	isAskedToYield(): boolean;
	record(items: ResponseItem[]): void;
}

/** Yields the run's events, ending with exactly one terminal event. */
export function runTurn(parts: TurnParts, turn: Turn): AsyncGenerator<RunEvent> {
	const { runId, conversationId } = turn.request;
	const events = eventsOf(parts, turn);
	return parts.observer?.turn({ runId, conversationId, model: turn.model.id }, events) ?? events;
}

async function* eventsOf(parts: TurnParts, turn: Turn): AsyncGenerator<RunEvent> {
	const { runId, conversationId } = turn.request;
	yield { type: 'RUN_STARTED', threadId: conversationId, runId, protocolVersion: '1.0' };
	const time = startTimeLimit(turn.limits.maxDurationMs, turn.signal);
	try {
		for await (const event of answerIn(parts, turn, time)) {
			const wrote = event.type === 'CUSTOM' && (event.name === 'skill.finished' || event.name === 'tool.files');
			// An answer beside this one may write the same file next.
			if (wrote && turn.request.compare) await parts.workspaces.keepVersions(conversationId);
			yield event;
		}
	} finally {
		time.clear();
		await parts.workspaces.keepVersions(conversationId);
	}
}

async function* answerIn(parts: TurnParts, turn: Turn, time: TimeLimit): AsyncGenerator<RunEvent> {
	const { store, workspaces, approvals } = parts;
	const { request, answer, effort, custom, web, limits } = turn;
	const { runId, conversationId } = request;
	const { signal } = time;
	const model = withAttachments(turn.model, workspaces, conversationId);

	const goesOn = request.kind !== 'ask' && request.kind !== 'retry';
	const stored = await store.messages.listForModel(conversationId, goesOn ? answer.id : (answer.parentId ?? answer.id));
	const question = stored.findLast(({ message }) => message.role === 'user')?.message;
	const covered = newestSummary(stored, await store.compactions.list(conversationId)).index + 1;
	const known = knownFrom(stored.slice(covered).flatMap(({ items }) => items ?? []));
	const held = request.kind === 'resume' ? heldCalls(answer, await approvals.decisions(conversationId, answer)) : [];
	const skillsOf = { apiKeyId: request.apiKeyId, policy: request.policy, approval: turn.approval };
	const offer = await offerTurn(parts, {
		...skillsOf,
		question: question ? messageText(question) : '',
		described: known.skills,
		model,
		signal,
		refused: refusedIn([...answer.parts.filter((part) => part.type === 'tool'), ...held]),
		states: await store.conversationSkills.list(conversationId),
		conversationId,
		isProgram: request.isProgram
	});
	const { told } = offer;
	const isCustom = custom.allChats !== '' || custom.thisChat !== '';
	yield { type: 'CUSTOM', name: 'skill.catalog', value: isCustom ? { ...told.offer, custom } : told.offer };

	const { catalog, always } = told;
	const history = told.historyOf(stored);
	const { instructions: said } = request;
	const [files] = await Promise.all([filesToTell(workspaces, conversationId), workspaces.keepVersions(conversationId)]);
	const instructions = instructionsOf(catalog, { always, custom, said });
	const budget = createContextBudget({
		model,
		contextTokens: parts.contextTokens,
		instructions,
		catalog,
		always,
		web,
		effort: effort ?? undefined,
		conversationId,
		compactions: store.compactions,
		record: turn.record,
		signal
	});
	const input = toInput(await budget.shorten(history), model.id);
	const mayLook = request.policy?.builtins?.includes('look_at_file') ?? true;
	const builtins = withSight(offer.builtins, {
		files: workspaces,
		conversationId,
		mayLook: mayLook && ((await inTime(model.takes?.('image'), signal, SHORT_WAIT_MS)) ?? false)
	});
	const equipped = equipTurn(
		parts,
		{ ...offer, builtins },
		{
			...skillsOf,
			tools: request.tools,
			loaded: loadedSkills(history),
			seen: seenDigests(input),
			ask: canBeAsked(request) ? parts.questions.asker(conversationId) : undefined,
			sample: (asked, call) => sampleFrom(model, asked, call),
			cwd: workspaces.path(conversationId),
			caller: { conversationId, runId, apiKeyId: request.apiKeyId }
		}
	);
	const toolbox = inWorkspace(equipped, workspaces, conversationId);
	if (!goesOn) {
		// Recorded before the answer, because later turns must send the same again.
		const reading = { conversationId, model, cap: parts.contextTokens, signal };
		const attached = await attachedParts(workspaces, question?.files ?? [], reading);
		const { suggested, unusable, shelved } = told;
		const note = noteOf({ date: new Date(), files, skills: suggested, attached, unusable, shelved }, known);
		if (note) {
			turn.record([note]);
			input.push(note);
		}
	}
	if (request.kind === 'continue') {
		// Store the unfinished text as an item, so that later turns know it too.
		const unsaid = unsaidItems(stored.at(-1));
		if (unsaid.length > 0) turn.record(unsaid);
		input.push(GO_ON);
	}
	yield* runAgent({
		model,
		effort,
		instructions,
		input,
		held,
		handed: request.kind === 'resume' ? handedCalls(answer).map(({ id }) => id) : [],
		toolbox,
		web,
		threadId: conversationId,
		runId,
		prefix: turn.epoch === 1 ? runId : `${runId}.${turn.epoch}`,
		limits,
		time,
		spent: answer.usage,
		fit: budget.fit,
		isAskedToYield: turn.isAskedToYield,
		record: turn.record,
		observer: parts.observer
	});
}

/** Other programs wouldn’t know what a tool waits for. */
function canBeAsked({ apiKeyId, isProgram, isElsewhere }: RunRequest): boolean {
	return apiKeyId === undefined && !isProgram && !isElsewhere;
}

/** Ids of the skills that a person didn’t want to install while this was answered. */
function refusedIn(calls: readonly { approval?: Approval | null | undefined }[]): string[] {
	return calls.flatMap(({ approval }) =>
		approval?.install && approval.decision?.choice === 'deny' ? approval.args.slice(0, 1) : []
	);
}
