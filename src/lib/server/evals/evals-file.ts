/** Reads a skill's `evals/evals.json` and `evals/trigger-evals.json`, in skill-creator's formats and similar ones (F16). */
import { basename } from 'node:path/posix';
import { z } from 'zod';
import { type EvalRun } from '../../shared/try-out.ts';
import { AppError } from '../../shared/errors.ts';
import { readSkillFile } from '../skills/read/files.ts';
import { type Skill, SkillError } from '../skills/types.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';
import { type Expectation, readExpectation, shouldTrigger } from '../../shared/evals.ts';

/** A prompt, with expectations of its answer. */
export interface EvalCase {
	id: string;
	prompt: string;
	/** Expected result, for people and the judge. */
	expected: string | null;
	/** Paths in the skill's folder; copied to the working directory without their folders. */
	files: string[];
	expectations: Expectation[];
	/** Among the triggers: whether the skill should be loaded; else null. */
	shouldTrigger: boolean | null;
}

export interface SkillEvalCases {
	cases: EvalCase[];
	/** Those of trigger-evals.json, then the evals that expect the skill to be loaded or not. */
	triggers: EvalCase[];
	/** Why the files can't be used; null if they can, or don't exist. */
	problem: string | null;
}

const EVALS = 'evals/evals.json';
const TRIGGERS = 'evals/trigger-evals.json';
const MAX_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 5;

const text = (max: number) => z.string().min(1).max(max);
export const evalEntry = z.looseObject({
	id: z.union([text(200), z.number()]).optional(),
	prompt: text(100_000).optional(),
	/** Alias of `prompt`, from Anthropic's guide to skills. */
	query: text(100_000).optional(),
	/** skill-creator's mark of a prompt that asks only whether the skill is loaded. */
	should_trigger: z.boolean().optional(),
	expected_output: z.string().max(100_000).nullish(),
	files: z.array(text(1024)).max(50).nullish(),
	expectations: z.array(z.unknown()).max(50).nullish(),
	assertions: z.array(z.unknown()).max(50).nullish(),
	expected_behavior: z.array(z.unknown()).max(50).nullish()
});
type Entry = z.infer<typeof evalEntry>;
const file = z.looseObject({ evals: z.array(evalEntry).max(200) });

/** Never throws for a skill's mistakes: then there are no cases at all, and `problem` says why. */
export async function readEvals(skill: Pick<Skill, 'dir' | 'name'>): Promise<SkillEvalCases> {
	const [evals, triggers] = [await readEntries(skill, EVALS), await readEntries(skill, TRIGGERS)];
	const problem = evals.problem ?? triggers.problem;
	if (problem !== null) return { cases: [], triggers: [], problem };
	const problems: string[] = [];
	const isTrigger = ({ should_trigger: is }: Entry) => is !== undefined;
	const cases = evals.entries.flatMap((each, index) =>
		isTrigger(each) ? [] : readCase(each, index, skill.name, problems)
	);
	const said = [...evals.entries.filter(isTrigger), ...triggers.entries].flatMap((each, index) =>
		readTrigger(each, index, skill.name, problems)
	);
	for (const ids of [cases, said].map((all) => all.map(({ id }) => id))) {
		const twice = ids.find((id, index) => ids.indexOf(id) !== index);
		if (twice !== undefined) problems.push(`Two of its evals have the id “${twice}”.`);
	}
	if (problems.length > 0) return { cases: [], triggers: [], problem: sentences(EVALS, problems) };
	const taken = new Set(said.map(({ id }) => id));
	const implied = cases.flatMap(({ id, expectations, ...each }) => {
		const is = shouldTrigger(expectations, skill.name);
		if (is === null) return [];
		return [{ ...each, id: taken.has(id) ? `evals ${id}` : id, ...triggering(is, skill.name) }];
	});
	return { cases, triggers: [...said, ...implied], problem: null };
}

/** @throws AppError `conflict` if there are none */
export async function casesOf(skill: Skill, kind: EvalRun['kind']): Promise<EvalCase[]> {
	const { cases, triggers, problem } = await readEvals(skill);
	const hint = 'Add evals/evals.json to the skill’s folder, with prompts and what you expect of the replies.';
	if (problem !== null) throw new AppError('conflict', problem, { hint });
	const found = kind === 'triggers' ? triggers : cases;
	if (found.length > 0) return found;
	if (kind === 'answers') throw new AppError('conflict', `“${skill.name}” has no evals.`, { hint });
	throw new AppError('conflict', `No eval says whether “${skill.name}” should be loaded.`, {
		hint: 'Add evals/trigger-evals.json to the skill’s folder: a list of prompts with should_trigger.'
	});
}

/** All without `ids`. @throws AppError `invalid_input` */
export function chosen(cases: EvalCase[], ids: readonly (string | number)[] | undefined): EvalCase[] {
	if (!ids) return cases;
	const wanted = new Set(ids.map(String));
	const unknown = [...wanted].find((id) => !cases.some((each) => each.id === id));
	if (unknown !== undefined) throw new AppError('invalid_input', `ids: no eval named “${unknown}”.`);
	if (wanted.size === 0) throw new AppError('invalid_input', 'ids must have at least one eval.');
	return cases.filter(({ id }) => wanted.has(id));
}

async function readEntries(
	{ dir }: Pick<Skill, 'dir'>,
	path: string
): Promise<{ entries: Entry[]; problem: string | null }> {
	const nothing = (problem: string | null) => ({ entries: [], problem });
	let content: string;
	try {
		const page = await readSkillFile(dir, path, { limit: MAX_BYTES });
		if (page.totalBytes > MAX_BYTES) return nothing(`${path} is larger than 1 MB.`);
		content = page.text.replace(/^\uFEFF/, '');
	} catch (error) {
		if (!(error instanceof SkillError)) throw error;
		return nothing(error.type === 'FileNotFound' ? null : error.message);
	}
	let value: unknown;
	try {
		value = JSON.parse(content);
	} catch (error) {
		return nothing(`${path} isn’t valid JSON: ${(error as Error).message}`);
	}
	const parsed = file.safeParse(Array.isArray(value) ? { evals: value } : value, { error: inPlainWords });
	if (parsed.success) return { entries: parsed.data.evals, problem: null };
	const issues = parsed.error.issues.map((issue) => sentenceOf(issue, 'the file').sentence);
	return nothing(sentences(path, issues));
}

function readCase(given: Entry, index: number, name: string, problems: string[]): EvalCase[] {
	const { id = index + 1, prompt = given.query, expected_output: expected, files } = given;
	const at = `evals.${index}`;
	if (prompt === undefined) {
		problems.push(`${at}.prompt is missing.`);
		return [];
	}
	const names = (files ?? []).map((path) => basename(path));
	if (new Set(names).size < names.length) problems.push(`${at}.files: two have the same name.`);
	const expectations = (['expectations', 'assertions', 'expected_behavior'] as const).flatMap((key) =>
		(given[key] ?? []).flatMap((each, place) => {
			try {
				return [readExpectation(each, name)];
			} catch (error) {
				problems.push(`${at}.${key}.${place}: ${(error as Error).message}`);
				return [];
			}
		})
	);
	return [
		{ id: String(id), prompt, expected: expected || null, files: files ?? [], expectations, shouldTrigger: null }
	];
}

function readTrigger(given: Entry, index: number, name: string, problems: string[]): EvalCase[] {
	const { should_trigger: is } = given;
	if (is === undefined) {
		problems.push(`In ${TRIGGERS}, should_trigger of prompt ${index + 1} must be true or false.`);
		return [];
	}
	return readCase({ ...given, id: given.id ?? `trigger ${index + 1}` }, index, name, problems).map((each) => {
		return { ...each, ...triggering(is, name) };
	});
}

function triggering(is: boolean, name: string): Pick<EvalCase, 'shouldTrigger' | 'expectations'> {
	return {
		shouldTrigger: is,
		expectations: [readExpectation({ [is ? 'skillLoaded' : 'skillNotLoaded']: true }, name)]
	};
}

function sentences(path: string, problems: readonly string[]): string {
	const more = problems.length > MAX_PROBLEMS ? ` And ${problems.length - MAX_PROBLEMS} more.` : '';
	return `${path} can’t be used: ${problems.slice(0, MAX_PROBLEMS).join(' ')}${more}`;
}
