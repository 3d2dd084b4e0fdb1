/** AG-UI beyond a run's events: the agent's capabilities, files in messages, and snapshots of state and messages (F13). */
import type * as agui from '@ag-ui/core';
import { z } from 'zod';
import type { RunAgentInput } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import { asArray, asObject, asText } from '../../../shared/json.ts';
import { inPlainWords, sentenceOf } from '../../../shared/plain-issues.ts';
import { toRunRequests } from '../../conversations/agui-input.ts';
import { putInto } from '../../conversations/conversations.ts';
import { formatOf } from '../../skills/run/picture-format.ts';
import type { Workspaces } from '../../workspaces.ts';
import { decodeReceived, keepReceived, nameOfReceived, tellAddress } from '../received-files.ts';
import { type AgentCapabilities, type CustomRunEvent, isTerminal, type RunEvent } from '../../../shared/events.ts';
import type { FunctionTool } from '../../agent/model.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';
import { ownerOf, viewOf } from '../../skills/registry/visibility.ts';
import type { SkillsProvider } from '../../skills/provider.ts';
import type { Message, Part } from '../../../shared/message.ts';
import { listConversationSkills } from '../../conversations/conversation-skills.ts';
import type { StoredEvent } from '../../store/chat/runs.ts';
import type { Store } from '../../store/store.ts';

export interface AgentFacts {
	version: string;
	/** Available in every conversation; a loaded skill adds its own. */
	tools: readonly FunctionTool[];
	skills: readonly { name: string; description: string }[];
	/** Whether scripts are isolated from the machine's files, network and processes. */
	isSandboxed: boolean;
	maxSteps: number;
	maxDurationMs: number;
}

/** The full list is at `GET /api/skills`. */
const MAX_SKILLS = 200;

/** The skills and initial tools of a new conversation of this caller. */
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

/** All our CUSTOM events, for clients that show more than standard AG-UI. */
const CUSTOM_EVENTS = Object.keys({
	'skill.catalog': true,
	'skill.loaded': true,
	'skill.started': true,
	'skill.waiting': true,
	'skill.output': true,
	'skill.finished': true,
	'text.citation': true,
	'tool.files': true,
	'run.usage': true,
	'run.retry': true,
	'run.context': true,
	'run.compaction': true,
	'run.taken': true,
	'run.title': true,
	'tool.approval': true,
	'tool.decision': true,
	'tool.question': true,
	'tool.reply': true
} satisfies Record<CustomRunEvent['name'], true>);

export function describeAgent(facts: AgentFacts): AgentCapabilities {
	const { version, tools, skills, isSandboxed, maxSteps, maxDurationMs } = facts;
	return {
		identity: {
			name: 'openrouter-skills',
			type: 'openrouter-skills',
			description: 'An agent that uses Agent Skills: it loads their instructions and runs their scripts.',
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
			input: { image: true, audio: false, video: false, pdf: true, file: true },
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

type Parts = Parameters<typeof listConversationSkills>[0] & { store: Pick<Store, 'messages'> };

interface Snapshots {
	batches: AsyncIterable<StoredEvent[]>;
	/** As the client sent it: any JSON, or undefined. */
	state: unknown;
}

/**
 * Adds a STATE_SNAPSHOT after the run's start, and both STATE_SNAPSHOT and MESSAGES_SNAPSHOT before its end. Snapshots
 * aren't in the run log: each has the number of the event before it, so a client that resumes after one misses nothing.
 */
export async function* withSnapshots(
	parts: Parts,
	conversationId: string,
	{ batches, state }: Snapshots
): AsyncGenerator<StoredEvent[]> {
	const stateSnapshot = async () =>
		JSON.stringify({ type: 'STATE_SNAPSHOT', snapshot: await stateOf(parts, conversationId, state) });
	const messagesSnapshot = async () => {
		const messages = (await parts.store.messages.list(conversationId)).flatMap((message) =>
			message.role === 'user' ? [toUserMessage(message)] : message.parts.flatMap(toAnswerMessages)
		);
		return JSON.stringify({ type: 'MESSAGES_SNAPSHOT', messages });
	};
	for await (const batch of batches) {
		const whole: StoredEvent[] = [];
		for (const stored of batch) {
			const event = JSON.parse(stored.data) as RunEvent;
			if (isTerminal(event)) {
				const seq = stored.seq - 1;
				whole.push({ seq, data: await stateSnapshot() }, { seq, data: await messagesSnapshot() });
			}
			whole.push(stored);
			if (event.type === 'RUN_STARTED') whole.push({ seq: stored.seq, data: await stateSnapshot() });
		}
		yield whole;
	}
}

/** Adds the conversation's skills to the client's state. A state that isn't an object stays as it is. */
async function stateOf(parts: Parts, conversationId: string, given: unknown): Promise<unknown> {
	if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given))) return given;
	const { data } = await listConversationSkills(parts, conversationId);
	const namesOf = (wanted: 'pinned' | 'loaded') => data.flatMap(({ name, state }) => (state === wanted ? [name] : []));
	return { ...given, skills: { pinned: namesOf('pinned'), loaded: namesOf('loaded') } };
}

function toUserMessage({ id, parts, files }: Message): agui.Message {
	const content = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
	return { id, role: 'user', content, metadata: files.length > 0 ? { files } : undefined };
}

/** In AG-UI each part is a message; a call with a result is two. Ids match the events'. */
function toAnswerMessages(part: Part): agui.Message[] {
	switch (part.type) {
		case 'text':
			return [{ id: part.id, role: 'assistant', content: part.text }];
		case 'reasoning':
			return [{ id: part.id, role: 'reasoning', content: part.text }];
		case 'tool': {
			const { id, name, arguments: text, result } = part;
			const call: agui.Message = {
				id,
				role: 'assistant',
				toolCalls: [{ id, type: 'function', function: { name, arguments: text } }]
			};
			if (result === undefined) return [call];
			return [call, { id: `result_${id}`, role: 'tool', toolCallId: id, content: result }];
		}
		case 'compaction':
			return [];
		default:
			return part satisfies never;
	}
}

const mediaPart = z.looseObject({
	type: z.enum(['image', 'audio', 'video', 'document']),
	source: z.discriminatedUnion('type', [
		z.looseObject({ type: z.literal('data'), value: z.string(), mimeType: z.string() }),
		z.looseObject({ type: z.literal('url'), value: z.string() }),
		z.looseObject({ type: z.literal('file'), value: z.string() })
	]),
	metadata: z.unknown().optional()
});
/** In one message, as with attachments. */
const MAX_PARTS = 100;

/**
 * Makes files of the thread of the media parts of a new question, so the model is given them as attachments. Addresses
 * and handles of other services are named in its text. @throws AppError invalid_input, and as `putInto` and `keepReceived`
 */
export async function receiveFiles(
	parts: { store: Store; workspaces: Workspaces },
	input: RunAgentInput,
	apiKeyId: string | null
): Promise<RunAgentInput> {
	const question = input.messages.at(-1);
	const content = question?.role === 'user' && Array.isArray(question.content) ? question.content : [];
	const media = content.flatMap((part, index) =>
		readMedia(part, `messages.${input.messages.length - 1}.content.${index}`)
	);
	if (media.length === 0) return input;
	if (media.length > MAX_PARTS) throw new AppError('invalid_input', `A message can have at most ${MAX_PARTS} files.`);
	const addresses = media.flatMap((each) => (typeof each === 'string' ? [each] : []));
	const files = media.filter((each) => typeof each !== 'string');
	const asked = (names: readonly string[]): RunAgentInput => {
		const texts = content.filter((part) => !isMedia(part));
		const hasText = texts.some((part) => String(asObject(part).text ?? '').trim() !== '');
		const told = [...addresses.map(tellAddress), ...(hasText ? [] : names)].map((text) => ({ type: 'text', text }));
		const given = asArray(asObject(question?.metadata).files);
		const metadata = { ...question?.metadata, files: [...given, ...names] };
		const last = { ...(question as RunAgentInput['messages'][number]), content: [...texts, ...told], metadata };
		return { ...input, messages: [...input.messages.slice(0, -1), last] };
	};
	// What is wrong with the rest of the input is said before anything is written.
	toRunRequests(asked(files.map(({ name }) => name)));
	const { threadId } = input;
	const kept = await putInto(parts, { id: threadId, apiKeyId }, async () => {
		const names: string[] = [];
		for (const file of files) names.push(await keepReceived(parts.workspaces, threadId, file));
		return names;
	});
	return asked([...new Set(kept)]);
}

function isMedia(part: unknown): boolean {
	return ['image', 'audio', 'video', 'document'].includes(String(asObject(part).type));
}

/** A file, or an address as text. @throws AppError invalid_input */
function readMedia(part: unknown, place: string): ({ name: string; bytes: Buffer<ArrayBuffer> } | string)[] {
	if (!isMedia(part)) return [];
	const { success, data, error } = mediaPart.safeParse(part, { error: inPlainWords });
	if (!success) throw new AppError('invalid_input', sentenceOf(error.issues[0], '', [place]).sentence);
	const { type, source, metadata } = data;
	if (source.type !== 'data') return [source.value];
	const received = decodeReceived(source.value);
	if (!received) throw new AppError('invalid_input', `${place}.source.value must be base64.`);
	const { bytes } = received;
	const { filename, name } = asObject(metadata);
	const mediaType = formatOf(bytes)?.mediaType ?? source.mimeType;
	return [
		{ name: nameOfReceived({ bytes, mediaType, filename: asText(filename) ?? asText(name), kind: type }), bytes }
	];
}
