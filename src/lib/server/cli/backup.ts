/** `npm run backup -- FILE` and `npm run restore -- FILE`: the data folder in one file, and back again. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backUp } from '../backup/back-up.ts';
import type { LeftOut } from '../backup/format.ts';
import { restore } from '../backup/restore.ts';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';

/** npm starts its scripts in the project's folder, and says where it was started itself. */
const startedIn = process.env.INIT_CWD ?? process.cwd();
const tell = (line: string) => process.stdout.write(`${line}\n`);
const warn = (line: string) => process.stderr.write(`${line}\n`);
function warnOf({ count, named }: LeftOut, what: string): void {
	if (count === 0) return;
	const more = count > named.length ? [`… and ${count - named.length} more`] : [];
	warn([`${what}: ${count}`, ...named.map(({ path, reason }) => `${path}: ${reason}`), ...more].join('\n  '));
}

// The server's own settings, wherever this was started from.
process.chdir(join(import.meta.dirname, '../../../..'));
if (existsSync('.env')) process.loadEnvFile('.env');

try {
	const [command, name, ...others] = process.argv.slice(2);
	if ((command !== 'backup' && command !== 'restore') || !name || others.length > 0 || name.startsWith('-')) {
		throw new Error('Name one file: npm run backup -- FILE, or npm run restore -- FILE.');
	}
	const [{ dataDir }, file] = [loadConfig(process.env), resolve(startedIn, name)];
	if (command === 'backup') {
		const { files, bytes, leftOut } = backUp(dataDir, file);
		tell(`Backed up ${dataDir} to ${file}: ${files} files, ${bytes} bytes. It contains secrets, so keep it private.`);
		warnOf(leftOut, 'Not in the backup');
	} else {
		const { files, bytes, leftOut, isSealed } = restore(file, dataDir, createLog());
		tell(`Restored ${file} to ${dataDir}: ${files} files, ${bytes} bytes. You can start the server now.`);
		warnOf(leftOut, 'Not restored');
		if (!isSealed) warn('This backup is from an older version, so damage may go unnoticed. Check your files.');
	}
} catch (error) {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
}
