/** The forms a skill's files can take, and what the model reads of them: the whole app with a scripted model. */
import { afterEach, expect, test } from 'vitest';
import { call, text, type Reply } from '../support/model-server.ts';
import * as list from '../../src/routes/api/skills/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import * as diagnostics from '../../src/routes/api/skills/[...id]/diagnostics/+server.ts';
import { serveRoutes } from '../support/route-server.ts';
import { openResponses, type ResponsesRig } from '../support/responses-rig.ts';

let rig: ResponsesRig | undefined;
afterEach(async () => {
	await rig?.close();
	rig = undefined;
});

const front = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\n`;

/** The output the model gets for each call. */
async function outputsOf(skills: Record<string, string | Uint8Array>, replies: Reply[]): Promise<string[]> {
	rig = await openResponses({ skills, script: [...replies, text('Done.')] });
	const { status } = await rig.ask({ model: 'test/model', input: 'Go on.' });
	expect(status).toBe(200);
	rig.model?.assertDone();
	const input = rig.model?.requests.at(-1)?.body.input as { type: string; output?: string }[];
	return input.flatMap(({ type, output = '' }) => (type === 'function_call_output' ? [output] : []));
}

test('A19: a code block at the beginning of the instructions reaches the model as one', async () => {
	const skills = { 'demo/SKILL.md': `${front('demo')}\n    node run.mjs\n\nThat is all.\n` };
	const [output] = await outputsOf(skills, [call('load_skill', { skill: 'demo' })]);
	expect(output).toContain('">\n    node run.mjs\n\nThat is all.\n');
});

test('A24: a skill with a byte that is no UTF-8 is loaded, and listed with the line', async () => {
	const skills = { 'demo/SKILL.md': Buffer.from(`${front('demo')}Déjà vu\n`, 'latin1') };
	const [output] = await outputsOf(skills, [call('load_skill', { skill: 'demo' })]);
	expect(output).toContain('D\uFFFDj\uFFFD vu');
	const { skills: ready } = (await rig?.app.skills.registry.snapshot()) ?? { skills: [] };
	expect(ready).toMatchObject([{ name: 'demo', issues: [{ severity: 'warning', line: 5 }] }]);
});

test('C1, C8: of a skill with 601 files the model reads which are listed, and that there are more', async () => {
	const references = Array.from({ length: 600 }, (_, index) => [`demo/references/part-${index}.md`, `Part ${index}.`]);
	const skills = {
		...(Object.fromEntries(references) as Record<string, string>),
		'demo/SKILL.md': `${front('demo')}x`
	};
	const [loaded = '', listed = '', read] = await outputsOf(skills, [
		call('load_skill', { skill: 'demo' }),
		call('read_skill_file', { skill: 'demo' }),
		call('read_skill_file', { skill: 'demo', path: 'references/part-599.md' })
	]);
	expect(loaded.match(/^references\//gm)).toHaveLength(99);
	expect(loaded).toContain('… and more files, not listed: name one by its path to read it\n</skill_files>');
	expect(listed).toMatch(/… and more files, not listed: name one by its path to read it$/);
	expect(read).toBe('Part 599.');
});

test('C1: instructions of 1 MiB reach the model in pieces, and the last of them too', async () => {
	const body = `${'word '.repeat(209_715)}END`;
	const [first = '', last] = await outputsOf({ 'demo/SKILL.md': `${front('demo')}${body}` }, [
		call('load_skill', { skill: 'demo' }),
		call('load_skill', { skill: 'demo', offset: 1_000_000 })
	]);
	expect(first.length).toBeLessThan(70_000);
	expect(first).toContain(
		'[These are bytes 0 to 65536 of 1048578 of the instructions. Load the skill again with offset 65536 to read on.]'
	);
	expect(last).toBe(`<skill_content name="demo" from="1000000">\n${body.slice(1_000_000)}\n</skill_content>`);
	const [tool] = rig?.model?.requests[0]?.body.tools as { name: string; parameters: { properties: object } }[];
	expect(tool).toMatchObject({ name: 'load_skill', parameters: { properties: { offset: { type: 'integer' } } } });
});

test('D15: the page and the API name the line of a tools.json where a script is missing, and the call says so too', async () => {
	const tools = [{ name: 'gone', description: 'Is gone.', script: 'scripts/gone.mjs' }];
	const skills = { 'demo/SKILL.md': `${front('demo')}x`, 'demo/tools.json': JSON.stringify(tools, null, 2) };
	const use = { skill: 'demo', tool: 'gone', input: {} };
	const [output] = await outputsOf(skills, [call('use_skill', use)]);
	expect(output).toContain('ScriptNotFound');
	const { app } = rig as ResponsesRig;
	const server = await serveRoutes(app, { '/api/skills': list, '/api/skills/[...id]/diagnostics': diagnostics });
	try {
		const get = async (path: string) => (await fetch(`${server.url}${path}`)).json();
		const issue = { field: 'tools.json[0.script]', file: 'tools.json', line: 5 };
		expect(await get('/api/skills?q=demo')).toMatchObject({ data: [{ name: 'demo', diagnostics: [issue] }] });
		expect(await get('/api/skills/demo/diagnostics')).toMatchObject({ issues: [{ ...issue, severity: 'error' }] });
	} finally {
		await server.close();
	}
});

test('C4: list tells the author of a skill', async () => {
	const skills = { 'demo/SKILL.md': front('demo').replace('name:', 'author: Ada Lovelace\nname:') };
	const [own, agentZero] = await outputsOf(skills, [call('list_skills'), call('skills_tool', { method: 'list' })]);
	expect(own).toContain('- demo v1.0.0 [skills] by Ada Lovelace: Does demo.');
	expect(agentZero).toContain('- demo v1.0.0 [skills] author=Ada Lovelace: Does demo.');
});

test('D38: a tool that is marked as idempotent is tried again when it fails, as often as is set; another is not', async () => {
	const flaky = 'n=$(cat tries 2>/dev/null || echo 0); n=$((n + 1)); echo $n > tries; [ $n -gt 2 ] && echo $n\n';
	const tool = (name: string, more: object) => ({ name, description: name, script: `${name}.sh`, ...more });
	const skills = {
		'demo/SKILL.md': front('demo'),
		'demo/tools.json': JSON.stringify([tool('again', { idempotent: true }), tool('once', {})]),
		'demo/again.sh': flaky,
		'demo/once.sh': flaky.replaceAll('tries', 'others')
	};
	rig = await openResponses({ skills, script: [], env: { SKILLS_MAX_RETRIES: '2' } });
	const { app } = rig;
	const server = await serveRoutes(app, { '/api/skills/executions': executions });
	const run = async (name: string) => {
		const body = JSON.stringify({ skillName: 'demo', tool: name, input: {}, sessionId: 's' });
		const headers = { 'content-type': 'application/json' };
		const answer = await fetch(`${server.url}/api/skills/executions`, { method: 'POST', headers, body });
		return ((await answer.json()) as { result: unknown }).result;
	};
	try {
		expect(await run('again')).toMatchObject({ success: true, value: 3 });
		expect(await run('once')).toMatchObject({ success: false, error: 'ExecutionFailed' });
		app.skills.setMaxRetries(0);
		expect(await run('once')).toMatchObject({ success: false });
		expect(await run('once')).toMatchObject({ success: true, value: 3 });
		// Each attempt is recorded.
		const { data } = (await (await fetch(`${server.url}/api/skills/executions`)).json()) as {
			data: { status: string }[];
		};
		expect(data.map(({ status }) => status).sort()).toEqual([...Array<string>(4).fill('error'), 'success', 'success']);
		expect(() => app.skills.setMaxRetries(11)).toThrow('from 0 to 10');
		expect(() => app.skills.setTimeout(0)).toThrow('from 1 to 300000');
	} finally {
		await server.close();
	}
});

test('D38: a time limit that is set while the server runs ends scripts, tools and handlers from then on', async () => {
	// Each waits until the script `open.sh` has run in its workspace, or `isOpen` is set for the handler.
	const slow = 'until [ -e open ]; do sleep 0.02; done; echo done\n';
	let isOpen = false;
	const skills = {
		'demo/SKILL.md': front('demo'),
		'demo/tools.json': JSON.stringify([
			{ name: 'tool', description: 'Waits.', script: 'slow.sh' },
			{ name: 'native', description: 'Waits.', handler: 'wait' }
		]),
		'demo/slow.sh': slow,
		'demo/open.sh': 'touch open\n'
	};
	rig = await openResponses({ skills, script: [] });
	const { app } = rig;
	app.skills.registerHandler('wait', () => (isOpen ? 'done' : new Promise(() => undefined)));
	const server = await serveRoutes(app, { '/api/skills/executions': executions });
	const run = async (what: object) => {
		const body = JSON.stringify({ skillName: 'demo', sessionId: 's', ...what });
		const headers = { 'content-type': 'application/json' };
		return (await fetch(`${server.url}/api/skills/executions`, { method: 'POST', headers, body })).json();
	};
	try {
		const forms = [{ script: 'slow.sh' }, { tool: 'tool', input: {} }, { tool: 'native', input: {} }];
		app.skills.setTimeout(100);
		for (const what of forms) {
			const message = expect.stringMatching(/0\.1 s|100 ms/) as unknown;
			expect(await run(what)).toMatchObject({
				execution: { status: 'timeout', limits: { timeoutMs: 100 } },
				result: { success: false, error: 'ExecutionTimeout', message }
			});
		}
		app.skills.setTimeout(60_000);
		expect(await run({ script: 'open.sh' })).toMatchObject({ result: { success: true } });
		isOpen = true;
		for (const what of forms) {
			expect(await run(what)).toMatchObject({
				execution: { status: 'success', limits: { timeoutMs: 60_000 } },
				result: { success: true }
			});
		}
	} finally {
		await server.close();
	}
});

test('D13: a skill that lacks a variable is refused as MissingSecret where nobody can be asked', async () => {
	const skills = {
		'demo/SKILL.md': front('demo').replace('name:', 'metadata:\n  env: A_TOKEN\nname:'),
		'demo/run.sh': 'echo ran\n'
	};
	const [output = ''] = await outputsOf(skills, [call('use_skill', { skill: 'demo', script: 'run.sh' })]);
	expect(JSON.parse(output)).toMatchObject({ ok: false, error: 'MissingSecret' });
	expect(output).toContain('A_TOKEN');
});
