/** The whole app beside a real OTLP receiver, a scraper and a load balancer (E29, E19, F14). */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../support/folder.ts';
import { startApp, type App } from '../support/app-process.ts';
import { follow } from '../support/crash-client.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.ts';

const SKILL = '---\nname: greeter\ndescription: Greets.\n---\nRun `scripts/greet.sh NAME`.\n';
const SCRIPT = 'echo "hello $1"\n[ "$1" != nobody ]\n';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

const folder = emptyFolder();
let model: ModelServer;
let receiver: OtlpReceiver;
let app: App;

beforeEach(async () => {
	await putFile(folder, 'skills/greeter/SKILL.md', SKILL);
	await putFile(folder, 'skills/greeter/scripts/greet.sh', SCRIPT);
	model = await startModelServer();
	receiver = await startOtlpReceiver();
});

afterEach(async () => {
	await app?.stop();
	await model.close();
	await receiver.close();
}, 60_000);

async function start(env: Record<string, string>): Promise<void> {
	const server = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' };
	app = await startApp({ skillsFrom: join(folder, 'skills'), env: { ...server, SKILLS_SANDBOX: 'process', ...env } });
}

/** Sends soon what there is to send. */
const tracing = () => ({
	OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
	OTEL_METRIC_EXPORT_INTERVAL: '500',
	OTEL_BSP_SCHEDULE_DELAY: '200'
});

/** Sends a question and returns the events of its answer. */
async function turn(words: string, headers: Record<string, string> = {}, threadId: string = randomUUID()) {
	const runId = randomUUID();
	const response = await fetch(`${app.url}/api/chat`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
		body: JSON.stringify({ threadId, runId, messages: [{ id: randomUUID(), role: 'user', content: words }] })
	});
	expect(response.ok, await response.clone().text()).toBe(true);
	const { events } = await follow(app.url, runId);
	return { runId, threadId, response, events: events.map(({ event }) => event) };
}

const greet = (name: string) => call('use_skill', { skill: 'greeter', script: 'greet.sh', args: [name] });

/** Values by series, as a scraper reads them. */
function parse(exposition: string): Map<string, number> {
	expect(exposition.endsWith('\n')).toBe(true);
	const lines = exposition.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
	return new Map(
		lines.map((line) => {
			const [, series, value] = /^([a-zA-Z_:][\w:]*(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)*\})?) (\S+)$/.exec(line) ?? [];
			expect(series, line).toBeDefined();
			return [series ?? '', value === '+Inf' ? Infinity : Number(value)];
		})
	);
}

async function scrape(authorization?: string): Promise<Map<string, number>> {
	const response = await fetch(`${app.url}/metrics`, { headers: authorization ? { authorization } : {} });
	expect(response.status).toBe(200);
	expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
	return parse(await response.text());
}

const sum = (series: Map<string, number>, name: string, ...labels: string[]): number =>
	[...series].reduce(
		(total, [each, value]) =>
			each.startsWith(`${name}{`) && labels.every((label) => each.includes(label)) ? total + value : total,
		0
	);

describe('E29: traces', { timeout: 120_000 }, () => {
	test('a turn is one trace: its model requests, its calls and their scripts, below the caller’s span', async () => {
		await start(tracing());
		model.push([text('I greet.'), greet('Ada'), greet('nobody')], text('Done.'));
		const traceparent = `00-${TRACE}-${PARENT}-01`;
		const { runId, threadId } = await turn('a private question', { traceparent, 'x-request-id': 'from-the-proxy' });

		const [request, agent, chat, tool, script] = await receiver.received(
			...['POST /api/chat', 'invoke_agent', 'chat test/model', 'execute_tool use_skill', 'run_script process']
		);
		const inTrace = () => receiver.spans.filter(({ traceId }) => traceId === TRACE);
		await eventually(() => expect(inTrace()).toHaveLength(8));
		const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
			version: string;
		};
		expect(request).toMatchObject({
			...{ parentId: PARENT, kind: 2, status: 0, resource: { 'service.version': version } },
			attributes: { 'http.request.method': 'POST', 'http.route': '/api/chat', 'http.response.status_code': 202 }
		});
		expect(agent).toMatchObject({
			parentId: request?.spanId,
			kind: 1,
			status: 0,
			resource: { 'service.name': 'openrouter-skills' },
			attributes: {
				'gen_ai.operation.name': 'invoke_agent',
				'gen_ai.request.model': 'test/model',
				'gen_ai.conversation.id': threadId,
				'openrouter_skills.run.id': runId,
				'openrouter_skills.outcome': 'success'
			}
		});
		const chats = receiver.spans.filter(({ name }) => name === 'chat test/model');
		expect(chats.map(({ parentId }) => parentId)).toEqual([agent?.spanId, agent?.spanId]);
		expect(chats.map(({ attributes }) => attributes['gen_ai.response.finish_reasons'])).toEqual([
			['tool_call'],
			['stop']
		]);
		expect(chat).toMatchObject({
			kind: 3,
			attributes: {
				'gen_ai.operation.name': 'chat',
				'gen_ai.provider.name': '127.0.0.1',
				'gen_ai.request.model': 'test/model',
				'gen_ai.response.model': 'test/model',
				'gen_ai.conversation.id': threadId,
				'gen_ai.usage.input_tokens': expect.any(Number),
				'gen_ai.usage.output_tokens': expect.any(Number),
				'gen_ai.response.time_to_first_chunk': expect.any(Number),
				'server.address': '127.0.0.1',
				'server.port': Number(new URL(model.url).port)
			}
		});
		expect(tool).toMatchObject({
			parentId: agent?.spanId,
			attributes: {
				'gen_ai.operation.name': 'execute_tool',
				'gen_ai.tool.name': 'use_skill',
				'gen_ai.tool.call.id': expect.stringMatching(/^call_/),
				'gen_ai.tool.type': 'function'
			}
		});
		const tools = receiver.spans.filter(({ name }) => name === 'execute_tool use_skill');
		const scripts = receiver.spans.filter(({ name }) => name === 'run_script process');
		expect(scripts.map(({ parentId }) => parentId).toSorted()).toEqual(tools.map(({ spanId }) => spanId).toSorted());
		expect(script?.attributes).toMatchObject({ 'openrouter_skills.skill': expect.stringMatching(/\/greeter$/) });
		const failed = scripts.find(({ status }) => status === 2);
		expect(failed?.attributes).toMatchObject({ 'process.exit.code': 1, 'error.type': 'ExecutionFailed' });
		expect(tools.find(({ spanId }) => spanId === failed?.parentId)).toMatchObject({ status: 2 });
		expect(JSON.stringify(receiver.spans)).not.toContain('private question');
		expect(JSON.stringify(receiver.spans)).not.toContain('hello');
		// The page's own requests are traces of their own, under the names of routes.
		const [followed] = await receiver.received('GET /api/runs/[id]/events');
		expect(followed?.traceId).not.toBe(TRACE);
		expect(JSON.stringify(receiver.spans.filter(({ kind }) => kind === 2))).not.toContain(runId);
		// A third party isn’t told of it.
		expect(model.requests.map(({ headers }) => headers.traceparent)).toEqual([undefined, undefined]);
		await eventually(() => expect(receiver.metrics.flat()).toContain('gen_ai.client.token.usage'));
	});

	test('the model’s server is told of the span, and what was said is in it, only if the settings say so', async () => {
		const settings = { TRACE_MODEL_SERVER: 'true', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
		await start({ ...tracing(), ...settings });
		model.push([greet('Ada')], text('It says hello.'));
		await turn('Greet Ada, please');
		await receiver.received('invoke_agent');
		const chats = receiver.spans.filter(({ name }) => name === 'chat test/model');
		expect(model.requests.map(({ headers }) => headers.traceparent)).toEqual(
			chats.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)
		);
		expect(model.requests[0]?.headers.authorization).toBe('Bearer test');
		const [first, second] = chats.map(({ attributes }) => attributes);
		expect(JSON.parse(String(first?.['gen_ai.input.messages']))).toContainEqual({
			role: 'user',
			parts: [{ type: 'text', content: 'Greet Ada, please' }]
		});
		expect(JSON.parse(String(second?.['gen_ai.output.messages']))).toEqual([
			{ role: 'assistant', parts: [{ type: 'text', content: 'It says hello.' }] }
		]);
		const tool = receiver.spans.find(({ name }) => name === 'execute_tool use_skill');
		expect(tool?.attributes['gen_ai.tool.call.arguments']).toContain('Ada');
		expect(tool?.attributes['gen_ai.tool.call.result']).toContain('hello Ada');
	});

	test('a model that fails and a tool that doesn’t exist are errors of their spans', async () => {
		await start(tracing());
		model.push([call('no_such_tool', {})], (exchange) => {
			exchange.begin(401, { 'content-type': 'application/json' });
			exchange.end(JSON.stringify({ error: { message: 'No such key' } }));
		});
		await turn('Try');
		const [agent, tool] = await receiver.received('invoke_agent', 'execute_tool');
		expect(tool).toMatchObject({
			status: 2,
			attributes: { 'gen_ai.tool.name': 'no_such_tool', 'error.type': 'UnknownTool' }
		});
		expect(agent).toMatchObject({ status: 2, attributes: { 'error.type': 'unauthorized' } });
		const failed = receiver.spans.filter(({ name, status }) => name === 'chat test/model' && status === 2);
		expect(failed).toMatchObject([{ attributes: { 'error.type': 'unauthorized' } }]);
	});

	test('what is left is sent at the end, within the grace', async () => {
		const own = { OTEL_METRICS_EXPORTER: 'none', OTEL_SERVICE_NAME: 'team-skills', OTEL_BSP_SCHEDULE_DELAY: '60000' };
		await start({ ...tracing(), ...own });
		model.push(text('Done.'));
		await turn('Hello');
		await app.restart();
		const names = receiver.spans.filter(({ kind }) => kind !== 2).map(({ name }) => name);
		expect(names).toEqual(['chat test/model', 'invoke_agent']);
		expect(receiver.spans[0]?.resource['service.name']).toBe('team-skills');
		expect(receiver.metrics).toEqual([]);
	});

	test('a receiver that hangs, refuses or is down breaks no turn and doesn’t hold up the end; it is said once', async () => {
		const hanging = await startOtlpReceiver({ hang: true });
		const refusing = await startOtlpReceiver({ status: 400 });
		const down = await startOtlpReceiver();
		await down.close();
		for (const { url } of [hanging, refusing, down]) {
			await start({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_METRIC_EXPORT_INTERVAL: '500', LOG_FORMAT: 'json' });
			for (const _ of [1, 2]) {
				model.push([greet('Ada')], text('Done.'));
				const { events } = await turn('Greet');
				expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
			}
			if (url === hanging.url) await eventually(() => expect(hanging.hanging).toBeGreaterThan(0));
			if (url === refusing.url) {
				await eventually(() => expect(refusing.metrics.length).toBeGreaterThan(2));
				const said = app.logs.filter((line) => line.includes('couldn’t send metrics'));
				expect(said.map((line) => JSON.parse(line) as unknown)).toMatchObject([
					{ level: 'error', host: new URL(url).host }
				]);
			}
			await app.stop();
			// Otherwise it would have been ended by its own last limit, or killed.
			expect(app.exitCode()).toBe(0);
		}
		await Promise.all([hanging.close(), refusing.close()]);
	});
});

describe('E29: metrics', { timeout: 120_000 }, () => {
	test('a scrape counts and times runs, model requests, calls, scripts and requests, by names that don’t grow', async () => {
		await start({ METRICS: 'true' });
		model.push([greet('Ada'), greet('nobody'), call('no_such_tool', {})], text('Done.'));
		const { runId, threadId } = await turn('Greet');
		await fetch(`${app.url}/api/conversations/${threadId}`);
		await fetch(`${app.url}/no/such/page/${threadId}`);
		const series = await scrape();

		expect(sum(series, 'openrouter_skills_runs_ended_total', 'outcome="success"')).toBe(1);
		expect(series.get('openrouter_skills_runs_started_total')).toBe(1);
		expect(series.get('openrouter_skills_runs_active')).toBe(0);
		expect(series.get('openrouter_skills_queue_messages')).toBe(0);
		expect(sum(series, 'gen_ai_invoke_agent_duration_count')).toBe(1);
		const about = 'gen_ai_request_model="test/model"';
		expect(sum(series, 'gen_ai_client_operation_duration_count', about)).toBe(2);
		expect(sum(series, 'gen_ai_client_operation_time_to_first_chunk_count', about)).toBe(2);
		expect(sum(series, 'gen_ai_client_token_usage_sum', about, 'gen_ai_token_type="input"')).toBeGreaterThan(0);
		const calls = 'gen_ai_execute_tool_duration_count';
		expect(sum(series, calls, 'kind="skill"', 'outcome="success"')).toBe(1);
		expect(sum(series, calls, 'kind="skill"', 'outcome="error"')).toBe(1);
		expect(sum(series, calls, 'kind="unknown"', 'outcome="error"')).toBe(1);
		const scripts = 'openrouter_skills_execution_duration_count';
		expect(sum(series, scripts, 'sandbox="process"', 'outcome="success"')).toBe(1);
		expect(sum(series, scripts, 'sandbox="process"', 'outcome="ExecutionFailed"')).toBe(1);
		expect(series.get('openrouter_skills_executions{state="running"}')).toBe(0);
		expect(series.get('openrouter_skills_executions{state="waiting"}')).toBe(0);
		const requests = 'http_server_request_duration_count';
		expect(sum(series, requests, 'http_route="/api/chat"', 'http_request_method="POST"', '_class="2xx"')).toBe(1);
		expect(sum(series, requests, 'http_route="/api/conversations/[id]"')).toBe(1);
		expect(sum(series, requests, 'http_route="none"', '_class="4xx"')).toBe(1);
		expect(series.get('process_memory_usage')).toBeGreaterThan(1_000_000);
		expect(series.get('nodejs_eventloop_delay_p99')).toBeGreaterThanOrEqual(0);
		// Only replicas have leases.
		expect([...series.keys()].join('\n')).not.toContain('leases');
		const all = [...series.keys()].join('\n');
		for (const id of [runId, threadId, 'greeter', 'no_such_tool']) expect(all).not.toContain(id);
	});

	test('a run that is under way and a message that waits are seen as that; its answer is a trace of its own', async () => {
		await start({ METRICS: 'true', ...tracing() });
		const held = gate();
		model.push(text('I ', held, 'wait.'), text('And this.'));
		const threadId = randomUUID();
		const ending = turn('Wait', { traceparent: `00-${TRACE}-${PARENT}-01` }, threadId);
		await model.received(1);
		await eventually(async () => expect((await scrape()).get('openrouter_skills_runs_active')).toBe(1));
		const queued = await fetch(`${app.url}/api/conversations/${threadId}/queue`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ id: randomUUID(), text: 'Then this' })
		});
		expect(await queued.json()).toEqual({ runId: null });
		expect((await scrape()).get('openrouter_skills_queue_messages')).toBe(1);
		held.open();
		await ending;
		await eventually(async () => {
			const series = await scrape();
			const names = ['runs_ended_total{outcome="success"}', 'runs_active', 'queue_messages'];
			expect(names.map((name) => series.get(`openrouter_skills_${name}`))).toEqual([2, 0, 0]);
		});
		const agents = () => receiver.spans.filter(({ name }) => name === 'invoke_agent');
		await eventually(() => expect(agents()).toHaveLength(2));
		const [request] = await receiver.received('POST /api/chat');
		expect(agents().map(({ traceId, parentId }) => [traceId === TRACE, parentId])).toEqual([
			[true, request?.spanId],
			[false, '']
		]);
	});

	test('E19: behind a login, strangers choose no trace and leave no span; who is known does', async () => {
		const ADMIN_TOKEN = 'a-token-of-the-operator';
		await start({ ADMIN_TOKEN, ...tracing() });
		const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
		for (const path of ['/api/conversations', '/login', '/health', '/.well-known/agent-card.json', '/no/such/page']) {
			await fetch(app.url + path, { headers });
		}
		const known = { ...headers, authorization: `Bearer ${ADMIN_TOKEN}` };
		expect((await fetch(`${app.url}/api/conversations`, { headers: known })).status).toBe(200);
		await app.stop();
		// The start of this test asks that, with the token.
		const spans = receiver.spans.filter(({ name }) => name !== 'GET /api/health');
		expect(spans.map(({ name, traceId, parentId }) => [name, traceId, parentId])).toEqual([
			['GET /api/conversations', TRACE, PARENT]
		]);
	});

	test('E19: behind a login only its token and the password read them, and the token opens nothing else', async () => {
		const [ADMIN_TOKEN, METRICS_TOKEN] = ['a-token-of-the-operator', 'a-token-of-the-scraper'];
		await start({ ADMIN_TOKEN, METRICS_TOKEN });
		const status = async (path: string, token?: string, headers = {}) =>
			(await fetch(app.url + path, { headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers } }))
				.status;
		expect(await status('/metrics')).toBe(401);
		expect(await status('/metrics', 'a-token-of-nobody')).toBe(401);
		expect(await status('/metrics', METRICS_TOKEN)).toBe(200);
		expect(await status('/metrics', ADMIN_TOKEN)).toBe(200);
		for (const path of ['/api/health', '/api/skills', '/api/conversations', '/v1/models'])
			expect(await status(path, METRICS_TOKEN), path).toBe(401);
		const made = await fetch(`${app.url}/api/keys`, {
			method: 'POST',
			headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
			body: JSON.stringify({ name: 'program', scopes: ['read', 'write', 'execute'] })
		});
		const { key } = (await made.json()) as { key: string };
		expect(await status('/metrics', key)).toBe(403);
		expect(app.logs.join('\n')).not.toContain(METRICS_TOKEN);
	});

	test('without a setting there are none', async () => {
		await start({});
		const response = await fetch(`${app.url}/metrics`);
		expect(response.status).toBe(404);
		expect(await response.json()).toMatchObject({
			error: { code: 'not_found', hint: expect.stringContaining('METRICS') }
		});
	});
});

describe('E29: the log', { timeout: 120_000 }, () => {
	test('as JSON, every line is an object with its request, its run and its trace', async () => {
		await start({ LOG_FORMAT: 'json', LOG_LEVEL: 'debug' });
		model.push(text('Done.'));
		const traceparent = `00-${TRACE}-${PARENT}-00`;
		const { response } = await turn('Hello', { 'x-request-id': 'req-1', traceparent });
		expect(response.headers.get('x-request-id')).toBe('req-1');
		const lines = app.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
		for (const line of lines) {
			expect(line).toMatchObject({ time: expect.stringMatching(/^\d{4}-.*Z$/), message: expect.any(String) });
			expect(['debug', 'info', 'error']).toContain(line.level);
		}
		expect(lines.find(({ requestId }) => requestId === 'req-1')).toMatchObject({
			level: 'debug',
			message: 'request',
			method: 'POST',
			route: '/api/chat',
			status: 202,
			traceId: TRACE
		});
		expect(lines.find(({ message }) => String(message).startsWith('Listening on'))).toMatchObject({
			model: 'test/model'
		});
	});

	test('a request id that isn’t well-formed is replaced, in the log as well', async () => {
		await start({ LOG_FORMAT: 'json', LOG_LEVEL: 'debug' });
		for (const given of ['', 'with space', 'a'.repeat(129), '"quoted"', '\u00e9']) {
			const response = await fetch(`${app.url}/api/health`, { headers: { 'x-request-id': given } });
			expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
		}
		const refused = await fetch(`${app.url}/api/runs/none`, { headers: { 'x-request-id': 'r:1' } });
		expect([refused.status, refused.headers.get('x-request-id')]).toEqual([404, 'r:1']);
		expect(app.logs.join('\n')).not.toContain('quoted');
	});
});

describe('F14: health and readiness', { timeout: 120_000 }, () => {
	test('are asked without a login and under any host name, and tell nothing else', async () => {
		await start({ ADMIN_TOKEN: 'a-token-of-the-operator' });
		for (const [path, status] of [
			['/health', 'ok'],
			['/ready', 'ready']
		] as const) {
			for (const host of ['127.0.0.1', 'app:3000', 'health.internal', '']) {
				expect(await getAs(host, app.url + path), host).toEqual({ status: 200, body: { status } });
			}
		}
		expect((await fetch(`${app.url}/api/health`)).status).toBe(401);
		expect(await getAs('app:3000', `${app.url}/api/health`)).toMatchObject({ status: 403 });
	});

	test('at SIGTERM it isn’t ready any more while it lives, serves, and lets others notice', async () => {
		await start({ SHUTDOWN_DELAY_MS: '600000', SHUTDOWN_TIMEOUT_MS: '600000' });
		const held = gate();
		model.push(text('I ', held, 'wait.'), text('Another.'));
		const ending = turn('Wait');
		await model.received(1);
		process.kill(app.pid(), 'SIGTERM');
		await eventually(async () => expect((await fetch(`${app.url}/ready`)).status).toBe(503));
		const unready = await fetch(`${app.url}/ready`);
		expect(await unready.json()).toMatchObject({ error: { code: 'unavailable', message: 'The server is stopping.' } });
		expect((await fetch(`${app.url}/health`)).status).toBe(200);
		// In the delay a load balancer still sends new ones.
		const late = await turn('And this?');
		expect(late.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
		held.open();
		expect((await ending).events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
		// Told again it doesn’t wait any longer; within a second it would be the same signal.
		await eventually(async () => {
			process.kill(app.pid(), 'SIGTERM');
			// A new connection: once it is refused, a signal could end a process that hears nothing any more.
			await expect(fetch(`${app.url}/health`, { headers: { connection: 'close' } })).rejects.toThrow();
		});
		await app.stop();
		expect(app.exitCode()).toBe(0);
	});
});

/** With a name of the host that `fetch` wouldn’t send. */
async function getAs(host: string, url: string): Promise<{ status: number | undefined; body: unknown }> {
	const sent = get(url, { headers: { host } });
	const [response] = (await once(sent, 'response')) as [IncomingMessage];
	return { status: response.statusCode, body: await json(response) };
}
