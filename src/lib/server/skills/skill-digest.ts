/** What a skill's files are, as one text: consent is bound to it (FEATURES D9, F4). */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from './resources.ts';

/** SHA-256 of the names and bytes of every file of the folder, in hexadecimal; a file that cannot be read counts as its error. */
export async function digestOfFiles(dir: string): Promise<string> {
	const hash = createHash('sha256');
	for (const file of await listFiles(dir)) {
		hash.update(`${file}\0`);
		try {
			for await (const chunk of createReadStream(join(dir, file))) hash.update(chunk as Buffer);
		} catch (error) {
			hash.update((error as NodeJS.ErrnoException).code ?? 'unreadable');
		}
		hash.update('\0');
	}
	return hash.digest('hex');
}
