/** A real OTLP/HTTP receiver: reads the spans that it’s sent as protobuf, or takes everything and never answers. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

type Value = string | number | boolean | Value[];

export interface ReceivedSpan {
	name: string;
	traceId: string;
	spanId: string;
	/** Empty for the first of a trace. */
	parentId: string;
	/** 1: internal, 3: client. */
	kind: number;
	attributes: Record<string, Value>;
	events: string[];
	/** 2: an error. */
	status: number;
	/** Of what sent it. */
	resource: Record<string, Value>;
}

export interface OtlpReceiver {
	/** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
	url: string;
	spans: ReceivedSpan[];
	/** Names of the metrics in each request. */
	metrics: string[][];
	/** Headers of each request. */
	headers: Record<string, unknown>[];
	/** Requests that were never answered. */
	readonly hanging: number;
	/** Resolves with the first spans of these names, as soon as all are there. */
	received(...names: string[]): Promise<ReceivedSpan[]>;
	close(): Promise<void>;
}

/** `hang`: it takes requests and never answers. `status`: it answers this. */
export async function startOtlpReceiver(options: { hang?: boolean; status?: number } = {}): Promise<OtlpReceiver> {
	const spans: ReceivedSpan[] = [];
	const metrics: string[][] = [];
	const headers: Record<string, unknown>[] = [];
	const hanging: ServerResponse[] = [];
	const waiting: (() => void)[] = [];
	const server = createServer((request, response) => {
		void buffer(request).then((body) => {
			headers.push(request.headers);
			if (options.hang) return hanging.push(response);
			if (request.url === '/v1/traces') spans.push(...readTraces(body));
			if (request.url === '/v1/metrics') metrics.push(readMetrics(body));
			for (const look of waiting.splice(0)) look();
			return response.writeHead(options.status ?? 200, { 'content-type': 'application/x-protobuf' }).end();
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		spans,
		metrics,
		headers,
		get hanging() {
			return hanging.length;
		},
		async received(...names) {
			for (;;) {
				const found = names.map((name) => spans.find((span) => span.name === name));
				if (found.every((span) => span !== undefined)) return found;
				await new Promise<void>((resolve) => waiting.push(resolve));
			}
		},
		async close() {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			server.closeAllConnections();
			await closed;
		}
	};
}

// Field numbers of opentelemetry-proto’s trace.proto, metrics.proto and common.proto.

function readTraces(body: Buffer): ReceivedSpan[] {
	return messages(body, 1).flatMap((resourceSpans) => {
		const resource = attributesOf(messages(resourceSpans, 1).flatMap((each) => messages(each, 1)));
		const spans = messages(resourceSpans, 2).flatMap((scopeSpans) => messages(scopeSpans, 2));
		return spans.map((span) => ({ ...readSpan(span), resource }));
	});
}

function readSpan(span: Buffer): Omit<ReceivedSpan, 'resource'> {
	const hex = (field: number) => messages(span, field)[0]?.toString('hex') ?? '';
	return {
		traceId: hex(1),
		spanId: hex(2),
		parentId: hex(4),
		name: messages(span, 5)[0]?.toString() ?? '',
		kind: Number(fieldsOf(span).find(({ field }) => field === 6)?.value ?? 0),
		attributes: attributesOf(messages(span, 9)),
		events: messages(span, 11).map((event) => messages(event, 2)[0]?.toString() ?? ''),
		status: Number(fieldsOf(messages(span, 15)[0] ?? Buffer.alloc(0)).find(({ field }) => field === 3)?.value ?? 0)
	};
}

function readMetrics(body: Buffer): string[] {
	const scopes = messages(body, 1).flatMap((resourceMetrics) => messages(resourceMetrics, 2));
	return scopes.flatMap((scope) => messages(scope, 2)).map((metric) => messages(metric, 1)[0]?.toString() ?? '');
}

function attributesOf(pairs: Buffer[]): Record<string, Value> {
	return Object.fromEntries(
		pairs.map((pair) => [messages(pair, 1)[0]?.toString() ?? '', valueOf(messages(pair, 2)[0] ?? Buffer.alloc(0))])
	);
}

function valueOf(any: Buffer): Value {
	const [first] = fieldsOf(any);
	if (!first) return '';
	const { field, value } = first;
	if (Buffer.isBuffer(value)) {
		if (field === 4) return value.readDoubleLE();
		return field === 5 ? messages(value, 1).map(valueOf) : value.toString();
	}
	return field === 2 ? value !== 0n : Number(value);
}

function messages(message: Buffer, field: number): Buffer[] {
	return fieldsOf(message).flatMap((each) => (each.field === field && Buffer.isBuffer(each.value) ? [each.value] : []));
}

/** The wire format: varints as numbers, everything else as bytes. */
function fieldsOf(message: Buffer): { field: number; value: bigint | Buffer }[] {
	const fields: { field: number; value: bigint | Buffer }[] = [];
	let at = 0;
	const varint = (): bigint => {
		let value = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = message.readUInt8(at++);
			value |= BigInt(byte & 0x7f) << shift;
			if (byte < 0x80) return value;
		}
	};
	while (at < message.length) {
		const tag = Number(varint());
		const wire = tag & 7;
		if (wire === 0) fields.push({ field: tag >> 3, value: varint() });
		else {
			const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
			fields.push({ field: tag >> 3, value: message.subarray(at, at + length) });
			at += length;
		}
	}
	return fields;
}
