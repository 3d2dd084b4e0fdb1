/** Gives skills to other installations: as `/.well-known/agent-skills/`, version 0.2.0 of its index, or as an archive of one skill (F8, E27). */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile, type FileHandle, open } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { parseJson } from '../../shared/json.ts';
import { strictIssues } from '../skills/doctor/doctor.ts';
import { openInside, holdFolder } from '../safe-path.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import { readFolder } from '../trust/folder.ts';
import { scanFiles } from '../trust/scan/scan.ts';
import { swapFolder } from './folder-swap.ts';
import {
	isLeftOut,
	createEntryNames,
	INSTALL_LIMITS,
	type InstallLimits,
	megabytes,
	quoteEntry,
	tooLarge
} from './staging-folder.ts';
import type { Dirent, Stats } from 'node:fs';
import { FILE_ONLY, readInPieces } from '../foreign-folders.ts';
import { compareNames } from '../skills/read/files.ts';
import { writeZip } from '../zip.ts';

const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const FOLDER = '.well-known/agent-skills';
const INDEX = 'index.json';
const MAX_REASONS = 20;

const indexEntry = z.object({
	name: z.string(),
	type: z.enum(['skill-md', 'archive']),
	description: z.string(),
	/** Relative to the index. */
	url: z.string().regex(/^[a-z0-9-]+(?:\.zip|\/SKILL\.md)$/),
	/** `sha256:` and the SHA-256 of what is at `url`, in hex. */
	digest: z.string()
});
type IndexEntry = z.infer<typeof indexEntry>;
const publishedIndex = z.object({ $schema: z.literal(SCHEMA), skills: z.array(indexEntry) });

export interface PublishReport {
	/** The folder that holds the index. */
	folder: string;
	published: (IndexEntry & { version: string; files: number })[];
	/** Files of theirs that were left out, as `skill/path`. */
	leftOut: string[];
	/** Skills that were not published, and why. */
	refused: { name: string; path: string; reasons: string[] }[];
}

interface Built {
	entry: IndexEntry;
	version: string;
	files: number;
	content: Buffer;
}

/**
 * Writes `site/.well-known/agent-skills/`, in place of what an earlier call has written; the same skills give the same
 * bytes. If a skill has an error, a serious finding or a key in it, nothing is written unless `anyway` is set; what can't be
 * installed is never published.
 * @throws AppError `conflict` if the folder holds anything else
 */
export async function publishSkills(
	skills: readonly (Skill | BrokenSkill)[],
	{ site, anyway = false }: { site: string; anyway?: boolean }
): Promise<PublishReport> {
	const folder = join(resolve(site), FOLDER);
	const built: Built[] = [];
	const report: PublishReport = { folder, published: [], leftOut: [], refused: [] };
	// An earlier result may lie among the skills.
	const own = skills.filter(({ dir }) => !`${resolve(dir)}${sep}`.startsWith(`${folder}${sep}`));
	for (const skill of own.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
		const refuse = (reasons: string[]) =>
			report.refused.push({ name: skill.name, path: skill.path, reasons: reasons.slice(0, MAX_REASONS) });
		if (skill.status === 'broken') {
			refuse(skill.issues.map(sentenceOf));
			continue;
		}
		if (built.some(({ entry }) => entry.name === skill.name)) {
			refuse(['Another skill has the same name.']);
			continue;
		}
		const { entries, leftOut } = await choose(skill);
		const reasons = anyway ? [] : await problemsOf(skill, entries);
		if (reasons.length > 0) {
			refuse(reasons);
			continue;
		}
		built.push(await build(skill, entries));
		report.leftOut.push(...leftOut.sort().map((path) => `${skill.name}/${path}`));
	}
	if (built.length === 0 || (report.refused.length > 0 && !anyway)) return report;
	await place(folder, built);
	report.published = built.map(({ entry, version, files }) => ({ ...entry, version, files }));
	return report;
}

/** Evals are for who makes the skill: their prompts and files may be private. */
const PRIVATE = /^evals(?:\/|$)/i;
const SECRET_NAMES =
	/(?:^|\/)(?:id_(?:rsa|dsa|ecdsa|ed25519)|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml|txt)|[^/]*\.(?:env|pem|key|p12|pfx|jks|keystore))$/i;

/** Without hidden files, evals and what by its name holds a secret. */
async function choose(skill: Skill): Promise<{ entries: ExportEntry[]; leftOut: string[] }> {
	const leftOut: string[] = [];
	const entries = await listEntries(skill, {
		isSkipped(path) {
			if (isLeftOut(path)) return true;
			const isPrivate = /(?:^|\/)\./.test(path) || PRIVATE.test(path) || SECRET_NAMES.test(path);
			if (isPrivate) leftOut.push(path);
			return isPrivate;
		}
	});
	return { entries, leftOut };
}

const KEYS =
	/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----|\bsk-(?:or-v1|ant|proj)-[\w-]{16,}|\bsk_live_\w{16,}|\bgh[pousr]_\w{30,}|\bgithub_pat_\w{30,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[\w-]{16,}|\bAIza[\w-]{35}/;

/** Sentences; none if it may be published. */
async function problemsOf(skill: Skill, entries: readonly ExportEntry[]): Promise<string[]> {
	const errors = strictIssues(skill).filter(({ severity }) => severity === 'error');
	const chosen = new Set(entries.map(({ path }) => path));
	const { files, problem } = await readFolder(skill.dir);
	const published = files.filter(({ path }) => chosen.has(path));
	const findings = await scanFiles({ files: published, problem });
	return [
		...errors.map(sentenceOf),
		...findings
			.filter(({ severity }) => severity === 'danger')
			.map(({ message, file, line }) => `${file}:${line}: ${message}.`),
		...published
			.filter(({ text }) => text !== null && KEYS.test(text))
			.map(({ path }) => `${path}: it has a key in it. Remove it, and make a new one.`)
	];
}

function sentenceOf({ field, message }: { field: string; message: string }): string {
	return `${field}: ${message}.`;
}

/** A single file as it is; more as an archive. */
async function build(skill: Skill, entries: readonly ExportEntry[]): Promise<Built> {
	const { name, description, version, dir } = skill;
	const [only] = entries;
	const isText = entries.length === 1 && only?.path === 'SKILL.md';
	const content = isText ? await readFile(join(dir, 'SKILL.md')) : await joined(zipEntries(dir, entries, ''));
	const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
	const kind = isText
		? { type: 'skill-md' as const, url: `${name}/SKILL.md` }
		: { type: 'archive' as const, url: `${name}.zip` };
	const { type, url } = kind;
	return { entry: { name, type, description, url, digest }, version, files: entries.length, content };
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
	const parts: Uint8Array[] = [];
	for await (const chunk of chunks) parts.push(chunk);
	return Buffer.concat(parts);
}

/** Complete before it takes the place of the earlier one. */
async function place(folder: string, built: readonly Built[]): Promise<void> {
	await requireOurs(folder);
	await swapFolder(dirname(folder), folder, async (staging) => {
		for (const { entry, content } of built) {
			const path = join(staging, entry.url);
			await mkdir(dirname(path), { recursive: true });
			await writeFile(path, content, { flag: 'wx' });
		}
		const index = { $schema: SCHEMA, skills: built.map(({ entry }) => entry) };
		await writeFile(join(staging, INDEX), `${JSON.stringify(index, null, '\t')}\n`);
	});
}

/** @throws AppError conflict */
async function requireOurs(folder: string): Promise<void> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
		(error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return [];
			throw error;
		}
	);
	const index = await readIndex(folder);
	const known = new Set([INDEX, ...(index?.skills.map(({ url }) => url) ?? [])]);
	const paths = entries
		.filter((entry) => !entry.isDirectory())
		.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/'));
	const foreign = paths.find((path) => !known.has(path) || index === null);
	if (foreign === undefined) return;
	throw new AppError('conflict', `${folder} holds ${foreign}, which wasn’t published from here. Nothing was changed.`, {
		hint: 'Move it away, or choose another folder.'
	});
}

async function readIndex(folder: string) {
	const text = await readFile(join(folder, INDEX), 'utf8').catch(() => '');
	return publishedIndex.safeParse(parseJson(text)).data ?? null;
}

/** A file of a published folder, by its address below `/.well-known/agent-skills/`; null unless the index names it. */
export async function readPublished(
	site: string,
	path: string
): Promise<{ type: string; content: Uint8Array<ArrayBuffer> } | null> {
	const folder = join(resolve(site), FOLDER);
	const index = await readIndex(folder);
	if (path !== INDEX && !index?.skills.some(({ url }) => url === path)) return null;
	// No link leads out of it.
	const opened = await openInside(folder, path).catch(() => null);
	const content = opened && (await opened.file.readFile().finally(() => opened.file.close()));
	const type = path === INDEX ? 'application/json' : path.endsWith('.zip') ? 'application/zip' : 'text/markdown';
	return content && { type, content: new Uint8Array(content) };
}

// A skill as a zip archive that can be installed again.

/** The earliest time in zip format, for every file: modification times must not change the bytes. */
const TIME = new Date(1980, 0, 1);

interface ExportEntry {
	/** Relative to the skill’s folder, with `/`. */
	path: string;
	bytes: number;
	isExecutable: boolean;
}

/**
 * Yields the archive on demand. Checks everything before the first chunk: what couldn’t be installed again is refused.
 * Skips links and `.git/`.
 * @throws AppError `too_large`, `invalid_input` naming the entry, `conflict` if files disappear meanwhile
 */
export async function exportSkill(
	{ name, dir }: Pick<Skill | BrokenSkill, 'name' | 'dir'>,
	limits: InstallLimits = INSTALL_LIMITS
): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>> {
	return zipEntries(dir, await listEntries({ dir, name }, { limits }), `${folderNameOf(name)}/`);
}

/** The same files give the same bytes. `top` is in front of every path. */
function zipEntries(
	dir: string,
	entries: readonly ExportEntry[],
	top: string
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
	return writeZip(
		entries.map(({ path, bytes, isExecutable }) => ({
			name: `${top}${path}`,
			modifiedAt: TIME,
			mode: isExecutable ? 0o755 : 0o644,
			isCompressed: true,
			chunks: readWhole(dir, path, bytes)
		}))
	);
}

/** A name that is safe in a header and on every disk. A broken skill may have any name. */
export function folderNameOf(name: string): string {
	const safe = name
		.replace(/[^A-Za-z0-9._-]+/g, '-')
		.replace(/^[.-]+|[.-]+$/g, '')
		.slice(0, 64);
	return safe === '' ? 'skill' : safe;
}

/** What could be installed again, by path. @throws AppError as `exportSkill` */
async function listEntries(
	{ name, dir }: Pick<Skill | BrokenSkill, 'name' | 'dir'>,
	{ limits = INSTALL_LIMITS, isSkipped = isLeftOut }: { limits?: InstallLimits; isSkipped?: (path: string) => boolean }
): Promise<ExportEntry[]> {
	const names = createEntryNames();
	const entries: ExportEntry[] = [];
	let bytes = 0;
	const pending = [''];
	for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
		for (const each of await readSorted(join(dir, folder), name)) {
			const path = folder ? `${folder}/${each.name}` : each.name;
			if (isSkipped(path)) continue;
			if (each.isDirectory()) pending.push(path);
			if (!each.isFile()) continue;
			names.take(`${folderNameOf(name)}/${path}`, 'file');
			const { size, mode } = await statOf(dir, path);
			bytes += size;
			if (size > limits.fileBytes) throw tooLarge(`${quoteEntry(path)} is larger than ${megabytes(limits.fileBytes)}.`);
			if (bytes > limits.unpackedBytes) {
				throw tooLarge(`The files of “${name}” total more than ${megabytes(limits.unpackedBytes)}.`);
			}
			entries.push({ path, bytes: size, isExecutable: (mode & 0o111) !== 0 });
			if (entries.length > limits.files) throw tooLarge(`“${name}” has more than ${limits.files} files.`);
		}
	}
	return entries.sort((a, b) => compareNames(a.path, b.path));
}

/** Reads no more than `bytes`, so that a growing file can’t exceed the limits. */
async function* readWhole(dir: string, path: string, bytes: number): AsyncGenerator<Uint8Array> {
	yield* readInPieces(await openEntry(dir, path), bytes);
}

async function statOf(dir: string, path: string): Promise<Stats> {
	try {
		const file = await openEntry(dir, path);
		return await file.stat().finally(() => file.close());
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw new AppError('conflict', `Couldn’t read ${quoteEntry(path)} (${codeOf(error)}).`, { cause: error });
	}
}

async function openEntry(dir: string, path: string): Promise<FileHandle> {
	const folder = await holdFolder(dir, path);
	return open(folder.target, FILE_ONLY).finally(() => folder.close());
}

async function readSorted(folder: string, name: string): Promise<Dirent[]> {
	try {
		const entries = await readdir(folder, { withFileTypes: true });
		return entries.sort((a, b) => compareNames(a.name, b.name));
	} catch (error) {
		throw new AppError('conflict', `Couldn’t read a folder of “${name}” (${codeOf(error)}).`, { cause: error });
	}
}

function codeOf(error: unknown): string {
	return (error as NodeJS.ErrnoException).code ?? String(error);
}
