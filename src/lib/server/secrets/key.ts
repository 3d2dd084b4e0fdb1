/** The key that secrets are encrypted with: from SECRETS_KEY, or made once and kept in the data folder (FEATURES F3). */
import { hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const KEY_BYTES = 32;
const FILE = 'secrets.key';
/** The same key must come out of the same text at every start; the text is the operator's and only here. */
const SALT = 'openrouter-skills/secrets/1';
// Windows has no such flags.
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * 32 bytes. Without `secretsKey` they are in the file `secrets.key` of the data folder, which only its owner may read.
 * @throws Error when that file is a link, is readable by others or holds no key
 */
export async function loadSecretsKey(dataDir: string, secretsKey: string | null): Promise<Buffer> {
	if (secretsKey !== null) {
		const derive = promisify<string, string, number, { N: number; maxmem: number }, Buffer>(scrypt);
		return derive(secretsKey, SALT, KEY_BYTES, { N: 2 ** 15, maxmem: 64 * 1024 * 1024 });
	}
	const path = join(dataDir, FILE);
	return (await readKey(path)) ?? makeKey(dataDir, path);
}

/** 32 bytes for one purpose, of which nothing can be learned about the key or about those of other purposes. */
export function keyFor(key: Buffer, purpose: string): Buffer {
	return Buffer.from(hkdfSync('sha256', key, '', `openrouter-skills/${purpose}`, KEY_BYTES));
}

/** Null when there is none. */
async function readKey(path: string): Promise<Buffer | null> {
	const file = await open(path, READ).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null;
		if (error.code === 'ELOOP') throw new Error(`${path} is a link: put the key itself there.`, { cause: error });
		throw new Error(`${path} cannot be read (${error.code ?? error.message}).`, { cause: error });
	});
	if (!file) return null;
	try {
		const entry = await file.stat();
		if (!entry.isFile()) throw new Error(`${path} is not a file.`);
		if (process.platform !== 'win32' && (entry.mode & 0o077) !== 0) {
			throw new Error(`${path} can be read by other users of this machine: run chmod 600 on it.`);
		}
		const text = (await file.read(Buffer.alloc(256), 0, 256, 0)).buffer.toString('latin1').replaceAll('\0', '');
		if (!/^[0-9a-f]{64}\n?$/.test(text)) {
			throw new Error(`${path} holds no key. If no secrets of skills are stored, remove it: a new one will be made.`);
		}
		return Buffer.from(text.trim(), 'hex');
	} finally {
		await file.close();
	}
}

/** Complete or not at all, and never over another one: of two servers that start at once, one makes it. */
async function makeKey(dataDir: string, path: string): Promise<Buffer> {
	await mkdir(dataDir, { recursive: true, mode: 0o700 });
	const draft = `${path}.${randomBytes(6).toString('hex')}`;
	const file = await open(draft, 'wx', 0o600);
	try {
		await file.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
		await file.sync();
		await file.close();
		await link(draft, path).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EEXIST') throw error;
		});
	} finally {
		await file.close();
		await unlink(draft);
	}
	const key = await readKey(path);
	if (!key) throw new Error(`${path} was removed while it was made.`);
	return key;
}
