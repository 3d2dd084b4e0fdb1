/** What is counted and timed. No label’s values grow with users, chats or skills. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Attributes, Meter } from '@opentelemetry/api';
import type { ModelUsage } from '../agent/model.ts';

/** How a turn ended: as it should, at a limit, waiting for an approval, stopped, or with an error. */
export type TurnOutcome = 'success' | 'limit' | 'waiting' | 'cancelled' | 'error';

export type ToolKind = 'skill' | 'builtin' | 'mcp' | 'unknown';

export interface Gauges {
	/** Messages that wait for the end of an answer, in all chats. */
	queuedMessages(): Promise<number>;
	/** Scripts by whether they wait for their turn or run. */
	executions(): { waiting: number; running: number };
	/** Answers of evals, in the same way. */
	evals(): { waiting: number; running: number };
	/** Workers, and the scripts for them, of all servers; null without workers. */
	workers(): Promise<{
		workers: readonly { slots: number }[];
		queued: number;
		running: number;
		longestWaitMs: number;
	} | null>;
}

/** All times in seconds. `errorType` is undefined without an error. */
export interface Meters {
	turnStarted(): void;
	turnEnded(seconds: number, outcome: TurnOutcome, errorType: string | undefined): void;
	modelAnswered(
		request: { provider: string; model: string; answeredBy: string },
		answer: { seconds: number; firstSeconds: number | null; usage: ModelUsage | null; errorType: string | undefined }
	): void;
	toolCalled(seconds: number, kind: ToolKind, isError: boolean): void;
	executionEnded(seconds: { waited: number; ran: number }, sandbox: string, outcome: string): void;
	/** `outcome`: `success`, or the type of the error. */
	packagesInstalled(seconds: number, outcome: string): void;
	/** Deleted chats whose time was over: whether they are gone for good. */
	chatPurged(outcome: 'success' | 'error'): void;
	requestAnswered(seconds: number, request: { method: string; route: string | null; status: number }): void;
	/** Leases of runs that were renewed, lost to another replica, or taken over from one. */
	leases(outcome: 'renewed' | 'lost' | 'taken', count: number): void;
	close(): void;
}

/** Seconds, from a quick answer to the longest run. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
/** As the conventions for generative AI want them. */
const MODEL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];

/** Model ids come from requests. */
const MOST_MODELS = 100;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** `_OTHER` for one that isn’t known. */
export function methodOf(method: string): string {
	return METHODS.has(method) ? method : '_OTHER';
}

export function createMeters(meter: Meter, gauges: Gauges): Meters {
	const histogram = (name: string, description: string, unit = 's', explicitBucketBoundaries = SECONDS) =>
		meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries } });
	const started = meter.createCounter('openrouter_skills.runs.started', { description: 'Answers that were begun.' });
	const ended = meter.createCounter('openrouter_skills.runs.ended', { description: 'Answers that ended, by how.' });
	const active = meter.createUpDownCounter('openrouter_skills.runs.active', { description: 'Answers in progress.' });
	const turns = histogram('gen_ai.invoke_agent.duration', 'Time of an answer.');
	const requests = histogram('gen_ai.client.operation.duration', 'Time of a model request.', 's', MODEL_SECONDS);
	const first = histogram(
		'gen_ai.client.operation.time_to_first_chunk',
		'Time until a model’s server sent the first of its answer.',
		's',
		MODEL_SECONDS
	);
	const tokens = histogram('gen_ai.client.token.usage', 'Tokens of a model request.', '{token}', TOKENS);
	const cost = meter.createCounter('openrouter_skills.model.cost', {
		description: 'Cost of model requests, as their server says.',
		unit: 'USD'
	});
	const tools = histogram('gen_ai.execute_tool.duration', 'Time of a tool call.');
	const executions = histogram('openrouter_skills.execution.duration', 'Time that a script ran.');
	const waits = histogram('openrouter_skills.execution.wait', 'Time that a script waited for its turn.');
	const installs = histogram('openrouter_skills.packages.install.duration', 'Time of installing packages of a skill.');
	const purged = meter.createCounter('openrouter_skills.chats.purged', {
		description: 'Deleted chats that were deleted for good, or couldn’t be.'
	});
	const answers = histogram('http.server.request.duration', 'Time until the head of an answer was ready.');
	const boundModel = createBound(MOST_MODELS);
	let leases: ReturnType<Meter['createCounter']> | undefined;
	observe(meter, gauges);
	const stopMeasuring = observeProcess(meter);

	return {
		turnStarted() {
			started.add(1);
			active.add(1);
		},
		turnEnded(seconds, outcome, errorType) {
			active.add(-1);
			ended.add(1, { outcome });
			turns.record(seconds, { 'gen_ai.operation.name': 'invoke_agent', outcome, ...errorOf(errorType) });
		},
		modelAnswered({ provider, model, answeredBy }, { seconds, firstSeconds, usage, errorType }) {
			const about: Attributes = {
				'gen_ai.operation.name': 'chat',
				'gen_ai.provider.name': provider,
				'gen_ai.request.model': boundModel(model, errorType === undefined),
				'gen_ai.response.model': boundModel(answeredBy, errorType === undefined)
			};
			requests.record(seconds, { ...about, ...errorOf(errorType) });
			if (firstSeconds !== null) first.record(firstSeconds, about);
			if (!usage) return;
			tokens.record(usage.inputTokens, { ...about, 'gen_ai.token.type': 'input' });
			tokens.record(usage.outputTokens, { ...about, 'gen_ai.token.type': 'output' });
			if (usage.cost !== undefined && usage.cost > 0) cost.add(usage.cost, about);
		},
		toolCalled(seconds, kind, isError) {
			const outcome = isError ? 'error' : 'success';
			tools.record(seconds, { 'gen_ai.operation.name': 'execute_tool', kind, outcome });
		},
		executionEnded({ waited, ran }, sandbox, outcome) {
			executions.record(ran, { sandbox, outcome });
			waits.record(waited, { sandbox });
		},
		packagesInstalled(seconds, outcome) {
			installs.record(seconds, { outcome });
		},
		chatPurged(outcome) {
			purged.add(1, { outcome });
		},
		requestAnswered(seconds, { method, route, status }) {
			answers.record(seconds, {
				'http.request.method': methodOf(method),
				'http.route': route ?? 'none',
				'http.response.status_class': `${Math.floor(status / 100)}xx`
			});
		},
		leases(outcome, count) {
			// Only replicas have them.
			leases ??= meter.createCounter('openrouter_skills.run.leases', {
				description: 'Leases of runs that this replica renewed, lost or took over.'
			});
			leases.add(count, { outcome });
		},
		close: stopMeasuring
	};
}

function errorOf(errorType: string | undefined): Attributes {
	return errorType === undefined ? {} : { 'error.type': errorType };
}

/**
 * Returns the first `most` different values unchanged, and `other` for all later ones. Half of the room is for values that
 * have proved to be real: whoever asks for models that there aren't would take it all.
 */
function createBound(most: number): (value: string, isReal: boolean) => string {
	const known = new Set<string>();
	return (value, isReal) => {
		if (known.has(value)) return value;
		if (known.size >= (isReal ? most : most / 2)) return 'other';
		known.add(value);
		return value;
	};
}

function observe(meter: Meter, gauges: Gauges): void {
	meter
		.createObservableGauge('openrouter_skills.queue.messages', {
			description: 'Messages that wait for the end of an answer, of all replicas together.'
		})
		// A database that doesn’t answer must not take the other metrics away.
		.addCallback(async (result) => {
			const count = await gauges.queuedMessages().catch(() => null);
			if (count !== null) result.observe(count);
		});
	meter
		.createObservableGauge('openrouter_skills.executions', { description: 'Scripts that wait for their turn or run.' })
		.addCallback((result) => {
			for (const [state, count] of Object.entries(gauges.executions())) result.observe(count, { state });
		});
	const gauge = (name: string, description: string, unit?: string) =>
		meter.createObservableGauge(name, { description, unit });
	gauge('openrouter_skills.evals', 'Answers of evals that wait for their turn or are written.').addCallback(
		(result) => {
			const { waiting, running } = gauges.evals();
			result.observe(waiting, { state: 'waiting' });
			result.observe(running, { state: 'running' });
		}
	);
	const workers = gauge('openrouter_skills.workers', 'Workers that live.');
	const slots = gauge('openrouter_skills.workers.slots', 'Scripts that all workers can run at once.');
	const scripts = gauge('openrouter_skills.workers.scripts', 'Scripts for workers, of all replicas together.');
	const wait = gauge('openrouter_skills.workers.wait', 'How long the script waits that waits longest.', 's');
	meter.addBatchObservableCallback(
		async (result) => {
			const found = await gauges.workers().catch(() => null);
			if (found === null) return;
			result.observe(workers, found.workers.length);
			result.observe(
				slots,
				found.workers.reduce((sum, worker) => sum + worker.slots, 0)
			);
			result.observe(wait, found.longestWaitMs / 1000);
			result.observe(scripts, found.queued, { state: 'waiting' });
			result.observe(scripts, found.running, { state: 'running' });
		},
		[workers, slots, scripts, wait]
	);
}

/** How often the event loop’s delay is measured. */
const LOOK_MS = 20;

/** Memory, processor time, and how late the event loop is. */
function observeProcess(meter: Meter): () => void {
	const delays = monitorEventLoopDelay({ resolution: LOOK_MS });
	// Node counts the wait between two looks as well.
	const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - LOOK_MS / 1000);
	delays.enable();
	const gauge = (name: string, description: string, unit: string) =>
		meter.createObservableGauge(name, { description, unit });
	const p50 = gauge('nodejs.eventloop.delay.p50', 'Median delay of the event loop since the last look.', 's');
	const p99 = gauge('nodejs.eventloop.delay.p99', '99th percentile of the delay since the last look.', 's');
	const max = gauge('nodejs.eventloop.delay.max', 'Longest delay of the event loop since the last look.', 's');
	meter.addBatchObservableCallback(
		(result) => {
			if (delays.count === 0) return;
			result.observe(p50, seconds(delays.percentile(50)));
			result.observe(p99, seconds(delays.percentile(99)));
			result.observe(max, seconds(delays.max));
			delays.reset();
		},
		[p50, p99, max]
	);
	const resident = gauge('process.memory.usage', 'Memory of the server’s process.', 'By');
	const heap = gauge('v8js.memory.heap.used', 'Memory of live and dead objects.', 'By');
	meter.addBatchObservableCallback(
		(result) => {
			const { rss, heapUsed } = process.memoryUsage();
			result.observe(resident, rss);
			result.observe(heap, heapUsed);
		},
		[resident, heap]
	);
	meter
		.createObservableCounter('process.cpu.time', { description: 'Processor time.', unit: 's' })
		.addCallback((result) => {
			const { user, system } = process.cpuUsage();
			result.observe(user / 1e6, { 'cpu.mode': 'user' });
			result.observe(system / 1e6, { 'cpu.mode': 'system' });
		});
	meter
		.createObservableGauge('process.uptime', { description: 'Time since the start.', unit: 's' })
		.addCallback((result) => result.observe(process.uptime()));
	return () => delays.disable();
}
