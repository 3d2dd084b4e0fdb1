/** Hundreds of hostile requests over raw connections, against the whole app. */

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { App } from '../support/app-process.ts';
import { exchange, sendBeforeReading } from '../support/raw-http.ts';
import { expect, test } from './app.ts';
import { hostileRequests, type HostileRequest } from './hostile-requests.ts';

const AT_ONCE = 16;
const SECRET_FILE = 'nobody-else-may-read-this';

interface Answer {
	name: string;
	text: string;
	statuses: number[];
}

async function sendAll(app: App, requests: HostileRequest[]): Promise<Answer[]> {
	const answers: Answer[] = [];
	const waiting = [...requests];
	const work = async (): Promise<void> => {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			const text = await exchange(app.url, next);
			const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1]));
			answers.push({ name: next.name, text, statuses });
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	return answers;
}

/** Creates a chat with a file that no hostile request may read, change or remove. */
async function plant(app: App, headers: Record<string, string>): Promise<string> {
	const path = `/api/conversations/${randomUUID()}/files/secret.txt`;
	const response = await fetch(app.url + path, { method: 'PUT', body: SECRET_FILE, headers });
	expect(response.status).toBe(201);
	return path;
}

test.setTimeout(120_000);

for (const [name, token] of [
	['on this machine', ''],
	['with ADMIN_TOKEN, and without it in the requests', 'the-token-of-the-hostile-test']
] as const) {
	test.describe(name, () => {
		test.use({ appOptions: { env: { ADMIN_TOKEN: token } } });
		const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};

		test(`SECURITY Figures: no hostile request breaks the server or gets at what is not its own: ${name}`, async ({
			app
		}) => {
			const path = await plant(app, headers);
			const requests = hostileRequests();
			expect(requests.length).toBeGreaterThan(900);

			const answers = await sendAll(app, requests);

			// Every complete request gets a response: none hangs, and no connection is cut silently.
			const isWhole = new Map(requests.map(({ name, isCut }) => [name, !isCut]));
			expect(answers.filter(({ name, text }) => text === '' && isWhole.get(name)).map(brief)).toEqual([]);
			expect(answers.filter(({ statuses }) => statuses.some((status) => status >= 500)).map(brief)).toEqual([]);
			expect(answers.filter(({ text }) => text.includes(SECRET_FILE)).map(brief)).toEqual([]);
			expect(answers.filter(({ text }) => /root:.*:0:0:|SQLite format 3/.test(text)).map(brief)).toEqual([]);
			// Responses reveal neither install paths nor stack traces.
			expect(answers.filter(({ text }) => /\n\s+at .*:\d+:\d+|node_modules/.test(text)).map(brief)).toEqual([]);
			expect(answers.filter(({ text }) => /^access-control-/im.test(text)).map(brief)).toEqual([]);
			expect(
				answers.filter(({ text }) => text !== '' && !/^x-content-type-options: nosniff/im.test(text)).map(brief)
			).toEqual([]);
			if (token) {
				const isJson = ({ text }: Answer): boolean =>
					/^HTTP\/1\.1 2.*[^]*^content-type: (application\/json|text\/event)/im.test(text);
				expect(
					answers
						.filter(isJson)
						.filter(({ name }) => !name.includes('version.json'))
						.map(brief)
				).toEqual([]);
			}
			// It's the same process, and everything is unchanged.
			expect(await (await fetch(app.url + path, { headers })).text()).toBe(SECRET_FILE);
			expect(app.logs.filter((line) => line.startsWith('Listening on'))).toHaveLength(1);
			expect(({} as { isAdmin?: true }).isAdmin).toBeUndefined();
		});
	});
}

test('SECURITY The server: a head that comes byte by byte is cut off, while a slow upload goes on', async ({ app }) => {
	const { port } = new URL(app.url);
	const path = `/api/conversations/${randomUUID()}/files/slow.txt`;
	const upload = connect(Number(port), '127.0.0.1');
	upload.write(`PUT ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 10\r\n\r\nhello`);
	let answer = '';
	upload.on('data', (chunk) => (answer += String(chunk)));

	const slow = connect(Number(port), '127.0.0.1');
	slow.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n');
	const drip = setInterval(() => slow.write('x'), 500);
	slow.on('error', () => undefined);
	slow.resume();
	await new Promise((resolve) => slow.on('close', resolve));
	clearInterval(drip);

	upload.write('world');
	await new Promise((resolve) => upload.on('close', resolve));
	expect(answer).toMatch(/^HTTP\/1\.1 201 /);
	expect(await (await fetch(app.url + path)).text()).toBe('helloworld');
});

function brief({ name, text }: Answer): string {
	return `${name} → ${text.slice(0, 200)}`;
}

test('SECURITY The server: who sends 100 MB before reading gets the answer that it was too much', async ({ app }) => {
	for (const [method, path, type] of [
		['POST', '/api/conversations', 'application/json'],
		['POST', '/api/skills/install/staged', 'application/zip']
	] as const) {
		for (const isChunked of [false, true]) {
			const sent = { method, path, bytes: 100 * 1024 * 1024, isChunked, headers: { 'content-type': type } };
			const { status, body, error } = await sendBeforeReading(app.url, sent);
			expect({ error, status }).toEqual({ error: null, status: 413 });
			expect(JSON.parse(body)).toMatchObject({ error: { code: 'too_large' } });
		}
	}
});
