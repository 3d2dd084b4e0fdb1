import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import {
	call,
	dynamic,
	startModelServer,
	text,
	type ModelServer,
	type Reply
} from '../../../../tests/support/model-server.ts';
import { runCli } from '../skills/cli/run-cli.ts';
import { evalCommand } from './eval.ts';

const SKILLS = join(import.meta.dirname, '../../../../skills');
const BUNDLED = join(SKILLS, 'count-words');

const dir = emptyFolder();
let server: ModelServer;
let told: string[];
beforeEach(async () => {
	told = [];
	server = await startModelServer();
	await put('demo/SKILL.md', '---\nname: demo\ndescription: Says things.\nversion: 1.2.3\n---\nSay it.');
	await put('demo/scripts/say.sh', 'echo "said: forty-two"\n');
	await putEvals([{ id: 'say', prompt: 'Say it.', expectations: ['contains: forty-two', 'It is kind.'] }]);
});
afterEach(async () => {
	await server.close();
});

const put = (path: string, content: string) => putFile(dir, path, content);
const putEvals = (evals: unknown) => put('demo/evals/evals.json', JSON.stringify({ evals }));

/** Runs it as on a command line. Default: an environment with a key. */
const run = (
	args: string[],
	environment: Record<string, string> = {
		OPENROUTER_API_KEY: 'k',
		OPENROUTER_BASE_URL: server.url,
		OPENROUTER_MODEL: 'test/model'
	}
) => runCli(['eval', ...args], { eval: evalCommand({ environment, tell: (line) => void told.push(line) }) });

const isJudge = (body: Record<string, unknown>) => String(body['instructions']).startsWith('You grade');
const isWith = (body: Record<string, unknown>) => (body['tools'] as unknown[] | undefined)?.length;
const serve = (count: number, choose: (body: Record<string, unknown>) => Reply) =>
	server.push(...Array.from({ length: count }, () => dynamic(choose)));

describe('F16: npx openrouter-skills eval: what cannot be evaluated', () => {
	test.each([
		['no folder', [], /“eval” needs a folder/],
		['a folder that is not there', ['/no/such/folder'], /Folder not found/],
		['no rounds', ['DIR/demo', '--rounds', '0'], /--rounds must be a whole number from 1 to 10/],
		['rounds that are none', ['DIR/demo', '--rounds', 'many'], /--rounds must be/],
		['an option that is none', ['DIR/demo', '--model', 'x'], /Unknown option/],
		['a share above 1', ['DIR/demo', '--fail-under', '90'], /--fail-under must be a number from 0 to 1/],
		['no share', ['DIR/demo', '--fail-under', ''], /--fail-under must be/],
		['an unknown format', ['DIR/demo', '--format', 'pdf'], /--format must be one of json, csv, junit, benchmark/],
		['six models', ['DIR/demo', '--models', 'a,b,c,d,e,f'], /--models must be 1 to 5 different models/],
		['a model twice', ['DIR/demo', '--models', 'a,a'], /--models must be/],
		['a cost that is none', ['DIR/demo', '--max-cost', 'much'], /--max-cost must be an amount/]
	])('%s is a wrong call: exit code 2, and how to call it', async (_, args, message) => {
		const { exitCode, stdout, stderr } = await run(args.map((arg) => arg.replace('DIR', dir)));
		expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
		expect(stderr).toMatch(message);
		expect(stderr).toContain('eval <dir> [--rounds n]');
	});

	test('a folder of several skills asks which', async () => {
		await put('other/SKILL.md', '---\nname: other\ndescription: x\n---\nx');
		expect(await run([dir])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Which skill?') });
	});

	test('a skill without evals, with a broken file of them, or broken itself: exit code 1 with the reason', async () => {
		await put('demo/evals/evals.json', '{');
		expect(await run([join(dir, 'demo')])).toMatchObject({
			exitCode: 1,
			stderr: expect.stringContaining('isn’t valid JSON')
		});
		await rm(join(dir, 'demo/evals'), { recursive: true });
		expect(await run([join(dir, 'demo')])).toMatchObject({
			exitCode: 1,
			stderr: expect.stringContaining('has no evals')
		});
		await put('demo/SKILL.md', '---\nname: demo\n');
		expect(await run([join(dir, 'demo')])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is broken') });
		expect(server.requests).toEqual([]);
	});

	test('a setting that cannot be is named', async () => {
		const { exitCode, stderr } = await run([join(dir, 'demo')], { OPENROUTER_BASE_URL: 'nonsense' });
		expect(exitCode).toBe(1);
		expect(stderr).toContain('OPENROUTER_BASE_URL');
	});
});

describe('F16: npx openrouter-skills eval: with and without, side by side', () => {
	test('the configured model answers and judges; nothing is left behind', async () => {
		const before = (await readdir(tmpdir())).filter((name) => name.startsWith('openrouter-skills-eval-'));
		serve(5, (body) => {
			if (isJudge(body)) return text('[{"met": true, "reason": "ok"}]');
			if (!isWith(body)) return text('I cannot.');
			const isFirst = !JSON.stringify(body['input']).includes('said: forty-two');
			return isFirst ? call('use_skill', { skill: 'demo', script: 'scripts/say.sh' }) : text('It says forty-two.');
		});
		const { exitCode, stdout, stderr } = await run([join(dir, 'demo')], {
			...{ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: server.url, OPENROUTER_MODEL: 'test/model' },
			// A server would refuse to start with this.
			HOST: '0.0.0.0'
		});
		expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
		server.assertDone();
		expect(stdout).toMatch(/^demo 1\.2\.3, answered by test\/model, 1 round$/m);
		expect(stdout).toMatch(/^ +1\/1 +0\/1 +contains: forty-two$/m);
		expect(stdout).toMatch(/^ +1\/1 +1\/1 +It is kind\.$/m);
		expect(stdout).toMatch(/^ +100 % +50 % +of the expectations that could be checked$/m);
		expect(told).toEqual(['1 of 2 replies', '2 of 2 replies']);
		expect(server.requests.every(({ headers }) => headers.authorization === 'Bearer k')).toBe(true);
		const after = (await readdir(tmpdir())).filter((name) => name.startsWith('openrouter-skills-eval-'));
		expect(after.filter((name) => !before.includes(name))).toEqual([]);
	});

	test('an expectation that is not met with the skill is exit code 1; --json tells all of it', async () => {
		await putEvals([{ id: 'say', prompt: 'Say it.', expectations: ['contains: forty-two'] }]);
		serve(4, () => text('No.'));
		const { exitCode, stdout } = await run([join(dir, 'demo'), '--rounds', '2', '--json']);
		server.assertDone();
		expect(exitCode).toBe(1);
		const report = JSON.parse(stdout) as Record<string, unknown>;
		expect(report).toMatchObject({ skill: 'demo', version: '1.2.3', isOffline: false, rounds: 2, state: 'done' });
		expect(report).toMatchObject({
			sides: [{ model: 'test/model', figures: { passRate: { value: 0 } } }, { kind: 'without' }],
			results: [{ id: 'say' }]
		});
	});

	test('an answer that did not come is exit code 1, with the reason', async () => {
		await putEvals([{ id: 'say', prompt: 'Say it.', files: ['ghost.txt'] }]);
		const { exitCode, stdout } = await run([join(dir, 'demo')]);
		expect(exitCode).toBe(1);
		expect(stdout).toContain('with: Couldn’t read the file “ghost.txt” of this eval.');
		expect(stdout).toMatch(/^ +\? +\? +of the expectations/m);
	});

	test('F9: the evals of the bundled skill count-words hold with the built-in responder, and it says who answered', async () => {
		const { exitCode, stdout } = await run([BUNDLED], {});
		expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
		expect(stdout).toContain('answered by Demo mode (no AI model)');
		expect(stdout).toMatch(/^ +100 % +0 % +of the expectations that could be checked$/m);
		expect(told[0]).toMatch(
			/OPENROUTER_API_KEY isn’t set, so this runs in Demo mode, without an AI model to answer or judge/
		);
	});

	test('F9: what the built-in responder cannot judge is not told, and no failure', async () => {
		await putEvals([{ id: 'say', prompt: 'Say things with demo.', expectations: ['It is kind.'] }]);
		const { exitCode, stdout } = await run([join(dir, 'demo')], {});
		expect(exitCode).toBe(0);
		expect(stdout).toMatch(/^ +\? +\? +It is kind\.$/m);
		expect(stdout).toMatch(/^ +\? +\? +of the expectations/m);
	});
});

describe('F16: npx openrouter-skills eval, for the CI of other people', () => {
	const demo = () => join(dir, 'demo');
	/** Half of what is expected is met. */
	const half = async (count: number) => {
		await putEvals([{ id: 'say', prompt: 'Say it.', expectations: ['contains: yes', 'contains: no'] }]);
		serve(count, () => text('yes'));
	};

	test('--fail-under decides the exit code, and says why', async () => {
		await half(2);
		const enough = await run([demo(), '--fail-under', '0.5']);
		expect(enough.exitCode).toBe(0);
		expect(enough.stdout).toMatch(/^ +The true share is between \d+ % and \d+ % \(95 %\)\.$/m);
		await half(2);
		const short = await run([demo(), '--fail-under', '0.51']);
		expect(short.exitCode).toBe(1);
		expect(short.stdout).toMatch(/^ +50 % are met; the least is 51 %\.$/m);
	});

	test('a reply that failed, and one that nobody could judge, meet nothing', async () => {
		await putEvals([{ id: 'say', prompt: 'Say it.', files: ['ghost.txt'] }]);
		expect((await run([demo(), '--fail-under', '0.1'])).exitCode).toBe(1);
		await putEvals([{ id: 'say', prompt: 'Say it.', expectations: ['It is kind.'] }]);
		expect((await run([demo(), '--fail-under', '0.1'], {})).exitCode).toBe(1);
	});

	test('--models compares, each in a column; the worst one counts', async () => {
		await putEvals([{ id: 'say', prompt: 'Say it.', expectations: ['contains: yes'] }]);
		serve(4, (body) => text(body['model'] === 'a/one' ? 'yes' : 'no'));
		const { exitCode, stdout } = await run([demo(), '--models', 'a/one, b/two', '--fail-under', '0.9']);
		server.assertDone();
		expect(exitCode).toBe(1);
		expect(stdout).toMatch(/^ +1: a\/one\n +2: b\/two\n/m);
		expect(stdout).toMatch(/^ +with 1 +with 2 +without 3 +without 4$/m);
		expect(stdout).toMatch(/^ +1\/1 +0\/1 +1\/1 +0\/1 +contains: yes$/m);
	});

	test('--format prints a file for another tool', async () => {
		await half(2);
		const junit = await run([demo(), '--format', 'junit']);
		expect(junit.exitCode).toBe(1);
		expect(junit.stdout).toMatch(/^<\?xml[^]*tests="2" failures="1"/);
		await half(2);
		expect((await run([demo(), '--format', 'csv'])).stdout).toMatch(/^eval,prompt,side/);
		await half(2);
		expect(JSON.parse((await run([demo(), '--format', 'benchmark'])).stdout)).toHaveProperty('run_summary');
		await half(2);
		expect(JSON.parse((await run([demo(), '--format', 'json'])).stdout)).toHaveProperty('sides');
	});

	test('maxSteps counts calls of the model; each format tells it', async () => {
		const inTwoSteps = async (format: string) => {
			await putEvals([{ id: 'say', prompt: 'Say it.', expectations: ['maxSteps: 1', { maxSteps: 2 }] }]);
			serve(3, (body) => {
				const isFirst = !JSON.stringify(body['input']).includes('function_call_output');
				return isWith(body) && isFirst ? call('load_skill', { skill: 'demo' }) : text('yes');
			});
			const { exitCode, stdout } = await run([demo(), '--format', format]);
			server.assertDone();
			expect(exitCode).toBe(1);
			return stdout;
		};
		const junit = await inTwoSteps('junit');
		expect(junit).toMatch(/name="say: maxSteps: 1" [^>]*><failure message="It took 2 steps\."/);
		expect(junit).toMatch(/name="say: maxSteps: 2" [^>]*\/>/);
		const csv = await inTwoSteps('csv');
		expect(csv).toContain(',with,1.2.3,test/model,1,success,maxSteps: 1,false,It took 2 steps.,demo,2,');
		expect(csv).toContain(',without,,test/model,1,success,maxSteps: 1,true,It took 1 step.,,1,');
		expect(JSON.parse(await inTwoSteps('benchmark'))).toMatchObject({
			runs: [
				{ expectations: [{ text: 'maxSteps: 1', passed: false, evidence: 'It took 2 steps.' }, { passed: true }] },
				{}
			]
		});
	});

	test('--max-cost stops, which is a failure', async () => {
		await putEvals([1, 2, 3, 4].map((id) => ({ id, prompt: `Say ${id}.`, expectations: ['contains: yes'] })));
		serve(8, () => text('yes'));
		const { exitCode, stdout } = await run([demo(), '--max-cost', '0.0001']);
		expect(exitCode).toBe(1);
		expect(stdout).toMatch(/reached its cost limit of \$0\.0001 after \d of 8 replies/);
	});

	test('--trigger: which of the skills around it are loaded', async () => {
		await put('other/SKILL.md', '---\nname: other\ndescription: Another.\n---\nx');
		await put('demo/evals/trigger-evals.json', JSON.stringify([{ query: 'Say it', should_trigger: true }]));
		serve(1, (body) => {
			expect(JSON.stringify(body)).toContain('Another.');
			return call('load_skill', { skill: 'other' });
		});
		const { exitCode, stdout } = await run([demo(), '--trigger']);
		expect(exitCode).toBe(1);
		expect(stdout).toContain('Used when it should be: 0 of 1. Used in its place: other (1).');
		await rm(join(dir, 'demo/evals/trigger-evals.json'));
		expect(await run([demo(), '--trigger'])).toMatchObject({
			exitCode: 1,
			stderr: expect.stringContaining('has no trigger evals')
		});
	});

	// Those that need neither a key, the network nor a person’s folder.
	test.each(['code-review', 'count-words', 'pdf', 'skill-creator', 'spreadsheets'])(
		'F9: all that %s’s own evals check is met in demo mode, with the files they bring',
		async (skill) => {
			const { exitCode, stdout } = await run([join(SKILLS, skill), '--fail-under', '1'], {});
			expect(stdout).toMatch(/^ +100 % .*of the expectations that could be checked$/m);
			expect(stdout).not.toMatch(/^ +\? .*\b(contains|regex|file|toolCalled|skillLoaded): /m);
			expect(exitCode).toBe(0);
		}
	);

	test('F9: --trigger on the bundled skills, in demo mode', async () => {
		const { exitCode, stdout } = await run([BUNDLED, '--trigger', '--fail-under', '1'], {});
		expect(stdout).toMatch(/Used when it should be: (\d+) of \1\./);
		expect(exitCode).toBe(0);
	});
});
