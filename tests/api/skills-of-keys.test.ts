/** One API key learns nothing about another key's skills over REST, MCP and A2A. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ownerOf } from '../../src/lib/server/skills/registry/visibility.ts';
import { API_SCOPES } from '../../src/lib/shared/names.ts';
import { installConfirm } from '../../src/lib/shared/install.ts';
import type { SkillList, SkillSummary } from '../../src/lib/shared/skills.ts';
import * as card from '../../src/routes/.well-known/agent-card.json/+server.ts';
import * as capabilities from '../../src/routes/api/agent/capabilities/+server.ts';
import * as health from '../../src/routes/api/health/+server.ts';
import * as skills from '../../src/routes/api/skills/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { hookRoutes, type Send } from '../support/hooked-routes.ts';
import { openMcpRig, type McpRig } from '../support/mcp-rig.ts';

const ROUTES = {
	'/.well-known/agent-card.json': card,
	'/api/agent/capabilities': capabilities,
	'/api/health': health,
	'/api/skills': skills,
	'/api/skills/executions': executions
};

interface Key {
	id: string;
	key: string;
}

let rig: McpRig;
let send: Send;
let mine: Key;
let other: Key;
beforeEach(async () => {
	rig = await openMcpRig({}, []);
	await rig.put('shared/SKILL.md', skillText('shared', 'Everybody has it.'));
	await rig.app.skills.reload();
	send = hookRoutes(rig.app, ROUTES);
	mine = await rig.app.apiKeys.create({ name: 'mine', scopes: [...API_SCOPES] });
	other = await rig.app.apiKeys.create({ name: 'other', scopes: [...API_SCOPES] });
});
afterEach(async () => {
	vi.unstubAllGlobals();
	await rig.close();
});

function skillText(name: string, description: string): string {
	return `---\nname: ${name}\ndescription: ${description}\n---\nRun scripts/say.sh, or the tool say.`;
}

/** The skill's script and tool say who owns it. */
async function install(owner: Key, name: string, says: string): Promise<void> {
	const choice = installConfirm.parse({ apiKeyId: owner.id, enabled: true });
	await rig.app.installer.install(
		{ type: 'inline', text: skillText(name, `Of ${says}.`) },
		choice,
		new AbortController().signal
	);
	const folder = join(rig.dataDir, 'owned', ownerOf(owner.id) ?? '', `${name}@1.0.0`);
	await put(join(folder, 'scripts/say.sh'), `echo '"${says}"'\n`);
	await put(
		join(folder, 'tools.json'),
		JSON.stringify([{ name: 'say', description: 'Says.', script: 'scripts/say.sh' }])
	);
	await rig.app.skills.reload();
	const { skills: ready, shadowed } = rig.app.skills.registry.snapshot();
	const skill = [...ready, ...shadowed].find(({ dir }) => dir === folder);
	if (!skill) throw new Error(`${name} is not in the library`);
	await rig.app.trust.trust(skill, (await rig.app.trust.review(skill)).digest, new Date().toISOString());
}

async function put(path: string, text: string): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
}

async function rest(key: Key, method: string, route: string, more: { query?: string; body?: unknown } = {}) {
	const response = await send(method, route, { bearer: key.key, ...more });
	return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Drops values that differ every time, also from JSON inside text. */
function withoutChance(answer: unknown): unknown {
	const chance = /^(?:revision|createdAt|finishedAt|durationMs|executionId|lastUsedAt|executions|failures)$/;
	const clean = (key: string, value: unknown): unknown => {
		if (chance.test(key)) return undefined;
		if (key === 'id' && typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value)) return undefined;
		return typeof value === 'string' && value.startsWith('{') ? withoutChance(JSON.parse(value)) : value;
	};
	return JSON.parse(JSON.stringify(answer, clean));
}

const RESERVED = 'browser';

/** Everything a key can request about skills: lists, and each by name. */
async function askAll(key: Key, client: Client, names: readonly string[]): Promise<unknown[]> {
	const answers: unknown[] = [
		await rest(key, 'GET', '/api/skills', { query: '?limit=200' }),
		await rest(key, 'GET', '/api/skills', { query: '?q=other' }),
		await rest(key, 'GET', '/api/health'),
		await rest(key, 'GET', '/api/agent/capabilities'),
		await rest(key, 'GET', '/.well-known/agent-card.json'),
		await client.listTools(),
		await client.listResources(),
		await client.listPrompts(),
		await client.callTool({ name: 'skills_list', arguments: {} }),
		await client.callTool({ name: 'skills_list', arguments: { enabled: true } }),
		await client.complete({
			ref: { type: 'ref/resource', uri: 'skill://{skill}/{+path}' },
			argument: { name: 'skill', value: '' }
		})
	];
	const ofKey = ownerOf(other.id) ?? '';
	for (const name of names.flatMap((each) => [each, `${each}@1.0.0`, `${ofKey}/${each}`])) {
		const call = (tool: string, args: Record<string, unknown>) =>
			client.callTool({ name: tool, arguments: args }).catch((error: unknown) => String(error));
		answers.push(
			await rest(key, 'POST', '/api/skills/executions', { body: { skillName: name, script: 'scripts/say.sh' } }),
			await rest(key, 'POST', '/api/skills/executions', { body: { skillName: name, tool: 'say' } }),
			await rest(key, 'POST', '/api/skills/executions', { body: { skillName: name, input: { action: 'look' } } }),
			await call('skills_execute', { skillName: name }),
			await call('skills_execute', { skillName: name, script: 'ghost.sh' }),
			await call('skills_execute', { skillName: name, tool: 'ghost' }),
			await call('skills_enable', { skillId: name, enabled: true }),
			await call('load_skill', { skill: name }),
			await call('use_skill', { skill: name, script: 'ghost.sh' }),
			await call('read_skill_file', { skill: name }),
			await client.readResource({ uri: `skill://${name}/SKILL.md` }).catch((error: unknown) => String(error)),
			await client.getPrompt({ name }).catch((error: unknown) => String(error))
		);
	}
	return answers.map(withoutChance);
}

test('A41: nothing that a key can ask is answered otherwise for what another key owns', async () => {
	await install(mine, 'notes', 'mine');
	const client = await rig.connect({ modern: true, key: mine.key });
	const names = ['plan', 'notes', 'shared', RESERVED];
	const before = await askAll(mine, client, names);
	for (const name of names) await install(other, name, 'other');
	await put(join(rig.dataDir, 'owned', ownerOf(other.id) ?? '', 'torn', 'SKILL.md'), 'No front matter.');
	await rig.app.skills.reload();
	const after = await askAll(mine, client, names);
	for (const [index, answer] of after.entries()) expect([index, answer]).toEqual([index, before[index]]);
	expect(rig.app.skills.registry.snapshot().broken).toHaveLength(1);
});

test('A41: of a name that two keys own each has its own, by whichever door', async () => {
	await install(mine, 'notes', 'mine');
	await install(other, 'notes', 'other');
	for (const [key, says] of [
		[mine, 'mine'],
		[other, 'other']
	] as const) {
		const client = await rig.connect({ modern: true, key: key.key });
		const ways = [{ tool: 'say' }, {}];
		for (const way of ways) {
			const answer = await client.callTool({ name: 'skills_execute', arguments: { skillName: 'notes', ...way } });
			expect(answer.structuredContent).toMatchObject({ result: { success: true, value: says } });
		}
		const run = await rest(key, 'POST', '/api/skills/executions', { body: { skillName: 'notes', tool: 'say' } });
		expect(run).toMatchObject({ status: 201, body: { result: { value: says } } });
		const { body } = await rest(key, 'GET', '/api/skills', { query: '?q=notes' });
		expect((body as unknown as SkillList).data).toMatchObject([
			{ id: 'notes', description: `Of ${says}.`, diagnostics: [] }
		]);
		const off = await client.callTool({ name: 'skills_enable', arguments: { skillId: 'notes', enabled: false } });
		expect(off.structuredContent).toMatchObject({ skillId: 'notes', enabled: false });
	}
	const modes = rig.app.skills.registry.snapshot();
	expect([...modes.skills, ...modes.shadowed].filter(({ name }) => name === 'notes').map(rig.app.modes.modeOf)).toEqual(
		['off', 'off']
	);
});

test('A41: a key switches off its own skill of a name, and not another key’s', async () => {
	await install(mine, 'notes', 'mine');
	await install(other, 'notes', 'other');
	const client = await rig.connect({ modern: true, key: other.key });
	await client.callTool({ name: 'skills_enable', arguments: { skillId: 'notes', enabled: false } });
	const run = (key: Key) => rest(key, 'POST', '/api/skills/executions', { body: { skillName: 'notes', tool: 'say' } });
	expect([(await run(mine)).status, (await run(other)).status]).toEqual([201, 409]);
});

test('A41: a key is told of no place on the server: not where a skill lies, nor in what is wrong with one', async () => {
	await install(mine, 'notes', 'mine');
	await rig.put('twin/notes/SKILL.md', skillText('notes', 'The first.'));
	await rig.put('twin-2/notes/SKILL.md', skillText('notes', 'The second.'));
	// The system's error message quotes the path.
	await mkdir(join(rig.skills, 'torn/SKILL.md'), { recursive: true });
	await rig.put('torn-2/SKILL.md', 'No front matter.');
	await rig.app.skills.reload();
	const { body } = await rest(mine, 'GET', '/api/skills', { query: '?limit=200' });
	const client = await rig.connect({ modern: true, key: mine.key });
	const listed = await client.callTool({ name: 'skills_list', arguments: { limit: 100 } });
	const root = dirname(rig.dataDir);
	for (const answer of [body, listed]) expect(JSON.stringify(answer)).not.toContain(root);
	expect((body.data as SkillSummary[]).map(({ path }) => path)).toEqual((body.data as SkillSummary[]).map(() => ''));
	const manager = await send('GET', '/api/skills', { query: '?q=shared' });
	expect(await manager.json()).toMatchObject({ data: [{ path: join(rig.skills, 'shared/SKILL.md') }] });
});
