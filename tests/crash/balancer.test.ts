/** F14: two servers on one Postgres behind the load balancers of deploy/, as people run them. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as streamText } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isTerminal } from '../../src/lib/shared/events.ts';
import { startApp, type App } from '../support/app-process.ts';
import { type Balancer, BALANCERS, lacksBalancer, startBalancer } from '../support/balancer.ts';
import { ask, follow, type Question, readRun, type SeenEvent } from '../support/crash-client.ts';
import { createLedger, type Ledger, questionFor } from '../support/crash-ledger.ts';
import { requireAccepted } from '../support/crash-rounds.ts';
import { eventually } from '../support/eventually.ts';
import { gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { connectResponses } from '../support/responses-socket.ts';

test.skipIf(BALANCERS.some(lacksBalancer)).each(BALANCERS)(
	'F14: behind %s, a page and its files come from one server, which may be the only one of its version, and requests of programs from both',
	async (name) => {
		const servers = await Promise.all(
			['one', 'two'].map(async (word) => {
				const server = createServer((_, response) => response.end(word)).listen(0, '127.0.0.1');
				await once(server, 'listening');
				return server;
			})
		);
		const [one = '', two = ''] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
		const balancer = await startBalancer(name, [one, two]);
		/** Open at the same time, as those of a page are. */
		const answers = async (...paths: string[]) => {
			const open = await Promise.all(paths.map((path) => fetch(balancer.url + path)));
			return new Set(await Promise.all(open.map((response) => response.text())));
		};
		try {
			// Caddy hasn't asked both at first.
			await eventually(async () =>
				expect(await answers('/api/a', '/api/b', '/v1/c', '/a2a')).toHaveProperty('size', 2)
			);
			const page = [
				'/',
				'/c/some-chat',
				'/_app/immutable/entry/start.abc.js',
				'/_app/version.json',
				'/service-worker.js'
			];
			expect(await answers(...page, ...page, '/mcp')).toHaveProperty('size', 1);
		} finally {
			await balancer.stop();
			for (const server of servers) {
				server.closeAllConnections();
				server.close();
			}
		}
	}
);

describe.skipIf(lacksPostgres()).each(BALANCERS)('F14: two servers behind %s', (name) => {
	const isMissing = lacksBalancer(name);
	let folder: string;
	let ledger: Ledger;
	let model: ModelServer;
	let postgres: TestPostgres;
	let servers: [App, App];
	let balancer: Balancer;

	beforeAll(async () => {
		if (isMissing) return;
		folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-balancer-'));
		ledger = await createLedger(folder);
		model = await startModelServer();
		postgres = await startPostgres();
		const env = {
			...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' },
			DATABASE_URL: await postgres.createDatabase('balanced'),
			SECRETS_KEY: 'a long secret of the two servers, the same for both',
			METRICS: 'true',
			// More than the balancer takes to notice.
			SHUTDOWN_DELAY_MS: '3000'
		};
		const first = await startApp({ skillsFrom: ledger.skillsDir, env });
		servers = [first, await startApp({ skillsFrom: ledger.skillsDir, env })];
		balancer = await startBalancer(name, [servers[0].url, servers[1].url]);
	}, 300_000);

	afterAll(async () => {
		await balancer?.stop();
		for (const server of servers ?? []) await server.stop();
		await postgres?.stop();
		await model?.close();
		if (folder) await rm(folder, { recursive: true, force: true });
	});

	const questionOf = (id: string, words = 3): Question => ({
		...{ runId: `run-${id}`, conversationId: `conversation-${id}`, messageId: `message-${id}` },
		text: questionFor(id, words)
	});

	/** As a page does: connects again after each broken connection, with the id of the last event. */
	async function watch(runId: string): Promise<{ events: SeenEvent[]; cuts: number }> {
		const events: SeenEvent[] = [];
		let cuts = 0;
		await eventually(async () => {
			const lastEventId = events.at(-1)?.id;
			const followed = await follow(balancer.url, runId, lastEventId === undefined ? {} : { lastEventId });
			if (followed.events[0]?.seq === 1) events.length = 0;
			events.push(...followed.events);
			if (events.some(({ event }) => isTerminal(event))) return;
			// Caddy before 2.8 ends a broken response as if it were whole.
			cuts += 1;
			throw new Error('the connection broke');
		});
		return { events, cuts };
	}

	test.skipIf(isMissing)(
		'what is for the balancer and for monitoring isn’t passed on, however it’s spelled',
		async () => {
			for (const path of ['/metrics', '/ready', '/%6detrics', '/ready?a', '//metrics', '/x/../ready']) {
				const { host, hostname, port } = new URL(balancer.url);
				const socket = connect(Number(port), hostname);
				// fetch would write the path as it should be.
				socket.end(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
				const answer = await streamText(socket);
				expect(answer.split('\r\n')[0], path).toMatch(/ (404|308) /);
				expect(answer, path).not.toMatch(/ready"|# HELP/);
			}
			expect((await fetch(`${balancer.url}/health`)).status).toBe(200);
		}
	);

	test.skipIf(isMissing)('an event reaches the page before the next one is written: nothing is gathered', async () => {
		const steps = Array.from({ length: 5 }, gate);
		model.push(text(...steps.flatMap((step, index) => [`word ${index} `, step])));
		const question = questionOf('stream');
		await requireAccepted(await ask(balancer.url, question));
		let seen = '';
		const following = follow(balancer.url, question.runId, {
			onEvent: ({ event }) => {
				if (event.type === 'TEXT_MESSAGE_CONTENT') seen += event.delta;
			}
		});
		for (const [index, step] of steps.entries()) {
			await eventually(() => expect(seen).toContain(`word ${index}`));
			step.open();
		}
		expect((await following).isCut).toBe(false);
	});

	test.skipIf(isMissing)('a WebSocket goes through, to either server', async () => {
		model.push(text('One.'), text('Two.'));
		const sockets = [
			await connectResponses(`${balancer.url}/v1/responses`),
			await connectResponses(`${balancer.url}/v1/responses`)
		];
		for (const socket of sockets) {
			const turn = await socket.turn({ model: 'test/model', input: 'Say something.', store: false });
			expect(turn.at(-1)?.type).toBe('response.completed');
			await socket.close();
		}
	});

	test.skipIf(isMissing)('an MCP client with a session comes back to the server that opened it', async () => {
		const client = new Client({ name: 'balanced', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
		await client.connect(new StreamableHTTPClientTransport(new URL(`${balancer.url}/mcp`)));
		for (let round = 0; round < 10; round += 1) expect((await client.listTools()).tools).not.toEqual([]);
		await client.close();
	});

	test.skipIf(isMissing)('killed in the middle, the server is gone and the page’s answer goes on', async () => {
		const [owner] = servers;
		model.push(...Array.from({ length: 6 }, () => ledger.reply));
		const question = questionOf('killed', 60);
		await requireAccepted(await ask(owner.url, question));
		// The balancer gives some of them to one server and some to the other.
		const watching = Array.from({ length: 4 }, () => watch(question.runId));
		await eventually(async () => expect((await readRun(balancer.url, question.runId))?.lastSeq).toBeGreaterThan(10));
		await owner.signal('SIGKILL');
		const seen = await Promise.all(watching);
		expect(seen.some(({ cuts }) => cuts > 0)).toBe(true);
		const { events } = await follow(servers[1].url, question.runId);
		for (const each of seen) {
			expect(each.events.map(({ event }) => event)).toEqual(events.map(({ event }) => event));
			expect(each.events.map(({ seq }) => seq)).toEqual(each.events.map((_, index) => index + 1));
		}
		expect((await readRun(balancer.url, question.runId))?.state).toBe('success');
		await owner.restart();
	});

	// nginx doesn't ask /ready.
	if (name === 'nginx-light') return;
	test.skipIf(isMissing)('updated one after the other, no question is refused', async () => {
		let isDone = false;
		const questions: Question[] = [];
		const asking = (async () => {
			while (!isDone) {
				model.push(...Array.from({ length: 6 }, () => ledger.reply));
				const question = questionOf(`rolling-${questions.length}`);
				await requireAccepted(await ask(balancer.url, question));
				questions.push(question);
				await watch(question.runId);
			}
		})();
		for (const server of servers) await server.restart();
		isDone = true;
		await asking;
		expect(questions.length).toBeGreaterThan(2);
		for (const { runId } of questions) expect((await readRun(balancer.url, runId))?.state).toBe('success');
	});
});
