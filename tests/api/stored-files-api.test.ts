/** Files that scripts make while the bucket is away: REST and MCP say that other servers don't have them yet (F5, E10, E15). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as chatFile from '../../src/routes/api/conversations/[id]/files/[...path]/+server.ts';
import * as skillFile from '../../src/routes/api/skills/[...id]/file/+server.ts';
import * as installing from '../../src/routes/api/skills/install/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { type BucketServer, startBucketServer } from '../support/bucket-server.ts';
import { type McpRig, openMcpRig } from '../support/mcp-rig.ts';
import { type RouteServer, serveRoutes } from '../support/route-server.ts';

const UNSTORED =
	'Changed files couldn’t be stored for other servers. They are on this server, which tries again until it can.';
let bucket: BucketServer;
let rig: McpRig;
let server: RouteServer;
beforeEach(async () => {
	bucket = await startBucketServer();
	rig = await openMcpRig({ S3_URL: bucket.url }, []);
	await rig.put('demo/SKILL.md', '---\nname: demo\ndescription: A demo.\n---\nBody.');
	await rig.put('demo/write.sh', 'date +%N > made.txt; echo "$1"');
	await rig.put(
		'demo/tools.json',
		JSON.stringify([{ name: 'make', description: 'Makes a file.', script: 'write.sh' }])
	);
	await rig.put('demo/fail.sh', 'date +%N > made.txt; exit 3');
	await rig.app.skills.reload();
	server = await serveRoutes(rig.app, {
		'/api/skills/executions': executions,
		'/api/skills/install': installing,
		'/api/skills/[...id]/file': skillFile,
		'/api/conversations/[id]/files/[...path]': chatFile
	});
});
afterEach(async () => {
	bucket.fail('none');
	await server.close();
	await rig.close();
	await bucket.close();
});

async function run(script: string) {
	const response = await fetch(`${server.url}/api/skills/executions`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ skillName: 'demo', script, sessionId: 's' })
	});
	return ((await response.json()) as { result: { success: boolean; hint?: string } }).result;
}

test('F5, E10: the result of a run over REST says in its hint that its files aren’t stored, whether it succeeded or not', async () => {
	expect(await run('write.sh')).toMatchObject({ success: true });
	expect((await run('write.sh')).hint).toBeUndefined();
	bucket.fail('error');
	expect(await run('write.sh')).toMatchObject({ success: true, hint: UNSTORED });
	const failed = await run('fail.sh');
	expect(failed).toMatchObject({ success: false });
	expect(failed.hint).toContain(UNSTORED);
});

test('F5, E9, F1: what is uploaded, installed or edited says so, too', async () => {
	const send = async (method: string, path: string, body: unknown) => {
		const response = await fetch(`${server.url}/api/${path}`, {
			method,
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body)
		});
		expect(response.ok).toBe(true);
		return (await response.json()) as { hint?: string; digest?: string };
	};
	const upload = (text: string) => send('PUT', 'conversations/c1/files/data.json', text);
	const install = (name: string) => {
		const text = `---\nname: ${name}\ndescription: One more.\n---\nBody.`;
		return send('POST', 'skills/install', { source: { type: 'inline', text } });
	};
	const edit = (text: string, digest: string | null) =>
		send('PUT', 'skills/installed/first/file', { path: 'note.md', text, digest });
	const before = [await upload('1'), await install('first'), await edit('a', null)];
	for (const { hint } of before) expect(hint).toBeUndefined();
	bucket.fail('error');
	expect((await upload('2')).hint).toBe(UNSTORED);
	expect((await install('second')).hint).toBe(UNSTORED);
	expect((await edit('b', before[2]?.digest ?? '')).hint).toBe(UNSTORED);
});

test('F5, E15: over MCP the result of a tool says so, that of skills_execute also as data', async () => {
	const client = await rig.connect();
	const { tools } = await client.listTools();
	const make = tools.find(({ description }) => description === 'Makes a file.')?.name ?? '';
	const execute = () =>
		client.callTool({ name: 'skills_execute', arguments: { skillName: 'demo', script: 'write.sh' } });
	const asks = [() => client.callTool({ name: make, arguments: {} }), execute];
	for (const ask of asks) expect(JSON.stringify(await ask())).not.toContain(UNSTORED);
	bucket.fail('error');
	for (const ask of asks) {
		const answer = await ask();
		expect(answer.isError).toBeFalsy();
		expect(JSON.stringify(answer.content)).toContain(UNSTORED);
	}
	expect((await execute()).structuredContent).toMatchObject({ result: { success: true, hint: UNSTORED } });
});
