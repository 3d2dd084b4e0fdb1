/** Decides what the built-in responder does next: call something, or say something. Pure. */
import { builtinNameOf } from '../../shared/names.ts';
import type { FunctionTool, ModelRequest } from '../agent/model.ts';
import { scoreSkill, tokenize } from '../skills/find/scores.ts';
import { createSkillIndex } from '../skills/find/skill-index.ts';
import { describeOffer, explainInstructionsOnly, explainMissing, hasFailed, reportCalls } from './answers.ts';
import { isTimeWord, PREPOSITIONS } from './phrases.ts';
import { MAX_RUNS, type Plan, planCalls, type PlannedCall, planTool } from './plan.ts';
import { framingOf, framingWords, type Question, readQuestion, type Word } from './question.ts';
import { extensionOf, isFileName } from './slots.ts';
import {
	type CatalogSkill,
	type FinishedCall,
	LOAD_SKILL,
	readCatalog,
	readSkillContent,
	readSkillContents,
	readTurn,
	readWorkspaceFiles,
	skillOf,
	toolNamesOf,
	type Turn,
	USE_SKILL,
	withoutSkillContents
} from './turn.ts';

export type Decision = { kind: 'call'; call: PlannedCall } | { kind: 'say'; text: string };

/** Tools that serve skills themselves: no message asks for them by their words. */
const SKILL_TOOLS = new Set([LOAD_SKILL, USE_SKILL, 'list_skills', 'search_skills', 'read_skill_file']);

export function decide(given: ModelRequest): Decision {
	const turn = readTurn(given.input, readSkillContents(given.instructions));
	const request = { ...given, instructions: withoutSkillContents(given.instructions) };
	const runs = turn.calls.filter((call) => readSkillContent(call.output) === null);
	const last = runs.at(-1);
	const canCall = request.toolChoice !== 'none' && runs.length < MAX_RUNS && !(last && hasFailed(last));
	const next = canCall && turn.text !== null ? nextStep(request, turn, runs) : null;
	if (next?.kind === 'call' && !wasMade(next.call, turn.calls)) return next;
	if (runs.length > 0) return { kind: 'say', text: reportCalls(runs) };
	if (next?.kind === 'say') return next;
	return { kind: 'say', text: describeOffer(readCatalog(request.instructions, request.tools)) };
}

/** Null when nothing fits, or all is done. */
function nextStep(request: ModelRequest, turn: Turn, runs: readonly FinishedCall[]): Decision | null {
	const question = readQuestion(turn.text ?? '', {
		attachedFiles: turn.attachedFiles,
		earlierFiles: turn.earlierFiles,
		workspaceFiles: readWorkspaceFiles(request.instructions)
	});
	const skillTools = new Set([...turn.loadedSkills.values()].flatMap(toolNamesOf));
	const isMeant = (name: string) => builtinNameOf(name) === null || question.text.includes(name);
	const callerTools = request.tools.filter(
		({ name }) => !SKILL_TOOLS.has(name) && !skillTools.has(name) && isMeant(name)
	);
	const skills = readCatalog(request.instructions, request.tools);
	const previousSkill = skills.find(({ name }) => name === turn.previousSkill)?.name ?? null;
	const offer = { skills, tools: callerTools, previousSkill };
	// What was begun is gone on with: a message is not judged anew at each step.
	const begun = begunWith(
		turn,
		callerTools.map(({ name }) => name)
	);
	if (begun?.kind === 'tool') return null;
	const choices: Choice[] = begun ? [begun] : (wantedTool(request) ?? chooseFor(question, offer));
	let refusal: Decision | null = null;
	for (const choice of choices) {
		const step =
			choice.kind === 'tool'
				? stepOf(planTool(choice.tool, question), 0)
				: skillStep(choice.name, request, turn, question, runs.length);
		if (step?.kind !== 'say') return step;
		refusal ??= step;
	}
	return refusal;
}

/** The very tool that is to be called, where the request names one. */
function wantedTool({ toolChoice, tools }: ModelRequest): Choice[] | null {
	if (typeof toolChoice !== 'object') return null;
	const tool = tools.find(({ name }) => name === toolChoice.name && !SKILL_TOOLS.has(name));
	return tool ? [{ kind: 'tool', tool }] : null;
}

function begunWith(turn: Turn, callerTools: readonly string[]): Choice | { kind: 'tool' } | null {
	const [first] = turn.calls;
	if (!first) return null;
	const skill = skillOf(first, turn.loadedSkills);
	return skill === null || callerTools.includes(first.name) ? { kind: 'tool' } : { kind: 'skill', name: skill };
}

function skillStep(
	name: string,
	request: ModelRequest,
	turn: Turn,
	question: Question,
	runCount: number
): Decision | null {
	const skill = turn.loadedSkills.get(name);
	if (!skill) {
		const canLoad = request.tools.some((tool) => tool.name === LOAD_SKILL);
		return canLoad ? { kind: 'call', call: { name: LOAD_SKILL, arguments: JSON.stringify({ skill: name }) } } : null;
	}
	const plan = planCalls(question, skill, request.tools);
	if (plan.kind === 'nothing') return { kind: 'say', text: explainInstructionsOnly(skill) };
	return stepOf(plan, runCount);
}

function stepOf(plan: Plan, done: number): Decision | null {
	if (plan.kind === 'missing') return { kind: 'say', text: explainMissing(plan.of, plan.slots) };
	const call = plan.kind === 'calls' ? plan.calls[done] : undefined;
	return call ? { kind: 'call', call } : null;
}

function wasMade(call: PlannedCall, calls: readonly FinishedCall[]): boolean {
	return calls.some((made) => made.name === call.name && made.arguments === call.arguments);
}

// Chooses the skill, or the caller's own tool, that fits a message.

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
function chooseFor(question: Question, { skills, tools, previousSkill }: Offer): Choice[] {
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
