/** What the routes of the two catalogs install, while theirs is the active one (FEATURES E1, E7, E9). */
import { AppError } from '../../shared/errors.ts';
import type { InstallConfirm, InstallSource } from '../../shared/install.ts';
import type { Fetch } from './installer.ts';

/** @throws AppError `conflict` while another catalog is the active one */
export function requireProvider(wanted: 'skillsmp' | 'skillssh', active: string): void {
	if (wanted === active) return;
	throw new AppError('conflict', `The active provider of skills is ${active}, not ${wanted}.`, {
		hint: `Set skillsProvider to ${wanted} in the settings.`
	});
}

/** Lands switched off; an identity that exists is refused. */
export function choiceFor(apiKeyId: string): InstallConfirm {
	return { apiKeyId, conflict: 'fail', enabled: false };
}

/** The text of the SKILL.md where that is given, which needs nobody; else the whole folder at its address. */
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
		return { folders: [''], originOf: () => origin, notes: ['Only the text of its SKILL.md was given.'] };
	};
}
