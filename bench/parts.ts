/** Starts what the benchmarks of the relay measure, each in a process of its own, and reads from it as a page does. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { startApp, type App } from '../tests/support/app-process.ts';
import type { Usage } from './probe.ts';

export interface Part {
	url: string;
	/** CPU so far; with `settled`, memory after a collection of garbage. */
	usage(settled?: 'settled'): Promise<Usage>;
	/** Asks the model's server behind this part; `order` is what it is to stream. */
	ask(order: string, onData?: (chunk: Buffer) => void, runId?: string): Promise<void>;
	health(): Promise<void>;
	stop(): Promise<void>;
}

export const PROBE = pathToFileURL(join(import.meta.dirname, 'probe.ts')).href;

/** Lets an idle connection go before the servers do, which close theirs after 5 s. */
const agent = new Agent({ keepAlive: true, timeout: 3000 });

/** A script of this folder; `argument` is the address or file that it works on. */
export async function startPart(script: string, argument = ''): Promise<Part> {
	const child = spawn(process.execPath, ['--import', PROBE, join(import.meta.dirname, script), argument], {
		stdio: ['ignore', 'pipe', 'inherit']
	});
	const lines: string[] = [];
	const isUp = (): boolean => lines.some((line) => line.startsWith('Listening')) && addressOf(lines, 'Probe') !== '';
	for await (const line of createInterface({ input: child.stdout })) {
		lines.push(line);
		if (isUp()) break;
	}
	if (!isUp()) throw new Error(`bench/${script} did not start`);
	const url = addressOf(lines, 'Listening');
	return {
		url,
		usage: usageOf(addressOf(lines, 'Probe')),
		ask: (order, onData) => readRun(url, order, onData),
		health: () => read(`${url}/health`),
		async stop() {
			child.kill();
			if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
		}
	};
}

export type MeasuredApp = Part & Pick<App, 'dataDir' | 'signal' | 'restart'>;

/** The whole application, with the model's server that is given. */
export async function startMeasuredApp(upstream: Part, more: Record<string, string> = {}): Promise<MeasuredApp> {
	const env = { OPENROUTER_BASE_URL: `${upstream.url}/v1`, NODE_OPTIONS: `--import=${PROBE}`, ...more };
	const app = await startApp({ env });
	return {
		url: app.url,
		dataDir: app.dataDir,
		signal: app.signal,
		restart: app.restart,
		usage: usageOfApp(app),
		ask(order, onData, runId = randomUUID()) {
			const message = { id: randomUUID(), role: 'user', content: order };
			const body = JSON.stringify({ threadId: randomUUID(), runId, messages: [message] });
			return readRun(`${app.url}/api/chat`, body, onData);
		},
		health: () => read(`${app.url}/api/health`),
		stop: () => app.stop()
	};
}

/** Reads an answer to its end. @throws when it has another status than 200, or is cut off */
export async function read(url: string, body?: string, onData?: (chunk: Buffer) => void): Promise<void> {
	const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
	await new Promise<void>((resolve, reject) => {
		const asked = request(url, { method: body === undefined ? 'GET' : 'POST', agent, headers }, (response) => {
			response.on('data', (chunk: Buffer) => onData?.(chunk));
			response.once('error', reject);
			response.once('end', () => {
				if (response.statusCode === 200) resolve();
				else reject(new Error(`${url} answered ${response.statusCode}`));
			});
		});
		asked.once('error', reject);
		asked.end(body);
	});
}

async function readRun(url: string, body: string, onData?: (chunk: Buffer) => void): Promise<void> {
	let tail = '';
	await read(url, body, (chunk) => {
		onData?.(chunk);
		tail = (tail + chunk.toString('latin1')).slice(-500);
	});
	if (!/"RUN_FINISHED".*"success"|"response\.completed"/.test(tail.split('\n\n').slice(-2).join('')))
		throw new Error(`${url} ended with ${tail}`);
}

/** Of an application that was started with `NODE_OPTIONS=--import=` the probe. */
export function usageOfApp({ logs }: Pick<App, 'logs'>): Part['usage'] {
	return usageOf(addressOf(logs, 'Probe'));
}

function usageOf(probe: string): Part['usage'] {
	return async (settled) => {
		let text = '';
		await read(`${probe}/${settled ? '?settled' : ''}`, undefined, (chunk) => (text += chunk.toString()));
		return JSON.parse(text) as Usage;
	};
}

function addressOf(lines: string[], what: string): string {
	return lines.findLast((line) => line.startsWith(what))?.split(' on ')[1] ?? '';
}
