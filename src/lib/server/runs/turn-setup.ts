/** What every turn begins with, in a conversation or without one: the skills that it is told of, and the tools that it may call. */
import type { FunctionTool, Model } from '../agent/model.ts';
import type { Toolbox } from '../agent/tool.ts';
import type { ExecutionCaller } from '../skills/execution-host.ts';
import { ownerOf } from '../skills/owners.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { SkillSnapshot } from '../skills/registry.ts';
import type { ConversationSkillState } from '../store/conversation-skills.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import type { SkillPolicy } from './run-request.ts';
import type { SkillModes } from './skill-modes.ts';
import { createSkillToolbox, type BuiltinTools } from './skill-toolbox.ts';
import { skillsOfTurn, type TurnSkills } from './turn-skills.ts';

export interface TurnSetupParts {
	skills: SkillsProvider;
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

/** Whose skills a turn has, and which of them. */
interface TurnOwner {
	/** Of the program that asks; whoever manages the server has none. */
	apiKeyId: string | undefined;
	/** All of them without it. */
	policy: SkillPolicy | undefined;
}

export interface TurnOffer {
	/** The skills as they are now, to the turn's end. */
	snapshot: SkillSnapshot;
	builtins: BuiltinTools | undefined;
	told: TurnSkills;
}

export async function offerTurn(
	parts: TurnSetupParts,
	turn: TurnOwner & {
		/** The question. */
		asked: string;
		/** Names of the tools that were called before. */
		used: ReadonlySet<string>;
		states: readonly ConversationSkillState[];
		model: Model;
		signal: AbortSignal;
	}
): Promise<TurnOffer> {
	const { skills, modes, contextTokens } = parts;
	const { asked, used, states, model, signal, policy, apiKeyId } = turn;
	const snapshot = skills.registry.snapshot();
	const builtins = parts.builtins?.({ question: asked, used, only: policy?.builtins });
	const told = await skillsOfTurn({
		...{ skills, modes, snapshot, asked, model, signal, states, contextTokens },
		allowed: policy?.allowed,
		owner: ownerOf(apiKeyId)
	});
	return { snapshot, builtins, told };
}

/** The tools of a turn: its skills', the server's own, and those of the caller, which are handed back. */
export function equipTurn(
	{ skills, approvals, modes }: TurnSetupParts,
	{ snapshot, builtins, told }: TurnOffer,
	turn: TurnOwner & {
		/** The caller's. */
		tools: readonly FunctionTool[];
		/** Names of the skills that were loaded before. */
		loaded: readonly string[];
		/** Digests of the instructions that are in the history. */
		seen: readonly string[];
		/** Where scripts run. */
		cwd: string;
		/** For the record of executions. */
		caller: ExecutionCaller;
	}
): Toolbox {
	const { tools, loaded, seen, cwd, caller, policy, apiKeyId } = turn;
	const session = skills.createSession({
		snapshot,
		loaded: [...told.loaded.map(({ name }) => name), ...loaded],
		seen: [...told.loaded.map(({ digest }) => digest), ...seen],
		dialect: 'full',
		modeOf: modes.modeOf,
		pinOf: modes.pinOf,
		allowed: policy?.allowed,
		owner: ownerOf(apiKeyId),
		reserved: new Set(tools.map(({ name }) => name))
	});
	return createSkillToolbox({
		...{ session, cwd, caller, approvals },
		callerTools: tools,
		...(builtins ? { builtins } : {})
	});
}
