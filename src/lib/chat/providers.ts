/** Where skills come from, in words that go on after “from”. Pure. */
import type { SkillProvider } from '../shared/skills.ts';

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
