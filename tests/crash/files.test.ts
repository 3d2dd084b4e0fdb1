/** F5: two servers on one Postgres and one bucket, each with a data folder of its own: what one writes, the other has. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { startApp, type App } from '../support/app-process.ts';
import { type BucketServer, startBucketServer } from '../support/bucket-server.ts';
import { ask, follow, readRun } from '../support/crash-client.ts';
import { requireAccepted } from '../support/crash-rounds.ts';
import { eventually } from '../support/eventually.ts';
import { gate as createGate } from '../support/gate.ts';
import { call, dynamic, text } from '../support/model-replies.ts';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { zipOf } from '../support/zip-writer.ts';

describe.skipIf(lacksPostgres())('F5: two servers on one bucket', () => {
	const skills = sharedFolder();
	let bucket: BucketServer;
	let model: ModelServer;
	let postgres: TestPostgres;
	let one: App;
	let other: App;

	beforeAll(async () => {
		bucket = await startBucketServer();
		model = await startModelServer();
		postgres = await startPostgres();
		const env = {
			...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' },
			...{ CHAT_TITLES: 'false', S3_URL: bucket.url },
			DATABASE_URL: await postgres.createDatabase('files'),
			SECRETS_KEY: 'a long secret of the two servers, the same for both'
		};
		one = await startApp({ skillsFrom: skills, env });
		other = await startApp({ skillsFrom: skills, env });
	}, 240_000);

	afterAll(async () => {
		bucket?.fail('none');
		for (const server of [one, other]) await server?.stop();
		await postgres?.stop();
		await model?.close();
		await bucket?.close();
	});

	const question = (id: string) => ({
		runId: `run-${id}`,
		conversationId: 'chat',
		messageId: id,
		text: `Question ${id}`
	});
	const fileAt = (server: App, path: string) => fetch(`${server.url}/api/conversations/chat/files/${path}`);
	const textAt = async (server: App, path: string) => {
		const response = await fileAt(server, path);
		return response.ok ? response.text() : response.status;
	};
	const writes = (path: string, content: string) => call('file_write', { path, content });
	/** The last output that the model was given. */
	const outputTold = (): string => JSON.stringify(model.requests.at(-1)?.body);

	test('an answer on one, an upload on the other, and a script that reads it', async () => {
		model.push(writes('made.txt', 'by the first'), text('Done.'));
		await requireAccepted(await ask(one.url, question('a')));
		await follow(one.url, 'run-a');
		expect(await textAt(other, 'made.txt')).toBe('by the first');
		const put = await fetch(`${other.url}/api/conversations/chat/files/sent.txt`, { method: 'PUT', body: 'by hand' });
		expect(put.ok).toBe(true);
		model.push(call('file_read', { path: 'sent.txt' }), text('Read.'));
		await requireAccepted(await ask(one.url, question('b')));
		await follow(one.url, 'run-b');
		expect(outputTold()).toContain('by hand');
	}, 60_000);

	test('in an outage the answer is told, the file is there, and the other server has it once the bucket works', async () => {
		bucket.fail('error');
		model.push(writes('late.txt', 'written in the outage'), text('Done.'));
		await requireAccepted(await ask(one.url, question('c')));
		await follow(one.url, 'run-c');
		expect((await readRun(one.url, 'run-c'))?.state).toBe('success');
		expect(outputTold()).toContain('couldn’t be stored for other servers');
		expect(await textAt(one, 'late.txt')).toBe('written in the outage');
		expect(await textAt(other, 'late.txt')).toBe(404);
		bucket.fail('none');
		// A stop stores what waits.
		await one.restart();
		expect(await textAt(other, 'late.txt')).toBe('written in the outage');
	}, 90_000);

	test('a server is killed in an answer: the other goes on with the files that were stored, and nothing is lost', async () => {
		const gate = createGate();
		model.push(
			writes('step.txt', 'the first step'),
			dynamic(() => text('Half', gate, ' and the rest')),
			call('file_read', { path: 'step.txt' }),
			text('Read it.')
		);
		await requireAccepted(await ask(one.url, question('d')));
		await eventually(async () => expect(model.requests.length).toBeGreaterThanOrEqual(8));
		await one.signal('SIGKILL');
		await follow(other.url, 'run-d');
		gate.open();
		expect(outputTold()).toContain('the first step');
		await one.restart();
		expect(await textAt(one, 'step.txt')).toBe('the first step');
	}, 90_000);

	describe('E4, E28, F1: skills', () => {
		const FILES = 12;
		const send = async (server: App, method: string, path: string, body?: object) => {
			const response = await fetch(`${server.url}/api/skills${path}`, {
				method,
				headers: { 'content-type': 'application/json' },
				body: body ? JSON.stringify(body) : null
			});
			return { status: response.status, body: (await response.json().catch(() => null)) as Record<string, unknown> };
		};
		/** A skill that says its version, of many files that all say it. */
		async function install(server: App, says: string): Promise<number> {
			const skill = `---\nname: echo\ndescription: Says what it is.\nmetadata:\n  version: "1.0.0"\n---\n\n${says}\n`;
			const zip = zipOf([
				{ name: 'echo/SKILL.md', content: skill },
				{ name: 'echo/scripts/say.sh', content: `echo ${says}` },
				...Array.from({ length: FILES }, (_, each) => ({ name: `echo/data/${each}.txt`, content: `${says} ${each}` }))
			]);
			const staged = await fetch(`${server.url}/api/skills/install/staged`, {
				method: 'POST',
				headers: { 'content-type': 'application/zip' },
				body: new Uint8Array(zip)
			});
			const { id } = (await staged.json()) as { id: string };
			const choice = { conflict: 'overwrite', enabled: true };
			return (await send(server, 'POST', `/install/staged/${id}`, choice)).status;
		}
		const run = async (server: App): Promise<string> => {
			const asked = { skillName: 'echo', script: 'say.sh' };
			const first = await send(server, 'POST', '/executions', asked);
			const { error } = first.body as { error?: { details?: { digest?: string } } };
			const approve = error?.details?.digest;
			const { body } = approve === undefined ? first : await send(server, 'POST', '/executions', { ...asked, approve });
			return String((body as { result?: { stdout?: string } }).result?.stdout ?? JSON.stringify(body)).trim();
		};
		const says = (server: App, what: string) => eventually(async () => expect(await run(server)).toBe(what));
		/** What the files in the skill's folder say: one word if it's whole. */
		async function wordsIn(server: App): Promise<string[]> {
			const folder = join(server.dataDir, 'skills/echo@1.0.0/data');
			const names = await readdir(folder).catch(() => []);
			const words = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
			return [
				...new Set([
					...words.map((text) => text.split(' ')[0] ?? ''),
					...(names.length === FILES ? [] : [`${names.length} files`])
				])
			];
		}

		test('installed on one it runs on the other; an edit and a removal there are seen here, and undone here', async () => {
			expect(await install(one, 'first')).toBe(201);
			await says(other, 'first');
			const path = '/installed/echo/file';
			const { digest } = (await send(other, 'GET', `${path}?path=scripts/say.sh`)).body;
			const edit = { path: 'scripts/say.sh', text: 'echo edited', digest };
			expect((await send(other, 'PUT', path, edit)).status).toBe(200);
			await says(one, 'edited');
			const removed = await send(other, 'DELETE', '/installed/echo');
			expect(removed.status).toBe(200);
			await eventually(async () => expect((await send(one, 'GET', '/installed/echo')).status).toBe(404));
			expect((await send(one, 'POST', `/trash/${String(removed.body.id)}`)).status).toBe(200);
			await says(other, 'edited');
			await says(one, 'edited');
		}, 90_000);

		test('with the bucket away a skill is updated where it was asked for; the other has the old one, then the new one', async () => {
			bucket.fail('error');
			expect(await install(one, 'second')).toBe(201);
			expect(await run(one)).toBe('second');
			expect(await run(other)).toBe('edited');
			expect(await wordsIn(other)).toEqual(['first']);
			bucket.fail('none');
			// A stop stores what waits.
			await one.restart();
			await says(other, 'second');
			expect(await wordsIn(other)).toEqual(['second']);
		}, 90_000);

		test('a server that is killed 6 times while it updates a skill leaves the old or the new one, whole, on both', async () => {
			for (let round = 0; round < 6; round += 1) {
				const before = await wordsIn(other);
				const word = `round-${round}`;
				const puts = bucket.requests.length;
				const answer = install(one, word).catch(() => 0);
				// At the first transfers, among them, and at their end; or when the folder is in place and nothing is stored.
				await eventually(async () => {
					if (round % 2 === 0) expect(bucket.requests.length).toBeGreaterThan(puts + round * 3);
					else expect(await wordsIn(one)).toEqual([word]);
				});
				await one.signal('SIGKILL');
				await answer;
				expect([before, [word]]).toContainEqual(await wordsIn(other));
				await one.restart();
				await eventually(async () => {
					const [here, there] = [await wordsIn(one), await wordsIn(other)];
					expect([before, [word]]).toContainEqual(here);
					expect(there).toEqual(here);
					expect(await run(other)).toBe(here[0]);
					expect(await run(one)).toBe(here[0]);
				});
			}
			expect((await readdir(join(other.dataDir, 'skills'))).sort()).toEqual(['echo@1.0.0']);
		}, 240_000);
	});

	test('no secret of the bucket is in a log or a data folder, and the folders differ', async () => {
		const secret = new URL(bucket.url).password;
		for (const server of [one, other]) {
			expect(server.logs.join('\n')).not.toContain(secret);
			expect(server.logs.join('\n')).not.toContain(decodeURIComponent(secret));
		}
		expect(one.dataDir).not.toBe(other.dataDir);
		expect(await readFile(join(other.dataDir, 'workspaces/chat/made.txt'), 'utf8')).toBe('by the first');
	});
});
