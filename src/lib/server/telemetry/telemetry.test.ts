import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import type { Model } from '../agent/model.ts';
import { startOtlpReceiver } from '../../../../tests/support/otlp-receiver.ts';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { createScopes } from './scope.ts';
import { type Asker, openTelemetry, type Telemetry } from './telemetry.ts';

let telemetry: Telemetry | undefined;
afterEach(async () => {
	vi.doUnmock('./opentelemetry.ts');
	vi.unstubAllEnvs();
	await telemetry?.close();
	telemetry = undefined;
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
/** A request to a route, of the operator, of a program with a key, of anybody, or of one who is refused. */
function ask(
	route: string | null,
	{
		method = 'GET',
		who = 'operator',
		headers = {},
		answer = async () => new Response()
	}: {
		method?: string;
		who?: Asker | 'refused';
		headers?: Record<string, string>;
		answer?: () => Promise<Response>;
	} = {}
): Promise<Response> {
	const url = new URL('https://chat.example:8443/api/conversations/an-id?q=a%20secret');
	return telemetry!.request(
		{ method, route, url, headers: new Headers(headers) },
		{
			admit: () => (who === 'refused' ? Promise.reject(new Error('no')) : Promise.resolve(who)),
			answer,
			refuse: () => new Response(null, { status: 401 })
		}
	);
}

async function open(env: Record<string, string>) {
	const about = { log: createLog(() => undefined), scopes: createScopes(), instance: 'here' };
	return (telemetry = await openTelemetry(loadConfig(env).telemetry, about));
}

test('E29: without a setting nothing of OpenTelemetry is loaded, and what is watched stays as it is', async () => {
	vi.doMock('./opentelemetry.ts', () => {
		throw new Error('it was loaded');
	});
	const { scrape, watchModel, watchExecutions, fetch } = await open({});
	expect([scrape, fetch]).toEqual([null, undefined]);
	const answer = new Response();
	expect(
		await ask('/api/chat', { answer: async () => answer, headers: { traceparent: `00-${TRACE}-${PARENT}-01` } })
	).toBe(answer);
	const model = { id: 'm', stream: async function* () {} };
	expect(watchModel(model, null)).toBe(model);
	const recorder = { started: async () => {}, running: async () => {}, finished: async () => {} };
	expect(watchExecutions(recorder)).toBe(recorder);
	await expect(open({ METRICS: 'true' })).rejects.toThrow();
});

test('E29: model ids of programs and odd methods make no series without end', async () => {
	const { measure, watchModel, scrape } = await open({ METRICS: 'true' });
	measure({ queuedMessages: () => Promise.reject(new Error('the database is gone')) });
	const usage = { inputTokens: 1, outputTokens: 1 };
	for (let index = 0; index < 300; index++) {
		const stream = async function* () {
			yield { type: 'completed' as const, items: [], usage, incompleteReason: null };
		};
		const model = watchModel({ id: `model-${index}`, stream }, 'https://models.example/v1');
		const asked = { instructions: '', input: [], tools: [], toolChoice: 'auto' as const, sessionId: '' };
		await Array.fromAsync(model.stream(asked, new AbortController().signal));
		await ask(null, { method: `METHOD${index}`, answer: async () => new Response(null, { status: 404 }) });
	}
	const text = (await scrape?.()) ?? '';
	const models = new Set([...text.matchAll(/gen_ai_request_model="([^"]+)"/g)].map(([, name]) => name));
	expect(models.size).toBe(101);
	expect(models).toContain('other');
	expect(text).toContain('http_request_method="_OTHER"');
	expect(text).not.toContain('METHOD');
	// A database that doesn’t answer takes nothing else away.
	expect(text).not.toContain('queue_messages ');
	expect(text).toContain('gen_ai_provider_name="models.example"');
});

test('E29: models that there aren’t don’t take the names of those that answer', async () => {
	const { watchModel, scrape } = await open({ METRICS: 'true' });
	const ask = async (id: string, end: 'completed' | 'failed') => {
		const usage = { inputTokens: 1, outputTokens: 1 };
		const stream = async function* () {
			if (end === 'completed') yield { type: end, items: [], usage, incompleteReason: null };
			else yield { type: end, error: { code: 'model_unavailable' as const, message: 'There’s no such model.' } };
		};
		const model = watchModel({ id, stream: stream as Model['stream'] }, 'https://models.example/v1');
		const asked = { instructions: '', input: [], tools: [], toolChoice: 'auto' as const, sessionId: '' };
		await Array.fromAsync(model.stream(asked, new AbortController().signal));
	};
	for (let index = 0; index < 300; index++) await ask(`made-up-${index}`, 'failed');
	await ask('real', 'completed');
	const models = [...((await scrape?.()) ?? '').matchAll(/gen_ai_request_model="([^"]+)"/g)].map(([, name]) => name);
	expect(models).toContain('real');
	expect(models).toContain('other');
	expect(new Set(models).size).toBeLessThan(102);
});

test('E29: a request is a span with the names of the conventions, below its caller’s, and what it begins is below it', async () => {
	const receiver = await startOtlpReceiver();
	try {
		const scopes = createScopes();
		const about = { log: createLog(() => undefined), scopes, instance: 'here' };
		const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRICS_EXPORTER: 'none' };
		telemetry = await openTelemetry(loadConfig(env).telemetry, about);
		const { agent } = telemetry;
		const traceparent = `00-${TRACE}-${PARENT}-01`;
		let turn: Promise<unknown> | undefined;
		await ask('/api/conversations/[id]', {
			method: 'POST',
			headers: { traceparent },
			answer: async () => {
				const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } } as const;
				const events = (async function* () {
					yield finished;
				})();
				// It goes on after the answer.
				turn = Array.fromAsync(agent.turn({ runId: 'r', conversationId: 't', model: 'm' }, events));
				return new Response(null, { status: 202 });
			}
		});
		await turn;
		await ask('/api/chat', { answer: async () => new Response(null, { status: 404 }) });
		await ask('/api/chat', { method: 'BREW', answer: async () => new Response(null, { status: 503 }) });
		await expect(ask(null, { answer: () => Promise.reject(new Error('broken')) })).rejects.toThrow('broken');
		// Strangers choose neither what is recorded nor where.
		for (const who of ['anybody', 'refused'] as const) {
			const seen = await ask('/login', {
				who,
				headers: { traceparent },
				answer: async () => new Response(JSON.stringify(scopes.current().span ?? null))
			});
			expect([who, await seen.text()]).toEqual([who, who === 'anybody' ? 'null' : '']);
		}
		await telemetry.close();
		const [first, ...others] = receiver.spans.filter(({ kind }) => kind === 2);
		const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
		expect(first).toMatchObject({
			...{ name: 'POST /api/conversations/[id]', traceId: TRACE, parentId: PARENT, status: 0 },
			resource: { 'service.version': version, 'service.instance.id': 'here' }
		});
		expect(first?.attributes).toEqual({
			'http.request.method': 'POST',
			'http.route': '/api/conversations/[id]',
			'http.response.status_code': 202,
			'server.address': 'chat.example',
			'server.port': 8443,
			'url.scheme': 'https'
		});
		const agentSpan = receiver.spans.find(({ name }) => name === 'invoke_agent');
		expect(agentSpan).toMatchObject({ traceId: TRACE, parentId: first?.spanId });
		expect(
			others.map(({ name, status, parentId, attributes }) => [name, status, parentId, attributes['error.type']])
		).toEqual([
			['GET /api/chat', 0, '', undefined],
			['HTTP /api/chat', 2, '', '503'],
			['GET', 2, '', '500']
		]);
		expect(JSON.stringify(receiver.spans)).not.toMatch(/an-id|secret|BREW/);
	} finally {
		await receiver.close();
	}
});

test('E29: leases of runs are counted once a replica has some', async () => {
	const { measure, leases, scrape } = await open({ METRICS: 'true' });
	measure({ queuedMessages: async () => 3 });
	expect(await scrape?.()).not.toContain('leases');
	leases('renewed', 20);
	leases('taken', 1);
	const text = (await scrape?.()) ?? '';
	expect(text).toContain('openrouter_skills_run_leases_total{outcome="renewed"} 20\n');
	expect(text).toContain('openrouter_skills_run_leases_total{outcome="taken"} 1\n');
	expect(text).toContain('openrouter_skills_queue_messages 3\n');
});

test('E29: workers are counted where there may be some, and scripts for them by whether they wait or run', async () => {
	const { measure, scrape } = await open({ METRICS: 'true' });
	measure({ queuedMessages: async () => 0 });
	expect(await scrape?.()).not.toContain('workers');
	const counts = { workers: [{ slots: 4 }, { slots: 12 }], queued: 3, running: 1, longestWaitMs: 2500 };
	measure({ queuedMessages: async () => 0, workers: async () => counts });
	const text = (await scrape?.()) ?? '';
	expect(text).toContain('openrouter_skills_workers 2\n');
	expect(text).toContain('openrouter_skills_workers_scripts{state="waiting"} 3\n');
	expect(text).toContain('openrouter_skills_workers_scripts{state="running"} 1\n');
	expect(text).toContain('openrouter_skills_workers_slots 16\n');
	expect(text).toContain('openrouter_skills_workers_wait 2.5\n');
});

test('E29: evals, purged chats and installed packages are counted', async () => {
	const { measure, packagesInstalled, chatPurged, scrape } = await open({ METRICS: 'true' });
	measure({ queuedMessages: async () => 0, evals: () => ({ waiting: 5, running: 8 }) });
	packagesInstalled(2, 'success');
	packagesInstalled(1, 'WrongHash');
	chatPurged('success');
	chatPurged('error');
	const text = (await scrape?.()) ?? '';
	expect(text).toContain('openrouter_skills_evals{state="waiting"} 5\n');
	expect(text).toContain('openrouter_skills_evals{state="running"} 8\n');
	expect(text).toContain('openrouter_skills_packages_install_duration_sum{outcome="success"} 2\n');
	expect(text).toContain('openrouter_skills_packages_install_duration_count{outcome="WrongHash"} 1\n');
	expect(text).toContain('openrouter_skills_chats_purged_total{outcome="error"} 1\n');
});

test('E29: a script that waits for its turn isn’t one that runs', async () => {
	const { measure, watchExecutions, scrape } = await open({ METRICS: 'true' });
	measure({ queuedMessages: async () => 0 });
	const states = async () =>
		[...((await scrape?.()) ?? '').matchAll(/^openrouter_skills_executions\{state="(\w+)"\} (\d+)$/gm)].map(
			([, state, count]) => `${count} ${state}`
		);
	const none = async () => undefined;
	const recorder = watchExecutions({ started: none, running: none, finished: none });
	const start = {
		...{ skillId: 'a/b', skill: 'b', version: '1.0.0', argv: [], digest: '', sandbox: 'bubblewrap' },
		...{ limits: { timeoutMs: 1 }, caller: {} }
	};
	await recorder.started({ ...start, id: '1' });
	await recorder.started({ ...start, id: '2' });
	expect(await states()).toEqual(['2 waiting', '0 running']);
	await recorder.running('1');
	expect(await states()).toEqual(['1 waiting', '1 running']);
	const end = { exitCode: null, durationMs: 5, stdoutBytes: 0, stderrBytes: 0, output: '', files: [], refused: [] };
	await recorder.finished('1', { ...end, status: 'timeout', errorType: 'ExecutionTimeout' });
	await recorder.finished('2', { ...end, status: 'error', errorType: 'Cancelled' });
	await recorder.finished('2', { ...end, status: 'error' });
	expect(await states()).toEqual(['0 waiting', '0 running']);
	const text = (await scrape?.()) ?? '';
	for (const outcome of ['ExecutionTimeout', 'Cancelled'])
		expect(text).toContain(`execution_duration_count{sandbox="bubblewrap",outcome="${outcome}"} 1\n`);
});

test('E29: the settings are those of OpenTelemetry; a wrong one stops the start with its name', async () => {
	const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example:4318/otlp/' };
	expect(loadConfig(base).telemetry).toMatchObject({
		...{ tracesUrl: 'https://collector.example:4318/otlp/v1/traces', serviceName: 'openrouter-skills', sampled: 1 },
		...{ metricsUrl: 'https://collector.example:4318/otlp/v1/metrics', isScraped: false, tellsModel: false }
	});
	expect(loadConfig({ ...base, OTEL_TRACES_EXPORTER: 'none' }).telemetry.tracesUrl).toBeNull();
	expect(loadConfig({ METRICS_TOKEN: 'a-token-of-the-scraper' }).telemetry.isScraped).toBe(true);
	for (const [name, value] of [
		['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
		['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
		['OTEL_TRACES_SAMPLER_ARG', '2'],
		['LOG_FORMAT', 'xml'],
		['METRICS', 'on?'],
		['SHUTDOWN_DELAY_MS', '-1']
	] as const)
		expect(() => loadConfig({ [name]: value }), name).toThrow(name);
	expect(() => loadConfig({ METRICS_TOKEN: 'short-secret' })).not.toThrow('short-secret');
	expect(() => loadConfig({ METRICS_TOKEN: 'short-secret' })).toThrow('METRICS_TOKEN');
	for (const name of ['OTEL_EXPORTER_OTLP_HEADERS', 'METRICS_TOKEN'])
		expect(() => loadConfig({ SKILLS_ENV: name })).toThrow(name);
});

test('E29: with an API key, a `traceparent` says which trace is continued, not whether it’s recorded', async () => {
	const receiver = await startOtlpReceiver();
	const spansOf = async (share: string) => {
		receiver.spans.length = 0;
		await open({
			...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRICS_EXPORTER: 'none' },
			OTEL_TRACES_SAMPLER_ARG: share
		});
		for (const who of ['program', 'operator'] as const) {
			for (const flags of ['00', '01']) {
				await ask(`/${who}/${flags}`, { who, headers: { traceparent: `00-${TRACE}-${PARENT}-${flags}` } });
			}
		}
		await telemetry?.close();
		return receiver.spans.map(({ name, traceId, parentId }) => [name, traceId, parentId]);
	};
	try {
		expect(await spansOf('0')).toEqual([['GET /operator/01', TRACE, PARENT]]);
		expect(await spansOf('1')).toEqual(
			['program/00', 'program/01', 'operator/01'].map((route) => [`GET /${route}`, TRACE, PARENT])
		);
	} finally {
		await receiver.close();
	}
});
