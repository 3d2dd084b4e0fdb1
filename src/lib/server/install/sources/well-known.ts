/** Skills that a site publishes under `/.well-known/agent-skills/` (E27). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import type { InstallSource } from '../../../shared/install.ts';
import { quoteEntry, refusal, type StagingFolder } from '../staging-folder.ts';
import { isInstallableName } from '../inspection.ts';
import { fetchJson, inParallel, type Outbound } from './outbound.ts';
import type { TypedSource } from '../catalog-installer.ts';
import { fetchZip } from './upload.ts';
import { inPlainWords } from '../../../shared/plain-issues.ts';

type WellKnownSource = Extract<InstallSource, { type: 'well-known' }>;

/** Also the maximum that can be confirmed at once. */
const MAX_SKILLS = 100;
const AT_ONCE = 6;
const ZIP = 'PK\x03\x04';

export function createWellKnown({ outbound }: { outbound: Outbound }): TypedSource<'well-known'> {
	async function look(source: WellKnownSource, signal: AbortSignal): Promise<WellKnownIndex & { service: string }> {
		const { base, name: named } = siteOf(source.url);
		const service = base.host;
		const index = await findIndex(outbound, { base, service }, signal);
		const name = source.name ?? named;
		const skills = name === null ? index.skills : index.skills.filter((skill) => skill.name === name);
		if (skills.length === 0) {
			const wanted = name === null ? 'usable skills' : `skill ${quoteEntry(name)}`;
			const known = index.skills.slice(0, 10).map((skill) => skill.name);
			const hint = known.length > 0 ? `Available: ${known.join(', ')}.` : index.notes.join(' ');
			throw new AppError('not_found', `${service} has no ${wanted}.`, { hint: hint || undefined });
		}
		if (skills.length > MAX_SKILLS) {
			const message = `${service} has ${skills.length} skills, but only ${MAX_SKILLS} can be installed at once.`;
			throw new AppError('too_large', message, { hint: 'Choose the one to install.' });
		}
		return { service, skills, notes: name === null ? index.notes : [] };
	}

	async function fetchDigested(skill: DigestedSkill, service: string, into: StagingFolder, signal: AbortSignal) {
		const { name, digest, url } = skill;
		const maxBytes = skill.type === 'archive' ? into.limits.packedBytes : into.limits.fileBytes;
		const { body } = await outbound(url, { service, what: `skill ${name} at ${url}`, maxBytes, signal });
		if (`sha256:${createHash('sha256').update(body).digest('hex')}` !== digest) {
			const message = `The download of ${name} doesn’t match the checksum that ${service} lists (SHA-256).`;
			throw new AppError('unavailable', message, { hint: 'Nothing was saved. Try again, or tell the site’s owner.' });
		}
		if (skill.type === 'skill-md') {
			await into.add(`${name}/SKILL.md`, body);
			return [];
		}
		if (body.toString('latin1', 0, ZIP.length) !== ZIP) {
			throw new AppError('invalid_input', `The archive of ${name} isn’t a zip file, the only supported format.`);
		}
		return (await fetchZip(oneChunk(body), insideOf(into, name), signal)).notes;
	}

	async function fetchListed(skill: ListedSkill, service: string, into: StagingFolder, signal: AbortSignal) {
		await inParallel(skill.files, AT_ONCE, signal, async (path, either) => {
			const what = `file ${quoteEntry(path)} of ${skill.name}`;
			if (path.split('/').some((segment) => segment === '..' || segment === '.' || segment === '')) {
				throw refusal(path, 'its path leads outside the folder');
			}
			const url = skill.url + path.split('/').map(encodeURIComponent).join('/');
			const { body } = await outbound(url, { service, what, maxBytes: into.limits.fileBytes, signal: either });
			await into.add(`${skill.name}/${path}`, body, { isExecutable: 'by-shebang' });
		});
	}

	return {
		async fetch(source, into, signal) {
			const { service, skills, notes: left } = await look(source, signal);
			const notes = [...left];
			for (const skill of skills) {
				if (skill.type !== 'files') notes.push(...(await fetchDigested(skill, service, into, signal)));
				else await fetchListed(skill, service, into, signal);
			}
			if (skills.some(({ type }) => type === 'files')) {
				notes.push(`${service} lists no checksums, so changes to its files can’t be detected.`);
			}
			return {
				folders: skills.map(({ name }) => name),
				notes,
				originOf(path) {
					const skill = skills.find(({ name }) => name === path);
					return {
						provider: 'well-known',
						source: { type: 'well-known', url: source.url, name: path },
						url: skill?.url ?? null,
						commit: null,
						path,
						revision: revisionOf(skill)
					};
				}
			};
		},
		async revisionOf(origin, source, signal) {
			const { skills } = await look({ ...source, name: origin.path }, signal);
			return revisionOf(skills[0]);
		}
	};
}

const revisionOf = (skill: DigestedSkill | ListedSkill | undefined) =>
	skill && skill.type !== 'files' ? skill.digest : null;

/** Accepts a site, a folder of it, its index, or a skill below that. @throws AppError */
function siteOf(text: string): { base: URL; name: string | null } {
	const base = URL.parse(text.includes('://') ? text : `https://${text}`);
	if (!base || !/^https?:$/.test(base.protocol)) {
		throw new AppError('invalid_input', `“${text.slice(0, 200)}” isn’t the address of a site.`);
	}
	const [, top, name] = /^(.*)\/\.well-known\/(?:agent-skills|skills)(?:\/([^/]*))?/.exec(base.pathname) ?? [];
	if (top !== undefined) base.pathname = top;
	base.search = '';
	base.hash = '';
	return { base, name: name && name !== 'index.json' ? name : null };
}

/** The same staging folder, writing into a subfolder. */
function insideOf(into: StagingFolder, folder: string): StagingFolder {
	return {
		dir: into.dir,
		limits: into.limits,
		get files() {
			return into.files;
		},
		get bytes() {
			return into.bytes;
		},
		add: (path, content, options) => into.add(`${folder}/${path}`, content, options),
		remove: () => into.remove()
	};
}

async function* oneChunk(body: Buffer): AsyncIterable<Uint8Array> {
	yield body;
}

// Finds and reads `/.well-known/agent-skills/index.json` in its two versions (E27).

/** Version 0.2.0: one file or one archive, with its SHA-256. */
export type DigestedSkill = z.infer<typeof digested>;

/** Version 0.1.0: files by name, without checksums. */
export interface ListedSkill {
	name: string;
	type: 'files';
	/** The skill’s folder, with a trailing `/`. */
	url: string;
	files: string[];
}

export interface WellKnownIndex {
	skills: (DigestedSkill | ListedSkill)[];
	/** Sentences about skipped entries. */
	notes: string[];
}

const MAX_INDEX_BYTES = 5 * 1024 * 1024;
const SCHEMA = /^https:\/\/schemas\.agentskills\.io\/discovery\/0\.2\.\d+\//;

const digested = z.object({
	name: z.string(),
	type: z.enum(['skill-md', 'archive']),
	url: z.string().min(1).max(2048),
	digest: z.string().regex(/^sha256:[0-9a-f]{64}$/)
});
const listed = z.object({ name: z.string(), files: z.array(z.string().min(1).max(1024)).min(1).max(1000) });
const indexShape = z.object({ $schema: z.string().optional(), skills: z.array(z.unknown()) });

/**
 * Looks below the address, then at the top of the site; for version 0.2.0, then 0.1.0.
 * @throws AppError `not_found` without an index, `unavailable`, `invalid_input`
 */
async function findIndex(
	outbound: Outbound,
	{ base, service }: { base: URL; service: string },
	signal: AbortSignal
): Promise<WellKnownIndex> {
	let problem: AppError | null = null;
	for (const folder of ['agent-skills', 'skills']) {
		for (const top of new Set([base.pathname.replace(/\/+$/, ''), ''])) {
			const url = new URL(`${top}/.well-known/${folder}/index.json`, base).href;
			const asked = { service, what: 'index of skills', maxBytes: MAX_INDEX_BYTES, signal };
			try {
				return readIndex(await fetchJson(outbound, url, indexShape, asked), url, service);
			} catch (error) {
				if (!(error instanceof AppError) || !isElsewhere(error)) throw error;
				problem ??= error.code === 'not_found' ? null : error;
			}
		}
	}
	throw (
		problem ??
		new AppError('not_found', `${service} offers no skills.`, {
			hint: 'It has no /.well-known/agent-skills/index.json.'
		})
	);
}

/** Sites answer with status 404 or their front page if they have no index. */
function isElsewhere(error: AppError): boolean {
	const isAnswer = error.details === undefined && error.code === 'unavailable' && error.cause instanceof z.ZodError;
	return error.code === 'not_found' || isAnswer;
}

function readIndex(
	{ $schema, skills: entries }: z.infer<typeof indexShape>,
	url: string,
	service: string
): WellKnownIndex {
	if ($schema !== undefined && !SCHEMA.test($schema)) {
		throw new AppError('unavailable', `The index of ${service} has an unknown format: ${quoteEntry($schema)}.`, {
			hint: 'Supported are version 0.2.0, and 0.1.0 without a “$schema”.'
		});
	}
	const skills = new Map<string, DigestedSkill | ListedSkill>();
	const notes: string[] = [];
	for (const [index, entry] of entries.entries()) {
		const skill = readEntry(entry, url);
		if (typeof skill === 'string') notes.push(`Skipped entry ${index + 1} of the index: ${skill}.`);
		else if (skills.has(skill.name))
			notes.push(`Skipped entry ${index + 1} of the index: ${skill.name} appears twice.`);
		else skills.set(skill.name, skill);
	}
	const shown = notes.slice(0, 5);
	if (notes.length > 5) shown.push(`Skipped ${notes.length - 5} more entries.`);
	return { skills: [...skills.values()], notes: shown };
}

/** A string is the reason why the entry can’t be used. */
function readEntry(entry: unknown, index: string): DigestedSkill | ListedSkill | string {
	const old = listed.safeParse(entry, { error: inPlainWords });
	const skill = digested.safeParse(entry, { error: inPlainWords });
	const name = (skill.data ?? old.data)?.name;
	if (name === undefined) return problemOf(skill.error ?? old.error);
	if (!isInstallableName(name)) return `${quoteEntry(name)} isn’t a valid skill name`;
	if (!skill.success) {
		return { name, type: 'files', url: new URL(`${name}/`, index).href, files: old.data?.files ?? [] };
	}
	const url = URL.parse(skill.data.url, index);
	if (!url || !/^https?:$/.test(url.protocol)) return `${quoteEntry(skill.data.url)} isn’t the address of a file`;
	return { ...skill.data, url: url.href };
}

function problemOf(error: z.ZodError | undefined): string {
	const [issue] = error?.issues ?? [];
	return issue ? `${issue.path.join('.') || 'it'} ${issue.message}` : 'it can’t be read';
}
