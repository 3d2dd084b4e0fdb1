import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from './eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from './postgres.ts';

afterEach(() => vi.unstubAllEnvs());

test('on a machine without Postgres, tests are skipped, or fail where it is required', async () => {
	const places = ['/nowhere'];
	vi.stubEnv('REQUIRE_POSTGRES', '');
	expect(lacksPostgres({ places })).toBe(true);
	vi.stubEnv('REQUIRE_POSTGRES', '1');
	expect(lacksPostgres({ places })).toBe(false);
	await expect(startPostgres({ places })).rejects.toThrow('Postgres isn’t installed.');
});

describe.skipIf(lacksPostgres())('a Postgres for tests', () => {
	let postgres: TestPostgres;
	beforeAll(async () => void (postgres = await startPostgres()));
	afterAll(() => postgres?.stop());

	const ask = async (url: string, question: string) => {
		const client = new Client(url);
		client.on('error', () => undefined);
		await client.connect();
		try {
			return (await client.query<Record<string, unknown>>(question)).rows;
		} finally {
			await client.end();
		}
	};

	test('has databases that know nothing of each other, and copies of one', async () => {
		const first = await postgres.createDatabase('first');
		await ask(first, 'create table seen (n int); insert into seen values (7)');
		expect(await ask(await postgres.createDatabase('copy', 'first'), 'select n from seen')).toEqual([{ n: 7 }]);
		await expect(ask(await postgres.createDatabase('second'), 'select n from seen')).rejects.toThrow('does not exist');
	});

	test('starts again with what it had', async () => {
		const url = await postgres.createDatabase('kept');
		await ask(url, 'create table seen (n int); insert into seen values (7)');
		await postgres.restart();
		expect(await ask(url, 'select n from seen')).toEqual([{ n: 7 }]);
	});

	test('ends with the process that started it, even if that is killed, and its folder goes, too', async () => {
		const module = JSON.stringify(join(import.meta.dirname, 'postgres.ts'));
		const program = `const { startPostgres } = await import(${module});
			console.log((await startPostgres()).folder); setInterval(() => {}, 1000);`;
		const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
			stdio: ['ignore', 'pipe', 'inherit']
		});
		const [folder] = (await once(createInterface(child.stdout), 'line')) as [string];
		expect(existsSync(join(folder, '.s.PGSQL.5432'))).toBe(true);
		child.kill('SIGKILL');
		await eventually(() => expect(existsSync(folder)).toBe(false));
	});
});
