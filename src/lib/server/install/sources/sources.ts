/** Creates all remote sources and catalogs from the settings (E1, E6–E9, E23–E27). */
import { AppError } from '../../../shared/errors.ts';
import type { CatalogPage, InstallConfirm, InstallSource } from '../../../shared/install.ts';
import { createGithub } from './github.ts';
import { createOutbound, type OutboundOptions } from './outbound.ts';
import { createSkillsmp } from './skillsmp.ts';
import { createSkillssh } from './skillssh.ts';
import type { Fetch, SourceFetcher } from '../catalog-installer.ts';
import { fetchInline } from './upload.ts';
import { createWellKnown } from './well-known.ts';

/** URLs without a trailing slash, from `config.catalog`. */
export interface CatalogOptions extends OutboundOptions {
	githubApiUrl: string;
	githubRawUrl: string;
	githubToken: string | null;
	skillsshUrl: string;
	skillsshAuditUrl: string;
	skillsmpUrl: string;
	/** The current key, from the settings or the environment. */
	skillsmpKey: () => string | null | Promise<string | null>;
}

export interface Catalogs {
	/** Without `q`, sorted by stars (E6). @throws AppError `invalid_input` without a key, `unavailable` */
	searchSkillsmp(query: { q: string; page: number; limit: number }, signal: AbortSignal): Promise<CatalogPage>;
	/** Empty for fewer than 2 characters (E8). @throws AppError `unavailable` */
	searchSkillssh(query: { q: string; limit: number }, signal: AbortSignal): Promise<CatalogPage>;
}

export function createSources(options: CatalogOptions): SourceFetcher & Catalogs {
	const outbound = createOutbound(options);
	const { githubApiUrl: apiUrl, githubRawUrl: rawUrl, githubToken: token } = options;
	const github = createGithub({ outbound, apiUrl, rawUrl, token });
	const { skillsshUrl, skillsshAuditUrl, skillsmpUrl, skillsmpKey } = options;
	const skillssh = createSkillssh({ outbound, github, url: skillsshUrl, auditUrl: skillsshAuditUrl });
	const skillsmp = createSkillsmp({ outbound, github, url: skillsmpUrl, apiKey: skillsmpKey });
	const wellKnown = createWellKnown({ outbound });
	return {
		searchSkillsmp: skillsmp.search,
		searchSkillssh: skillssh.search,
		fetch(source, into, signal) {
			if (source.type === 'github') return github.fetch(source, into, signal);
			if (source.type === 'skillssh') return skillssh.fetch(source, into, signal);
			if (source.type === 'skillsmp') return skillsmp.fetch(source, into, signal);
			if (source.type === 'well-known') return wellKnown.fetch(source, into, signal);
			return fetchInline(source.text, into);
		},
		async revisionOf(origin, signal) {
			const source: InstallSource | null = origin.source;
			if (source === null || source.type === 'inline') return null;
			if (source.type === 'github') return github.revisionOf(origin, source, signal);
			if (source.type === 'skillssh') return skillssh.revisionOf(origin, source, signal);
			if (source.type === 'skillsmp') return skillsmp.revisionOf(origin, source, signal);
			return wellKnown.revisionOf(origin, source, signal);
		}
	};
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
