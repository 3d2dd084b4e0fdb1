/** What people call a place on GitHub: `owner/repo`, or the address of a repository, a folder or a file in their browser (FEATURES E9). */
import { AppError } from '../../../shared/errors.ts';

export interface GithubAddress {
	/** `owner/repo`. */
	repository: string;
	/** What follows `/tree/` or `/blob/`: a branch, tag or commit, perhaps with slashes, and then a path. */
	rest: string[];
}

/** With `HEAD` for the default branch. */
export interface GithubPlace {
	repository: string;
	ref: string;
	/** A folder; empty for the top. */
	path: string;
}

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;
/** What `git check-ref-format` allows, as far as an address could be led astray by it. */
const REF = /^(?![-/.])(?!.*(\.\.|\/\/|\/\.|@\{))[^\s~^:?*[\\\p{Cc}]{1,256}(?<![/.])$/u;

/** Is it `owner/repo`, and no way to lead elsewhere? */
export function isRepositoryName(text: string): boolean {
	return REPOSITORY.test(text);
}

/** `web` is where people read: `https://github.com`. @throws AppError `invalid_input` */
export function parseGithubAddress(text: string, web: string): GithubAddress {
	const plain = text.trim();
	const { host } = new URL(web);
	const isAddress = /^https?:\/\//i.test(plain) || plain.toLowerCase().startsWith(`${host}/`);
	const url = isAddress ? URL.parse(/^https?:/i.test(plain) ? plain : `https://${plain}`) : null;
	if (isAddress && url?.host !== host && url?.host !== `www.${host}`) {
		throw refuse(text, `Only addresses on ${host} are read; give owner/repository or such an address.`);
	}
	const [owner = '', name = '', kind, ...rest] = url ? segmentsOf(url.pathname, text) : plain.split('/');
	const repository = `${owner}/${name.replace(/\.git$/, '')}`;
	if (!REPOSITORY.test(repository) || (!url && kind !== undefined)) {
		throw refuse(text, 'Give owner/repository, or the address of a repository or of a folder in it.');
	}
	if (kind !== undefined && kind !== 'tree' && kind !== 'blob') {
		throw refuse(text, 'Give the address of the repository, of a folder in it or of its SKILL.md.');
	}
	return { repository, rest };
}

/** @throws AppError `invalid_input` for what can be no branch, tag or commit */
export function checkRef(ref: string): string {
	if (REF.test(ref)) return ref;
	throw new AppError('invalid_input', `“${ref.slice(0, 100)}” cannot be the name of a branch, tag or commit.`);
}

/** A folder for a path to its SKILL.md; without slashes around it. @throws AppError `invalid_input` */
export function folderOf(path: string): string {
	const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
	if (segments.includes('..')) {
		throw new AppError('invalid_input', `“${path.slice(0, 100)}” is not a folder of a repository.`);
	}
	if (/^skill\.md$/i.test(segments.at(-1) ?? '')) segments.pop();
	return segments.join('/');
}

function segmentsOf(pathname: string, text: string): string[] {
	try {
		return pathname.split('/').filter(Boolean).map(decodeURIComponent);
	} catch {
		throw refuse(text, 'It has a “%” that means nothing.');
	}
}

function refuse(text: string, hint: string): AppError {
	return new AppError('invalid_input', `“${text.slice(0, 200)}” is not a repository on GitHub.`, { hint });
}
