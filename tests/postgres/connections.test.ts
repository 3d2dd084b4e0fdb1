/** F14: how servers reach Postgres: with TLS, and through a pooler. */
import { chmod, chown, copyFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { openPostgresStore, type PostgresOptions } from '../../src/lib/server/store/postgres.ts';
import { freePort } from '../support/balancer.ts';
import { makeCertificates } from '../support/certificates.ts';
import { lacksPgbouncer, type Pooler, startPgbouncer } from '../support/pgbouncer.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';

/** Opens it, has it do something, and closes it. */
async function use(url: string, options: PostgresOptions = {}): Promise<void> {
	const store = await openPostgresStore(url, { startMs: 1, ...options });
	try {
		await store.conversations.list({ page: 1, limit: 1 });
	} finally {
		await store.close();
	}
}

describe.skipIf(lacksPostgres())('TLS to Postgres', () => {
	let postgres: TestPostgres;
	const folder = sharedFolder();
	let authority: string;
	let port: number;
	const address = (query: string, host = 'localhost') => `postgres://postgres@${host}:${port}/postgres${query}`;

	beforeAll(async () => {
		port = await freePort();
		postgres = await startPostgres({ port });
		const made = await makeCertificates(folder);
		authority = made.authority;
		const { uid, gid } = await stat(postgres.folder);
		for (const [from, name] of [
			[made.certificate, 'server.crt'],
			[made.key, 'server.key']
		] as const) {
			const to = join(postgres.folder, 'data', name);
			await copyFile(from, to);
			await chown(to, uid, gid);
			await chmod(to, 0o600);
		}
	});
	afterAll(async () => {
		await postgres?.stop();
	});

	test('F14: a server without TLS is said when TLS is asked for', async () => {
		await expect(use(address('?sslmode=verify-full'))).rejects.toThrow(
			`Postgres at localhost:${port} has no TLS. Turn on “ssl” there, or set sslmode=disable in DATABASE_URL`
		);
	});

	test('F14: require, verify-ca and verify-full verify the certificate, and each failure says what to do', async () => {
		await postgres.sql('alter system set ssl = on');
		await writeFile(
			join(postgres.folder, 'data/pg_hba.conf'),
			'local all all trust\nhostssl all all 127.0.0.1/32 trust\n'
		);
		await postgres.restart();
		await expect(use(address(''))).rejects.toThrow(/doesn’t take connections without TLS .* Add \?sslmode=verify-full/);
		const named = `&sslrootcert=${authority}`;
		for (const mode of ['require', 'verify-ca', 'verify-full']) {
			await use(address(`?sslmode=${mode}${named}`));
			await expect(use(address(`?sslmode=${mode}`))).rejects.toThrow(
				/can’t be trusted \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\. .* sslrootcert=\/path\/ca\.pem\.$/
			);
		}
		await use(address('?sslmode=no-verify'));
		await expect(use(address(`?sslmode=verify-full${named}`, '127.0.0.1'))).rejects.toThrow(
			/is for another name .*Use the name in the certificate in DATABASE_URL\.$/
		);
		await expect(use(address('?sslmode=verify-full&sslrootcert=/no/such/file'))).rejects.toThrow(
			/^Couldn’t read a certificate for Postgres \(ENOENT.*Correct sslrootcert, sslcert or sslkey in DATABASE_URL\.$/
		);
	});
});

describe.skipIf(lacksPostgres() || lacksPgbouncer())('PgBouncer', () => {
	let postgres: TestPostgres;
	const poolers: Pooler[] = [];
	const start = async (options: Parameters<typeof startPgbouncer>[1] = {}): Promise<Pooler> => {
		const pooler = await startPgbouncer(postgres, options);
		poolers.push(pooler);
		return pooler;
	};
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(async () => {
		for (const pooler of poolers) await pooler.stop();
		await postgres?.stop();
	});

	test('F14: in transaction mode without an address past it, the start fails and says which setting is missing', async () => {
		for (const takesLimits of [true, false]) {
			const url = (await start({ takesLimits })).urlOf('postgres');
			await expect(use(url)).rejects.toThrow(/ooler .*set DATABASE_DIRECT_URL to that of Postgres itself\.$/);
			await expect(use(url, { directUrl: `${url}&application_name=direct` })).rejects.toThrow(/in transaction mode/);
		}
		await use((await start({ takesLimits: true })).urlOf('postgres'), { directUrl: postgres.url });
		await use((await start()).urlOf('postgres'), { directUrl: postgres.url });
	});

	test('F14: in session mode it’s refused only if it doesn’t take our settings', async () => {
		await use((await start({ mode: 'session', takesLimits: true })).urlOf('postgres'));
		await expect(use((await start({ mode: 'session' })).urlOf('postgres'))).rejects.toThrow(
			/refuses our settings \(unsupported startup parameter: statement_timeout\)\. .*DATABASE_DIRECT_URL/
		);
	});

	test('F14: another database past it is refused before anything is migrated', async () => {
		await postgres.createDatabase('pooled');
		const directUrl = await postgres.createDatabase('other');
		await expect(use((await start()).urlOf('pooled'), { directUrl })).rejects.toThrow(
			'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases.'
		);
	});
});
