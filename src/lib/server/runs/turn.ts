/** One run's work, from the request to the events of the agent: prompt, skills, tools, history (DESIGN §4). */
import type { RunEvent } from '../../shared/events.ts';
import type { Message } from '../../shared/message.ts';
import type { ReasoningEffort } from '../../shared/model-values.ts';
import { heldCalls, loadedSkills, seenDigests, toInput, unsaidItems } from '../agent/history.ts';
import { runAgent, type AgentLimits } from '../agent/loop.ts';
import type { Model, ResponseItem } from '../agent/model.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { Store } from '../store/store.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import { createContextBudget } from './context-budget.ts';
import { instructionsOf } from './instructions.ts';
import type { SkillModes } from './skill-modes.ts';
import type { RunRequest } from './run-request.ts';
import { createSkillToolbox, type BuiltinTools } from './skill-toolbox.ts';
import { skillsOfTurn } from './turn-skills.ts';
import type { Workspaces } from './workspaces.ts';

export interface TurnParts {
	store: Store;
	skills: SkillsProvider;
	workspaces: Workspaces;
	approvals: ApprovalPolicy;
	modes: Pick<SkillModes, 'modeOf' | 'pinOf'>;
	/** The skills that the server brings itself, for one question; `used` are those that the conversation has used. */
	builtins?: (offer: {
		question: string;
		used: ReadonlySet<string>;
		only?: readonly string[] | undefined;
	}) => BuiltinTools;
	/** Most tokens that a model is sent, however many it takes; null for as many as it takes. */
	contextTokens: number | null;
}

export interface Turn {
	request: RunRequest;
	/** The answer as it is before the run's first event. */
	answer: Message;
	/** What answers, from its first step to its last, whatever is set meanwhile. */
	model: Model;
	/** How long the model is to think; null leaves it to the model. */
	effort: ReasoningEffort | null;
	limits: AgentLimits;
	signal: AbortSignal;
	isAskedToYield(): boolean;
	record(items: ResponseItem[]): void;
}

/** Sent after an answer that is to be continued; no part of the conversation. */
const GO_ON: ResponseItem = {
	type: 'message',
	role: 'user',
	content: [
		{
			type: 'input_text',
			text: 'Your answer above ended before it was finished. Go on exactly where it stopped: repeat nothing, and do not mention the break.'
		}
	]
};

/** Yields the run's events; the last of them is its one terminal event. */
export async function* runTurn(parts: TurnParts, turn: Turn): AsyncGenerator<RunEvent> {
	const { store, skills, workspaces, approvals, modes } = parts;
	const { request, answer, signal, model, effort, limits } = turn;
	const { runId, conversationId } = request;
	const startedAt = Date.now();
	yield { type: 'RUN_STARTED', threadId: conversationId, runId };

	const goesOn = request.kind === 'continue' || request.kind === 'resume';
	const stored = await store.messages.listForModel(conversationId, goesOn ? answer.id : (answer.parentId ?? answer.id));
	const snapshot = skills.registry.snapshot();
	const question = stored.findLast(({ message }) => message.role === 'user')?.message;
	const asked = question ? textOf(question) : '';
	const builtins = parts.builtins?.({
		question: asked,
		used: calledTools(stored),
		only: request.policy?.builtins
	});
	const told = await skillsOfTurn({
		...{ skills, modes, snapshot, asked, model, signal },
		allowed: request.policy?.allowed,
		states: await store.conversationSkills.list(conversationId),
		contextTokens: parts.contextTokens
	});
	yield { type: 'CUSTOM', name: 'skill.catalog', value: told.offer };

	const { catalog, always } = told;
	const history = told.historyOf(stored);
	const instructions = instructionsOf(catalog, await workspaces.list(conversationId), { always });
	const budget = createContextBudget({
		model,
		contextTokens: parts.contextTokens,
		instructions,
		catalog,
		always,
		conversationId,
		compactions: store.compactions,
		signal
	});
	const input = toInput(await budget.shorten(history), model.id);
	const session = skills.createSession({
		snapshot,
		loaded: [...told.loaded.map(({ name }) => name), ...loadedSkills(history)],
		seen: [...told.loaded.map(({ digest }) => digest), ...seenDigests(input)],
		dialect: 'full',
		modeOf: modes.modeOf,
		pinOf: modes.pinOf,
		allowed: request.policy?.allowed,
		reserved: [...request.tools, ...(builtins?.tools() ?? [])].map(({ name }) => name)
	});
	const toolbox = createSkillToolbox({
		session,
		callerTools: request.tools,
		cwd: workspaces.path(conversationId),
		caller: { conversationId, runId },
		...(builtins ? { builtins } : {}),
		approvals
	});
	if (request.kind === 'continue') {
		// What was shown of an unfinished answer is no item of the model's server; later turns are to know it too.
		const unsaid = unsaidItems(stored.at(-1));
		if (unsaid.length > 0) turn.record(unsaid);
		input.push(GO_ON);
	}
	const held = request.kind === 'resume' ? heldCalls(answer, await approvals.decisions(conversationId, answer)) : [];
	yield* runAgent({
		model,
		effort,
		instructions,
		input,
		held,
		toolbox,
		threadId: conversationId,
		runId,
		limits,
		signal,
		startedAt,
		spent: answer.usage,
		fit: budget.fit,
		isAskedToYield: turn.isAskedToYield,
		record: turn.record
	});
}

/** Names of the tools that were called in a conversation. */
function calledTools(history: readonly { message: Message }[]): Set<string> {
	const parts = history.flatMap(({ message }) => message.parts);
	return new Set(parts.flatMap((part) => (part.type === 'tool' ? [part.name] : [])));
}

function textOf(message: Message): string {
	return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
