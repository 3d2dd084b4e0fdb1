/** F5: two servers on one Postgres and one bucket, each with a data folder of its own: what one writes, the other has. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type App } from '../support/app-process.ts';
import { type BucketServer, startBucketServer } from '../support/bucket-server.ts';
import { ask, follow, readRun } from '../support/crash-client.ts';
import { requireAccepted } from '../support/crash-rounds.ts';
import { eventually } from '../support/eventually.ts';
import { gate as createGate } from '../support/gate.ts';
import { call, dynamic, text } from '../support/model-replies.ts';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';

describe.skipIf(lacksPostgres())('F5: two servers on one bucket', () => {
	let skills: string;
	let bucket: BucketServer;
	let model: ModelServer;
	let postgres: TestPostgres;
	let one: App;
	let other: App;

	beforeAll(async () => {
		skills = await mkdtemp(join(tmpdir(), 'no-skills-'));
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
		await rm(skills, { recursive: true, force: true });
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
