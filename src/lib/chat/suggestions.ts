/** First things to ask, made from what the installed skills say of themselves. Pure. */
import type { SkillSummary } from '../shared/skills.ts';

export type SuggestionIcon =
	'data' | 'document' | 'text' | 'weather' | 'message' | 'web' | 'picture' | 'code' | 'skill';

export interface Suggestion {
	skill: string;
	icon: SuggestionIcon;
	/** What the skill does: its description's first sentence. */
	summary: string;
	/** The beginning of a message, for the user to finish. */
	draft: string;
}

/** The first that fits the skill's name, or else its description. */
const ICONS: [SuggestionIcon, RegExp][] = [
	['data', /\b(data|csv|excel|xlsx|spreadsheets?|charts?|sql|statistics)\b/i],
	['weather', /\b(weather|forecasts?)\b/i],
	['message', /\b(discord|slack|e?mails?|messages?|chat)\b/i],
	['picture', /\b(images?|pictures?|photos?|svg|diagrams?)\b/i],
	['document', /\b(pdfs?|docx?|documents?|slides|pptx|reports?)\b/i],
	['code', /\b(code|deploy|git|skills?|tests?|build|scripts?)\b/i],
	['web', /\b(web|http|urls?|sites?|search|browser)\b/i],
	['text', /\b(words?|texts?|writing|translate|summar\w+)\b/i]
];

export function suggestionsFrom(skills: readonly SkillSummary[], count: number): Suggestion[] {
	// A skill with something to run shows more of what the app does.
	const canRun = (skill: SkillSummary): number => (skill.scripts.length + skill.tools.length > 0 ? 0 : 1);
	return skills
		.filter(({ status, mode }) => status === 'ready' && mode !== 'off')
		.toSorted((one, other) => canRun(one) - canRun(other))
		.slice(0, count)
		.map(({ name, description }) => ({
			skill: name,
			icon: iconOf(name, description),
			summary: firstSentence(description),
			draft: `Use the ${name} skill to `
		}));
}

function iconOf(name: string, description: string): SuggestionIcon {
	const fits = (words: string): SuggestionIcon | undefined => ICONS.find(([, pattern]) => pattern.test(words))?.[0];
	return fits(name) ?? fits(firstSentence(description)) ?? 'skill';
}

function firstSentence(text: string): string {
	const sentence = text.trim().match(/^.+?[.!?](?=\s|$)/s)?.[0] ?? text.trim();
	return sentence.length > 110 ? `${sentence.slice(0, 110).trimEnd()}…` : sentence;
}
