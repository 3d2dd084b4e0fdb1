/** What the trust in a skill means, in words, and where it is looked at. Pure. */
import { toSkillId } from '../shared/skill-names.ts';
import type { SkillFinding, TrustState } from '../shared/skills.ts';
import { trustText as text } from '../strings/skill-checks.ts';

export const TRUST_WORDS: Record<TrustState, string> = {
	builtin: text.builtin,
	trusted: text.trusted,
	changed: text.changed,
	untrusted: text.untrusted
};

export const TRUST_MEANING: Record<TrustState, string> = {
	builtin: text.builtinMeaning,
	trusted: text.trustedMeaning,
	changed: text.changedMeaning,
	untrusted: text.untrustedMeaning
};

export const SEVERITY_WORDS: Record<SkillFinding['severity'], string> = {
	danger: text.danger,
	warning: text.warning,
	info: text.info
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
