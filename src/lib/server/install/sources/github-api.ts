/** The GitHub REST API: commits, trees, and files by SHA-1 (E9). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import { isInFolder } from '../install-context.ts';
import { isLeftOut, quoteEntry, refusal as refusalAt, type StagingFolder } from '../staging-folder.ts';
import { fetchJson, inParallel, type Outbound, type OutboundRequest } from './outbound.ts';

export interface GithubCommit {
	repository: string;
	/** SHA-1. */
	commit: string;
	/** SHA-1 of the root tree. */
	tree: string;
}

export interface GithubApi {
	/** `ref` is a branch, tag or commit; `HEAD` the default branch. @throws AppError */
	commitOf(repository: string, ref: string, signal: AbortSignal): Promise<GithubCommit>;
	/**
	 * The folder (unless it is the root) and everything below, also where GitHub truncates its listing.
	 * @throws AppError `not_found`; `too_large` beyond 200 requests
	 */
	listBelow(commit: GithubCommit, folder: string, signal: AbortSignal): Promise<TreeEntry[]>;
	blob(repository: string, sha: string, maxBytes: number, signal: AbortSignal): Promise<Buffer>;
	/** Splits branch and path: the longest existing branch or tag wins. @throws AppError */
	placeOf(address: GithubAddress, signal: AbortSignal): Promise<GithubPlace>;
}

const MAX_REQUESTS = 200;
const MAX_LISTING_BYTES = 20 * 1024 * 1024;
const sha1 = z.string().regex(/^[0-9a-f]{40}$/);
const commitShape = z.object({ sha: sha1, commit: z.object({ tree: z.object({ sha: sha1 }) }) });
/** `size`: bytes of a file. */
const treeEntry = z.object({
	path: z.string(),
	mode: z.string(),
	type: z.string(),
	sha: sha1,
	size: z.number().min(0).default(0)
});
/** A file, folder, link (mode 120000) or submodule (type `commit`). */
export type TreeEntry = z.infer<typeof treeEntry>;
const treeShape = z.object({ truncated: z.boolean().default(false), tree: z.array(treeEntry).max(200_000) });
const refsShape = z.array(z.object({ ref: z.string() }));

export function createGithubApi(options: { outbound: Outbound; apiUrl: string; token: string | null }): GithubApi {
	const { outbound, apiUrl, token } = options;

	const request = (what: string, signal: AbortSignal): OutboundRequest => ({
		service: 'GitHub',
		what,
		hintIfMissing: token ? undefined : 'Check the spelling. Private repositories need GITHUB_TOKEN.',
		headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
		bearer: { token, baseUrl: apiUrl },
		maxBytes: MAX_LISTING_BYTES,
		signal
	});

	async function list(repository: string, sha: string, before: string, isRecursive: boolean, signal: AbortSignal) {
		const url = `${apiUrl}/repos/${repository}/git/trees/${sha}${isRecursive ? '?recursive=1' : ''}`;
		const { tree, truncated } = await fetchJson(outbound, url, treeShape, request(`tree ${sha}`, signal));
		const entries = tree.map((entry) => ({ ...entry, path: before + checkTreePath(entry.path) }));
		return { entries, truncated };
	}

	/** Lists folder by folder where a listing is truncated. */
	async function walk(repository: string, sha: string, before: string, signal: AbortSignal): Promise<TreeEntry[]> {
		const all: TreeEntry[] = [];
		const left = [{ sha, before }];
		for (let requests = 0, folder = left.pop(); folder; requests += 2, folder = left.pop()) {
			if (requests >= MAX_REQUESTS) {
				const hint = 'Enter the folder of the skill too (path).';
				throw new AppError('too_large', `${repository} has too many files to search.`, { hint });
			}
			const whole = await list(repository, folder.sha, folder.before, true, signal);
			if (!whole.truncated) {
				for (const entry of whole.entries) all.push(entry);
				continue;
			}
			const { entries } = await list(repository, folder.sha, folder.before, false, signal);
			for (const entry of entries) all.push(entry);
			const below = entries.filter(({ type }) => type === 'tree');
			left.push(...below.map((entry) => ({ sha: entry.sha, before: `${entry.path}/` })));
		}
		return all;
	}

	async function treeOf({ repository, tree }: GithubCommit, folder: string, signal: AbortSignal): Promise<string> {
		let sha = tree;
		let before = '';
		for (const segment of folder.split('/').filter(Boolean)) {
			const { entries } = await list(repository, sha, before, false, signal);
			const next = entries.find(({ path, type }) => path === before + segment && type === 'tree');
			if (!next) throw noFolder(folder, repository);
			sha = next.sha;
			before += `${segment}/`;
		}
		return sha;
	}

	return {
		async commitOf(repository, ref, signal) {
			const url = `${apiUrl}/repos/${repository}/commits/${encodeURIComponent(checkRef(ref))}?per_page=1`;
			const what = ref === 'HEAD' ? `repository ${repository}` : `${quoteEntry(ref)} in a repository ${repository}`;
			const { sha, commit } = await fetchJson(outbound, url, commitShape, request(what, signal));
			return { repository, commit: sha, tree: commit.tree.sha };
		},
		async listBelow(commit, folder, signal) {
			const { repository, tree } = commit;
			if (folder === '') return walk(repository, tree, '', signal);
			const whole = await list(repository, tree, '', true, signal);
			if (!whole.truncated) {
				const below = whole.entries.filter(({ path }) => path === folder || isInFolder(path, folder));
				if (below.length === 0) throw noFolder(folder, repository);
				return below;
			}
			const sha = await treeOf(commit, folder, signal);
			const own = { path: folder, mode: '040000', type: 'tree', sha, size: 0 };
			return [own, ...(await walk(repository, sha, `${folder}/`, signal))];
		},
		async blob(repository, sha, maxBytes, signal) {
			const asked = request(`file ${sha}`, signal);
			const headers = { ...asked.headers, accept: 'application/vnd.github.raw+json' };
			const url = `${apiUrl}/repos/${repository}/git/blobs/${sha}`;
			return (await outbound(url, { ...asked, headers, maxBytes })).body;
		},
		async placeOf({ repository, rest }, signal) {
			const [first] = rest;
			if (first === undefined) return { repository, ref: 'HEAD', path: '' };
			let ref = first;
			if (rest.length > 1 && first !== 'HEAD' && !sha1.safeParse(first).success) {
				const whole = `${rest.join('/')}/`;
				for (const kind of ['heads', 'tags']) {
					const url = `${apiUrl}/repos/${repository}/git/matching-refs/${kind}/${encodeURIComponent(checkRef(first))}`;
					const found = await fetchJson(outbound, url, refsShape, request(`repository ${repository}`, signal));
					for (const name of found.map((each) => each.ref.slice(`refs/${kind}/`.length))) {
						if (name.length > ref.length && whole.startsWith(`${name}/`)) ref = name;
					}
				}
			}
			return { repository, ref, path: rest.join('/').slice(ref.length + 1) };
		}
	};
}

function noFolder(folder: string, repository: string): AppError {
	return new AppError('not_found', `${repository} has no folder ${quoteEntry(folder)}.`);
}

/** Git has no such names, so they are hostile. */
function checkTreePath(path: string): string {
	const isBad = path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..');
	if (!isBad) return path;
	throw refusalAt(path, 'no repository can have it');
}

// Downloads whole folders of a commit into a staging folder; checks each file against its SHA-1 (E9).

export interface GithubFiles {
	/**
	 * Writes every file of these folders at its path in the repository. Skips folders with a link or a submodule.
	 * @returns the folders written, and notes
	 * @throws AppError `invalid_input` if all are skipped; `too_large` before any download; `unavailable`
	 */
	download(
		commit: GithubCommit,
		entries: readonly TreeEntry[],
		folders: readonly string[],
		into: StagingFolder,
		signal: AbortSignal
	): Promise<{ folders: string[]; notes: string[] }>;
	/** @throws AppError */
	read(commit: GithubCommit, entry: TreeEntry, maxBytes: number, signal: AbortSignal): Promise<Buffer>;
}

const AT_ONCE = 6;
const LARGE_FILE_POINTER = 'version https://git-lfs.github.com/spec/v1';

export function createGithubFiles(options: { outbound: Outbound; api: GithubApi; rawUrl: string }): GithubFiles {
	const { outbound, api, rawUrl } = options;

	async function read({ repository, commit }: GithubCommit, entry: TreeEntry, maxBytes: number, signal: AbortSignal) {
		const path = entry.path.split('/').map(encodeURIComponent).join('/');
		const what = `file ${quoteEntry(entry.path)}`;
		const content = await outbound(`${rawUrl}/${repository}/${commit}/${path}`, {
			service: 'GitHub',
			what,
			maxBytes,
			signal
		}).then(
			({ body }) => body,
			(error: unknown) => {
				// A private or renamed repository: the API has the token and follows renames.
				if (error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden')) {
					return api.blob(repository, entry.sha, maxBytes, signal);
				}
				throw error;
			}
		);
		if (blobSha(content) !== entry.sha) {
			throw new AppError('unavailable', `The download of ${what} doesn’t match the commit, so nothing was saved.`, {
				hint: 'Try again. If it keeps failing, something between this server and GitHub changes files.'
			});
		}
		return content;
	}

	return {
		read,
		async download(commit, entries, folders, into, signal) {
			const notes: string[] = [];
			const taken: string[] = [];
			const files: TreeEntry[] = [];
			let refusal: AppError | null = null;
			for (const folder of folders) {
				const inside = entries.filter(({ path, type }) => type !== 'tree' && isInFolder(path, folder));
				const odd = inside.find(({ type, mode }) => type !== 'blob' || !/^100(644|755|664)$/.test(mode));
				if (odd) {
					refusal = refusalOf(odd);
					notes.push(`Skipped ${quoteEntry(folder)}. ${refusal.message}`);
					continue;
				}
				taken.push(folder);
				files.push(...inside);
			}
			if (refusal && taken.length === 0) throw refusal;
			const wanted = files.filter(({ path }) => !isLeftOut(path));
			notes.push(...files.filter(({ path }) => isLeftOut(path)).map(({ path }) => `Skipped ${quoteEntry(path)}.`));
			checkSizes(wanted, into);
			await inParallel(wanted, AT_ONCE, signal, async (entry, either) => {
				const content = await read(commit, entry, into.limits.fileBytes, either);
				if (content.subarray(0, LARGE_FILE_POINTER.length).toString('latin1') === LARGE_FILE_POINTER) {
					notes.push(`${quoteEntry(entry.path)} is only a pointer: its content is in Git LFS and wasn’t downloaded.`);
				}
				await into.add(entry.path, content, { isExecutable: entry.mode === '100755' });
			});
			return { folders: taken, notes };
		}
	};
}

function blobSha(content: Uint8Array): string {
	return createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex');
}

function refusalOf({ path, mode, type }: TreeEntry): AppError {
	const kind = type === 'commit' ? 'a submodule' : mode === '120000' ? 'a link' : 'not a regular file';
	return refusalAt(path, `it’s ${kind}`);
}

/** Checks the listed sizes before any download; the staging folder checks the real ones. */
function checkSizes(files: readonly TreeEntry[], { limits }: StagingFolder): void {
	const large = files.find(({ size }) => size > limits.fileBytes);
	if (large) {
		throw new AppError('too_large', `${quoteEntry(large.path)} is larger than ${limits.fileBytes} bytes.`, {
			hint: 'Download the skill, remove that file, and upload the rest.'
		});
	}
	if (files.length > limits.files) {
		throw new AppError('too_large', `Found ${files.length} files, but only ${limits.files} can be installed at once.`, {
			hint: 'Enter the folder of one skill (path).'
		});
	}
	const bytes = files.reduce((sum, { size }) => sum + size, 0);
	if (bytes > limits.packedBytes) {
		throw new AppError('too_large', `The files total ${bytes} bytes, but the limit is ${limits.packedBytes}.`, {
			hint: 'Enter the folder of one skill (path).'
		});
	}
}

// Addresses on GitHub: `owner/repo`, or the web address of a repository, folder or file (E9).

export interface GithubAddress {
	repository: string;
	/** Segments after `/tree/` or `/blob/`: a ref, possibly with slashes, then a path. */
	rest: string[];
}

export interface GithubPlace {
	repository: string;
	/** `HEAD` for the default branch. */
	ref: string;
	/** A folder; empty for the root. */
	path: string;
}

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;
/** The rules of `git check-ref-format` that matter in a URL. */
const REF = /^(?![-/.])(?!.*(\.\.|\/\/|\/\.|@\{))[^\s~^:?*[\\\p{Cc}]{1,256}(?<![/.])$/u;

/** Whether it is a safe `owner/repo`. */
export function isRepositoryName(text: string): boolean {
	return REPOSITORY.test(text);
}

/** `web` is the base of web addresses: `https://github.com`. @throws AppError `invalid_input` */
export function parseGithubAddress(text: string, web: string): GithubAddress {
	const plain = text.trim();
	const { host } = new URL(web);
	const isAddress = /^https?:\/\//i.test(plain) || plain.toLowerCase().startsWith(`${host}/`);
	const url = isAddress ? URL.parse(/^https?:/i.test(plain) ? plain : `https://${plain}`) : null;
	if (isAddress && url?.host !== host && url?.host !== `www.${host}`) {
		throw refuse(text, `Only addresses on ${host} work here. Enter owner/repository or such an address.`);
	}
	const [owner = '', name = '', kind, ...rest] = url ? segmentsOf(url.pathname, text) : plain.split('/');
	const repository = `${owner}/${name.replace(/\.git$/, '')}`;
	if (!REPOSITORY.test(repository) || (!url && kind !== undefined)) {
		throw refuse(text, 'Enter owner/repository, or the address of a repository or a folder in it.');
	}
	if (kind !== undefined && kind !== 'tree' && kind !== 'blob') {
		throw refuse(text, 'Enter the address of the repository, of a folder in it, or of its SKILL.md.');
	}
	return { repository, rest };
}

/** @throws AppError `invalid_input` if it can’t be a branch, tag or commit */
export function checkRef(ref: string): string {
	if (REF.test(ref)) return ref;
	throw new AppError('invalid_input', `“${ref.slice(0, 100)}” isn’t a valid branch, tag or commit.`);
}

/** Normalises a path to a folder or its SKILL.md; without slashes at its ends. @throws AppError `invalid_input` */
export function folderOf(path: string): string {
	const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
	if (segments.includes('..')) {
		throw new AppError('invalid_input', `“${path.slice(0, 100)}” isn’t a valid folder.`);
	}
	if (/^skill\.md$/i.test(segments.at(-1) ?? '')) segments.pop();
	return segments.join('/');
}

function segmentsOf(pathname: string, text: string): string[] {
	try {
		return pathname.split('/').filter(Boolean).map(decodeURIComponent);
	} catch {
		throw refuse(text, 'The address has a stray “%”.');
	}
}

function refuse(text: string, hint: string): AppError {
	return new AppError('invalid_input', `“${text.slice(0, 200)}” isn’t a GitHub repository.`, { hint });
}
