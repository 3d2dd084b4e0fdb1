/** The protocol's own client for tasks, in both versions: it polls, answers what a task asks, and gets the result. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
	createApplicationInputHandler,
	createTaskSessionFromClient,
	type JsonRpcResponse,
	type RawClientDispatch,
	type ResolvedInputExchangeContext
} from '@modelcontextprotocol/ext-tasks/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MODERN, openMcpRig, type McpRig } from '../support/mcp-rig.ts';
import { processesWith } from '../support/processes.ts';

const clientInfo = { name: 'tasks', version: '1.0.0' };
let rig: McpRig;
beforeAll(async () => {
	rig = await openMcpRig();
	await rig.put('slow/SKILL.md', '---\nname: slow\ndescription: Takes its time.\n---\nText.');
	// They go on once the file is there, so that no test depends on the time. A script chooses what its output says.
	const until = 'until [ -e "$1" ]; do sleep 0.02; done';
	await rig.put('slow/scripts/lack.sh', `${until}; echo "getaddrinfo ENOTFOUND api.example.org" >&2; exit 1\n`);
	await rig.put('slow/scripts/say.sh', `${until}; echo "said: $2"\n`);
	await rig.put('slow/scripts/wait.sh', 'exec sleep "$1"\n');
	await rig.app.skills.registry.reload();
});
afterAll(() => rig.close());
beforeEach(() => rig.app.network.grant('skills/slow', [], new Date().toISOString()));

/** The SDK's client refuses a task as an answer, so requests of 2026-07-28 go past it. */
const rawDispatch: RawClientDispatch = async (request) => {
	const { method, params } = request as { method: string; params: Record<string, unknown> };
	const response = await rig.send({
		method: 'POST',
		headers: {
			...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
			...{ 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-name': String(params.taskId ?? params.name) }
		},
		body: JSON.stringify({ jsonrpc: '2.0', id: crypto.randomUUID(), method, params })
	});
	const text = await response.text();
	const [, data = text] = /^data: (.*"(?:result|error)".*)$/m.exec(text) ?? [];
	return JSON.parse(data) as JsonRpcResponse;
};

async function open(modern: boolean, allow: boolean) {
	const clientCapabilities = {
		elicitation: {},
		...(modern ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {})
	};
	const mode = modern ? { pin: MODERN } : 'legacy';
	const client = new Client(clientInfo, { versionNegotiation: { mode }, capabilities: clientCapabilities });
	await client.connect(new StreamableHTTPClientTransport(rig.url));
	const asked: Pick<ResolvedInputExchangeContext, 'scope' | 'taskId' | 'delivery'>[] = [];
	const errors: Error[] = [];
	const none = () => Promise.reject(new Error('nobody asks for this'));
	const options = {
		endpointId: 'rig',
		onError: (error: Error) => void errors.push(error),
		onInputRequest: createApplicationInputHandler({
			elicitation(_request, { scope, taskId, delivery }) {
				asked.push({ scope, taskId, delivery });
				return { action: 'accept', content: { allow } };
			},
			sampling: none,
			roots: none
		})
	};
	const v2RequestFraming = { protocolVersion: MODERN, clientInfo, clientCapabilities };
	const session = createTaskSessionFromClient(client, modern ? { ...options, rawDispatch, v2RequestFraming } : options);
	const run = (script: string, ...args: string[]) =>
		session.callTool(
			'use_skill',
			{ skill: 'slow', script: `scripts/${script}.sh`, args },
			modern ? {} : { task: { preference: 'require' } }
		);
	return { run, asked, errors, close: async () => (await session.close(), await client.close()) };
}

describe.each([
	{ version: '2025-11-25', modern: false, delivery: 'peer-request' },
	{ version: '2026-07-28', modern: true, delivery: 'task-update' }
])('$version', ({ modern, delivery }) => {
	test('E15: it gets the result of a task that asks nothing', async () => {
		const { run, asked, errors, close } = await open(modern, true);
		const flag = join(rig.dataDir, `say-${modern}`);
		const execution = await run('say', flag, 'hello');
		expect(execution.kind).toBe('task');
		await writeFile(flag, '');
		const { outcome } = await execution.settle();
		expect(outcome).toMatchObject({ status: 'completed', result: { structuredContent: { stdout: 'said: hello\n' } } });
		expect([...asked, ...errors]).toEqual([]);
		await close();
	});

	test.each([true, false])('D13, E15: it answers what a task asks in the middle (allowed: %s)', async (allow) => {
		const { run, asked, errors, close } = await open(modern, allow);
		const flag = join(rig.dataDir, `lack-${modern}-${allow}`);
		const execution = await run('lack', flag);
		await writeFile(flag, '');
		const { outcome } = await execution.settle();
		expect(outcome).toMatchObject({ status: 'completed', result: { isError: true } });
		expect(asked).toEqual([{ scope: 'task', taskId: execution.handle?.taskId, delivery }]);
		expect(errors).toEqual([]);
		expect(await rig.app.network.granted('skills/slow')).toEqual(allow ? ['api.example.org'] : []);
		await close();
	});

	test('E15: it cancels a task, which ends the script', async () => {
		const { run, errors, close } = await open(modern, true);
		const seconds = modern ? '98765.0601' : '98765.0602';
		const execution = await run('wait', seconds);
		await expect.poll(() => processesWith(`sleep ${seconds}`)).not.toEqual([]);
		await execution.cancel();
		expect(await execution.result()).toMatchObject({ status: 'cancelled' });
		await expect.poll(() => processesWith(`sleep ${seconds}`)).toEqual([]);
		expect(errors).toEqual([]);
		await close();
	});
});
