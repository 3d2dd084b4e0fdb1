/** Skills of GitHub repositories: every skill folder of a commit, with all its files (E9). */
import type { InstallSource } from '../../../shared/install.ts';
import { AppError } from '../../../shared/errors.ts';
import { SKILL_FILES } from '../../skills/read/folder-walk.ts';
import { quoteEntry, type StagingFolder } from '../staging-folder.ts';
import {
	checkRef,
	folderOf,
	parseGithubAddress,
	type GithubPlace,
	createGithubApi,
	createGithubFiles,
	type GithubCommit,
	type TreeEntry
} from './github-api.ts';
import { readFrontMatter } from '../../skills/read/front-matter.ts';
import type { Outbound } from './outbound.ts';
import { allSkillFoldersIn, skillFoldersIn } from '../install-context.ts';
import type { FetchedSkills, TypedSource } from '../catalog-installer.ts';

type GithubSource = Extract<InstallSource, { type: 'github' }>;

export interface Checkout extends GithubPlace, GithubCommit {
	/** The folder itself (unless it is the top) and everything below. */
	entries: TreeEntry[];
}

/** Revisions are SHA-1 of the skill’s folder on its branch. */
export interface Github extends TypedSource<'github'> {
	/** Lists without downloading. @throws AppError */
	open(source: GithubSource, signal: AbortSignal): Promise<Checkout>;
	/** The skill of this name, in any folder. @throws AppError */
	fetchNamed(checkout: Checkout, name: string, into: StagingFolder, signal: AbortSignal): Promise<FetchedSkills>;
	/** All skills of the checkout. @throws AppError */
	fetchAll(checkout: Checkout, into: StagingFolder, signal: AbortSignal): Promise<FetchedSkills>;
	/** Web address of a folder; `fetch` accepts it too. */
	addressOf(place: GithubPlace): string;
}

/** Also the maximum that can be confirmed at once. */
const MAX_SKILLS = 100;
const MAX_SKILL_FILE_BYTES = 2 * 1024 * 1024;

/** URLs without a trailing slash. `token` is sent to the API only. */
export function createGithub(options: {
	outbound: Outbound;
	apiUrl: string;
	rawUrl: string;
	token: string | null;
}): Github {
	const { outbound, apiUrl, rawUrl, token } = options;
	const api = createGithubApi({ outbound, apiUrl, token });
	const files = createGithubFiles({ outbound, api, rawUrl });
	// GitHub Enterprise serves its API below its web address.
	const web = apiUrl.endsWith('/api/v3') ? apiUrl.slice(0, -'/api/v3'.length) : 'https://github.com';
	const addressOf = ({ repository, ref, path }: GithubPlace) =>
		[web, repository, 'tree', ...[...ref.split('/'), ...path.split('/').filter(Boolean)].map(encodeURIComponent)].join(
			'/'
		);

	async function placeOf(source: GithubSource, signal: AbortSignal): Promise<GithubPlace> {
		const address = parseGithubAddress(source.repository, web);
		const { ref } = source;
		if (ref === undefined) {
			const place = await api.placeOf(address, signal);
			return { ...place, path: folderOf(source.path ?? place.path) };
		}
		// If the address names the branch too, the path follows it.
		const rest = `${address.rest.join('/')}/`;
		const below = rest.startsWith(`${ref}/`) ? rest.slice(ref.length + 1) : address.rest.slice(1).join('/');
		return { repository: address.repository, ref: checkRef(ref), path: folderOf(source.path ?? below) };
	}

	async function open(source: GithubSource, signal: AbortSignal): Promise<Checkout> {
		const place = await placeOf(source, signal);
		const commit = await api.commitOf(place.repository, place.ref, signal);
		return { ...place, ...commit, entries: await api.listBelow(commit, place.path, signal) };
	}

	/** With branch and path apart, so that they needn’t be told apart again. */
	function sourceOf({ repository, ref }: GithubPlace, path: string): GithubSource {
		return { type: 'github', repository, ref: ref === 'HEAD' ? undefined : ref, path: path || undefined };
	}

	async function take(
		checkout: Checkout,
		folders: string[],
		notes: string[],
		into: StagingFolder,
		signal: AbortSignal
	): Promise<FetchedSkills> {
		const taken = await files.download(checkout, checkout.entries, folders, into, signal);
		return {
			folders: taken.folders,
			notes: [...notes, ...taken.notes],
			originOf: (path) => ({
				provider: 'github',
				source: sourceOf(checkout, path),
				url: addressOf({ ...checkout, ref: checkout.commit, path }),
				commit: checkout.commit,
				path,
				revision: revisionIn(checkout, path)
			})
		};
	}

	function fetchAll(checkout: Checkout, into: StagingFolder, signal: AbortSignal): Promise<FetchedSkills> {
		const before = checkout.path && `${checkout.path}/`;
		const paths = pathsOf(checkout).map((path) => path.slice(before.length));
		const found = skillFoldersIn(paths);
		if (found.length === 0) throw noSkill(checkout);
		if (found.length > MAX_SKILLS) {
			const message = `${checkout.repository} has ${found.length} skills, but only ${MAX_SKILLS} can be installed at once.`;
			throw new AppError('too_large', message, { hint: 'Choose a folder (path).' });
		}
		const others = allSkillFoldersIn(paths).filter((folder) => !found.includes(folder));
		const more = others.length > 5 ? ' and others' : '';
		const note = `Skipped files outside the skills: ${others.slice(0, 5).map(quoteEntry).join(', ')}${more}.`;
		const folders = found.map((folder) => (before + folder).replace(/\/$/, ''));
		return take(checkout, folders, others.length === 0 ? [] : [note], into, signal);
	}

	return {
		open,
		fetchAll,
		addressOf,
		async fetch(source, into, signal) {
			return fetchAll(await open(source, signal), into, signal);
		},
		async fetchNamed(checkout, name, into, signal) {
			const readSkillFile = async (folder: string): Promise<string> => {
				const own = (file: string) =>
					checkout.entries.find(({ path }) => path === (folder ? `${folder}/${file}` : file));
				const entry = SKILL_FILES.flatMap((file) => own(file) ?? [])[0];
				return entry ? (await files.read(checkout, entry, MAX_SKILL_FILE_BYTES, signal)).toString() : '';
			};
			const { folder, notes } = await findNamed(name, checkout.repository, pathsOf(checkout), readSkillFile);
			return take(checkout, [folder], notes, into, signal);
		},
		async revisionOf(origin, source, signal) {
			const place = await placeOf(source, signal);
			const commit = await api.commitOf(place.repository, place.ref, signal);
			if (commit.commit === origin.commit) return origin.revision;
			if (origin.path === '') return commit.tree;
			const entries = await api.listBelow(commit, origin.path, signal);
			return revisionIn({ ...commit, entries }, origin.path);
		}
	};
}

function revisionIn({ tree, entries }: Pick<Checkout, 'tree' | 'entries'>, folder: string): string | null {
	if (folder === '') return tree;
	return entries.find(({ path, type }) => path === folder && type === 'tree')?.sha ?? null;
}

function pathsOf({ entries }: Checkout): string[] {
	return entries.filter(({ type }) => type === 'blob').map(({ path }) => path);
}

function noSkill({ repository, ref, path }: Checkout): AppError {
	const where = `${path === '' ? '' : `${quoteEntry(path)} of `}${repository}`;
	return new AppError('not_found', `No SKILL.md found in ${where}${ref === 'HEAD' ? '' : ` at ${quoteEntry(ref)}`}.`);
}

// The folder of a catalog’s skill in a repository (E9).

const MAX_READ = 60;

/** By folder name, then by front matter. `read` returns a folder’s SKILL.md. @throws AppError `not_found`; `invalid_input` for a name without a letter or digit */
async function findNamed(
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
