/** Decides which of a skill's tools and documented commands a message asks for, and with which arguments. */
import type { FunctionTool } from '../agent/model.ts';
import { tokenize, tokenizeName } from '../skills/find/scores.ts';
import { type LoadedSkill, ownTools, USE_SKILL } from './turn.ts';
import { type Command, fillCommand, findCommands, isUsed } from './commands.ts';
import { slotsOf } from './command-line.ts';
import { type Filled, mentions } from './fill.ts';
import type { FillContext } from './filling.ts';
import { framingOf, framingWords, type Question, type Word } from './question.ts';
import { type Slot, slotWords } from './slots.ts';
import { fillTool } from './tool-call.ts';

export interface PlannedCall {
	name: string;
	/** JSON. */
	arguments: string;
}

export type Plan =
	| { kind: 'calls'; calls: PlannedCall[] }
	/** What the best one lacks; `of` names it. */
	| { kind: 'missing'; of: string; slots: Slot[] }
	/** The skill has nothing to run. */
	| { kind: 'nothing' };

interface Candidate {
	label: string;
	call: PlannedCall;
	ownWords: string[];
	missing: Slot[];
	isSure: boolean;
	/** Does the message use a word of its own name? */
	isTold: boolean;
	/** How well its words fit the message, less what it would leave unused. */
	fit: number;
	/** With how well the message fills it. */
	score: number;
}

/** A turn runs no more than this. */
export const MAX_RUNS = 4;

export function planCalls(asked: Question, skill: LoadedSkill, tools: readonly FunctionTool[]): Plan {
	const commands = tools.some(({ name }) => name === USE_SKILL) ? findCommands(skill) : [];
	const question = withoutAddress(asked, commands);
	const skillWords = tokenizeName(skill.name);
	const candidates = [
		...ownTools(skill, tools).map((tool) => toolCandidate(tool, question, skillWords)),
		...commands.map((command) => commandCandidate(command, skill, question, skillWords))
	];
	const usable = best(candidates.filter(({ missing }) => missing.length === 0));
	const wanting = best(candidates.filter(({ missing }) => missing.length > 0));
	// The message names that one, and fills another by chance: better ask than do something else.
	const isOther =
		usable &&
		wanting &&
		(wanting.fit >= usable.fit + 3 || (wanting.isTold && !usable.isTold && wanting.fit > usable.fit));
	if (usable && !isOther) return { kind: 'calls', calls: [...inOrder(usable, candidates, question)] };
	return wanting ? { kind: 'missing', of: wanting.label, slots: wanting.missing } : { kind: 'nothing' };
}

/** A tool alone, such as one that the caller of the API supplied. */
export function planTool(tool: FunctionTool, question: Question): Plan {
	const { call, missing } = toolCandidate(tool, question, []);
	return missing.length > 0 ? { kind: 'missing', of: tool.name, slots: missing } : { kind: 'calls', calls: [call] };
}

/** In `todo: list my tasks` the colon only ends the address: what follows begins with the name of a command. */
function withoutAddress(question: Question, commands: readonly Command[]): Question {
	const { payload } = question;
	const first = payload && question.words.find((word) => word.start >= payload.start && !word.isQuoted);
	const framing = new Set(framingWords(question).map((word) => word.stem));
	const isCommand = first && commands.some(({ ownWords }) => ownWords.includes(first.stem) && !framing.has(first.stem));
	return isCommand ? { ...question, payload: null } : question;
}

function toolCandidate(tool: FunctionTool, question: Question, skillWords: readonly string[]): Candidate {
	const ownWords = tokenizeName(tool.name);
	const context = contextOf(question, [...ownWords, ...skillWords], tool.description);
	const filled = fillTool(tool, context);
	const candidate = {
		label: tool.name,
		call: { name: tool.name, arguments: JSON.stringify(filled.arguments) },
		ownWords
	};
	// Its arguments have types and descriptions, so it is preferred to a command of the same words.
	return { ...candidate, ...rate(filled, context, { ownWords, extra: 1 }) };
}

function commandCandidate(
	command: Command,
	skill: LoadedSkill,
	question: Question,
	skillWords: readonly string[]
): Candidate {
	const slots = slotsOf(command.groups).flatMap(({ flag, words }) => [...slotWords(flag ?? ''), ...words]);
	const context = contextOf(question, [...command.ownWords, ...skillWords], `${command.context} ${slots.join(' ')}`);
	const filled = fillCommand(command, context);
	const asked = new Set(framingWords(question).map((word) => word.stem));
	const unasked = command.ownWords.filter((word) => !asked.has(word)).length;
	const candidate = {
		label: command.script,
		call: {
			name: USE_SKILL,
			arguments: JSON.stringify({ skill: skill.name, script: command.script, args: filled.args })
		},
		ownWords: command.ownWords
	};
	const extra = 2 * filled.switches - unasked / 2 - (command.isExample ? 1 : 0);
	return { ...candidate, ...rate(filled, context, { ownWords: command.ownWords, extra }) };
}

function contextOf(question: Question, ownWords: readonly string[], prose: string): FillContext {
	return { question, ownWords: new Set(ownWords), vocabulary: new Set(tokenize(prose)) };
}

function rate(
	filled: Filled,
	context: FillContext,
	{ ownWords, extra }: { ownWords: readonly string[]; extra: number }
): Pick<Candidate, 'missing' | 'isSure' | 'isTold' | 'fit' | 'score'> {
	const told = new Set(
		framingWords(context.question)
			.filter(tellsToDo)
			.map((word) => word.stem)
	);
	const subjects = new Set(tokenize(framingOf(context.question)));
	const own = ownWords.filter((word) => told.has(word));
	const around = [...new Set([...context.vocabulary, ...ownWords])].filter(
		(word) => subjects.has(word) && !own.includes(word)
	);
	const fit = 3 * own.length + around.length - 3 * unusedPieces(filled, context);
	let values = 0;
	for (const [slot, { isSure }] of filled.found) {
		if (isSure) values += 2;
		else if (slot.choices.length > 0) values -= 1;
	}
	return {
		missing: filled.missing,
		isSure: [...filled.found].every(([slot, { isSure }]) => isSure || !slot.isRequired),
		isTold: own.length > 0,
		fit,
		score: fit + values + extra
	};
}

/** Texts and files in the message that would go nowhere: a sign that another command is meant. */
function unusedPieces({ found, taken }: Filled, context: FillContext): number {
	const { question } = context;
	const used = new Set([...found.values()].flatMap(({ value, values }) => [value, ...(values ?? [])]));
	const named = mentions({ ...context, slots: [], found: new Map(), taken: [] }).filter(
		({ path, spans }) => !used.has(path) && !spans.some((span) => isUsed(span, taken))
	);
	const quotes = question.quotes.filter((quote) => !isUsed(quote, taken) && !used.has(quote.value));
	const payload = question.payload && !isUsed(question.payload, taken) ? 1 : 0;
	const attached = question.attachedFiles.length > 0 && !question.attachedFiles.some((path) => used.has(path)) ? 1 : 0;
	return payload + attached + Math.min(2, named.length) + Math.min(2, quotes.length);
}

function best(candidates: readonly Candidate[]): Candidate | undefined {
	return candidates.reduce<Candidate | undefined>(
		(top, candidate) => (top === undefined || candidate.score > top.score ? candidate : top),
		undefined
	);
}

/** The chosen call, and others that the message asks for in so many words (`… and verify it`), as it orders them. */
function inOrder(chosen: Candidate, candidates: readonly Candidate[], question: Question): PlannedCall[] {
	const steps = [{ candidate: chosen, position: positionOf(chosen, [], question) }];
	for (const candidate of [...candidates].sort((a, b) => b.score - a.score)) {
		const others = steps.flatMap((step) => step.candidate.ownWords);
		const position = positionOf(candidate, others, question);
		if (candidate.missing.length > 0 || !candidate.isSure || position === Infinity || steps.length >= MAX_RUNS)
			continue;
		steps.push({ candidate, position });
		if (steps.length === 2)
			steps[0] = { candidate: chosen, position: positionOf(chosen, candidate.ownWords, question, true) };
	}
	const calls = steps.sort((a, b) => a.position - b.position).map(({ candidate }) => candidate.call);
	return calls.filter(
		(call, index) =>
			calls.findIndex((other) => other.arguments === call.arguments && other.name === call.name) === index
	);
}

/** Where the message tells to do it: the place of a word of its own, at the beginning of a request unless `anywhere`. */
function positionOf(candidate: Candidate, others: readonly string[], question: Question, anywhere = false): number {
	const own = new Set(candidate.ownWords.filter((word) => !others.includes(word)));
	const words = framingWords(question);
	const index = words.findIndex((word, place) => {
		const before = words[place - 1];
		const begins =
			before === undefined ||
			before.endsClause ||
			before.hasComma ||
			/^(and|then|also|please|afterwards|finally|first)$/.test(before.lower);
		return own.has(word.stem) && tellsToDo(word) && (anywhere || begins);
	});
	return index < 0 ? Infinity : index;
}

/** `deployed` tells about a state, `deploy` tells to do it. */
function tellsToDo(word: Word): boolean {
	return word.stem === word.lower || !word.lower.endsWith('ed');
}
