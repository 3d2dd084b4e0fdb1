/** OpenTelemetry’s SDK, set up without its globals. Loaded only when a setting asks for traces or metrics. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
	type Attributes,
	type Meter,
	ROOT_CONTEXT,
	type Span,
	type SpanKind,
	trace as traceApi
} from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
	detectResources,
	type Resource,
	resourceAttributesEnvDetector,
	resourceFromAttributes
} from '@opentelemetry/resources';
import { MeterProvider, MetricReader, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
	AlwaysOnSampler,
	BatchSpanProcessor,
	ParentBasedSampler,
	TraceIdRatioBasedSampler,
	TracerProvider
} from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';
import type { SpanPlace } from './scope.ts';

export interface SignalSettings {
	/** `service.name` of all that is sent. */
	serviceName: string;
	/** Where traces go: `https://…/v1/traces`. */
	tracesUrl: string | null;
	/** Where metrics go, once a minute: `https://…/v1/metrics`. */
	metricsUrl: string | null;
	/** They can be read at `/metrics`. */
	isScraped: boolean;
	/** Share of traces that begin here and are recorded, 0 to 1. */
	sampled: number;
}

export interface Signals {
	/** null without traces. */
	startSpan: StartSpan | null;
	/** null without metrics. */
	meter: Meter | null;
	/** All metrics in Prometheus’ text format; null if they can’t be read. */
	scrape: (() => Promise<string>) | null;
	/** Sends what is left, for `graceMs` at most. Never rejects. */
	close(graceMs: number): Promise<void>;
}

export type StartSpan = (
	name: string,
	options: { kind: SpanKind; attributes: Attributes; startTime?: Date },
	parent: SpanPlace | undefined
) => Span;

/** Spans that wait to be sent; more are dropped. */
const MAX_WAITING = 2048;
/**
 * For one attempt to send and its repetitions, unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise. Less than what is left at
 * the end of the process, which waits for open connections.
 */
const SEND_MS = 3_000;
/** Longer values are cut. */
const MAX_VALUE = 64 * 1024;

export function openSignals(settings: SignalSettings, about: { instance: string; log: Log }): Signals {
	const { serviceName, tracesUrl, metricsUrl, isScraped, sampled } = settings;
	const version = ownVersion();
	const resource = resourceFromAttributes({
		'service.name': serviceName,
		...(version !== null && { 'service.version': version }),
		'service.instance.id': about.instance
	}).merge(detectResources({ detectors: [resourceAttributesEnvDetector] }));
	const traces = tracesUrl === null ? null : openTraces(tracesUrl, { resource, sampled, log: about.log });
	const scraper = isScraped ? new Scraper() : null;
	const readers = [
		...(scraper ? [scraper] : []),
		...(metricsUrl === null ? [] : [createPusher(metricsUrl, about.log)])
	];
	const metrics = readers.length > 0 ? new MeterProvider({ resource, readers }) : null;
	return {
		startSpan: traces?.startSpan ?? null,
		meter: metrics?.getMeter('openrouter-skills') ?? null,
		scrape: scraper && (() => scraper.read()),
		async close(graceMs) {
			const closing = Promise.allSettled([traces?.provider.shutdown(), metrics?.shutdown()]);
			let timer: NodeJS.Timeout | undefined;
			const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)));
			await Promise.race([closing, late]);
			clearTimeout(timer);
		}
	};
}

/** Of the package, above the sources as well as above what is built of them; null if there is none. */
function ownVersion(): string | null {
	for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
		try {
			const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
			if (about.name === 'openrouter-skills' && typeof about.version === 'string') return about.version;
		} catch {
			// Further up.
		}
	}
	return null;
}

function openTraces(url: string, { resource, sampled, log }: { resource: Resource; sampled: number; log: Log }) {
	const exporter = reporting(new OTLPTraceExporter({ url, ...timeout('TRACES') }), { what: 'traces', url, log });
	const root = sampled === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(sampled);
	const scheduledDelayMillis = Number(process.env.OTEL_BSP_SCHEDULE_DELAY) || 5_000;
	const provider = new TracerProvider({
		resource,
		sampler: new ParentBasedSampler({ root }),
		spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: MAX_WAITING, scheduledDelayMillis })],
		spanLimits: { attributeValueLengthLimit: MAX_VALUE }
	});
	const tracer = provider.getTracer('openrouter-skills');
	const startSpan: StartSpan = (name, options, parent) =>
		tracer.startSpan(name, options, parent ? traceApi.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT);
	return { provider, startSpan };
}

function createPusher(url: string, log: Log): MetricReader {
	const exporter = reporting(new OTLPMetricExporter({ url, ...timeout('METRICS') }), { what: 'metrics', url, log });
	const interval = Number(process.env.OTEL_METRIC_EXPORT_INTERVAL) || 60_000;
	return new PeriodicExportingMetricReader({
		exporter,
		exportIntervalMillis: interval,
		exportTimeoutMillis: Math.min(interval, SEND_MS)
	});
}

/** The exporter reads the variable itself if it isn’t told. */
function timeout(signal: 'TRACES' | 'METRICS'): { timeoutMillis?: number } {
	const { env } = process;
	const isSet = env.OTEL_EXPORTER_OTLP_TIMEOUT || env[`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`];
	return isSet ? {} : { timeoutMillis: SEND_MS };
}

/** Read when somebody asks. */
class Scraper extends MetricReader {
	readonly #serializer = new PrometheusSerializer('', false, undefined, false, true);

	async read(): Promise<string> {
		const { resourceMetrics } = await this.collect({ timeoutMillis: SEND_MS });
		const text = this.#serializer.serialize(resourceMetrics);
		return text.endsWith('\n') ? text : `${text}\n`;
	}

	protected override async onForceFlush(): Promise<void> {
		// Nothing waits to be sent.
	}

	protected override async onShutdown(): Promise<void> {
		// Nothing is open.
	}
}

type Done = (result: { code: number; error?: Error }) => void;

/** Says once that sending fails, and once that it works again: one line a minute would bury the others. */
function reporting<Items, Exporter extends { export(items: Items, done: Done): void }>(
	exporter: Exporter,
	{ what, url, log }: { what: string; url: string; log: Log }
): Exporter {
	const send = exporter.export.bind(exporter);
	const { host } = new URL(url);
	let isFailing = false;
	exporter.export = (items, done) =>
		send(items, (result) => {
			const hasFailed = result.code !== 0;
			if (hasFailed && !isFailing) {
				const error = result.error?.message ?? 'unknown';
				log.error({ host, error: error.slice(0, 300) }, `couldn’t send ${what}; what isn’t sent is dropped`);
			}
			if (!hasFailed && isFailing) log.info({ host }, `${what} are sent again`);
			isFailing = hasFailed;
			done(result);
		});
	return exporter;
}
