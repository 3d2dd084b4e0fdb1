/** What a script lacked, over MCP: as data for every client; clients that can ask have their user asked (D13). */
import { pathToFileURL } from 'node:url';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { requireSkill } from '../../src/lib/server/skill-admin/skill-details.ts';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import { openMcpRig, type McpRig } from '../support/mcp-rig.ts';
import { wheelFolder } from '../support/package-index.ts';

let rig: McpRig;
/** Wheels. */
const folder = sharedFolder();
beforeAll(async () => {
	await wheelFolder(folder, [
		{ name: 'python-docx', module: 'docx', version: '1.1.0', requires: ['helper'] },
		{ name: 'helper' }
	]);
	rig = await openMcpRig({ SKILLS_PIP_INDEX_URL: pathToFileURL(folder).href }, []);
	await rig.put('weather/SKILL.md', '---\nname: weather\ndescription: Says the weather.\n---\nscripts/get.sh');
	// A script chooses what its output says; nothing was refused here.
	await rig.put('weather/scripts/get.sh', `echo "getaddrinfo ENOTFOUND \${1:-api.example.org}" >&2; exit 1\n`);
	await rig.put('weather/scripts/token.sh', 'echo "${WEATHER_TOKEN:?set it}"\n');
	await rig.put('weather/scripts/package.py', 'import docx\nprint("docx is there")\n');
	await rig.app.skills.registry.reload();
});
afterAll(async () => {
	await rig.close();
});
beforeEach(() => rig.app.network.grant('skills/weather', [], new Date().toISOString()));

const granted = () => rig.app.network.granted('skills/weather');
const runs = async () => (await rig.app.store.skillExecutions.list({}, { page: 1, limit: 1 })).total;
const call = (script = 'get.sh', args: string[] = []) => ({
	name: 'use_skill',
	arguments: { skill: 'weather', script: `scripts/${script}`, args }
});
const HOST = { error: 'HostNotAllowed', missing: { kind: 'host', name: 'api.example.org' } };
const TICKED = { action: 'accept', content: { allow: true } } as const;

async function clientWith(
	answer: ElicitResult,
	elicitation: { form?: Record<string, never>; url?: Record<string, never> },
	modern: boolean,
	key?: string
) {
	const client = await rig.connect({ modern, capabilities: { elicitation }, ...(key === undefined ? {} : { key }) });
	const asked: ElicitRequest['params'][] = [];
	client.setRequestHandler('elicitation/create', ({ params }) => {
		asked.push(params);
		return answer;
	});
	return { client, asked };
}

describe.each([
	{ version: '2026-07-28', modern: true },
	{ version: '2025-11-25', modern: false }
])('$version', ({ modern }) => {
	test.each<[string, ElicitResult]>([
		['accepts every form as it is', { action: 'accept', content: {} }],
		['accepts with what the form begins with', { action: 'accept', content: { allow: false } }],
		['answers with text', { action: 'accept', content: { allow: 'true' } }],
		['declines', { action: 'decline' }],
		['cancels', { action: 'cancel', content: { allow: true } }]
	])('SECURITY: a client that %s gives a script no host, and nothing runs again', async (_what, answer) => {
		const { client, asked } = await clientWith(answer, {}, modern);
		const before = await runs();
		const direct = { name: 'skills_execute', arguments: { skillName: 'weather', script: 'scripts/get.sh' } };
		for (const each of [call(), direct]) {
			expect(await client.callTool(each)).toMatchObject({ isError: true, structuredContent: HOST });
		}
		expect(asked).toHaveLength(2);
		expect(await granted()).toEqual([]);
		expect(await runs()).toBe(before + 2);
	});

	test.each<ApiScope[]>([
		['read', 'execute'],
		['read', 'write', 'execute', 'approve']
	])('SECURITY: a key is given the facts, whatever its scopes and its client’s answers', async (...scopes) => {
		const { key } = await rig.app.apiKeys.create({ name: 'client', scopes });
		for (const elicitation of [{}, { form: {}, url: {} }]) {
			const { client, asked } = await clientWith(TICKED, elicitation, modern, key);
			expect(await client.callTool(call())).toMatchObject({ isError: true, structuredContent: HOST });
			expect(asked).toEqual([]);
		}
		expect(await granted()).toEqual([]);
	});

	test('D13: a host is allowed by ticking a box, beside those that are, and it runs again; another is not asked about', async () => {
		await rig.app.network.grant('skills/weather', ['a.example.org'], new Date().toISOString());
		const { client, asked } = await clientWith(TICKED, {}, modern);
		const before = await runs();
		const args = { skillName: 'weather', script: 'scripts/cut.sh' };
		await rig.put(
			'weather/scripts/cut.sh',
			'curl -sS https://api.example.org >&2; curl -sS https://b.example.org >&2; exit 1\n'
		);
		await rig.app.skills.registry.reload();
		const result = await client.callTool({ name: 'skills_execute', arguments: args });
		expect(asked).toMatchObject([
			{
				message: expect.stringMatching(
					/reach api\.example\.org.*until you remove it.*\/skills\/skills\/weather/s
				) as string
			}
		]);
		expect(await granted()).toEqual(['a.example.org', 'api.example.org']);
		expect(await runs()).toBe(before + 2);
		expect(result.structuredContent).toMatchObject({
			result: { missing: { kind: 'host', name: 'b.example.org' } },
			execution: { missing: { kind: 'host', name: 'b.example.org' } }
		});
	});

	test.each(['get.sh', 'token.sh', 'package.py'])(
		'D13: a client that opens pages is sent to the skill’s, never asked for a value, and %s runs once more',
		async (script) => {
			const { client, asked } = await clientWith({ action: 'accept' }, { form: {}, url: {} }, modern);
			const before = await runs();
			const refused = await client.callTool(call(script));
			expect(refused).toMatchObject({ isError: true, structuredContent: { missing: expect.anything() as object } });
			expect(asked).toMatchObject([{ mode: 'url', url: new URL('/skills/skills/weather', rig.url).href }]);
			expect(await granted()).toEqual([]);
			expect(await runs()).toBe(before + 2);
		}
	);

	test('D13: a client with forms only is given the facts of a variable', async () => {
		const { client, asked } = await clientWith(TICKED, {}, modern);
		expect(await client.callTool(call('token.sh'))).toMatchObject({ isError: true });
		expect(asked).toEqual([]);
	});

	test('D13, D46: with forms only, packages are named, installed by ticking a box, and it runs again; otherwise nothing is', async () => {
		const refusing = await clientWith({ action: 'accept', content: { allow: false } }, {}, modern);
		expect(await refusing.client.callTool(call('package.py'))).toMatchObject({
			isError: true,
			structuredContent: { error: 'MissingPackage', missing: { name: 'python-docx' } }
		});
		const skill = requireSkill(rig.app, null, 'weather');
		expect((await rig.app.packages.stateOf(skill)).installed).toBeNull();
		const { client, asked } = await clientWith(TICKED, {}, modern);
		const result = await client.callTool(call('package.py'));
		expect(asked).toMatchObject([
			{
				message: expect.stringMatching(
					/needs the Python package python-docx.*helper 1\.0\.0 from a folder on the server, python-docx 1\.1\.0/s
				) as string
			}
		]);
		expect(JSON.stringify(result)).toContain('docx is there');
		await rig.app.packages.remove(skill);
		await rig.app.packages.remove(skill);
		expect((await rig.app.packages.stateOf(skill)).installed).toBeNull();
	});

	test('SECURITY: a key’s client installs nothing, whatever it answers', async () => {
		const { key } = await rig.app.apiKeys.create({ name: 'client', scopes: ['read', 'write', 'execute', 'approve'] });
		const { client, asked } = await clientWith(TICKED, {}, modern, key);
		expect(await client.callTool(call('package.py'))).toMatchObject({ isError: true });
		expect(asked).toEqual([]);
	});
});
