/** Finds the folder of a catalog’s skill in a repository: by folder name, then by front matter (E9). */
import { AppError } from '../../../shared/errors.ts';
import type { InstallConfirm, InstallSource } from '../../../shared/install.ts';
import { readFrontMatter } from '../../skills/read/front-matter.ts';
import type { Fetch } from '../catalog-installer.ts';
import { allSkillFoldersIn, skillFoldersIn } from '../install-context.ts';
import { quoteEntry } from '../staging-folder.ts';

const MAX_READ = 60;

/** `read` returns a folder’s SKILL.md. @throws AppError `not_found`; `invalid_input` for a name without a letter or digit */
export async function findNamed(
	name: string,
	repository: string,
	paths: readonly string[],
	read: (folder: string) => Promise<string>
): Promise<{ folder: string; notes: string[] }> {
	const slug = slugOf(name);
	if (slug === '') throw new AppError('invalid_input', `${quoteEntry(name)} isn’t a valid skill name.`);
	const all = allSkillFoldersIn(paths);
	const usual = skillFoldersIn(paths);
	// Conventional places first.
	const ordered = [...usual, ...all.filter((folder) => !usual.includes(folder))];
	const lastName = (folder: string) => folder.split('/').at(-1) || repository.split('/').at(-1) || '';
	const byFolder = ordered.filter((folder) => slugOf(lastName(folder)) === slug);
	const [only] = byFolder;
	if (only !== undefined && byFolder.length === 1) return { folder: only, notes: [] };

	const named: string[] = [];
	for (const folder of (byFolder.length > 1 ? byFolder : ordered).slice(0, MAX_READ)) {
		if (slugOf(nameIn(await read(folder))) === slug) named.push(folder);
	}
	const found = named.length > 0 ? named : byFolder;
	const [folder] = found;
	if (folder === undefined) {
		const known = ordered.slice(0, 10).map((each) => quoteEntry(lastName(each)));
		const hint = known.length === 0 ? 'It has no SKILL.md at all.' : `Available: ${known.join(', ')}.`;
		throw new AppError('not_found', `${repository} has no skill ${quoteEntry(name)}.`, { hint });
	}
	const list = found.slice(0, 5).map(quoteEntry).join(', ');
	const note = `${repository} has several skills named ${quoteEntry(name)}: ${list}. Using the first one.`;
	return { folder, notes: found.length === 1 ? [] : [note] };
}

/** The slug catalogs make of a name: `My Skill_2!` → `my-skill-2`. */
export function slugOf(name: string): string {
	return name
		.toLowerCase()
		.replace(/[\s_-]+/g, '-')
		.replace(/[^a-z0-9-]/g, '')
		.replace(/-+/g, '-')
		.replace(/^-|-$/g, '');
}

function nameIn(text: string): string {
	const matter = readFrontMatter(text);
	return 'data' in matter && typeof matter.data.name === 'string' ? matter.data.name : '';
}

// Helpers of the two catalogs’ routes (E1, E7, E9).

/** @throws AppError `conflict` while another catalog is active */
export function requireProvider(wanted: 'skillsmp' | 'skillssh', active: string): void {
	if (wanted === active) return;
	const hint = `Set skillsProvider to ${wanted} in the settings.`;
	throw new AppError('conflict', `The active skill catalog is ${active}, not ${wanted}.`, { hint });
}

/** Installs switched off; refuses existing identities. */
export function choiceFor(apiKeyId: string): InstallConfirm {
	return { apiKeyId, conflict: 'fail', enabled: false };
}

/** The SKILL.md if its text is given, which needs no download; else the folder at its address. */
export function marketplaceSource(asked: {
	name: string;
	sourceUrl?: string | undefined;
	skillMdContent?: string | undefined;
}): InstallSource | Fetch {
	const { name, sourceUrl = '', skillMdContent } = asked;
	if (skillMdContent === undefined) return { type: 'skillsmp', sourceUrl, name };
	return async (into) => {
		await into.add('SKILL.md', Buffer.from(skillMdContent));
		const url = /^https?:\/\//.test(sourceUrl) ? sourceUrl : null;
		const origin = { provider: 'skillsmp' as const, source: null, url, commit: null, path: '', revision: null };
		return { folders: [''], originOf: () => origin, notes: ['Only the SKILL.md was included, without other files.'] };
	};
}
