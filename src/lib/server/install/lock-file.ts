/** skills-lock.json: what everybody's skills in use came from, as the `skills` command line writes it for a project (FEATURES E28). */
import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import type { SkillOrigin } from '../../shared/install.ts';
import { SYSTEM } from '../skills/registry/visibility.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { versionInUse } from './versions.ts';
import type { InstallContext } from './install-context.ts';

interface LockEntry {
	source: string;
	ref?: string;
	sourceType: string;
	skillPath?: string;
	computedHash: string;
}

/** Made anew from the records; appears whole. A lock that cannot be written is logged: the next change writes it. */
export async function writeLockFile(context: InstallContext): Promise<void> {
	const { places, log } = context;
	const temporary = `${places.lockFile}.${randomUUID()}`;
	try {
		const text = `${JSON.stringify({ version: 1, skills: await entriesOf(context) }, null, 2)}\n`;
		await writeFile(temporary, text);
		await rename(temporary, places.lockFile);
	} catch (error) {
		log.error({ error: String(error) }, 'skills-lock.json could not be written.');
		await rm(temporary, { force: true });
	}
}

async function entriesOf(context: InstallContext): Promise<Record<string, LockEntry>> {
	const rows = (await context.store.skillInstalls.list()).filter(
		({ owner, state }) => owner === SYSTEM && state === 'active'
	);
	const names = [...new Set(rows.map(({ name }) => name))].sort();
	const entries = names.flatMap((name): [string, LockEntry][] => {
		const versions = rows.filter((row) => row.name === name);
		const [newest] = versions;
		if (!newest) return [];
		const used = versionInUse(context, newest.skillId);
		return [[name, entryOf(versions.find(({ version }) => version === used) ?? newest, context)]];
	});
	return Object.fromEntries(entries);
}

function entryOf({ origin, computedHash, dir }: InstallRecord, { places }: InstallContext): LockEntry {
	const path = origin.path ? { skillPath: `${origin.path}/SKILL.md` } : {};
	const repository = repositoryOf(origin);
	if (repository !== null) {
		const ref = origin.commit === null ? {} : { ref: origin.commit };
		return { source: repository, ...ref, sourceType: 'github', ...path, computedHash };
	}
	if (origin.source?.type === 'well-known') {
		return { source: origin.source.url, sourceType: 'well-known', ...path, computedHash };
	}
	// What was uploaded is nowhere but here.
	const folder = relative(places.lockFile, dir)
		.replaceAll('\\', '/')
		.replace(/^\.\.\//, './');
	return { source: folder, sourceType: 'local', computedHash };
}

/** `owner/repository`; null for what is none of GitHub's. */
function repositoryOf({ source }: SkillOrigin): string | null {
	if (source?.type === 'skillssh') return source.source;
	const address = source?.type === 'github' ? source.repository : source?.type === 'skillsmp' ? source.sourceUrl : null;
	if (address === null) return null;
	const [, owner, repository] = /^(?:https?:\/\/[^/]+\/)?([^/]+)\/([^/#?]+)/.exec(address) ?? [];
	return owner && repository ? `${owner}/${repository.replace(/\.git$/, '')}` : null;
}
