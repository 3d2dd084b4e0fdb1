/** Chooses the skill, or the caller's own tool, that fits a message. */
import type { FunctionTool } from '../../agent/model.ts';
import { scoreSkill, tokenize } from '../../skills/search.ts';
import { createSkillIndex } from '../../skills/skill-index.ts';
import type { CatalogSkill } from './catalog.ts';
import { isTimeWord, PREPOSITIONS } from './phrases.ts';
import { framingOf, framingWords } from './question.ts';
import type { Question, Word } from './question.ts';
import { extensionOf, isFileName } from './slots.ts';

export type Choice = { kind: 'skill'; name: string } | { kind: 'tool'; tool: FunctionTool };

const PLACING = new Set(['in', 'at', 'for', 'near', 'to', 'into']);

export interface Offer {
	skills: readonly CatalogSkill[];
	/** Tools that belong to no skill. */
	tools: readonly FunctionTool[];
	previousSkill: string | null;
}

/** Fewer points are chance (FEATURES B8). */
const MIN_POINTS = 3;
const MAX_RANKED = 20;

interface Offered {
	name: string;
	description: string;
	choice: Choice;
}

/** Best first, at most one tool and one skill; empty when nothing fits. */
export function chooseFor(question: Question, { skills, tools, previousSkill }: Offer): Choice[] {
	const files = [...question.attachedFiles, ...question.words.map(({ text }) => text).filter(isFileName)];
	const extensions = files.map(extensionOf).join(' ');
	const index = createSkillIndex<Offered>([
		// Of equals the caller's own tool is meant: it was sent along with this very request.
		...tools.map((tool) => ({
			name: tool.name,
			description: tool.description,
			choice: { kind: 'tool' as const, tool }
		})),
		...skills.map((skill) => ({ ...skill, choice: { kind: 'skill' as const, name: skill.name } }))
	]);
	for (const query of [`${framingOf(question)} ${extensions}`, `${question.text} ${extensions}`]) {
		const fitting = index
			.rank(query, MAX_RANKED)
			.map(({ skill }) => skill)
			.filter((offered) => scoreSkill(query, offered).score >= MIN_POINTS);
		const best = (kind: Choice['kind']) => fitting.find(({ choice }) => choice.kind === kind);
		const [skill, tool] = [best('skill'), best('tool')];
		const choices = fitting.filter((offered) => offered === skill || offered === tool);
		if (choices.length > 0) return choices.map(({ choice }) => choice);
	}
	const name = onlyFit(question, extensions, skills) ?? (isFollowUp(question) ? previousSkill : null);
	return name === null ? [] : [{ kind: 'skill', name }];
}

/**
 * A short question may share one word with one skill (`Will it rain in Berlin?`). That is enough when it is all the
 * question is about, names, numbers, times and files aside, and no other skill has as much. So is a file of a sort that
 * the skill speaks of, and one more word.
 */
function onlyFit(question: Question, extensions: string, skills: readonly CatalogSkill[]): string | null {
	const topics = framingWords(question)
		.filter((_, index, words) => !isPlaced(index, words) && !/^\d/.test(words[index - 1]?.text ?? ''))
		.filter(
			(word, index) =>
				!(index > 0 && /^\p{Lu}/u.test(word.text)) &&
				!/\d/.test(word.text) &&
				!isTimeWord(word) &&
				!isFileName(word.text)
		)
		.flatMap((word) => tokenize(word.text));
	const query = [...framingWords(question).map(({ text }) => text), extensions].join(' ');
	const scored = skills
		.map((skill) => ({ skill, score: scoreSkill(query, skill).score }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score);
	const [first, second] = scored;
	if (!first || first.score === second?.score || (topics.length === 0 && extensions.trim() === '')) return null;
	const words = new Set(tokenize(`${first.skill.name} ${first.skill.description}`));
	const takesFile = first.score >= 2 && tokenize(extensions).some((extension) => words.has(extension));
	return takesFile || topics.every((topic) => words.has(topic)) ? first.skill.name : null;
}

/** `in paris`, `for two days`, `dist to out`: what stands beside such a word tells where and how long, not what. */
function isPlaced(index: number, words: readonly Word[]): boolean {
	for (const word of words.slice(Math.max(0, index - 4), index).reverse()) {
		if (word.endsClause || (PREPOSITIONS.has(word.lower) && !PLACING.has(word.lower))) return false;
		if (PLACING.has(word.lower)) return true;
	}
	return index > 0 && !words[index]?.endsClause && /^(to|into)$/.test(words[index + 1]?.lower ?? '');
}

function isFollowUp(question: Question): boolean {
	return (
		/^\W*(and|now|also|then|again|same|what about|how about|but)\b/i.test(question.text.slice(0, 40)) &&
		question.words.length <= 20
	);
}
