/** What makes the running server observable: traces and metrics, if a setting asks for them, ids for its log, and readiness. */
import { AppError } from '../../shared/errors.ts';
import type { Model } from '../agent/model.ts';
import type { AgentObserver } from '../agent/tool.ts';
import type { Log } from '../log.ts';
import type { ExecutionRecorder } from '../skills/run/execution-host.ts';
import { createFollow } from './follow.ts';
import { createMeters, type Gauges, type Meters } from './meters.ts';
import type { SignalSettings } from './opentelemetry.ts';
import { readTraceparent, requestIdOf, type Scopes, traceparentOf } from './scope.ts';

export interface TelemetrySettings extends SignalSettings {
	/** What was said and called is in the spans, too. */
	capturesContent: boolean;
	/** The model’s server gets a `traceparent`. */
	tellsModel: boolean;
}

export interface Telemetry {
	agent: AgentObserver;
	/** `baseUrl` is of the model’s server; null in Demo mode. */
	watchModel(model: Model, baseUrl: string | null): Model;
	watchExecutions(recorder: ExecutionRecorder): ExecutionRecorder;
	/** For requests to models: adds a `traceparent`, if the operator wants that. */
	fetch: typeof fetch | undefined;
	/** Gives the request an id, in the log and in the answer, counts it, and makes it a span if its caller is known. */
	request(request: ObservedRequest, steps: RequestSteps): Promise<Response>;
	/** Counts leases of runs. Only replicas have them. */
	leases: Meters['leases'];
	packagesInstalled: Meters['packagesInstalled'];
	chatPurged: Meters['chatPurged'];
	/** Tells what is counted when somebody looks. Call it once there is a database. */
	measure(gauges: Measured): void;
	/** In Prometheus’ text format; null if that is off. */
	scrape: (() => Promise<string>) | null;
	/** Sends what is left, for a short time. */
	close(): Promise<void>;
}

/** Default: no workers and evals, and the executions that are watched. */
type Measured = Pick<Gauges, 'queuedMessages'> & Partial<Gauges>;

interface ObservedRequest {
	method: string;
	/** Kit’s route id; null without a route. */
	route: string | null;
	url: URL;
	headers: Headers;
}

/**
 * Whose `traceparent` counts for how much. `anybody`: for nothing, and the request is in no trace, because strangers would
 * choose what is recorded, and where. `program`, with an API key: it says where the trace is continued, not whether it’s
 * recorded. `operator`: for both.
 */
export type Asker = 'anybody' | 'program' | 'operator';

interface RequestSteps {
	/** Rejects when the request may not go on. */
	admit(): Promise<Asker>;
	answer(): Promise<Response>;
	/** For what `admit` rejects with. */
	refuse(error: unknown): Response;
}

/** A receiver that hangs must not hold up the end. */
const CLOSE_MS = 2_000;

export async function openTelemetry(
	settings: TelemetrySettings,
	{ log, scopes, ...about }: { log: Log; scopes: Scopes; instance: string }
): Promise<Telemetry> {
	const { tracesUrl, metricsUrl, isScraped, capturesContent, tellsModel } = settings;
	const isOn = tracesUrl !== null || metricsUrl !== null || isScraped;
	const signals = isOn ? (await import('./opentelemetry.ts')).openSignals(settings, { ...about, log }) : null;
	const startSpan = signals?.startSpan ?? null;
	let measured: Measured = { queuedMessages: () => Promise.reject(new Error('not open yet')) };
	const gauges: Gauges = {
		queuedMessages: () => measured.queuedMessages(),
		executions: () => measured.executions?.() ?? follow.executions(),
		evals: () => measured.evals?.() ?? { waiting: 0, running: 0 },
		workers: async () => (await measured.workers?.()) ?? null
	};
	const meters = signals?.meter ? createMeters(signals.meter, gauges) : null;
	const follow = createFollow({ scopes, startSpan, meters, capturesContent, tellsModel });
	return {
		agent: follow.agent,
		watchModel: (model, baseUrl) => (isOn ? follow.watchModel(model, baseUrl) : model),
		watchExecutions: (recorder) => (isOn ? follow.watchExecutions(recorder) : recorder),
		fetch: tellsModel && startSpan ? fetchWithin(scopes) : undefined,
		leases: (outcome, count) => meters?.leases(outcome, count),
		packagesInstalled: (seconds, outcome) => meters?.packagesInstalled(seconds, outcome),
		chatPurged: (outcome) => meters?.chatPurged(outcome),
		scrape: signals?.scrape ?? null,

		measure: (given) => void (measured = given),

		request(asked, { admit, answer, refuse }) {
			const { method, route, headers } = asked;
			const requestId = requestIdOf(headers.get('x-request-id'));
			return scopes.run({ requestId }, async () => {
				const startTime = new Date();
				const startedAt = performance.now();
				const respond = async () => {
					const response = await answer();
					tell(response);
					return response;
				};
				const tell = (response: Response) => {
					const { status } = response;
					const ms = performance.now() - startedAt;
					meters?.requestAnswered(ms / 1000, { method, route, status });
					log.debug?.({ method, route, status, ms: Math.round(ms) }, 'request');
					response.headers.set('x-request-id', requestId);
				};
				let asker: Asker;
				try {
					asker = await admit();
				} catch (error) {
					const refusal = refuse(error);
					tell(refusal);
					return refusal;
				}
				if (asker === 'anybody') return respond();
				const given = readTraceparent(headers.get('traceparent'));
				// Not by the trace’s id, as for traces that begin here: the caller chose it.
				const isRecorded = () => (Math.random() < settings.sampled ? 1 : 0);
				const parent = given && asker === 'program' ? { ...given, traceFlags: isRecorded() } : given;
				return follow.request(asked, { startTime, parent }, respond);
			});
		},

		async close() {
			await signals?.close(CLOSE_MS);
			meters?.close();
		}
	};
}

function fetchWithin(scopes: Scopes): typeof fetch {
	return (input, init) => {
		const { span, isModelRequest } = scopes.current();
		if (!isModelRequest || !span) return fetch(input, init);
		const headers = new Headers(init?.headers);
		headers.set('traceparent', traceparentOf(span));
		return fetch(input, { ...init, headers });
	};
}

/** A load balancer asks every few seconds and gives up soon after. */
const PATIENCE_MS = 2_000;

/** `checks` are what it depends on, by the words for them: each resolves if that answers. */
export function createReadiness(checks: Record<string, () => Promise<unknown>>) {
	let isStopping = false;
	const delay = Promise.withResolvers<void>();
	/** Anybody may ask, as often as they like: what doesn't answer is asked once at a time. */
	const asked = new Map<string, Promise<string | null>>();
	const check = async (what: string, ask: () => Promise<unknown>): Promise<string | null> => {
		const late = Promise.withResolvers<string>();
		const timer = setTimeout(() => late.resolve(`${what} didn’t answer within ${PATIENCE_MS} ms.`), PATIENCE_MS);
		const answer =
			asked.get(what) ??
			ask()
				.then(
					() => null,
					// Others in the network are told no more than that.
					(error: unknown) => `${what} doesn’t answer${error instanceof AppError ? `: ${error.message}` : '.'}`
				)
				.finally(() => asked.delete(what));
		asked.set(what, answer);
		return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
	};
	return {
		/**
		 * From now on it shouldn’t. Resolves after `delayMs`, in which a load balancer notices and everybody is served; a later
		 * call with 0 ends that.
		 */
		async stop(delayMs: number): Promise<void> {
			isStopping = true;
			const timer = setTimeout(delay.resolve, delayMs);
			if (delayMs === 0) delay.resolve();
			await delay.promise;
			clearTimeout(timer);
		},
		/** null if it should; otherwise why not, as a sentence. Never rejects. */
		async reason(): Promise<string | null> {
			if (isStopping) return 'The server is stopping.';
			const reasons = await Promise.all(Object.entries(checks).map(([what, ask]) => check(what, ask)));
			// It may have been told to stop meanwhile.
			return isStopping ? 'The server is stopping.' : (reasons.find((reason) => reason !== null) ?? null);
		}
	};
}

export type Readiness = ReturnType<typeof createReadiness>;
