/** A real PgBouncer in front of a test's Postgres, on a Unix socket. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from './eventually.ts';
import type { TestPostgres } from './postgres.ts';

export interface Pooler {
	/** Address of a database, through the pooler. */
	urlOf(database: string): string;
	stop(): Promise<void>;
}

/** It has no TCP port; the name of the socket has this one. */
const PORT = 6432;

/** For `skipIf`: is it missing on this machine? */
export function lacksPgbouncer(): boolean {
	return findProgram() === null;
}

/**
 * `mode`: how long a client keeps a connection to Postgres. `takesLimits`: it doesn't refuse settings that it can't hand on.
 */
export async function startPgbouncer(
	postgres: TestPostgres,
	{ mode = 'transaction', takesLimits = false }: { mode?: 'transaction' | 'session'; takesLimits?: boolean } = {}
): Promise<Pooler> {
	const folder = await mkdtemp(join(tmpdir(), 'pgb-'));
	const file = join(folder, 'settings.ini');
	const lines = [
		`[databases]\n* = host=${postgres.folder} user=postgres\n[pgbouncer]\nauth_type = any\nlisten_port = ${PORT}`,
		`unix_socket_dir = ${folder}\npool_mode = ${mode}`,
		...(takesLimits
			? ['ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout']
			: [])
	];
	await writeFile(file, `${lines.join('\n')}\n`);
	// It refuses to run as root, too.
	const { uid, gid } = await stat(postgres.folder);
	await chown(folder, uid, gid);
	const child = spawn(findProgram() ?? 'pgbouncer', [file], {
		...(process.getuid?.() === 0 && { uid, gid }),
		stdio: ['ignore', 'ignore', 'pipe']
	});
	let said = '';
	child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
	const ended = once(child, 'exit');
	await eventually(async () => {
		if (!existsSync(join(folder, `.s.PGSQL.${PORT}`))) throw new Error(`PgBouncer isn’t there yet:\n${said}`);
	});
	return {
		urlOf: (database) => `postgres:///${database}?host=${encodeURIComponent(folder)}&port=${PORT}&user=postgres`,
		async stop() {
			child.kill('SIGKILL');
			await ended;
			await rm(folder, { recursive: true, force: true });
		}
	};
}

function findProgram(): string | null {
	const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].filter(Boolean);
	return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path)) ?? null;
}
