/** What this agent can do, in AG-UI's words; only what works is said (FEATURES F13). */
import type { AgentCapabilities } from '../../../shared/events.ts';
import type { FunctionTool } from '../../agent/model.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';
import { ownerOf, viewOf } from '../../skills/registry/visibility.ts';
import type { SkillsProvider } from '../../skills/provider.ts';

export interface AgentFacts {
	version: string;
	/** Offered in each conversation; skills add theirs once they are loaded. */
	tools: readonly FunctionTool[];
	skills: readonly { name: string; description: string }[];
	/** Are scripts kept from the machine's files, network and processes? */
	isSandboxed: boolean;
	maxSteps: number;
	maxDurationMs: number;
}

/** More would be a catalog, which `GET /api/skills` is. */
const MAX_SKILLS = 200;

/** The skills that a new conversation of this caller can use, and the tools that it begins with. */
export function offeredSkills(
	parts: { skills: SkillsProvider; modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'> },
	apiKeyId: string | null
): Pick<AgentFacts, 'tools' | 'skills'> {
	const { modeOf, pinOf } = parts.modes;
	const snapshot = parts.skills.registry.snapshot();
	const view = { modeOf, pinOf, owner: ownerOf(apiKeyId ?? undefined) };
	const session = parts.skills.createSession({ snapshot, dialect: 'full', ...view });
	const { skills } = viewOf(snapshot, view).library;
	return {
		tools: session.tools(),
		skills: skills.slice(0, MAX_SKILLS).map(({ name, description }) => ({ name, description }))
	};
}

/** Names of the CUSTOM events, for clients that show more than AG-UI has. */
const CUSTOM_EVENTS = [
	'skill.catalog',
	'skill.loaded',
	'skill.started',
	'skill.output',
	'skill.finished',
	'run.usage',
	'run.retry',
	'run.context',
	'run.compaction',
	'run.title',
	'tool.approval',
	'tool.decision'
];

export function describeAgent(facts: AgentFacts): AgentCapabilities {
	const { version, tools, skills, isSandboxed, maxSteps, maxDurationMs } = facts;
	return {
		identity: {
			name: 'openrouter-skills',
			type: 'openrouter-skills',
			description: 'An agent that works with Agent Skills: it loads their instructions and runs their scripts.',
			version
		},
		transport: { streaming: true, websocket: false, httpBinary: false, pushNotifications: false, resumable: true },
		tools: {
			supported: true,
			items: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
			parallelCalls: true,
			clientProvided: true
		},
		output: { structuredOutput: false, supportedMimeTypes: ['text/markdown'] },
		state: { snapshots: true, deltas: false, memory: false, persistentState: false },
		multiAgent: { supported: false, delegation: false, handoffs: false },
		reasoning: { supported: true, streaming: true, encrypted: false },
		multimodal: {
			input: { image: false, audio: false, video: false, pdf: false, file: false },
			output: { image: false, audio: false }
		},
		execution: {
			codeExecution: true,
			sandboxed: isSandboxed,
			maxIterations: maxSteps,
			maxExecutionTime: maxDurationMs
		},
		humanInTheLoop: {
			supported: true,
			approvals: true,
			interrupts: true,
			interventions: false,
			feedback: false,
			approveWithEdits: false
		},
		custom: { events: CUSTOM_EVENTS, skills, files: 'PUT /api/conversations/{threadId}/files/{path}' }
	};
}
