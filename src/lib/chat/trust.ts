/** What the trust in a skill means, in words, and where it is looked at. Pure. */
import type { SkillFinding, TrustState } from '../shared/skills.ts';

export const TRUST_WORDS: Record<TrustState, string> = {
	builtin: 'Built in',
	trusted: 'Trusted',
	changed: 'Changed',
	untrusted: 'Not trusted'
};

export const TRUST_MEANING: Record<TrustState, string> = {
	builtin: 'It is part of this server.',
	trusted: 'Its scripts run as the settings of this server say.',
	changed:
		'Its files have changed since it was trusted. Its scripts ask before each run until you look at the changes.',
	untrusted: 'Nobody has looked at its files. Its scripts ask before each run, and can be allowed once only.'
};

export const SEVERITY_WORDS: Record<SkillFinding['severity'], string> = {
	danger: 'Dangerous',
	warning: 'Look closely',
	info: 'Good to know'
};

/** Pages of their own below /skills; a skill with such a name is asked for by its newest version. */
const TAKEN = new Set(['executions', 'install', 'scores', 'trash', 'updates']);

/** Address of a skill's page; the slash of `source/name` stays one. */
export function skillPage(id: string): string {
	const wanted = TAKEN.has(id) ? `${id}@latest` : id;
	return `/skills/${wanted.split('/').map(encodeURIComponent).join('/')}`;
}
