import { afterEach, expect, test, vi } from 'vitest';
import type { Model } from '../agent/model.ts';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { createScopes } from './scope.ts';
import { openTelemetry, type Telemetry } from './telemetry.ts';

let telemetry: Telemetry | undefined;
afterEach(async () => {
	vi.doUnmock('./opentelemetry.ts');
	vi.unstubAllEnvs();
	await telemetry?.close();
	telemetry = undefined;
});

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
	const model = { id: 'm', stream: async function* () {} };
	expect(watchModel(model, null)).toBe(model);
	const recorder = { started: async () => {}, running: async () => {}, finished: async () => {} };
	expect(watchExecutions(recorder)).toBe(recorder);
	await expect(open({ METRICS: 'true' })).rejects.toThrow();
});

test('E29: model ids of programs and odd methods make no series without end', async () => {
	const { measure, watchModel, request, scrape } = await open({ METRICS: 'true' });
	measure({ queuedMessages: () => Promise.reject(new Error('the database is gone')) });
	const usage = { inputTokens: 1, outputTokens: 1 };
	for (let index = 0; index < 300; index++) {
		const stream = async function* () {
			yield { type: 'completed' as const, items: [], usage, incompleteReason: null };
		};
		const model = watchModel({ id: `model-${index}`, stream }, 'https://models.example/v1');
		const asked = { instructions: '', input: [], tools: [], toolChoice: 'auto' as const, sessionId: '' };
		await Array.fromAsync(model.stream(asked, new AbortController().signal));
		const event = { method: `METHOD${index}`, route: null, headers: new Headers() };
		await request(event, async () => new Response(null, { status: 404 }));
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
	measure({ queuedMessages: async () => 0, workers: async () => ({ workers: [{}, {}], queued: 3, running: 1 }) });
	const text = (await scrape?.()) ?? '';
	expect(text).toContain('openrouter_skills_workers 2\n');
	expect(text).toContain('openrouter_skills_workers_scripts{state="waiting"} 3\n');
	expect(text).toContain('openrouter_skills_workers_scripts{state="running"} 1\n');
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
