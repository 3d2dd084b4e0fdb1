/** Variables of skills, encrypted at rest; only processes of their own skill receive them (F3, D48). */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../../shared/errors.ts';
import { ignoring } from '../foreign-folders.ts';
import { isReservedVariable, isVariableName } from '../skills/needs/variables.ts';
import { READ_FLAGS } from '../skills/read/files.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { EncryptedSecret, Secrets } from '../store/access.ts';

const CIPHER = 'aes-256-gcm';
/** For GCM by NIST SP 800-38D: 96 random bits, a 128-bit tag. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MAX_VALUE_BYTES = 65_536;

export interface Vault {
	/** Adds or replaces a value. @throws AppError invalid_input */
	set(skillId: string, name: string, value: string, now: string): Promise<void>;
	/** False if there was none. */
	remove(skillId: string, name: string): Promise<boolean>;
	/** Stored variables, by name. One with a `problem` can't be used and counts as not set. */
	list(skillId: string): Promise<StoredVariable[]>;
	/** All stored values of the skill that can be read; only for its processes. */
	valuesOf(skillId: string): Promise<Record<string, string>>;
	/** `valuesOf` by skill, for an ExecutionHost. */
	secretsOf(skill: Pick<Skill, 'source' | 'name'>): Promise<Record<string, string>>;
}

export interface StoredVariable {
	name: string;
	problem: string | null;
}

/** `key` is 32 bytes; see `loadSecretsKey`. */
export function createVault({ store, key }: { store: Secrets; key: Buffer }): Vault {
	const encrypt = (skillId: string, name: string, value: string): EncryptedSecret => ({
		name,
		...encryptText(key, labelOf(skillId, name), value)
	});
	const decrypt = (skillId: string, { name, ...parts }: EncryptedSecret): string | null =>
		decryptText(key, labelOf(skillId, name), parts);
	const valuesOf = async (skillId: string): Promise<Record<string, string>> => {
		const values: [string, string][] = [];
		for (const row of await store.list(skillId)) {
			const value = isRefused(row.name) ? null : decrypt(skillId, row);
			if (value !== null) values.push([row.name, value]);
		}
		return Object.fromEntries(values);
	};

	return {
		async set(skillId, name, value, now) {
			checkVariable(name, value);
			await store.put(skillId, encrypt(skillId, name, value), now);
		},
		remove: (skillId, name) => store.remove(skillId, name),
		async list(skillId) {
			return (await store.list(skillId)).map((row) => ({
				name: row.name,
				problem: decrypt(skillId, row) === null ? wrongKey(row.name) : null
			}));
		},
		valuesOf,
		secretsOf: (skill) => valuesOf(skillIdOf(skill))
	};
}

function wrongKey(name: string): string {
	return `${name} was saved with another key (SECRETS_KEY or secrets.key changed). Enter it again.`;
}

/** Validates a variable. Messages never contain the value. @throws AppError invalid_input */
function checkVariable(name: string, value: string): void {
	const refuse = (reason: string) => {
		throw new AppError('invalid_input', reason, { details: { field: name.slice(0, 128) } });
	};
	if (!isVariableName(name)) refuse('Variable names may have letters, digits and underscores.');
	if (isReservedVariable(name)) refuse(`${name} controls how programs start, so skills can’t have it.`);
	if (value === '') refuse(`${name} has no value.`);
	if (Buffer.byteLength(value) > MAX_VALUE_BYTES) refuse(`The value of ${name} is longer than 64 KB.`);
	if (value.includes('\0')) refuse(`The value of ${name} contains a NUL character, which programs can’t receive.`);
	if (!value.isWellFormed()) refuse(`The value of ${name} isn’t valid text.`);
}

function isRefused(name: string): boolean {
	return !isVariableName(name) || isReservedVariable(name);
}

/** Binds a value to its skill and name, so that it can't be moved to others. */
function labelOf(skillId: string, name: string): Buffer {
	return Buffer.from(`${skillId}\0${name}`);
}

/** `label` says what the value is for, so that it can't be moved to another place. */
export function encryptText(key: Buffer, label: Buffer, value: string): Omit<EncryptedSecret, 'name'> {
	const iv = randomBytes(IV_BYTES);
	const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
	cipher.setAAD(label);
	const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
	return { iv: toText(iv), tag: toText(cipher.getAuthTag()), ciphertext: toText(ciphertext) };
}

/** null if the value was encrypted with another key or label, or was changed. */
export function decryptText(
	key: Buffer,
	label: Buffer,
	{ iv, tag, ciphertext }: Omit<EncryptedSecret, 'name'>
): string | null {
	try {
		const decipher = createDecipheriv(CIPHER, key, toBytes(iv), { authTagLength: TAG_BYTES });
		decipher.setAAD(label);
		decipher.setAuthTag(toBytes(tag));
		return Buffer.concat([decipher.update(toBytes(ciphertext)), decipher.final()]).toString('utf8');
	} catch {
		// OpenSSL doesn't say why; `list` of the vault says what to do.
		return null;
	}
}

function toText(bytes: Buffer): string {
	return bytes.toString('base64');
}

function toBytes(text: string): Buffer {
	return Buffer.from(text, 'base64');
}

// The encryption key: from SECRETS_KEY, or created once and kept in the data folder (F3).

const KEY_BYTES = 32;
const FILE = 'secrets.key';
/** Fixed, because the same SECRETS_KEY must give the same key at every start. */
const SALT = 'openrouter-skills/secrets/1';

/**
 * 32 bytes, derived from `secretsKey` or from the file `secrets.key` in the data folder, which only its owner may read.
 * @throws Error if that file is a link, is readable by others or has no key
 */
export async function loadSecretsKey(dataDir: string, secretsKey: string | null): Promise<Buffer> {
	if (secretsKey !== null) {
		const derive = promisify<string, string, number, { N: number; maxmem: number }, Buffer>(scrypt);
		return derive(secretsKey, SALT, KEY_BYTES, { N: 2 ** 15, maxmem: 64 * 1024 * 1024 });
	}
	const path = join(dataDir, FILE);
	return (await readKey(path)) ?? makeKey(dataDir, path);
}

/** 32 bytes for one purpose, which reveal nothing about the key or those for other purposes. */
export function keyFor(key: Buffer, purpose: string): Buffer {
	return Buffer.from(hkdfSync('sha256', key, '', `openrouter-skills/${purpose}`, KEY_BYTES));
}

/** null if there is none. */
async function readKey(path: string): Promise<Buffer | null> {
	const file = await open(path, READ_FLAGS).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null;
		if (error.code === 'ELOOP') throw new Error(`${path} is a link. Put the key itself there.`, { cause: error });
		throw new Error(`Couldn’t read ${path} (${error.code ?? error.message}).`, { cause: error });
	});
	if (!file) return null;
	try {
		const entry = await file.stat();
		if (!entry.isFile()) throw new Error(`${path} isn’t a file.`);
		if (process.platform !== 'win32' && (entry.mode & 0o077) !== 0) {
			throw new Error(`Other users of this computer can read ${path}. Run chmod 600 on it.`);
		}
		const text = (await file.read(Buffer.alloc(256), 0, 256, 0)).buffer.toString('latin1').replaceAll('\0', '');
		if (!/^[0-9a-f]{64}\n?$/.test(text)) {
			throw new Error(`${path} has no key in it. If no secrets are saved, delete it and a new one will be created.`);
		}
		return Buffer.from(text.trim(), 'hex');
	} finally {
		await file.close();
	}
}

/** Creates the file in one step and never overwrites: of two servers that start at once, one creates it. */
async function makeKey(dataDir: string, path: string): Promise<Buffer> {
	await mkdir(dataDir, { recursive: true, mode: 0o700 });
	const draft = `${path}.${randomBytes(6).toString('hex')}`;
	const file = await open(draft, 'wx', 0o600);
	try {
		await file.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
		await file.sync();
		await file.close();
		await link(draft, path).catch(ignoring('EEXIST'));
	} finally {
		await file.close();
		await unlink(draft);
	}
	const key = await readKey(path);
	if (!key) throw new Error(`${path} was deleted while it was being created.`);
	return key;
}

// Changes several variables of a skill: all of them or, if one is refused, none (F3).

/** null removes a variable. @throws AppError invalid_input, without any value */
export async function changeSecrets(
	vault: Vault,
	skillId: string,
	patch: Readonly<Record<string, string | null>>,
	now: string
): Promise<void> {
	const changes = Object.entries(patch);
	for (const [name, value] of changes) if (value !== null) checkVariable(name, value);
	for (const [name, value] of changes) {
		if (value === null) await vault.remove(skillId, name);
		else await vault.set(skillId, name, value, now);
	}
}
