/** Variables of skills, encrypted at rest; each is given to the processes of its own skill alone (FEATURES F3, D48). */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import { isReservedVariable, isVariableName } from '../skills/declared-variables.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { EncryptedSecret, Secrets } from '../store/secrets.ts';

const CIPHER = 'aes-256-gcm';
/** What NIST SP 800-38D has for GCM: 96 bits at random, a tag of 128. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MAX_VALUE_BYTES = 65_536;

export interface Vault {
	/** In place of the value before. @throws AppError invalid_input */
	set(skillId: string, name: string, value: string, now: string): Promise<void>;
	/** False when there was none. */
	remove(skillId: string, name: string): Promise<boolean>;
	/** What is stored, by name. `problem` says why a value cannot be used: it counts as not set. */
	list(skillId: string): Promise<StoredVariable[]>;
	/** Everything that is stored for the skill and can be read. Goes to its processes and nowhere else. */
	valuesOf(skillId: string): Promise<Record<string, string>>;
	/** `valuesOf` by skill: what an ExecutionHost asks for. */
	secretsOf(skill: Pick<Skill, 'source' | 'name'>): Promise<Record<string, string>>;
}

export interface StoredVariable {
	name: string;
	problem: string | null;
}

/** `key` is 32 bytes: see key.ts. */
export function createVault({ store, key }: { store: Secrets; key: Buffer }): Vault {
	const encrypt = (skillId: string, name: string, value: string): EncryptedSecret => {
		const iv = randomBytes(IV_BYTES);
		const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
		cipher.setAAD(labelOf(skillId, name));
		const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
		return { name, iv: toText(iv), tag: toText(cipher.getAuthTag()), ciphertext: toText(ciphertext) };
	};
	/** Null for what another key has encrypted, for another skill, or somebody has changed. */
	const decrypt = (skillId: string, { name, iv, tag, ciphertext }: EncryptedSecret): string | null => {
		try {
			const decipher = createDecipheriv(CIPHER, key, toBytes(iv), { authTagLength: TAG_BYTES });
			decipher.setAAD(labelOf(skillId, name));
			decipher.setAuthTag(toBytes(tag));
			return Buffer.concat([decipher.update(toBytes(ciphertext)), decipher.final()]).toString('utf8');
		} catch {
			// OpenSSL does not say why; `list` says what to do.
			return null;
		}
	};
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
				problem:
					decrypt(skillId, row) === null
						? `${row.name} was stored with another key (SECRETS_KEY or secrets.key have changed): set it again.`
						: null
			}));
		},
		valuesOf,
		secretsOf: (skill) => valuesOf(skillIdOf(skill))
	};
}

/** Can a variable be stored with this value? The value is in no message. @throws AppError invalid_input */
export function checkVariable(name: string, value: string): void {
	const refuse = (reason: string) => {
		throw new AppError('invalid_input', reason, { details: { field: name.slice(0, 128) } });
	};
	if (!isVariableName(name)) refuse('A variable has a name of letters, digits and underscores.');
	if (isReservedVariable(name)) refuse(`${name} decides how programs start: it cannot be given to a skill.`);
	if (value === '') refuse(`${name} has no value.`);
	if (Buffer.byteLength(value) > MAX_VALUE_BYTES) refuse(`The value of ${name} is longer than 64 KB.`);
	if (value.includes('\0')) refuse(`The value of ${name} has a NUL character: no program can be given it.`);
	if (!value.isWellFormed()) refuse(`The value of ${name} is no valid text.`);
}

function isRefused(name: string): boolean {
	return !isVariableName(name) || isReservedVariable(name);
}

/** A row that is moved to another skill or name cannot be read there. */
function labelOf(skillId: string, name: string): Buffer {
	return Buffer.from(`${skillId}\0${name}`);
}

function toText(bytes: Buffer): string {
	return bytes.toString('base64');
}

function toBytes(text: string): Buffer {
	return Buffer.from(text, 'base64');
}
