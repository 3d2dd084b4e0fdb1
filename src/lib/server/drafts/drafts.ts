/** Drafts of skills: made of a chat or of a skill, changed in the workbench, placed only when a person saves them (F8). */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../shared/errors.ts';
import {
	type DraftChange,
	type DraftList,
	type DraftReview,
	type DraftStart,
	type DraftTrial,
	type DraftWish,
	isByRules,
	openDraftOf,
	type SkillDraft
} from '../../shared/drafts.ts';
import type { FileChanges } from '../../shared/skills.ts';
import type { EvalRun } from '../../shared/try-out.ts';
import type { Model } from '../agent/model.ts';
import type { Installer } from '../install/catalog-installer.ts';
import type { Log } from '../log.ts';
import { requireSkill } from '../skill-admin/skill-details.ts';
import { instructionTokens } from '../skills/read/front-matter.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { StoredDraft, StoredFile } from '../store/skills/drafts.ts';
import { type Replica, soleReplica } from '../replica.ts';
import type { Store } from '../store/store.ts';
import { briefly, changesOf } from '../trust/trust.ts';
import type { Workspaces } from '../workspaces.ts';
import {
	failuresOf,
	hideIn,
	type ModelTask,
	textsOf,
	transcriptOf,
	IMPROVE_SKILL,
	WRITE_SKILL,
	writeByModel
} from './by-model.ts';
import {
	differs,
	faultsOf,
	fetchOf,
	fileShown,
	filesForDiff,
	filesOf,
	forDiff,
	latestOf,
	nameOf,
	readAttached,
	requireRoom,
	withLines
} from './draft-files.ts';
import { draftFromChat } from './from-chat.ts';
import { createHider, type Hider, type KnownSecrets } from './personal.ts';
import { changedSince, createSaving, digestsOf, type SavingParts, savable } from './saving.ts';
import { createTrials, type TrialParts } from './trials.ts';

export interface DraftParts extends TrialParts, SavingParts {
	store: Store;
	workspaces: Workspaces;
	installer: Pick<Installer, 'stage' | 'discard' | 'install'>;
	/** The model that a chat uses, else the default; null in Demo mode. */
	modelOf(conversationId: string | null): Promise<Model | null>;
	/** Values of the skills’ variables by name: never part of a skill. */
	secrets(): Promise<KnownSecrets>;
	/** Default: this server is alone. */
	replica?: Replica;
	log: Log;
}

export interface Drafts {
	list(): Promise<DraftList>;
	/** Makes one at once, by rules; a model goes on with it in the background. @throws AppError `not_found`; `conflict` for an empty chat */
	start(wanted: DraftStart): Promise<SkillDraft>;
	/** @throws AppError `not_found` */
	get(id: string): Promise<SkillDraft>;
	/** @throws AppError `not_found`; `conflict` if it was changed elsewhere; `invalid_input` for a file’s name; `too_large` */
	change(id: string, change: DraftChange): Promise<SkillDraft>;
	/** Lets a model change it, by a person’s wish and by what failed; or write it, if none has yet. @throws AppError `not_found`; `conflict` without a model */
	improve(id: string, wanted: DraftWish): Promise<SkillDraft>;
	/** Stops the model; what was there stays. @throws AppError `not_found` */
	stop(id: string): Promise<SkillDraft>;
	/** What the library and the security check say of it. @throws AppError `not_found` */
	review(id: string, signal: AbortSignal): Promise<DraftReview>;
	/** Places it in the library. @throws AppError `conflict` if it was changed elsewhere, or its name is taken; `invalid_input` if it's broken */
	save(id: string, revision: number): Promise<SkillDraft>;
	/**
	 * Tries it: answers a prompt with it, or runs its evals beside the skill that it changes. Runs its scripts, in the sandbox.
	 * @throws AppError `not_found`; `conflict` if it was changed elsewhere, or is being tried
	 */
	try(id: string, wanted: DraftTrial): Promise<EvalRun>;
	/** See `Trials.get`. */
	trial(id: string): Promise<EvalRun | null>;
	stopTrial(id: string): Promise<EvalRun | null>;
	/** Takes it out of the list; `change` with `restore` takes it back for 30 days. @throws AppError `not_found` */
	remove(id: string): Promise<void>;
	/** Resolves when nothing is being written to the draft. */
	settled(id: string): Promise<void>;
	close(): Promise<void>;
}

interface Writing {
	stop: AbortController;
	characters: number;
	done: Promise<void>;
}

/** Of a chat: more is only skimmed by people, too. */
const MAX_MESSAGES = 400;
const MAX_DRAFTS = 200;
/** Drafts that a model writes at the same time. */
const MAX_WRITING = 3;
const WRITE_MS = 5 * 60_000;
/** A discarded draft can be taken back for so long, and so long is one kept that nobody changes. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/** Also ends what a killed server left: the rules' draft is there. */
export async function createDrafts(parts: DraftParts): Promise<Drafts> {
	const { store, workspaces, installer, editor, log, replica = soleReplica() } = parts;
	const { skillDrafts } = store;
	const writing = new Map<string, Writing>();
	const trials = createTrials(parts);
	const { baseOf, placeNew, changeBase } = createSaving(parts);
	let isClosing = false;

	/** One whose skill is no longer in the library is a draft again. */
	const asItIs = (draft: StoredDraft): StoredDraft =>
		draft.state === 'saved' && !baseOf(draft.savedAs ?? '')
			? { ...draft, state: 'ready', savedAs: null, base: null }
			: draft;
	const undiscarded = async () => (await skillDrafts.list()).filter(({ state }) => state !== 'discarded').map(asItIs);
	/** What a person has drafts of: one in which nothing was changed is made by looking at it. */
	const kept = async () => (await undiscarded()).filter((draft) => !isUntouched(draft));
	/** What each listed draft changes and what is wrong with it, as long as neither it nor its skill has changed. */
	let compared = new Map<string, { key: string; changes: FileChanges; faults: ReturnType<typeof faultsOf> }>();
	const list = async (): Promise<DraftList> => {
		const drafts = await kept();
		// Several are of one skill.
		const skills = new Map<object, ReturnType<typeof filesForDiff>>();
		const now: typeof compared = new Map();
		const data = await Promise.all(
			drafts.map(async ({ files, baseFiles, ...draft }) => {
				const { id, name, state, model, from, base, updatedAt } = draft;
				const skill = base === null ? null : baseOf(base);
				if (skill && !skills.has(skill)) skills.set(skill, filesForDiff(skill));
				const before =
					(skill && (await skills.get(skill))) ??
					Object.entries((base !== null && baseFiles) || {}).map(([path, sha256]) => ({ path, sha256, text: null }));
				const key = JSON.stringify([draft.revision, before.map(({ path, sha256 }) => [path, sha256])]);
				const known = compared.get(id);
				const told =
					known?.key === key
						? known
						: { key, changes: briefly(await changesOf(before, files.map(forDiff))), faults: faultsOf(files) };
				now.set(id, told);
				const { changes, faults } = told;
				const hasChanges = base === null || changes.files.length > 0;
				const current = Object.fromEntries(before.map(({ path, sha256 }) => [path, sha256]));
				const isStale = skill !== null && hasChanges && changedSince(baseFiles, current).length > 0;
				return { id, name, state, model, from, base, updatedAt, faults, hasChanges, changes, isStale };
			})
		);
		compared = now;
		return { data };
	};
	const requireDraft = async (id: string, revision?: number): Promise<StoredDraft> => {
		const found = await skillDrafts.get(id);
		const draft = found && asItIs(found);
		if (!draft) throw new AppError('not_found', 'This draft is gone.', { hint: 'Make a new one from the chat.' });
		if (draft.revision !== (revision ?? draft.revision)) throw changedElsewhere();
		return draft;
	};
	const put = async (before: StoredDraft, changed: Partial<StoredDraft>): Promise<StoredDraft> => {
		const draft = { ...before, ...changed, revision: before.revision + 1, updatedAt: now() };
		draft.name = nameOf(draft.files);
		if (await skillDrafts.change(draft, before.revision)) return draft;
		throw changedElsewhere();
	};
	const shown = (draft: StoredDraft): SkillDraft => {
		const { files, earlier, baseFiles: _baseFiles, writer: _writer, ...rest } = draft;
		const job = writing.get(draft.id);
		const progress = job
			? job.characters > 0
				? `The model has written ${job.characters} characters.`
				: 'The model is reading.'
			: null;
		return { ...rest, progress, canUndo: earlier.length > 0, files: files.map(fileShown) };
	};
	const withFiles = (before: StoredDraft, files: StoredFile[]): Partial<StoredDraft> => {
		requireRoom(files);
		return { files, earlier: latestOf([...before.earlier, before.files]) };
	};

	/** Never rejects. */
	const write = async (id: string, model: Model, { task, hider }: { task: ModelTask; hider: Hider }, job: Writing) => {
		const time = AbortSignal.timeout(WRITE_MS);
		let changed: Partial<StoredDraft>;
		try {
			const onProgress = (characters: number) => (job.characters = characters);
			const signal = AbortSignal.any([job.stop.signal, time]);
			const made = await writeByModel(model, task, { hider, signal, onProgress });
			const before = await requireDraft(id);
			const replaced = [
				...before.replaced.filter(({ name }) => hider.hidden.every((each) => each.name !== name)),
				...hider.hidden
			];
			changed = { ...withFiles(before, made), model: model.id, replaced };
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			const problem = time.aborted ? 'The model took longer than 5 minutes.' : job.stop.signal.aborted ? null : reason;
			const left = task.isImprovement ? 'Nothing was changed.' : 'What you see was made by rules.';
			changed = { problem: problem && `${problem} ${left}` };
		}
		writing.delete(id);
		// Its draft stays “writing”, so that the next start says why it ended.
		if (isClosing) return;
		// Somebody may have changed or removed it meanwhile: theirs counts.
		const before = await skillDrafts.get(id).catch(() => null);
		if (before?.state !== 'writing') return;
		await put(before, { ...changed, problem: withProblem(before, changed.problem), state: 'ready' }).catch(
			(error: unknown) => {
				log.error({ draft: id, error: String(error) }, 'couldn’t save a draft');
			}
		);
	};
	/** Each is paid for, and an agent can ask for them in a loop. */
	const requireTurn = () => {
		if (writing.size < MAX_WRITING) return;
		throw new AppError('conflict', `The model is writing ${MAX_WRITING} drafts already.`, {
			hint: 'Wait for one of them, or stop it.'
		});
	};
	const beginWriting = (id: string, model: Model, what: { task: ModelTask; hider: Hider }) => {
		const job: Writing = { stop: new AbortController(), characters: 0, done: Promise.resolve() };
		writing.set(id, job);
		job.done = write(id, model, what, job);
	};
	const stopWriting = async (id: string): Promise<boolean> => {
		const job = writing.get(id);
		job?.stop.abort();
		await job?.done;
		return job !== undefined;
	};
	const begin = async (
		made: Pick<StoredDraft, 'files' | 'notes' | 'problem' | 'from' | 'base' | 'baseFiles'>,
		{ model, task, hider }: { model: Model | null; task: ModelTask | null; hider: Hider }
	): Promise<SkillDraft> => {
		requireRoom(made.files);
		if (model && task) requireTurn();
		if ((await kept()).length >= MAX_DRAFTS) {
			throw new AppError('conflict', `There are ${MAX_DRAFTS} drafts already.`, { hint: 'Discard some first.' });
		}
		const draft: StoredDraft = {
			...made,
			id: randomUUID(),
			name: nameOf(made.files),
			state: model && task ? 'writing' : 'ready',
			writer: replica.id,
			revision: 1,
			model: null,
			replaced: [...hider.hidden],
			earlier: [],
			savedAs: null,
			createdAt: now(),
			updatedAt: now()
		};
		await skillDrafts.add(draft);
		if (model && task) beginWriting(draft.id, model, { task, hider });
		return shown(draft);
	};

	/** What rules make of a chat, and what a model gets to make it better. @throws AppError as `start` */
	const readChat = async (conversationId: string, messageId: string | undefined) => {
		const conversation = await store.conversations.get(conversationId);
		if (!conversation) throw new AppError('not_found', 'Conversation not found.');
		const branch = await store.messages.ids(conversationId, 'shown');
		const end = messageId === undefined ? branch.length : branch.indexOf(messageId) + 1;
		if (messageId !== undefined && end === 0)
			throw new AppError('not_found', 'The chat has no such message in the branch that is shown.');
		const messages = await store.messages.read(conversationId, branch.slice(Math.max(0, end - MAX_MESSAGES), end));
		if (!messages.some(({ role, parts: said }) => role === 'assistant' && said.length > 0)) {
			throw new AppError('conflict', 'There is nothing in this chat yet that a skill could be made of.', {
				hint: 'Ask for something first.'
			});
		}
		const hider = createHider(await parts.secrets());
		const { attached, left } = await readAttached(workspaces, conversationId, [
			...new Set(messages.flatMap(({ files }) => files))
		]);
		const { skills, shadowed, broken } = editor.skills.registry.snapshot();
		const taken = new Set([...skills, ...shadowed, ...broken].map(({ name }) => name));
		const made = draftFromChat({ title: conversation.title, messages, attached, taken }, hider);
		const notes = [
			...(end > MAX_MESSAGES ? [`Only the last ${MAX_MESSAGES} messages of the chat were read.`] : []),
			...made.notes,
			...left
		];
		const taskOf = (files: readonly StoredFile[], wish: string | undefined): ModelTask => {
			const told = {
				...(wish !== undefined && { wish: hider.hide(wish) }),
				draft: hideIn(textsOf(files), hider),
				chat
			};
			return { instructions: WRITE_SKILL, material: JSON.stringify(told), files, isImprovement: false };
		};
		const chat = transcriptOf(messages, hider);
		const from = {
			conversationId,
			title: hider.hide(conversation.title),
			...(messageId !== undefined && { messageId })
		};
		return { hider, taskOf, made: { files: made.files, notes, problem: made.problem, from } };
	};

	const ofChat = async (conversationId: string, { messageId, wish }: DraftStart): Promise<SkillDraft> => {
		const { hider, taskOf, made } = await readChat(conversationId, messageId);
		const model = await parts.modelOf(conversationId);
		return begin({ ...made, base: null }, { model, task: taskOf(made.files, wish), hider });
	};

	/** Of a chat’s draft that no model has written yet, it’s to write it, from the chat; unless that is gone. */
	const nextTask = async (draft: StoredDraft, wish: string | undefined): Promise<{ task: ModelTask; hider: Hider }> => {
		if (isByRules(draft) && draft.from) {
			const chat = await readChat(draft.from.conversationId, draft.from.messageId).catch((error: unknown) => {
				if (error instanceof AppError) return null;
				throw error;
			});
			if (chat) return { hider: chat.hider, task: chat.taskOf(draft.files, wish) };
		}
		const hider = createHider(await parts.secrets());
		const found = {
			...(wish !== undefined && { wish }),
			files: textsOf(draft.files),
			...(draft.base !== null && (await failuresOf(store, draft.base)))
		};
		const material = JSON.stringify(hideIn(found, hider));
		return { hider, task: { instructions: IMPROVE_SKILL, material, files: draft.files, isImprovement: true } };
	};

	/** Goes on with the one there is, unless it's to be another. */
	const ofSkill = async (id: string, another = false): Promise<SkillDraft> => {
		const skill = requireSkill(editor, null, id);
		const base = skillIdOf(skill);
		const open = another ? undefined : openDraftOf(await kept(), base);
		if (open) return shown(open);
		const [files, baseFiles] = [await filesOf(skill), await digestsOf(skill)];
		// One in which nobody has changed anything is as good as another, if it’s of the skill as it is.
		const same = (await undiscarded()).find(
			(draft) => draft.base === base && isUntouched(draft) && isDeepStrictEqual(draft.baseFiles, baseFiles)
		);
		if (same) return shown(same);
		return begin(
			{ files, notes: [], problem: null, from: null, base, baseFiles },
			{ model: null, task: null, hider: createHider() }
		);
	};

	const staged = async <Result>(
		files: readonly StoredFile[],
		signal: AbortSignal,
		use: (staged: Awaited<ReturnType<Installer['stage']>>) => Promise<Result>
	): Promise<Result> => {
		const found = await installer.stage(fetchOf(files), { signal });
		try {
			return await use(found);
		} finally {
			await installer.discard(found.id).catch(() => undefined);
		}
	};

	for (const draft of await skillDrafts.list()) {
		const isOver = draft.state === 'discarded' || isUntouched(draft);
		if (isOver && Date.parse(draft.updatedAt) < Date.now() - KEPT_MS) await skillDrafts.remove(draft.id);
	}
	const endInterrupted = async (isLeft: (writer: string) => boolean): Promise<void> => {
		for (const draft of await skillDrafts.list()) {
			if (draft.state !== 'writing' || !isLeft(draft.writer ?? '')) continue;
			const left = isByRules(draft) ? 'What you see was made by rules.' : 'Nothing was changed.';
			const problem = `The server stopped while the model was writing. ${left}`;
			// Somebody may be faster.
			await put(draft, { state: 'ready', problem: withProblem(draft, problem) }).catch((error: unknown) => {
				if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
			});
		}
	};
	const live = replica.isShared ? await replica.live() : new Set();
	await endInterrupted((writer) => !live.has(writer));
	replica.onGone((id) => endInterrupted((writer) => writer === id));

	return {
		list,
		start: (wanted) =>
			wanted.conversationId === undefined
				? ofSkill(wanted.skill ?? '', wanted.another)
				: ofChat(wanted.conversationId, wanted),
		get: async (id) => shown(await requireDraft(id)),
		async change(id, { revision, files, undo, restore }) {
			const before = await requireDraft(id, revision);
			writing.get(id)?.stop.abort();
			const again = { state: 'ready' as const, savedAs: null };
			if (restore) {
				const base = before.base !== null && baseOf(before.base) ? before.base : null;
				return shown(await put(before, { ...again, base }));
			}
			if (undo) {
				const last = before.earlier.at(-1);
				if (!last) throw new AppError('conflict', 'There is nothing to undo.');
				const base = before.base === null ? null : baseOf(before.base);
				const current = base && (await digestsOf(base));
				// What the skill is by now is a place to go on from.
				const baseFiles = current && !differs(last, current) ? current : before.baseFiles;
				return shown(await put(before, { ...again, files: last, baseFiles, earlier: before.earlier.slice(0, -1) }));
			}
			const made = new Map(before.files.map((file) => [file.path, file]));
			for (const { path, text } of files ?? []) {
				if (text === null) made.delete(path);
				else made.set(path, { path, content: text, encoding: 'utf8' });
			}
			return shown(await put(before, { ...again, ...withFiles(before, [...made.values()]) }));
		},
		async improve(id, { revision, wish }) {
			const before = await requireDraft(id, revision);
			if (before.state === 'writing') throw changedElsewhere();
			const model = await parts.modelOf(before.from?.conversationId ?? null);
			if (!model) {
				throw new AppError('conflict', 'Demo mode can’t improve a skill: there is no model.', {
					hint: 'Connect a model in the settings.'
				});
			}
			requireTurn();
			const what = await nextTask(before, wish);
			const draft = await put(before, { state: 'writing', problem: null, writer: replica.id });
			beginWriting(id, model, what);
			return shown(draft);
		},
		async stop(id) {
			const wasWriting = await stopWriting(id);
			const draft = await requireDraft(id);
			if (wasWriting || draft.state !== 'writing') return shown(draft);
			// Another server's: what its model still writes counts for nothing.
			return shown(await put(draft, { state: 'ready' }));
		},
		async review(id, signal) {
			const draft = await requireDraft(id);
			return staged(draft.files, signal, async ({ skills: [skill] }) => {
				if (!skill) throw new AppError('invalid_input', 'A skill needs its SKILL.md.');
				const text = draft.files.find(({ path }) => path === 'SKILL.md')?.content ?? '';
				const base = draft.base === null ? null : baseOf(draft.base);
				const changes = base && (await changesOf(await filesForDiff(base), draft.files.map(forDiff)));
				const diagnostics = withLines(skill.diagnostics, text, draft.name);
				const { revision } = draft;
				const current = base && (await digestsOf(base));
				const isStale =
					current !== null && differs(draft.files, current) && changedSince(draft.baseFiles, current).length > 0;
				return { ...skill, diagnostics, ...(base && { changes }), revision, isStale, tokens: instructionTokens(text) };
			});
		},
		async save(id, revision) {
			const draft = await requireDraft(id, revision);
			const { signal } = new AbortController();
			// As it will be read: a broken skill isn't placed.
			const { name } = await staged(draft.files, signal, async ({ skills }) => savable(skills));
			const savedAs =
				draft.base === null ? await placeNew(name, draft.files) : await changeBase(draft.base, name, draft);
			// From now on, it changes that skill.
			const saved = baseOf(savedAs);
			const baseFiles = saved ? await digestsOf(saved) : undefined;
			return shown(await put(draft, { state: 'saved', savedAs, base: savedAs, baseFiles }));
		},
		async try(id, wanted) {
			const draft = await requireDraft(id, wanted.revision);
			if (draft.state === 'writing') throw changedElsewhere();
			return trials.start(draft, wanted, draft.base === null ? null : baseOf(draft.base));
		},
		trial: trials.get,
		stopTrial: trials.stop,
		async remove(id) {
			await trials.stop(id);
			await stopWriting(id);
			await put(await requireDraft(id), { state: 'discarded' });
		},
		settled: async (id) => writing.get(id)?.done,
		async close() {
			const jobs = [...writing.values()];
			isClosing = true;
			for (const { stop } of jobs) stop.abort();
			await Promise.all([trials.close(), ...jobs.map(({ done }) => done)]);
		}
	};
}

/** Of a skill, and as it was made. */
function isUntouched({ state, base, files, baseFiles, earlier, problem }: StoredDraft): boolean {
	return state === 'ready' && base !== null && earlier.length === 0 && problem === null && !differs(files, baseFiles);
}

/** What was wrong with its chat still is. */
function withProblem(before: StoredDraft, problem: string | null | undefined): string | null {
	return [before.problem, problem].filter(Boolean).join(' ') || null;
}

function now(): string {
	return new Date().toISOString();
}

function changedElsewhere(): AppError {
	return new AppError('conflict', 'This draft was changed in another tab.', {
		hint: 'Load it again to see what it is now.'
	});
}
