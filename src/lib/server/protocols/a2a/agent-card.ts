/** What this agent says of itself: where it is, how to come in, and which skills it has (A2A §4.4; FEATURES E16). */
import { AgentCard, type AgentSkill } from '@a2a-js/sdk';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import { withoutHiddenIn } from '../../../shared/characters.ts';
import type { SkillRegistry } from '../../skills/registry/registry.ts';
import { ownerOf, viewOf } from '../../skills/registry/visibility.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';

export interface CardParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	/** Are any skills offered at all? */
	isEnabled(): boolean;
}

/** The agent as one client has reached it. */
export interface AgentFacts {
	origin: string;
	/** Of this software. */
	release: string;
}

/** Who reads the card; null for somebody who has not said who they are. */
export type Reader = { apiKeyId: string | null } | null;

/** Of a library of thousands, the first; the agent finds the others by itself. */
const MAX_SKILLS = 500;
const INPUT = ['text/plain', 'application/json', 'text/csv', 'application/octet-stream'];
const OUTPUT = ['text/markdown', 'text/plain', 'application/octet-stream'];
const BEARER = 'An API key of this server (page Connect), or its ADMIN_TOKEN.';

export function agentCard(parts: CardParts, reader: Reader, { origin, release }: AgentFacts): AgentCard {
	const here = { url: `${origin}/a2a`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' };
	return {
		name: 'openrouter-skills',
		description:
			'An agent that answers questions and works on files with Agent Skills, whose scripts run in a sandbox.',
		version: release,
		supportedInterfaces: duplicateInterfacesForLegacy([here], ['JSONRPC']),
		provider: undefined,
		capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: true },
		securitySchemes: {
			bearer: {
				scheme: {
					$case: 'httpAuthSecurityScheme',
					value: { description: BEARER, scheme: 'Bearer', bearerFormat: '' }
				}
			}
		},
		securityRequirements: [{ schemes: { bearer: { list: [] } } }],
		defaultInputModes: INPUT,
		defaultOutputModes: OUTPUT,
		skills: [GENERAL, ...(reader && parts.isEnabled() ? skillsOf(parts, reader.apiKeyId) : [])],
		signatures: []
	};
}

/** The card as JSON. Clients of 0.3 name no version, and read fields of their own beside those of 1.0. */
export function cardJson(card: AgentCard, isOld: boolean): Record<string, unknown> {
	const json = {
		...(AgentCard.toJSON(card) as Record<string, unknown>),
		// ProtoJSON leaves out what is empty; both versions say that these are always there.
		skills: card.skills.map(({ id, name, description, tags }) => ({ id, name, description, tags }))
	};
	if (!isOld) return json;
	return {
		...json,
		protocolVersion: '0.3.0',
		url: card.supportedInterfaces[0]?.url,
		preferredTransport: 'JSONRPC',
		supportsAuthenticatedExtendedCard: true,
		securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: BEARER } },
		security: [{ bearer: [] }]
	};
}

/** What it can do without any of them. */
const GENERAL: AgentSkill = {
	id: 'agent',
	name: 'Answer',
	tags: ['chat', 'files', 'skills'],
	examples: [],
	description: 'Answers a message, works on the files that come with it, and loads and runs the skills that fit.',
	inputModes: [],
	outputModes: [],
	securityRequirements: []
};

function skillsOf({ skills, modes }: CardParts, apiKeyId: string | null): AgentSkill[] {
	const owner = ownerOf(apiKeyId ?? undefined);
	const usable = viewOf(skills.registry.snapshot(), { owner, ...modes }).library.skills;
	return usable.slice(0, MAX_SKILLS).map(({ name, description, tags }) => ({
		// Other agents read it.
		...withoutHiddenIn({ id: `skill:${name}`, name, description, tags: [...tags] }),
		examples: [],
		inputModes: [],
		outputModes: [],
		securityRequirements: []
	}));
}
