/** The skills of a conversation: pinned, loaded by the model (F7), or offered by a run. */
import type { ConversationSkill, ConversationSkillList, RunOffer } from '../../shared/api.ts';
import { estimateTokens } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import { isOnlyLookedAt } from '../agent/history.ts';
import type { Message } from '../../shared/message.ts';
import { siblingsOf } from '../skills/needs/siblings.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import { unusableIn, viewOf } from '../skills/registry/visibility.ts';
import type { ConversationSkillState } from '../store/chat/queue.ts';
import type { Store } from '../store/store.ts';
import type { ConversationChanges } from '../runs/conversation-changes.ts';
import type { Runner } from '../runs/runner.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import type { RunEvent, SkillOffer } from '../../shared/events.ts';
import { skillOffer } from '../../shared/message-schema.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';

interface Parts {
	store: Pick<Store, 'conversations' | 'conversationSkills' | 'messages' | 'skillTrash'>;
	runner: Pick<Runner, 'current'>;
	skills: { registry: Pick<SkillsProvider['registry'], 'snapshot'> };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	changes: Pick<ConversationChanges, 'announce'>;
}

/** More would fill any model's context. */
const MAX_PINNED = 50;

/** For the visible branch, including the reply under way. @throws AppError not_found */
export async function listConversationSkills(parts: Parts, id: string): Promise<ConversationSkillList> {
	const { store, skills, modes } = parts;
	if (!(await store.conversations.get(id))) throw noConversation();
	const states = await store.conversationSkills.list(id);
	const shown = await Promise.all((await store.messages.list(id)).map((message) => parts.runner.current(message)));
	const snapshot = skills.registry.snapshot();
	const view = viewOf(snapshot, modes);
	const { library, off } = view;
	const reasons = new Map(unusableIn(view, await store.skillTrash.list()).map(({ name, why }) => [name, why]));
	const usable = library.skills;
	const listed = [...usable, ...snapshot.skills, ...snapshot.broken];

	const pinned = states.filter(({ state }) => state === 'pinned').map(({ skill }) => skill);
	const loaded = loadedIn(shown, states);
	const find = (name: string) => usable.find((each) => each.name === name);
	const stateOf = (name: string, skill = find(name)): Pick<ConversationSkill, 'isAvailable' | 'why' | 'lacks'> => {
		if (!skill) return { isAvailable: false, ...(reasons.has(name) && { why: reasons.get(name) }) };
		const siblings = siblingsOf(skill, { skills: usable, off });
		const lacks = siblings.flatMap(({ name, isDeclared, state }) => (isDeclared && state !== 'on' ? [name] : []));
		return { isAvailable: true, ...(lacks.length > 0 && { lacks }) };
	};
	const data = [
		...pinned.map((name): ConversationSkill => {
			const skill = find(name);
			const description = (skill ?? listed.find((each) => each.name === name))?.description ?? '';
			return {
				name,
				description,
				state: 'pinned',
				tokens: skill ? estimateTokens(skill.body) : 0,
				...stateOf(name, skill)
			};
		}),
		...loaded
			.filter(({ name }) => !pinned.includes(name))
			.map(({ name, description, tokens }): ConversationSkill => ({
				...{ name, description, state: 'loaded', tokens },
				...stateOf(name)
			}))
	];
	return { data, tokens: data.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/**
 * Pins a skill, unpins it (`loaded`), or removes it from the context (`unloaded`), from the next reply on.
 * @throws AppError `not_found` for the conversation, or for a skill to pin; `conflict` if too many are pinned
 */
export async function setConversationSkill(
	parts: Parts,
	id: string,
	{ name, state }: { name: string; state: 'pinned' | 'loaded' | 'unloaded' }
): Promise<ConversationSkillList> {
	const { conversationSkills } = parts.store;
	const before = await listConversationSkills(parts, id);
	const now = new Date().toISOString();
	const set = async (to: ConversationSkillState['state']) => {
		if (!(await conversationSkills.set(id, name, to, now))) throw noConversation();
	};
	switch (state) {
		case 'pinned': {
			const { skills, modes } = parts;
			const usable = viewOf(skills.registry.snapshot(), modes).library.skills;
			if (!usable.some((skill) => skill.name === name)) {
				throw new AppError('not_found', `The skill “${name.slice(0, 200)}” isn’t available.`);
			}
			const others = before.data.filter((skill) => skill.state === 'pinned' && skill.name !== name);
			if (others.length >= MAX_PINNED) {
				throw new AppError('conflict', `You can pin up to ${MAX_PINNED} skills. Unpin one first.`);
			}
			await set('pinned');
			break;
		}
		case 'loaded':
			await conversationSkills.remove(id, name);
			break;
		case 'unloaded':
			// A skill that isn't loaded needs no record.
			if (before.data.some((skill) => skill.name === name)) await set('unloaded');
			break;
		default:
			state satisfies never;
	}
	parts.changes.announce(id);
	return listConversationSkills(parts, id);
}

type Loaded = Pick<ConversationSkill, 'name' | 'description' | 'tokens'>;

/** Skills loaded, not only looked at, and not unloaded since, in order of their first load, with the data of their last. */
function loadedIn(messages: readonly Message[], states: readonly ConversationSkillState[]): Loaded[] {
	const unloaded = new Map(
		states.flatMap(({ skill, state, changedAt }) => (state === 'unloaded' ? [[skill, changedAt]] : []))
	);
	const loaded = new Map<string, Loaded>();
	const isLookedAt = isOnlyLookedAt(messages);
	for (const message of messages) {
		for (const part of message.parts) {
			if (part.type !== 'tool' || !part.loaded) continue;
			const { skill: name, description, tokens } = part.loaded;
			const since = unloaded.get(name);
			if (isLookedAt(name, message)) continue;
			if (since === undefined || message.createdAt >= since) loaded.set(name, { name, description, tokens });
		}
	}
	return [...loaded.values()];
}

function noConversation(): AppError {
	return new AppError('not_found', 'Conversation not found.');
}

/** What a run offered, loaded and ran so far, from its events (F2). @throws AppError not_found */
export async function readRunOffer(
	runner: Pick<Runner, 'get' | 'live' | 'follow'>,
	runId: string,
	signal: AbortSignal
): Promise<RunOffer> {
	const run = await runner.get(runId);
	if (!run) throw new AppError('not_found', 'Run not found.');
	const isRunning = run.state === 'running';
	const upTo = runner.live(runId)?.seq ?? run.lastSeq;
	const batches = (await runner.follow(runId, 0, signal)) ?? [];
	const read = createReader();
	for await (const batch of batches) {
		for (const { data } of batch) {
			// Nearly all events are text deltas.
			if (data.includes('"skill.')) read.add(JSON.parse(data) as RunEvent);
		}
		const last = batch.at(-1)?.seq ?? 0;
		// Reads a live run only up to now, but at least until its offer.
		if (isRunning && last >= Math.max(upTo, OFFERED_BY)) break;
	}
	return { isBuiltIn: run.model === BUILT_IN_MODEL, ...read.result(isRunning) };
}

/** The offer is among the first events up to this one. */
const OFFERED_BY = 2;

function createReader() {
	let offer: SkillOffer | null = null;
	const loaded = new Set<string>();
	const ran: RunOffer['ran'] = [];
	/** Running executions by call id. */
	const open = new Map<string, RunOffer['ran'][number]>();
	return {
		add(event: RunEvent): void {
			if (event.type !== 'CUSTOM') return;
			switch (event.name) {
				case 'skill.catalog':
					// Older runs stored only names and descriptions.
					offer = skillOffer.safeParse(event.value).data ?? null;
					return;
				case 'skill.loaded':
					loaded.add(event.value.skill);
					return;
				case 'skill.started': {
					const { toolCallId, skill, script, tool } = event.value;
					const run: RunOffer['ran'][number] = { skill, script: tool ?? script, status: 'running' };
					ran.push(run);
					open.set(toolCallId, run);
					return;
				}
				case 'skill.finished': {
					const { toolCallId, exitCode, error } = event.value;
					const run = open.get(toolCallId);
					if (run) run.status = exitCode === 0 && error === undefined ? 'success' : 'error';
					return;
				}
				default:
			}
		},
		result: (isRunning: boolean) => ({
			offer,
			loaded: [...loaded],
			// Executions still running at the end of a run were stopped with it.
			ran: ran.map((each) => (each.status === 'running' && !isRunning ? { ...each, status: 'error' as const } : each))
		})
	};
}
