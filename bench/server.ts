/** What someone at the page waits for: the start of the server, and the first word of an answer. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { startApp } from '../tests/support/app-process.ts';
import { medians, rowOfTimes, timed, type Row } from './measure.ts';

/** A server of one line that answers `{}`: what any Node server costs at least. */
const BARE_SERVER = `require('node:http').createServer((_, response) => response.end('{}'))
	.listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

export async function benchStart(): Promise<Row> {
	const ours = async (): Promise<number> => {
		const start = performance.now();
		const app = await startApp();
		await (await fetch(`${app.url}/api/health`)).json();
		const ms = performance.now() - start;
		await app.stop();
		return ms;
	};
	const bare = async (): Promise<number> => {
		const start = performance.now();
		const server = spawn(process.execPath, ['-e', BARE_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
		const [port] = (await once(server.stdout, 'data')) as [Buffer];
		await (await fetch(`http://127.0.0.1:${String(port).trim()}/`)).json();
		const ms = performance.now() - start;
		server.kill();
		await once(server, 'exit');
		return ms;
	};
	const name = 'start of `node server.js` to the first answer of /api/health (5 runs)';
	return rowOfTimes(name, 'the same of a one-line HTTP server', await medians(5, [ours, bare]));
}

export async function benchFirstText(): Promise<Row> {
	const app = await startApp();
	try {
		const health = () => timed(async () => (await fetch(`${app.url}/api/health`)).text());
		const times = await medians(30, [() => firstText(app.url), health]);
		return rowOfTimes('request to the first text event, Demo mode (30 runs)', 'a request of /api/health', times);
	} finally {
		await app.stop();
	}
}

async function firstText(url: string): Promise<number> {
	const message = { id: randomUUID(), role: 'user', content: 'Hello!' };
	const start = performance.now();
	const response = await fetch(`${url}/api/chat`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
		body: JSON.stringify({ threadId: randomUUID(), runId: randomUUID(), messages: [message] })
	});
	let ms: number | undefined;
	let text = '';
	for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
		text += Buffer.from(chunk).toString('utf8');
		if (text.includes('"TEXT_MESSAGE_CONTENT"')) ms ??= performance.now() - start;
	}
	if (ms === undefined) throw new Error(`no text came from the server: ${text}`);
	return ms;
}
