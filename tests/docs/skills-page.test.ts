/** docs/skills.md: every example is a skill that works as the page says, and the page lists exactly the fields that are read. */
import { mkdtemp, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evalEntry, readEvals } from '../../src/lib/server/evals/evals-file.ts';
import { CHECKS } from '../../src/lib/shared/evals.ts';
import { createNetworkAccess } from '../../src/lib/server/network/network-access.ts';
import { createProcessSandbox } from '../../src/lib/server/sandbox/process.ts';
import { runCli } from '../../src/lib/server/skills/cli/run-cli.ts';
import { createExecutor } from '../../src/lib/server/skills/executor.ts';
import { findNeeds } from '../../src/lib/server/skills/needs/needs.ts';
import { siblingsOf } from '../../src/lib/server/skills/needs/siblings.ts';
import { KNOWN_EXTRA, SPEC_KEYS } from '../../src/lib/server/skills/parser.ts';
import { createSkillsProvider, type SkillsProvider } from '../../src/lib/server/skills/provider.ts';
import { readDescription, readName } from '../../src/lib/server/skills/read/fields.ts';
import { readAllowedTools, toolEntry, toolParameter } from '../../src/lib/server/skills/read/manifest.ts';
import { readFacts } from '../../src/lib/server/skills/read/skill-loader.ts';
import { scriptsOf } from '../../src/lib/server/skills/read/files.ts';
import { buildEnvironment, readScriptArguments } from '../../src/lib/server/skills/run/environment.ts';
import type { SkillExecutionResult } from '../../src/lib/server/skills/types.ts';

const ROOT = join(import.meta.dirname, '../..');
const page = await readFile(join(ROOT, 'docs/skills.md'), 'utf8');

interface Block {
	/** What follows the language: a path, or the block's kind. */
	info: string;
	text: string;
}
const blocks = Array.from(
	page.matchAll(/^(`{3,})(\w+) ([^\n`]+)\n(.*?)^\1$/gms),
	([, , , info = '', text = '']): Block => ({ info, text })
);
const files = blocks.filter(({ info }) => /^[\w-]+\/\S+( invalid)?$/.test(info));
const skillNames = [
	...new Set(files.filter(({ info }) => !info.endsWith(' invalid')).map(({ info }) => info.split('/')[0] ?? ''))
];
/** Each call with its expected results: the blocks up to the next call or file. */
const calls = blocks.flatMap(({ info, text }, index) => {
	if (!info.startsWith('call ')) return [];
	const after = blocks.slice(index + 1);
	const end = after.findIndex((block) => block.info.startsWith('call ') || files.includes(block));
	return [
		{
			tool: info.slice(5),
			args: JSON.parse(text) as Record<string, unknown>,
			claims: end < 0 ? after : after.slice(0, end)
		}
	];
});

let folder = '';
let skills: SkillsProvider;
const paths = { valid: '', invalid: '', first: '', work: '' };

beforeAll(async () => {
	folder = await realpath(await mkdtemp(join(tmpdir(), 'skills-page-')));
	for (const name of ['valid', 'invalid', 'first', 'work'] as const) paths[name] = join(folder, name);
	await mkdir(paths.work);
	for (const { info, text } of files) {
		const isInvalid = info.endsWith(' invalid');
		await put(join(isInvalid ? paths.invalid : paths.valid, info.replace(' invalid', '')), text);
	}
	await put(join(paths.first, files[0]?.info ?? ''), files[0]?.text ?? '');
	skills = await createSkillsProvider(paths.valid, { cwd: paths.work });
	// Its tools exist only once the skill is loaded.
	for (const skill of skills.skillNames) await skills.handleToolCall('load_skill', { skill });
});
afterAll(async () => {
	await skills.close();
	await rm(folder, { recursive: true, force: true });
});

async function put(path: string, text: string): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
}

async function validate(path: string): Promise<{ exitCode: number; text: string }> {
	const { exitCode, stdout } = await runCli(['validate', path]);
	return { exitCode, text: stdout.replaceAll(relative(process.cwd(), path), 'skills') };
}

function claim(info: string): string {
	return blocks.find((block) => block.info === info)?.text ?? `no block “${info}”`;
}

describe('the examples', () => {
	test('every block with a name is a file, a call, or what comes of one', () => {
		const known = /^(call \w+|output|value|made \S+|failure \d+|error \w+|prompt|validate( invalid)?)$/;
		expect(blocks.filter((block) => !files.includes(block) && !known.test(block.info))).toEqual([]);
		expect(page.match(/^(`{3,})\w/gm)).toHaveLength(blocks.length);
		expect(calls.length).toBeGreaterThan(5);
	});
	test.each(skillNames)('%s is valid, without an error and without a warning', async (name) => {
		expect(await validate(join(paths.valid, name))).toEqual({ exitCode: 0, text: '1 skill, 0 errors, 0 warnings\n' });
		expect(skills.skillNames).toContain(name);
	});
	test('the first skill is told and checked as the page says', async () => {
		expect(skills.systemPrompt).toContain(claim('prompt').trim());
		expect((await validate(paths.first)).text).toBe(claim('validate'));
		expect(await readdir(paths.first)).toEqual(['haiku']);
	});
	test('what is wrong with a skill reads as the page says', async () => {
		expect(await validate(paths.invalid)).toEqual({ exitCode: 1, text: claim('validate invalid') });
	});
	test.each(calls.map((call) => [call.tool, JSON.stringify(call.args), call] as const))(
		'%s %s does what the page says',
		async (_tool, _args, { tool, args, claims }) => {
			const result = (await skills.handleToolCall(tool, args)) as SkillExecutionResult;
			const told = claims.filter(({ info }) => /^(output|value|made|failure|error)/.test(info));
			expect(told).not.toEqual([]);
			for (const { info, text } of told) {
				const [kind, name = ''] = info.split(' ');
				if (kind === 'output') expect(result).toMatchObject({ success: true, stdout: text });
				else if (kind === 'value') expect(result.value).toEqual(JSON.parse(text));
				else if (kind === 'made') expect(await readFile(join(paths.work, name), 'utf8')).toBe(text);
				else if (kind === 'failure') expect(result).toMatchObject({ exitCode: Number(name), stderr: text });
				else expect(result).toMatchObject({ error: name, message: expect.stringContaining(text.trim()) as string });
			}
		}
	);
	test('F16: the evals can be read, each with its expectations', async () => {
		const { cases, problem } = await readEvals({ dir: join(paths.valid, 'greet'), name: 'greet' });
		expect(problem).toBeNull();
		expect(cases.map(({ expectations }) => expectations.map(({ check }) => check?.kind))).toEqual([
			['contains', 'skillLoaded', undefined]
		]);
	});
});

/** Names in code marks in one column, each cell up to its first colon, of the only table whose heading row starts like this. */
function described(heading: string, column = 1): string[] {
	const [, table = '', ...others] = page.split(`\n| ${heading} |`);
	if (table === '' || others.length > 0) throw new Error(`The page has no table “${heading}”, or several.`);
	const rows = (table.split('\n\n')[0] ?? '').split('\n').slice(2);
	return rows.flatMap((row) => namesIn((row.split('|')[column] ?? '').split(':')[0] ?? ''));
}

function namesIn(text: string): string[] {
	return Array.from(text.matchAll(/`([\w.-]+)`/g), ([, name = '']) => name);
}

/** An empty record that notes which keys are read. */
function recorder(): { record: Record<string, never>; keys: Set<string> } {
	const keys = new Set<string>();
	const note = (key: string | symbol) => void (typeof key === 'string' && keys.add(key));
	const record = new Proxy(
		{},
		{
			get: (_target, key) => note(key),
			has: (_target, key) => Boolean(note(key))
		}
	);
	return { record, keys };
}

/** Every front matter key that's read, from parsing SKILL.md to the end of a run. */
async function fieldsRead(): Promise<{ top: Set<string>; metadata: Set<string> }> {
	const [data, metadata, extra] = [recorder(), recorder(), recorder()];
	const ignore = () => undefined;
	readName(data.record, 'x', false, ignore);
	readDescription(data.record, ignore);
	readAllowedTools(data.record, true, ignore);
	const inMetadata = recorder();
	readAllowedTools({ metadata: inMetadata.record }, true, ignore);

	const greet = skills.registry.snapshot().skills.find(({ name }) => name === 'greet');
	if (!greet) throw new Error('The page has no skill “greet”.');
	const skill = { ...greet, metadata: metadata.record, extra: extra.record };
	const grants = { list: async () => [], replace: async () => undefined };
	readFacts(skill);
	await findNeeds(skill, async () => null);
	siblingsOf(skill, { skills: [], off: [] });
	createNetworkAccess({ grants, ownDir: folder, isEnabled: null }).declared(skill);
	const limits = { sandbox: createProcessSandbox(), timeoutMs: 30_000, maxOutputBytes: 1000, env: {} };
	const executor = createExecutor(limits);
	try {
		const { stdout } = await executor.runScript(skill, 'greet.mjs', readScriptArguments(['x']), { cwd: paths.work });
		expect(stdout).toBe('Hello, x!\n');
	} finally {
		await executor.close();
	}

	const top = new Set([...SPEC_KEYS, ...data.keys]);
	const below = new Set([...metadata.keys, ...inMetadata.keys, ...(await keysWrittenOut())]);
	for (const key of extra.keys) {
		if (key.startsWith('metadata.')) below.add(key.slice('metadata.'.length));
		// A dotted key at the top level is another way to write the map `requires`.
		else top.add(key.split('.')[0] ?? '');
	}
	return { top, metadata: below };
}

/** Keys written literally in code: finds readers in places not run above. */
async function keysWrittenOut(): Promise<string[]> {
	const keys: string[] = [];
	for (const room of ['skills', 'network', 'trust', 'evals', 'skill-admin', 'turns']) {
		const dir = join(ROOT, 'src/lib/server', room);
		for (const file of await readdir(dir, { recursive: true })) {
			if (!file.endsWith('.ts') || file.includes('.test.') || file.includes('.suite.')) continue;
			const code = (await readFile(join(dir, file), 'utf8')).replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, '');
			const read = code.matchAll(/(?<!['`])\bmetadata(?:\??\.(\w+)\b(?!\()|\['([\w-]+)'\])/g);
			keys.push(...Array.from(read, ([, key, quoted]) => key ?? quoted ?? ''));
		}
	}
	return keys;
}

describe('the fields', () => {
	test('A16, A17: of the front matter those that are read are described, and no others', async () => {
		const { top, metadata } = await fieldsRead();
		const ofStandard = described('Field');
		expect(new Set(ofStandard)).toEqual(SPEC_KEYS);
		expect(new Set([...ofStandard, ...described('Instead of | Also read, at the top level', 2)])).toEqual(top);
		expect(new Set([...described('Key'), ...described('Instead of | Also read, in `metadata`', 2)])).toEqual(metadata);
		// Keys that are read must not be reported as unknown.
		expect([...top].filter((key) => !SPEC_KEYS.has(key) && !KNOWN_EXTRA.has(key))).toEqual([]);
	});
	test('D15, D16: those of tools.json are described, and no others', () => {
		expect(new Set(described('Field of a tool'))).toEqual(new Set(Object.keys(toolEntry.shape)));
		expect(new Set(described('Field of a parameter'))).toEqual(new Set(Object.keys(toolParameter.shape)));
		const types = page.match(/^\| `type` \| required \| (.*) \|$/m)?.[1] ?? '';
		expect(namesIn(types)).toEqual(toolParameter.shape.type.options);
	});
	test('F16: those of evals.json are described, and no others', () => {
		const fields = [...described('Field of an eval'), ...described('Field of an eval', 3)];
		expect(new Set(fields)).toEqual(new Set(Object.keys(evalEntry.shape)));
		expect(described('Expectation')).toEqual([...CHECKS]);
	});
	test('D5: the kinds of scripts are described, and no others', () => {
		const endings = described('File');
		expect(scriptsOf(endings.map((ending) => `a${ending}`))).toHaveLength(endings.length);
		const all = ['.py', '.js', '.mjs', '.cjs', '.ts', '.sh', '.bash', '.rb', '.pl', '.php', '.ps1', '.tsx'];
		expect(new Set(scriptsOf(all))).toEqual(new Set(endings));
	});
	test('D14: the variables that a script always gets are described', () => {
		const [skill] = skills.registry.snapshot().skills;
		if (!skill) throw new Error('There is no skill.');
		const host = new Proxy({}, { get: () => 'x' }) as Record<string, string>;
		const given = buildEnvironment({ skill, folders: { skill: '/s', workspace: '/w' }, host, offered: {} });
		expect(described('Variable')).toEqual(expect.arrayContaining(Object.keys(given)));
	});
	test('each setting that the page names is one', async () => {
		const settings = await readFile(join(ROOT, '.env.example'), 'utf8');
		const named = [...new Set(page.match(/\bSKILLS_[A-Z_]+\b/g))];
		expect(named.filter((name) => !settings.includes(`${name}=`))).toEqual([]);
		expect(named.length).toBeGreaterThan(5);
	});
});
