/** Skills that a site publishes itself under `/.well-known/agent-skills/` (FEATURES E27). */
import { createHash } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { InstallSource, SkillOrigin } from '../../shared/install.ts';
import { quoteEntry } from './entry-names.ts';
import { inParallel } from './in-parallel.ts';
import type { Outbound } from './outbound.ts';
import type { FetchedSkills } from './source.ts';
import type { StagingFolder } from './staging-folder.ts';
import { fetchZip } from './upload-sources.ts';
import { findIndex, type DigestedSkill, type ListedSkill, type WellKnownIndex } from './well-known-index.ts';

type WellKnownSource = Extract<InstallSource, { type: 'well-known' }>;

export interface WellKnown {
	/** @throws AppError */
	fetch(source: WellKnownSource, into: StagingFolder, signal: AbortSignal): Promise<FetchedSkills>;
	/** The digest that the index has for it now; null where it has none. @throws AppError `not_found` when it is gone */
	revisionOf(origin: SkillOrigin, source: WellKnownSource, signal: AbortSignal): Promise<string | null>;
}

/** As many as can be confirmed at once. */
const MAX_SKILLS = 100;
const AT_ONCE = 6;
const ZIP = 'PK\x03\x04';

export function createWellKnown({ outbound }: { outbound: Outbound }): WellKnown {
	async function look(source: WellKnownSource, signal: AbortSignal): Promise<WellKnownIndex & { service: string }> {
		const { base, name: named } = siteOf(source.url);
		const service = base.host;
		const index = await findIndex(outbound, { base, service }, signal);
		const name = source.name ?? named;
		const skills = name === null ? index.skills : index.skills.filter((skill) => skill.name === name);
		if (skills.length === 0) {
			const wanted = name === null ? 'skills that can be used' : `skill ${quoteEntry(name)}`;
			const known = index.skills.slice(0, 10).map((skill) => skill.name);
			const hint = known.length > 0 ? `It publishes ${known.join(', ')}.` : index.notes.join(' ');
			throw new AppError('not_found', `${service} publishes no ${wanted}.`, hint === '' ? {} : { hint });
		}
		if (skills.length > MAX_SKILLS) {
			throw new AppError(
				'too_large',
				`${service} publishes ${skills.length} skills; at most ${MAX_SKILLS} are installed at once.`,
				{
					hint: 'Name the one to install.'
				}
			);
		}
		return { service, skills, notes: name === null ? index.notes : [] };
	}

	async function fetchDigested(skill: DigestedSkill, service: string, into: StagingFolder, signal: AbortSignal) {
		const { name, digest, url } = skill;
		const maxBytes = skill.type === 'archive' ? into.limits.packedBytes : into.limits.fileBytes;
		const { body } = await outbound(url, { service, what: `skill ${name} at ${url}`, maxBytes, signal });
		if (`sha256:${createHash('sha256').update(body).digest('hex')}` !== digest) {
			throw new AppError('unavailable', `What ${service} sent for ${name} is not what its index says (SHA-256).`, {
				hint: 'Nothing of it was kept. Try again; if it stays so, tell whoever runs the site.'
			});
		}
		if (skill.type === 'skill-md') {
			await into.add(`${name}/SKILL.md`, body);
			return [];
		}
		if (body.toString('latin1', 0, ZIP.length) !== ZIP) {
			throw new AppError(
				'invalid_input',
				`The archive of ${name} is no zip archive; only those are unpacked (no tar).`
			);
		}
		return (await fetchZip(oneChunk(body), insideOf(into, name), signal)).notes;
	}

	async function fetchListed(skill: ListedSkill, service: string, into: StagingFolder, signal: AbortSignal) {
		await inParallel(skill.files, AT_ONCE, signal, async (path, either) => {
			const what = `file ${quoteEntry(path)} of ${skill.name}`;
			if (path.split('/').some((segment) => segment === '..' || segment === '.' || segment === '')) {
				throw new AppError(
					'invalid_input',
					`The entry ${quoteEntry(path)} is refused: its path leads out of the folder.`
				);
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
				notes.push(`${service} says no SHA-256 of its files, so that a change on the way would not be noticed.`);
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

/** A site, or a folder of it; an address of its index, or of a skill below that, names the site. @throws AppError */
function siteOf(text: string): { base: URL; name: string | null } {
	const base = URL.parse(text.includes('://') ? text : `https://${text}`);
	if (!base || !/^https?:$/.test(base.protocol))
		throw new AppError('invalid_input', `“${text.slice(0, 200)}” is not the address of a site.`);
	const [, top, name] = /^(.*)\/\.well-known\/(?:agent-skills|skills)(?:\/([^/]*))?/.exec(base.pathname) ?? [];
	if (top !== undefined) base.pathname = top;
	base.search = '';
	base.hash = '';
	return { base, name: name && name !== 'index.json' ? name : null };
}

/** The same folder with everything one level down. */
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
