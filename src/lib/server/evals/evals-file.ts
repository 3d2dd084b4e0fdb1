/** Reads a skill's `evals/evals.json`, in skill-creator's format and similar ones (FEATURES F16). */
import { basename } from 'node:path/posix';
import { z } from 'zod';
import { readSkillFile } from '../skills/read/files.ts';
import { SkillError, type Skill } from '../skills/types.ts';
import { readExpectation, type Expectation } from './expectations.ts';
import { inPlainWords, sentenceOf } from '../../shared/plain-issues.ts';

/** A prompt, with expectations of its answer. */
export interface EvalCase {
	id: string;
	prompt: string;
	/** Expected result, for people and the judge. */
	expected: string | null;
	/** Paths in the skill's folder; copied to the working directory without their folders. */
	files: string[];
	expectations: Expectation[];
}

const PATH = 'evals/evals.json';
const MAX_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 5;

const text = (max: number) => z.string().min(1).max(max);
export const evalEntry = z.looseObject({
	id: z.union([text(200), z.number()]).optional(),
	prompt: text(100_000).optional(),
	/** Alias of `prompt`, from Anthropic's guide to skills. */
	query: text(100_000).optional(),
	expected_output: z.string().max(100_000).nullish(),
	files: z.array(text(1024)).max(50).nullish(),
	expectations: z.array(z.unknown()).max(50).nullish(),
	assertions: z.array(z.unknown()).max(50).nullish(),
	expected_behavior: z.array(z.unknown()).max(50).nullish()
});
const file = z.looseObject({ evals: z.array(evalEntry).max(200) });

/** `problem` says why the file can't be used; null if it can, or doesn't exist. Never throws for a skill's mistakes. */
export async function readEvals(
	skill: Pick<Skill, 'dir' | 'name'>
): Promise<{ cases: EvalCase[]; problem: string | null }> {
	const nothing = (problem: string | null) => ({ cases: [], problem });
	let content: string;
	try {
		const page = await readSkillFile(skill.dir, PATH, { limit: MAX_BYTES });
		if (page.totalBytes > MAX_BYTES) return nothing(`${PATH} is larger than 1 MB.`);
		content = page.text.replace(/^\uFEFF/, '');
	} catch (error) {
		if (!(error instanceof SkillError)) throw error;
		return nothing(error.type === 'FileNotFound' ? null : error.message);
	}
	let value: unknown;
	try {
		value = JSON.parse(content);
	} catch (error) {
		return nothing(`${PATH} isn’t valid JSON: ${(error as Error).message}`);
	}
	const parsed = file.safeParse(Array.isArray(value) ? { evals: value } : value, { error: inPlainWords });
	if (!parsed.success) {
		const issues = parsed.error.issues.map((issue) => sentenceOf(issue, 'the file').sentence);
		return nothing(sentences(issues));
	}
	const problems: string[] = [];
	const cases = parsed.data.evals.flatMap((each, index) => readCase(each, index, skill.name, problems));
	const ids = cases.map(({ id }) => id);
	const twice = ids.find((id, index) => ids.indexOf(id) !== index);
	if (twice !== undefined) problems.push(`Two of its evals have the id “${twice}”.`);
	return problems.length > 0 ? nothing(sentences(problems)) : { cases, problem: null };
}

function readCase(given: z.infer<typeof evalEntry>, index: number, name: string, problems: string[]): EvalCase[] {
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
	return [{ id: String(id), prompt, expected: expected || null, files: files ?? [], expectations }];
}

function sentences(problems: readonly string[]): string {
	const more = problems.length > MAX_PROBLEMS ? ` And ${problems.length - MAX_PROBLEMS} more.` : '';
	return `${PATH} can’t be used: ${problems.slice(0, MAX_PROBLEMS).join(' ')}${more}`;
}
