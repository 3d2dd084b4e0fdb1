/** Downloads whole folders of a commit into a staging folder; each file is checked against the SHA-1 that git knows it by (FEATURES E9). */
import { createHash } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import { isLeftOut, quoteEntry } from './entry-names.ts';
import type { GithubApi, GithubCommit, TreeEntry } from './github-api.ts';
import { inParallel } from './in-parallel.ts';
import type { Outbound } from './outbound.ts';
import { isInFolder } from './skill-paths.ts';
import type { StagingFolder } from './staging-folder.ts';

export interface GithubFiles {
	/**
	 * Writes every file of these folders, under its path in the repository. A folder that holds a link or a submodule is
	 * left out with a note.
	 * @returns the folders that were written
	 * @throws AppError `invalid_input` when all are left out; `too_large` before anything is downloaded; `unavailable`
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
				// Private, or renamed since: its API tells, and has the key.
				if (error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden')) {
					return api.blob(repository, entry.sha, maxBytes, signal);
				}
				throw error;
			}
		);
		if (blobSha(content) !== entry.sha) {
			throw new AppError('unavailable', `The ${what} did not come as it is in the commit; nothing was kept.`, {
				hint: 'Try again; if it stays so, something between this server and GitHub changes files.'
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
					notes.push(`${quoteEntry(folder)} was left out. ${refusal.message}`);
					continue;
				}
				taken.push(folder);
				files.push(...inside);
			}
			if (refusal && taken.length === 0) throw refusal;
			const wanted = files.filter(({ path }) => !isLeftOut(path));
			notes.push(...files.filter(({ path }) => isLeftOut(path)).map(({ path }) => `${quoteEntry(path)} was left out.`));
			checkSizes(wanted, into);
			await inParallel(wanted, AT_ONCE, signal, async (entry, either) => {
				const content = await read(commit, entry, into.limits.fileBytes, either);
				if (content.subarray(0, LARGE_FILE_POINTER.length).toString('latin1') === LARGE_FILE_POINTER) {
					notes.push(
						`${quoteEntry(entry.path)} is only a pointer: its content is kept in Git LFS and was not fetched.`
					);
				}
				await into.add(entry.path, content, { isExecutable: entry.mode === '100755' });
			});
			return { folders: taken, notes };
		}
	};
}

/** What git calls a file of this content. */
function blobSha(content: Uint8Array): string {
	return createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex');
}

function refusalOf({ path, mode, type }: TreeEntry): AppError {
	const kind = type === 'commit' ? 'a submodule' : mode === '120000' ? 'a link' : 'no regular file';
	return new AppError('invalid_input', `The entry ${quoteEntry(path)} is refused: it is ${kind}.`);
}

/** By what the listing says, so that what is too large is not downloaded first; the staging folder counts what comes. */
function checkSizes(files: readonly TreeEntry[], { limits }: StagingFolder): void {
	const large = files.find(({ size }) => size > limits.fileBytes);
	if (large) {
		throw new AppError('too_large', `${quoteEntry(large.path)} is larger than ${limits.fileBytes} bytes.`, {
			hint: 'Download the skill, leave that file out, and upload the rest.'
		});
	}
	if (files.length > limits.files) {
		throw new AppError('too_large', `There are ${files.length} files; at most ${limits.files} are installed at once.`, {
			hint: 'Name the folder of one skill (path).'
		});
	}
	const bytes = files.reduce((sum, { size }) => sum + size, 0);
	if (bytes > limits.packedBytes) {
		throw new AppError(
			'too_large',
			`The files are ${bytes} bytes together; at most ${limits.packedBytes} are fetched.`,
			{
				hint: 'Name the folder of one skill (path).'
			}
		);
	}
}
