/** Tries a draft: answers a prompt with it, or runs its evals, beside the skill that it changes (F8, F16). */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { DraftTrial } from '../../shared/drafts.ts';
import { DRAFT_SOURCE, UNSAVED_SOURCE } from '../../shared/names.ts';
import { type EvalRun, evalRun } from '../../shared/try-out.ts';
import { type Evals, readyIn } from '../evals/evals.ts';
import { removeFolder } from '../foreign-folders.ts';
import type { Log } from '../log.ts';
import type { Replica } from '../replica.ts';
import type { Skill } from '../skills/types.ts';
import { openShownWork } from '../stop-wishes.ts';
import type { Store } from '../store/store.ts';
import type { StoredDraft, StoredFile } from '../store/skills/drafts.ts';
import { type ApprovalPolicy, handlerOf } from '../trust/approval-policy.ts';
import { bytesOf, filesOf, frontOf, metadataOf, requireRoom } from './draft-files.ts';

export interface TrialParts {
	evals: Pick<Evals, 'tryOut'>;
	approvals: Pick<ApprovalPolicy, 'request' | 'isTrusted'>;
	/** Absolute path of a folder, which is emptied when the server starts. */
	folder: string;
	store: Pick<Store, 'shownWork'>;
	/** Default: this server is alone. */
	replica?: Replica | undefined;
	log: Log;
}

export interface Trials {
	/** Starts one; only one of a draft goes on at a time. @throws AppError `conflict` */
	start(draft: StoredDraft, wanted: DraftTrial, against: Skill | null): Promise<EvalRun>;
	/** The last one since the server started, or another did; null without. */
	get(id: string): Promise<EvalRun | null>;
	/** Ends it, on whichever server. */
	stop(id: string): Promise<EvalRun | null>;
	close(): Promise<void>;
}

interface Trial {
	run: EvalRun;
	stop: AbortController;
	done: Promise<void>;
}

const EVALS = 'evals/evals.json';
const MAX_EXAMPLES = 5;
/** Of one trial: somebody only wants to see how it does. */
const MAX_USD = 1;
/** Of drafts that were tried; the oldest is forgotten first. */
const MAX_KEPT = 50;
const LOST = 'The server that tried it has stopped. Try it again.';

export function createTrials({ evals, approvals, folder, store, replica, log }: TrialParts): Trials {
	const trials = new Map<string, Trial>();
	const isRunning = (id: string): boolean => trials.get(id)?.run.state === 'running';
	const shown = openShownWork(replica ? { store: store.shownWork, replica, log } : null, 'trial', {
		schema: evalRun,
		hasWork: () => [...trials.keys()].some(isRunning),
		stop: (id) => trials.get(id)?.stop.abort()
	});
	const get = async (id: string): Promise<EvalRun | null> => {
		const found = await shown.read(id);
		if (found === 'own') return trials.get(id)?.run ?? null;
		return found?.isLost ? { ...found.body, state: 'failed', error: LOST } : (found?.body ?? null);
	};

	/** Handlers run inside the server, which no sandbox limits: only one that the skill, which somebody trusts, calls already. */
	const mayCall = async (handler: string, against: Skill | null): Promise<boolean> => {
		const calls = against?.tools.some(({ name }) => handlerOf(against, name) === handler) ?? false;
		return against !== null && calls && approvals.isTrusted(against);
	};

	/** Never rejects. */
	const perform = async (
		{ run, stop }: Pick<Trial, 'run' | 'stop'>,
		files: readonly StoredFile[],
		{ id, name, isPrompt, against }: { id: string; name: string; isPrompt: boolean; against: Skill | null }
	) => {
		let ended: Partial<EvalRun>;
		const place = join(folder, `draft-${randomUUID()}`);
		try {
			const dir = await putIn(place, name, files);
			const options = { without: !isPrompt && against === null, maxCostUsd: MAX_USD };
			const outcome = await evals.tryOut(await readyIn(dir, `${DRAFT_SOURCE}${id}`), options, {
				signal: stop.signal,
				...(against && !isPrompt && { against }),
				// A person has read the draft and pressed the button. All else asks as ever, so here it fails.
				approvals: {
					async request(plan) {
						const handler = handlerOf(plan.skill, plan.script);
						const isOwn = plan.skill.dir === dir && (handler === null || (await mayCall(handler, against)));
						return isOwn ? { question: null, digest: null } : approvals.request(plan, null);
					}
				},
				onAnswer({ results, done, total }) {
					Object.assign(run, { results, progress: { done, total } });
					shown.show(id, run);
				}
			});
			const { sides, results, costUsd, isOverLimit } = outcome;
			ended = { sides, results, costUsd, state: isOverLimit ? 'limit' : 'done' };
		} catch (error) {
			const reason = error instanceof AppError ? error.message : 'Something went wrong. See the server’s log.';
			ended = stop.signal.aborted ? { state: 'cancelled' } : { state: 'failed', error: reason };
		}
		await removeFolder(place).catch(() => undefined);
		Object.assign(run, ended, { finishedAt: new Date().toISOString() });
		await shown.end(id, run);
	};

	return {
		async start(draft, { prompt }, against) {
			const tried = () =>
				new AppError('conflict', 'This draft is being tried already.', { hint: 'Wait for it, or stop it.' });
			if (isRunning(draft.id)) throw tried();
			const run: EvalRun = {
				...{ id: randomUUID(), skillId: draft.base ?? draft.name, version: '' },
				...{ kind: 'answers', state: 'running', rounds: 1, maxCostUsd: MAX_USD, isFresh: false },
				...{ progress: { done: 0, total: 0 }, sides: [], results: [], costUsd: null, error: null },
				...{ startedAt: new Date().toISOString(), finishedAt: null }
			};
			const stop = new AbortController();
			const files = prompt === undefined ? draft.files : withPrompt(draft.files, prompt);
			const { name } = frontOf(draft.files);
			const about = {
				id: draft.id,
				name: typeof name === 'string' ? name : '',
				isPrompt: prompt !== undefined,
				against
			};
			const trial: Trial = { run, stop, done: Promise.resolve() };
			trials.delete(draft.id);
			// Before anything is waited for, so that nobody else begins one here.
			trials.set(draft.id, trial);
			let isMine = false;
			try {
				isMine = await shown.begin(draft.id, run);
			} finally {
				if (!isMine) trials.delete(draft.id);
			}
			if (!isMine) throw tried();
			trial.done = perform(trial, files, about);
			const oldest = [...trials].find(([, trial]) => trial.run.state !== 'running');
			if (trials.size > MAX_KEPT && oldest) trials.delete(oldest[0]);
			return run;
		},
		get,
		async stop(id) {
			const trial = trials.get(id);
			trial?.stop.abort();
			await trial?.done;
			if ((await shown.read(id)) !== 'own') await shown.stop(id);
			return get(id);
		},
		async close() {
			const all = [...trials.values()];
			for (const { stop } of all) stop.abort();
			await Promise.all(all.map(({ done }) => done));
			await shown.close();
		}
	};
}

/** Resolves to the skill's folder below `place`. */
async function putIn(place: string, name: string, files: readonly StoredFile[]): Promise<string> {
	const dir = join(place, /^[a-z0-9-]{1,64}$/.test(name) ? name : 'draft');
	for (const file of files) {
		await mkdir(dirname(join(dir, file.path)), { recursive: true });
		const bytes = bytesOf(file);
		const mode = bytes.subarray(0, 2).toString() === '#!' ? 0o755 : 0o644;
		await writeFile(join(dir, file.path), bytes, { flag: 'wx', mode });
	}
	return dir;
}

/**
 * Lends a copy of a skill that has these texts in place of its own: what a person types is run before it's saved (F1).
 * `folder` as in `TrialParts`. @throws AppError `invalid_input` for a file's name; `too_large`; `conflict` if it's broken
 */
export async function withTexts<Result>(
	folder: string,
	{ skill, texts }: { skill: Skill; texts: readonly { path: string; text: string }[] },
	use: (copy: Skill) => Promise<Result>
): Promise<Result> {
	const files = new Map((await filesOf(skill)).map((file) => [file.path, file]));
	for (const { path, text } of texts) files.set(path, { path, content: text, encoding: 'utf8' });
	requireRoom([...files.values()]);
	const place = join(folder, `unsaved-${randomUUID()}`);
	try {
		const dir = await putIn(place, skill.name, [...files.values()]);
		return await use(await readyIn(dir, `${UNSAVED_SOURCE}${skill.source}`));
	} finally {
		await removeFolder(place).catch(() => undefined);
	}
}

/** Only this prompt is asked, with the example's files if it's the example, else with those that it names. */
function withPrompt(files: readonly StoredFile[], prompt: string): StoredFile[] {
	const isExample = prompt.trim() === metadataOf(files).example?.trim();
	const examples = files
		.map(({ path }) => path)
		.filter((path) => /^examples\/[^/]+$/.test(path) && (isExample || prompt.includes(basename(path))));
	const cases = [{ id: 'try', prompt, files: examples.slice(0, MAX_EXAMPLES) }];
	const content = JSON.stringify({ evals: cases });
	return [...files.filter(({ path }) => path !== EVALS), { path: EVALS, content, encoding: 'utf8' }];
}
