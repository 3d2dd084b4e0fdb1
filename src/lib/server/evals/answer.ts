/** Answers one prompt of a skill's evals as a chat would, in a folder of its own (F16). */
import { mkdir, mkdtemp, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RunEvent } from '../../shared/events.ts';
import type { ReasoningEffort } from '../../shared/names.ts';
import type { EvalAnswer, EvalSide } from '../../shared/try-out.ts';
import { type AgentLimits, runAgent } from '../agent/loop.ts';
import type { AgentObserver } from '../agent/tool.ts';
import { questionItem } from '../agent/history.ts';
import type { Model } from '../agent/model.ts';
import { startTimeLimit, type TimeLimit } from '../agent/time-limit.ts';
import { knownFrom, noteOf } from '../agent/turn-note.ts';
import { removeFolder } from '../foreign-folders.ts';
import { openInside } from '../safe-path.ts';
import { renderCatalog } from '../skills/prompt.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { SkillSnapshot } from '../skills/registry/registry.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import { CATALOG_TOKENS, instructionsOf } from '../turns/instructions.ts';
import { createSkillToolbox, type SkillToolboxOptions } from '../turns/toolbox.ts';
import { offerTurn } from '../turns/turn-setup.ts';
import type { EvalCase } from './evals-file.ts';
import type { Observed } from './verdicts.ts';

export interface AnswerParts {
	skills: Pick<SkillsProvider, 'createSession' | 'rank' | 'explain'>;
	/** Asked before each script: one that needs approval fails the answer, because nobody is there. */
	approvals: SkillToolboxOptions['approvals'];
	/** All skills are `auto` by default. */
	modes?: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	/** Absolute path of the folder for working directories, which are deleted after each answer. */
	folder: string;
	observer?: AgentObserver | undefined;
}

/** Who answers. */
export interface EvalModel {
	model: Model;
	/** null leaves it to the model. */
	effort: ReasoningEffort | null;
	limits: AgentLimits;
}

/** What a prompt is asked with. */
export interface AskedSide extends Pick<EvalSide, 'id' | 'kind'> {
	agent: EvalModel;
	/** The tested skill, another version, or null without one. */
	skill: Skill | null;
	/** Skills that it requires (`metadata.requires`), as far as they are there. */
	siblings: readonly Skill[];
	/** For `library`: all skills, the tested one among them. */
	library: SkillSnapshot | null;
	/** Of what is offered; null if it can't be read. */
	digest: string | null;
}

export interface Question {
	asked: EvalCase;
	/** The skill with the evals and their files. */
	skill: Skill;
	side: AskedSide;
	/** For the execution record and the model's server. */
	sessionId: string;
	/** USD that are left for it; null: no limit but the agent's. */
	maxCostUsd: number | null;
}

/** An answer before it's judged. */
export interface Answered {
	answer: Omit<EvalAnswer, 'expectations' | 'side' | 'round' | 'isCached'>;
	seen: Observed;
}

const MAX_TEXT = 20_000;
const MAX_CALLS = 200;
const MAX_CALL_LENGTH = 500;
const MAX_FILES = 200;
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Whether a skill is loaded shows early. */
const TRIGGER_STEPS = 4;

/** Never throws: errors become the answer's `error`. */
export async function answer(parts: AnswerParts, question: Question, signal: AbortSignal): Promise<Answered> {
	const { side, maxCostUsd } = question;
	const isTrigger = side.kind === 'library';
	const isCapped = maxCostUsd !== null && maxCostUsd <= (side.agent.limits.maxCostUsd ?? Infinity);
	const notes = createNotes({ isTrigger, isCapped });
	const time = startTimeLimit(side.agent.limits.maxDurationMs, signal);
	let cwd: string | null = null;
	try {
		await mkdir(parts.folder, { recursive: true });
		cwd = await mkdtemp(join(parts.folder, 'answer-'));
		const files = await copyFiles(question, cwd);
		for await (const event of runQuestion(parts, question, { cwd, files, time })) {
			notes.add(event);
			// The first skill that is loaded decides.
			if (isTrigger && notes.hasLoaded()) break;
		}
	} catch (error) {
		notes.fail(error instanceof Error ? error.message : String(error));
	}
	// Anything left is deleted with the folder when the next server starts.
	if (cwd !== null) await removeFolder(cwd).catch(() => undefined);
	time.clear();
	return notes.answered(Math.round(time.elapsedMs()));
}

/** All skills with this one, which the model must not tell from its evals. */
export function libraryWith(snapshot: SkillSnapshot, skill: Skill): SkillSnapshot {
	const isOther = (each: Skill) => each.name !== skill.name;
	return {
		...snapshot,
		skills: [...snapshot.skills.filter(isOther), skill],
		shadowed: snapshot.shadowed.filter(isOther)
	};
}

function runQuestion(...asked: Parameters<typeof eventsOf>): AsyncGenerator<RunEvent> {
	const [{ observer }, { sessionId, side }] = asked;
	const events = eventsOf(...asked);
	return observer?.turn({ runId: sessionId, conversationId: sessionId, model: side.agent.model.id }, events) ?? events;
}

async function* eventsOf(
	parts: AnswerParts,
	{ asked, skill, side, sessionId, maxCostUsd }: Question,
	{ cwd, files, time }: { cwd: string; files: { path: string; bytes: number }[]; time: TimeLimit }
): AsyncGenerator<RunEvent> {
	const { skills, approvals, modes } = parts;
	const { model, effort, limits } = side.agent;
	// The model must not read the expectations.
	const hidden = (each: Skill) => ({ ...each, files: each.files.filter((path) => !path.startsWith('evals/')) });
	const own = skillIdOf(skill);
	const snapshot = side.library ?? {
		skills: side.skill ? [side.skill, ...side.siblings] : [],
		...{ shadowed: [], broken: [], revision: '' }
	};
	const shown = { ...snapshot, skills: snapshot.skills.map((each) => (each === side.skill ? hidden(each) : each)) };
	const library = side.library
		? {
				modeOf: (each: Parameters<StoredSkillModes['modeOf']>[0]) =>
					typeof each !== 'string' && skillIdOf(each) === own ? 'auto' : (modes?.modeOf(each) ?? 'auto'),
				pinOf: (id: string) => (id === own ? null : (modes?.pinOf(id) ?? null))
			}
		: null;
	const told = library
		? await offerTurn(
				{
					skills: { rank: skills.rank, explain: skills.explain, registry: { snapshot: () => shown } },
					modes: library,
					contextTokens: null
				},
				{
					question: asked.prompt,
					described: new Map(),
					states: [],
					model,
					signal: time.signal,
					policy: undefined,
					apiKeyId: undefined
				}
			).then((offer) => offer.told)
		: null;
	const session = skills.createSession({
		snapshot: shown,
		seen: told?.loaded.map(({ digest }) => digest) ?? [],
		loaded: told?.loaded.map(({ name }) => name) ?? [],
		dialect: 'full',
		owner: side.skill?.owner,
		modeOf: library?.modeOf ?? modes?.modeOf,
		...(library && { pinOf: library.pinOf })
	});
	const catalog = told?.catalog ?? renderCatalog(shown.skills, { budgetTokens: CATALOG_TOKENS, hasGuidance: true });
	const note = noteOf({ date: new Date(), files, skills: told?.suggested ?? [] }, knownFrom([]));
	const caller = { sessionId };
	yield* runAgent({
		model,
		effort,
		instructions: instructionsOf(catalog, { always: told?.always }),
		input: [
			questionItem(
				asked.prompt,
				files.map(({ path }) => path)
			),
			...(note ? [note] : [])
		],
		held: [],
		toolbox: createSkillToolbox({ session, callerTools: [], cwd, caller, approvals: library ? asksForAll : approvals }),
		threadId: sessionId,
		runId: sessionId,
		limits: {
			...limits,
			maxSteps: library ? Math.min(limits.maxSteps, TRIGGER_STEPS) : limits.maxSteps,
			maxCostUsd: leastOf(limits.maxCostUsd, maxCostUsd)
		},
		time,
		spent: null,
		async *fit(input) {
			yield* [];
			return input;
		},
		isAskedToYield: () => false,
		record: () => undefined,
		observer: parts.observer
	});
}

function leastOf(one: number | null, other: number | null): number | null {
	return one === null ? other : other === null ? one : Math.min(one, other);
}

/** That a script would run is all that has to be known. */
const asksForAll: SkillToolboxOptions['approvals'] = {
	request: async ({ skill, script, args }) => {
		const question = { interruptId: script, skill: skill.name, script, args, reason: 'Nothing runs here.', digest: '' };
		return { question, digest: null };
	}
};

/** @throws Error with a sentence for a file that is missing, not regular or too large */
async function copyFiles({ asked, skill }: Question, cwd: string): Promise<{ path: string; bytes: number }[]> {
	const copied: { path: string; bytes: number }[] = [];
	for (const path of asked.files) {
		const { file, bytes } = await openInside(skill.dir, path.replace(/^(\.\/)+/, '')).catch((cause: unknown) => {
			throw new Error(`Couldn’t read the file “${path}” of this eval.`, { cause });
		});
		try {
			if (bytes > MAX_FILE_BYTES) throw new Error(`The file “${path}” of this eval is larger than 10 MB.`);
			const copy = await open(join(cwd, basename(path)), 'wx');
			await copy.writeFile(file.createReadStream({ autoClose: false })).finally(() => copy.close());
		} finally {
			await file.close();
		}
		copied.push({ path: basename(path), bytes });
	}
	return copied;
}

/** Collects the facts about an answer from a run's events. */
function createNotes({ isTrigger, isCapped }: { isTrigger: boolean; isCapped: boolean }) {
	const texts: string[] = [];
	const loaded: string[] = [];
	const called = new Set<string>();
	const calls = new Map<string, { name: string; args: string }>();
	/** Names of a script, by the call that started it. */
	const running = new Map<string, string[]>();
	const exits: { names: string[]; exitCode: number }[] = [];
	const files = new Set<string>();
	let tokens: number | null = null;
	let costUsd: number | null = null;
	let steps = 0;
	let status: EvalAnswer['status'] = 'success';
	let error: string | null = null;

	const fail = (message: string) => {
		status = 'failed';
		error = message;
	};
	const finish = ({ outcome, result }: Extract<RunEvent, { type: 'RUN_FINISHED' }>) => {
		if (outcome?.type === 'cancelled') status = 'cancelled';
		if (outcome?.type === 'interrupt') fail(outcome.interrupts[0]?.message ?? 'It needs approval for a call.');
		if (result?.limit) error = `It reached a limit: ${result.limit}.`;
		// The run's limit, not the answer's: it is asked again when the run goes on.
		if (result?.limit === 'cost' && isCapped) status = 'cancelled';
	};
	const custom = (event: Extract<RunEvent, { type: 'CUSTOM' }>) => {
		switch (event.name) {
			case 'skill.loaded':
				loaded.push(event.value.skill);
				break;
			case 'tool.approval':
				if (isTrigger) loaded.push(event.value.skill);
				break;
			case 'skill.started': {
				const names = [event.value.script, event.value.tool ?? ''].filter((name) => name !== '');
				for (const name of names) called.add(name);
				running.set(event.value.toolCallId, names);
				break;
			}
			case 'skill.finished': {
				const { toolCallId, exitCode } = event.value;
				exits.push({ names: running.get(toolCallId) ?? [], exitCode: exitCode ?? -1 });
				for (const { path } of event.value.files) files.add(path);
				break;
			}
			case 'run.usage':
				tokens = event.value.inputTokens + event.value.outputTokens;
				costUsd = event.value.cost ?? null;
				break;
			default:
		}
	};
	return {
		fail,
		hasLoaded: () => loaded.length > 0,
		add(event: RunEvent) {
			switch (event.type) {
				case 'STEP_STARTED':
					steps += 1;
					break;
				case 'TEXT_MESSAGE_START':
					texts.push('');
					break;
				case 'TEXT_MESSAGE_CONTENT':
					texts.push(`${texts.pop() ?? ''}${event.delta}`);
					break;
				case 'TOOL_CALL_START':
					called.add(event.toolCallName);
					calls.set(event.toolCallId, { name: event.toolCallName, args: '' });
					break;
				case 'TOOL_CALL_ARGS': {
					const call = calls.get(event.toolCallId);
					if (call) call.args += event.delta;
					break;
				}
				case 'RUN_ERROR':
					fail(event.message);
					break;
				case 'RUN_FINISHED':
					finish(event);
					break;
				case 'CUSTOM':
					custom(event);
					break;
				default:
			}
		},
		answered(durationMs: number): Answered {
			const text = texts.join('\n\n');
			const made = [...calls.values()].map(({ name, args }) => `${name}: ${args}`.slice(0, MAX_CALL_LENGTH));
			const shown = {
				text: text.slice(0, MAX_TEXT),
				loaded,
				calls: made.slice(0, MAX_CALLS),
				files: [...files].slice(0, MAX_FILES)
			};
			return {
				answer: { status, ...shown, steps, durationMs, tokens, costUsd, error },
				seen: { text, loaded, called, exits, files: [...files], steps }
			};
		}
	};
}
