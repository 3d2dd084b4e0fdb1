/** What the trust in a skill means, in words, and where it is looked at. Pure. */
import type { Health } from '../../shared/api.ts';
import type { SkillFinding, SkillProvider, TrustState } from '../../shared/skills.ts';
import { toSkillId } from '../../shared/names.ts';

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

/** Address of a skill's page; the slash of `source/name` stays one. */
export function skillPage(id: string): string {
	return `/skills/${pathOf(id)}`;
}

/** Address of what was executed: a skill's page, or the list of MCP servers. */
export function subjectPage({ skillId, sandbox }: { skillId: string; sandbox: string }): string {
	return sandbox === 'mcp' ? '/settings#mcp-servers' : skillPage(skillId);
}

/** Address of the editor of a skill's files. */
export function editorPage(id: string): string {
	return `/skills/edit/${pathOf(id)}`;
}

function pathOf(id: string): string {
	return toSkillId(id).split('/').map(encodeURIComponent).join('/');
}

// What scripts are kept away from, in words. Pure.

export function describeSandbox({ name, isolation }: Pick<Health['sandbox'], 'name' | 'isolation'>): string {
	const where = name === 'process' ? 'as plain processes' : `in ${name}`;
	return isolation.files
		? `Scripts run ${where}: no access to other files, ${isolation.network ? 'no network but the hosts that you allow' : 'but the network is open'}.`
		: `Scripts run ${where}: the files of this machine are NOT isolated.`;
}

// Where skills come from, in words that go on after “from”. Pure.

export const PROVIDER_WORDS: Record<SkillProvider, string> = {
	github: 'GitHub',
	skillssh: 'skills.sh',
	skillsmp: 'SkillsMP',
	'well-known': 'a web site',
	zip: 'a zip file',
	folder: 'a folder',
	inline: 'text',
	custom: 'a handler',
	local: 'a folder of skills',
	builtin: 'this server'
};

// What a skill is about, for its icon. Pure.

/** The first that fits the skill's name, or else the first sentence of its description. */
const KINDS = [
	['data', /\b(data|csv|excel|xlsx|spreadsheets?|charts?|sql|statistics)\b/i],
	['weather', /\b(weather|forecasts?)\b/i],
	['message', /\b(discord|slack|e?mails?|messages?|chat)\b/i],
	['picture', /\b(images?|pictures?|photos?|svg|diagrams?)\b/i],
	['document', /\b(pdfs?|docx?|documents?|slides|pptx|reports?)\b/i],
	['review', /\b(reviews?|diffs?|tests?|lint)\b/i],
	['deploy', /\b(deploy|ship|release|publish)\b/i],
	['make', /\b(creat(e|or)|scaffold|template)\b/i],
	['code', /\b(code|git|skills?|build|scripts?)\b/i],
	['web', /\b(web|http|urls?|sites?|search|browser)\b/i],
	['text', /\b(words?|texts?|writing|translate|summar\w+)\b/i]
] as const;

export type SkillKind = (typeof KINDS)[number][0] | 'skill';
/** Of a list of examples, those come first whose result one sees at once. */
export const KIND_ORDER: readonly SkillKind[] = [...KINDS.map(([kind]) => kind), 'skill'];

export function kindOf(name: string, description: string): SkillKind {
	const [first = ''] = description.trim().match(/^.+?[.!?](?=\s|$)/s) ?? [description];
	const fits = (words: string) => KINDS.find(([, pattern]) => pattern.test(words))?.[0];
	return fits(name.replaceAll('-', ' ')) ?? fits(first) ?? 'skill';
}
