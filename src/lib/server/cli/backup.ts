/** `npm run backup -- FILE` and `npm run restore -- FILE`: the data folder in one file, and back again. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backUp, restore } from '../backup.ts';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';

/** npm starts its scripts in the project's folder, and says where it was started itself. */
const startedIn = process.env.INIT_CWD ?? process.cwd();
const tell = (line: string) => process.stdout.write(`${line}\n`);
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
		tell(`Backed up ${dataDir} to ${file}: ${files} files, ${bytes} bytes. It holds secrets; keep it closed.`);
		if (leftOut.length > 0) {
			const more = leftOut.length > 10 ? ', …' : '';
			const names = leftOut.slice(0, 10).map((path) => JSON.stringify(path));
			tell(`Left out, as they are no files (links, sockets): ${leftOut.length}: ${names.join(', ')}${more}`);
		}
	} else {
		const { files, bytes } = restore(file, dataDir, createLog());
		tell(`Restored ${file} to ${dataDir}: ${files} files, ${bytes} bytes. Start the server as usual.`);
	}
} catch (error) {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
}
