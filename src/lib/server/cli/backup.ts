/** `backup FILE` and `restore FILE`: the data folder in one file, and back again. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backUp } from '../backup/back-up.ts';
import type { LeftOut } from '../backup/format.ts';
import { restore } from '../backup/restore.ts';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';

const tell = (line: string) => process.stdout.write(`${line}\n`);
const warn = (line: string) => process.stderr.write(`${line}\n`);
function warnOf({ count, named }: LeftOut, what: string): void {
	if (count === 0) return;
	const more = count > named.length ? [`… and ${count - named.length} more`] : [];
	warn([`${what}: ${count}`, ...named.map(({ path, reason }) => `${path}: ${reason}`), ...more].join('\n  '));
}

const PG_DUMP = 'Back it up first, with pg_dump --format=custom --file=app.dump "$DATABASE_URL", and then the files.';
const NO_DATABASE =
	'The database isn’t in this backup, because the server used Postgres. Restore it with pg_restore, and set DATABASE_URL ' +
	'and the same SECRETS_KEY before you start the server.';
const UNUSED =
	'The database in this backup isn’t used, because DATABASE_URL is set. Remove DATABASE_URL to use it, or restore your dump ' +
	'with pg_restore.';

/** Uses the settings in the environment. Prints what it did; on failure, prints why and sets the exit code. */
export function runBackup(command: string, files: string[], usage: string): void {
	try {
		const [file, ...others] = files;
		if ((command !== 'backup' && command !== 'restore') || !file || others.length > 0)
			throw new Error(`Name one file: ${usage}.`);
		const { dataDir, database } = loadConfig(process.env);
		if (command === 'backup') {
			const { files: count, bytes, leftOut } = backUp(dataDir, file, { hasDatabase: database === null });
			tell(`Backed up ${dataDir} to ${file}: ${count} files, ${bytes} bytes. It contains secrets, so keep it private.`);
			if (database) warn(`The database isn’t in it, because DATABASE_URL is set. ${PG_DUMP}`);
			warnOf(leftOut, 'Not in the backup');
		} else {
			const { files: count, bytes, leftOut, ...restored } = restore(file, dataDir, createLog());
			const next = database || !restored.hasDatabase ? '' : ' You can start the server now.';
			tell(`Restored ${file} to ${dataDir}: ${count} files, ${bytes} bytes.${next}`);
			if (database && restored.hasDatabase) warn(UNUSED);
			else if (!restored.hasDatabase) warn(NO_DATABASE);
			warnOf(leftOut, 'Not restored');
			if (!restored.isSealed)
				warn('This backup is from an older version, so damage may go unnoticed. Check your files.');
		}
	} catch (error) {
		warn(error instanceof Error ? error.message : String(error));
		process.exitCode = 1;
	}
}

// `npm run backup`: npm runs scripts in the project's folder; INIT_CWD is where npm itself was run.
if (import.meta.main) {
	const startedIn = process.env.INIT_CWD ?? process.cwd();
	const [command = '', ...names] = process.argv.slice(2);
	// Use the server's settings, wherever this was run from.
	process.chdir(join(import.meta.dirname, '../../../..'));
	if (existsSync('.env')) process.loadEnvFile('.env');
	const files = names.some((name) => name.startsWith('-')) ? [] : names.map((name) => resolve(startedIn, name));
	runBackup(command, files, 'npm run backup -- FILE, or npm run restore -- FILE');
}
