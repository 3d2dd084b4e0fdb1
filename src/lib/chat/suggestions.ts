/** First things to ask, made from what the installed skills say of themselves. Pure. */
import type { SkillSummary } from '../shared/skills.ts';

export interface Suggestion {
	skill: string;
	/** What the skill does: its description's first sentence. */
	summary: string;
	/** The beginning of a message, for the user to finish. */
	draft: string;
}

export function suggestionsFrom(skills: SkillSummary[], count: number): Suggestion[] {
	// A skill with something to run shows more of what the app does.
	const canRun = (skill: SkillSummary): number => (skill.scripts.length + skill.tools.length > 0 ? 0 : 1);
	return skills
		.filter(({ status }) => status === 'ready')
		.toSorted((one, other) => canRun(one) - canRun(other))
		.slice(0, count)
		.map(({ name, description }) => ({
			skill: name,
			summary: firstSentence(description),
			draft: `Use the ${name} skill to `
		}));
}

function firstSentence(text: string): string {
	const sentence = text.trim().match(/^.+?[.!?](?=\s|$)/s)?.[0] ?? text.trim();
	return sentence.length > 110 ? `${sentence.slice(0, 110).trimEnd()}…` : sentence;
}
