/** The parts of GitHub used to fetch skills: its REST API (commits, trees, blobs, refs) and raw files. */
import { entriesBelow, snapshotOf, type GitEntry, type GitSnapshot, type PlayedFiles } from './git-objects.ts';
import { json, notFound, startPlayedServer, type PlayedRequest, type PlayedReply } from './played-server.ts';
import type { PlayedServer } from './played-server.ts';

export interface PlayedRepository {
	defaultBranch: string;
	/** Files of each branch, by path. */
	branches: Record<string, PlayedFiles>;
	tags?: Record<string, PlayedFiles>;
	/** Answers 404 without this token. */
	token?: string;
	/** The new `owner/repo` if it moved. */
	movedTo?: string;
}

export interface PlayedGithub {
	/** The API and the raw files, on separate hosts. */
	api: PlayedServer;
	raw: PlayedServer;
	apiUrl: string;
	rawUrl: string;
	/** For `config.catalog.hosts`. */
	hosts: string[];
	/** By `owner/repo`; can be changed while it runs. Old commits stay readable. */
	repos: Record<string, PlayedRepository>;
	/** Recursive listings are `truncated` to this many entries; null: all. */
	listAtMost: number | null;
	/** Paths whose raw bytes are altered. */
	corrupt: Set<string>;
	/** Extra entries in listings, for names git would refuse. */
	extraEntries: GitEntry[];
	/** Current commit SHA-1 of a branch or tag. */
	commitOf(repository: string, ref?: string): string;
	/** Current tree SHA-1 of a folder (default: the root) on a branch. */
	treeOf(repository: string, path?: string, ref?: string): string;
	close(): Promise<void>;
}

/** It doesn't count requests against an hourly limit: return `rateLimited(until)` from `api.intercept`. */
export async function startGithub(given: { repos: Record<string, PlayedRepository> }): Promise<PlayedGithub> {
	const seen = new Map<string, GitSnapshot>();
	const remember = (files: PlayedFiles) => {
		const snapshot = snapshotOf(files);
		seen.set(snapshot.commit, snapshot);
		return snapshot;
	};
	const find = (repo: PlayedRepository, ref: string): GitSnapshot | undefined => {
		const name = ref === 'HEAD' ? repo.defaultBranch : ref;
		const files = repo.branches[name.replace(/^heads\//, '')] ?? repo.tags?.[name.replace(/^tags\//, '')] ?? undefined;
		return files ? remember(files) : (seen.get(name) ?? [...seen.values()].find(({ folders }) => folders.has(name)));
	};
	const repoOf = (request: PlayedRequest, name: string): PlayedRepository | undefined => {
		const repo = Object.entries(github.repos).find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1];
		return repo?.token && request.headers.authorization !== `Bearer ${repo.token}` ? undefined : repo;
	};

	const api = await startPlayedServer((request) => {
		const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/?(.*)$/.exec(request.url.pathname) ?? [];
		const repo = repoOf(request, name);
		if (!repo) return notFound();
		if (repo.movedTo) {
			const location = `${api.url}/repos/${repo.movedTo}${rest && `/${rest}`}${request.url.search}`;
			return { status: 301, headers: { location }, body: { message: 'Moved Permanently', url: location } };
		}
		// Listings are addressed by commit, so all branches must be known.
		for (const files of [...Object.values(repo.branches), ...Object.values(repo.tags ?? {})]) remember(files);
		if (rest === '') return json({ full_name: name, default_branch: repo.defaultBranch, private: !!repo.token });
		const [, kind, argument = ''] = /^(commits|git\/trees|git\/blobs|git\/matching-refs)\/(.+)$/.exec(rest) ?? [];
		const ref = decodeURIComponent(argument);
		if (kind === 'commits') return commitReply(find(repo, ref), ref);
		if (kind === 'git/trees') return treeReply(find(repo, ref), ref, request.url.searchParams.has('recursive'));
		if (kind === 'git/blobs') return blobReply(ref);
		if (kind === 'git/matching-refs') return json(refsOf(repo).filter((entry) => entry.ref.startsWith(`refs/${ref}`)));
		return notFound();
	});

	const raw = await startPlayedServer((request) => {
		const [, name = '', ref = '', path = ''] = /^\/([^/]+\/[^/]+)\/([^/]+)\/(.+)$/.exec(request.url.pathname) ?? [];
		const repo = repoOf(request, name);
		const wanted = decodeURIComponent(path);
		const content = repo && find(repo, ref)?.files.get(wanted);
		if (!content) return { status: 404, body: '404: Not Found' };
		return { body: github.corrupt.has(wanted) ? Buffer.concat([content, Buffer.from('!')]) : content };
	});

	function commitReply(snapshot: GitSnapshot | undefined, ref: string): PlayedReply {
		if (!snapshot) return json({ message: `No commit found for SHA: ${ref}` }, 422);
		const { commit, tree } = snapshot;
		return json({ sha: commit, commit: { message: 'c', tree: { sha: tree } }, parents: [], files: [] });
	}

	function treeReply(snapshot: GitSnapshot | undefined, ref: string, isRecursive: boolean): PlayedReply {
		if (!snapshot) return notFound();
		const sha = snapshot.folders.has(ref) ? ref : snapshot.tree;
		const all = isRecursive ? entriesBelow(snapshot, sha) : (snapshot.folders.get(sha) ?? []);
		const most = isRecursive ? (github.listAtMost ?? Infinity) : Infinity;
		const tree = [...all.slice(0, most), ...github.extraEntries];
		return json({ sha, tree, truncated: all.length > most });
	}

	function blobReply(sha: string): PlayedReply {
		const content = [...seen.values()].map(({ blobs }) => blobs.get(sha)).find(Boolean);
		return content ? { body: content, headers: { 'content-type': 'application/vnd.github.raw+json' } } : notFound();
	}

	const github: PlayedGithub = {
		api,
		raw,
		apiUrl: api.url,
		rawUrl: raw.url,
		hosts: [api.host, raw.host],
		repos: given.repos,
		listAtMost: null,
		corrupt: new Set(),
		extraEntries: [],
		commitOf: (repository, ref = 'HEAD') => snapshotAt(repository, ref).commit,
		treeOf(repository, path = '', ref = 'HEAD') {
			const snapshot = snapshotAt(repository, ref);
			const entry = entriesBelow(snapshot, snapshot.tree).find((each) => each.path === path);
			if (path !== '' && !entry) throw new Error(`There is no ${path} in ${repository}.`);
			return entry?.sha ?? snapshot.tree;
		},
		async close() {
			await Promise.all([api.close(), raw.close()]);
		}
	};

	function snapshotAt(repository: string, ref: string): GitSnapshot {
		const repo = github.repos[repository];
		const snapshot = repo && find(repo, ref);
		if (!snapshot) throw new Error(`There is no ${ref} of ${repository}.`);
		return snapshot;
	}
	return github;
}

function refsOf({ branches, tags = {} }: PlayedRepository): { ref: string; object: { type: string; sha: string } }[] {
	const of = (kind: string, all: Record<string, PlayedFiles>) =>
		Object.entries(all).map(([name, files]) => ({
			ref: `refs/${kind}/${name}`,
			object: { type: 'commit', sha: snapshotOf(files).commit }
		}));
	return [...of('heads', branches), ...of('tags', tags)];
}
