import { expect, test } from 'vitest';
import { reportText } from './answers.ts';
import type { FinishedCall } from './history.ts';

function scriptCall(result: Record<string, unknown>): FinishedCall {
	const output = JSON.stringify({
		ok: true,
		exitCode: 0,
		durationMs: 3,
		stdout: '',
		stderr: '',
		truncated: false,
		files: [],
		...result
	});
	return { name: 'use_skill', arguments: '{"skill":"x","script":"scripts/run.py","args":[]}', output };
}

function toolCall(value: unknown): FinishedCall {
	return { name: 'count', arguments: '{}', output: JSON.stringify(value) };
}

const report = (...calls: FinishedCall[]): string => reportText(calls);

test.each([
	['prose', 'All is well.\n', 'All is well.'],
	['a Markdown table', '| a | b |\n|---|---|\n| 1 | 2 |\n', '| a | b |\n|---|---|\n| 1 | 2 |'],
	['a short line with marks', '2*3*4 = 24\n', '`2*3*4 = 24`'],
	['aligned columns', 'a    1\nb    2\n', '```text\na    1\nb    2\n```'],
	['lines with a fence inside', 'x\n  ````\ny', '`````text\nx\n  ````\ny\n`````'],
	['a key of several words', '{"withoutSpaces":4,"other_key":1}', '- **without spaces**: 4\n- **other\\_key**: 1'],
	['an object', '{"words":4,"ok":true}', '- **words**: 4\n- **ok**: true'],
	[
		'a table of figures and of numbers that are names',
		'[{"units":7764,"price":12345.50,"year":2024,"orderId":100200,"city":"1000"}]',
		'| units | price | year | orderId | city |\n| ---: | ---: | ---: | ---: | --- |\n| 7,764 | 12,345.50 | 2024 | 100200 | 1000 |'
	],
	['a number without end', `[{"n":${'7'.repeat(200_000)}}]`, `| n |\n| ---: |\n| ${'7'.repeat(200_000)} |`],
	['a list of objects', '[{"id":1,"n":"a|b"},{"id":2,"n":"c"}]', '| id | n |\n| ---: | --- |\n| 1 | a\\|b |\n| 2 | c |']
])('output: %s', (_, stdout, shown) => {
	expect(report(scriptCall({ stdout }))).toBe(shown);
});

test('what a script prints on the way, and how else it could be called, is no part of the answer', () => {
	const stdout = [
		'Reading sales.csv (932 bytes) …',
		'',
		'## Revenue by region',
		'',
		'Chart: sales.svg (Revenue by region). Choose another number with --value.',
		'',
		'Use `--all` to see more.'
	].join('\n');
	expect(report(scriptCall({ stdout }))).toBe(
		'## Revenue by region\n\nChart: sales.svg (Revenue by region).\n\nUse `--all` to see more.'
	);
	expect(report(scriptCall({ stdout: 'Waiting …' }))).toBe('Waiting …');
});

test.each<[unknown, string]>([
	[{ words: 4 }, '**words**: 4'],
	['dlrow olleh', 'dlrow olleh'],
	[42, '42'],
	[null, 'Done: there is no result to show.'],
	[[], 'Nothing: the list is empty.'],
	[['a', 'b'], '- a\n- b'],
	[
		{ place: { city: 'Lima', lat: -12 }, days: [1, 2] },
		'- **place**:\n  - **city**: Lima\n  - **lat**: -12\n- **days**: 1, 2'
	],
	[{ error: 'none', count: 0 }, '- **error**: none\n- **count**: 0']
])('the result %j of a tool is shown as %j', (value, shown) => {
	expect(report(toolCall(value))).toBe(shown);
});

test('numbers are shown as they are written', () => {
	expect(report({ ...toolCall(0), output: '{"id":12345678901234567890,"price":1.50}' })).toBe(
		'- **id**: 12345678901234567890\n- **price**: 1.50'
	);
});

test('files are listed with their sizes', () => {
	expect(report(scriptCall({ stdout: 'Done.', files: [{ path: 'chart.svg', bytes: 123 }] }))).toBe(
		'Done.\n\nFile written:\n\n- `chart.svg` (123 bytes)'
	);
});

test('a failed script is told by name, the line that says why, and what to do', () => {
	const stderr = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
	const text = report(
		scriptCall({
			ok: false,
			exitCode: 1,
			error: 'ExecutionFailed',
			message: 'scripts/run.py ended with exit code 1.',
			stdout: 'changed: a.txt',
			stderr
		})
	);
	expect(text).toMatch(/^`scripts\/run\.py` failed: `line 39`$/);
	expect(text).not.toMatch(/exit code|ExecutionFailed|line 38/);
	// There is nothing to say that its own words don't.
	expect(text).not.toMatch(/What to do|Edit skill/);
	const failure = { ok: false, exitCode: 1, error: 'ExecutionFailed', message: 'x ended with exit code 1.' };
	const short = report(scriptCall({ ...failure, stderr: 'Nothing was sent: no token.\nWould have sent: hello' }));
	const trace = report(scriptCall({ ...failure, stderr: 'Traceback (most recent call last):\n  …\nKeyError: 1' }));
	expect(trace).toContain('fix the script with **Edit skill** in the step above');
	const line = report(scriptCall({ ...failure, stderr: 'Error: there is no city “Roma”.' }));
	expect(line.match(/Roma/g)).toHaveLength(1);
	expect(line).toMatch(/^`scripts\/run\.py` failed: `Error: there is no city “Roma”\.`/);
	expect(short).toContain('failed.\n\n```text\nNothing was sent: no token.\nWould have sent: hello\n```');
});

test('a failed tool and a skill that cannot be loaded give their reason and hint', () => {
	expect(report(toolCall({ error: 'text is missing', type: 'InvalidArgs', stderr: 'trace' }))).toMatch(
		/^`count` failed\.\n\ntext is missing\n\n```text\ntrace/
	);
	const output = JSON.stringify({
		ok: false,
		error: 'SkillNotFound',
		message: 'There is no skill “y”.',
		hint: 'Available skills: x'
	});
	const text = reportText([{ name: 'load_skill', arguments: '{"skill":"y"}', output }]);
	expect(text).toContain('The skill `y` could not be loaded.');
	expect(text).toContain('Available skills: x');
});

test('F9, D13: a script that lacked something names the button that puts it right, and the line that says what', () => {
	const lacked = (error: string, message: string, stderr = '') =>
		report(scriptCall({ ok: false, error, message, hint: 'A person can do it. Say so.', stderr }));
	const stderr =
		"node:internal/modules:1\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'docx'\n" +
		Array.from({ length: 12 }, (_, at) => `    at moduleResolve (node:internal/modules:${at})\n`).join('');
	const text = lacked('MissingPackage', 'The script needs the JavaScript package docx, which isn’t installed.', stderr);
	expect(text).toContain('**What to do**: Press **Install docx** in the step above.');
	expect(text).toContain("Cannot find package 'docx'");
	expect(text).not.toMatch(/Say so|moduleResolve/);
	expect(lacked('MissingVariable', 'The script needs the variable A_KEY, which isn’t set.')).toContain('**Set A_KEY**');
	expect(lacked('HostNotAllowed', 'The script isn’t allowed to reach a.io.')).toContain('**Allow a.io**');
	expect(lacked('HostNotAllowed', 'This skill has no network.')).toContain('**Allow hosts**');
	expect(lacked('MissingCommand', 'The program jq isn’t installed.')).toContain('A person can do it.');
});

test('several runs are told apart by their names', () => {
	expect(report(scriptCall({ stdout: 'One.' }), toolCall('Two.'))).toBe(
		'`scripts/run.py`:\n\nOne.\n\n`count`:\n\nTwo.'
	);
});

test('an answer to a part of the question says which file lacks the rest', () => {
	const refused = scriptCall({
		stdout: "club.csv can't answer that: I find nothing for “present” in it.\n\nYou can ask for:\n"
	});
	const found = scriptCall({ stdout: '> Present: Ann\n\nThis sentence has “present”. No such sentence has “old”.\n' });
	expect(report(refused, found)).toMatch(
		/“old”\.\n\nOne question can look at one file at a time\. club\.csv can't answer that: I find nothing for “present” in it\.$/
	);
	expect(report(refused, scriptCall({ stdout: 'The age is 3.' }))).toBe('The age is 3.');
});
