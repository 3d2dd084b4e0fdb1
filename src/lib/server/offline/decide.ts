/** Decides what the built-in responder does next: call something, ask something, or tell how it went. Pure. */
import { builtinNameOf } from '../../shared/names.ts';
import type { FunctionTool, ModelRequest } from '../agent/model.ts';
import { isStopWord, scoreSkill } from '../skills/find/scores.ts';
import { createSkillIndex } from '../skills/find/skill-index.ts';
import { actionsOf, type PlannedCall, toolAction } from './actions.ts';
import { ASKED, askText, instructionsText, offerText, reportText } from './answers.ts';
import type { FinderName } from './fill.ts';
import { type History, LOAD_SKILL, readHistory, readSkillContent, toolNamesOf, USE_SKILL } from './history.ts';
import { framing, isFiller, mentions, type Message, readMessage, namesOfUnit } from './message.ts';
import { type Plan, planActions, settle, type Settled, settledNothing } from './plan.ts';
import { extensionOf, isFileName } from './slots.ts';

export type Decision = { kind: 'call'; call: PlannedCall } | { kind: 'say'; text: string };

/** Tools that serve skills themselves: no message asks for them by their words. */
const SKILL_TOOLS = new Set([LOAD_SKILL, USE_SKILL, 'list_skills', 'search_skills', 'read_skill_file']);
/** Fewer points are chance (FEATURES B8). */
const MIN_POINTS = 3;
/** Of so many skills that fit the commands are compared, if they fit this share as well as the best one. */
const MAX_COMPARED = 3;
const NEAR = 0.35;
/** From this share on two skills fit as well as each other. */
const ALIKE = 0.85;
/** So many messages can be about one question. */
const MAX_THREAD = 8;

interface Scene {
	request: ModelRequest;
	history: History;
	/** Tools that belong to no skill, and that the message may mean. */
	tools: FunctionTool[];
	without: ReadonlySet<FinderName>;
}

interface Choice {
	name: string;
	points: number;
	tool: FunctionTool | null;
	/** Does more than one word speak of it? With less it runs what fits without a question, or does nothing. */
	isTold: boolean;
}

interface Looked {
	choice: Choice;
	step: Step;
}

type Step = { kind: 'load' | 'outline'; skill: string } | Plan;

export function decide(request: ModelRequest, without: ReadonlySet<FinderName> = new Set()): Decision {
	const history = readHistory(request);
	const { calls, turns, skills } = history;
	const runs = calls.filter((call) => readSkillContent(call.output) === null);
	if (runs.length > 0) return { kind: 'say', text: reportText(runs) };
	const step = request.toolChoice === 'none' || turns.length === 0 ? null : nextStep(request, history, without);
	const isMade =
		step?.kind === 'call' &&
		calls.some((made) => made.name === step.call.name && made.arguments === step.call.arguments);
	if (isMade) return { kind: 'say', text: reportText(calls) };
	if (step?.kind === 'call') return { kind: 'call', call: step.call };
	if (step?.kind === 'load')
		return { kind: 'call', call: { name: LOAD_SKILL, arguments: JSON.stringify({ skill: step.skill }) } };
	if (step?.kind === 'ask') return { kind: 'say', text: askText(step.ask) };
	const skill = step?.kind === 'outline' ? history.loaded.get(step.skill) : undefined;
	return { kind: 'say', text: skill ? instructionsText(skill, turns.at(-1)?.text ?? '') : offerText(skills) };
}

/** Takes up the question that was asked last, if this message answers it; else the message stands for itself. */
function nextStep(request: ModelRequest, history: History, without: ReadonlySet<FinderName>): Step | null {
	const { turns, loaded } = history;
	const skillTools = new Set([...loaded.values()].flatMap(toolNamesOf));
	const isMeant = (name: string) => builtinNameOf(name) === null || turns.at(-1)?.text.includes(name) === true;
	const tools = request.tools.filter(({ name }) => !SKILL_TOOLS.has(name) && !skillTools.has(name) && isMeant(name));
	const scene: Scene = { request, history, tools, without };
	let start = turns.length - 1;
	while (start > Math.max(0, turns.length - MAX_THREAD) && turns[start - 1]?.reply.includes(ASKED)) start -= 1;
	for (; start < turns.length; start += 1) {
		const step = follow(scene, start);
		if (step !== 'other') return step;
	}
	return null;
}

/** From a message on, each one after it being the answer to what was asked; `other` where one is not. */
function follow(scene: Scene, start: number): Step | null | 'other' {
	const { turns, workspace } = scene.history;
	const named = (text: string) => mentions(readMessage(text, { attached: [], earlier: [], workspace }));
	const earlier = turns
		.slice(0, start)
		.toReversed()
		.flatMap(({ text, attached }) => [...attached, ...named(text).map(({ value }) => value)]);
	const [first, ...answers] = turns.slice(start);
	let message = readMessage(first?.text ?? '', { attached: first?.attached ?? [], earlier, workspace });
	let settled = settledNothing();
	let step = stepFor(scene, message, settled);
	for (const { text, attached } of answers) {
		if (step?.kind !== 'ask') return 'other';
		const isFile = text === '' && attached.length > 0;
		const next = isFile
			? settled
			: settle(step.ask, readMessage(text, { ...message, attached }), settled, scene.without);
		if (!next) return 'other';
		message = { ...message, attached: [...message.attached, ...attached] };
		settled = next;
		step = stepFor(scene, message, settled);
	}
	return step;
}

function stepFor(scene: Scene, message: Message, settled: Settled): Step | null {
	const { history, request, without } = scene;
	const steps: Looked[] = [];
	for (const choice of choose(scene, message, settled)) {
		const { name, tool, points } = choice;
		// Another one is looked at where the better one has no answer, or is hardly better.
		if (steps.some((before) => isClean(before) && points < ALIKE * before.choice.points)) break;
		const skill = history.loaded.get(name);
		if (!tool && !skill && request.tools.some((each) => each.name === LOAD_SKILL)) return { kind: 'load', skill: name };
		const about = history.skills.find((each) => each.name === name)?.description ?? '';
		const actions = tool ? [toolAction(tool)] : skill ? actionsOf(skill, about, request.tools) : [];
		const plan = planActions(actions, message, settled, without);
		steps.push({ choice, step: plan.kind === 'nothing' && skill ? { kind: 'outline', skill: name } : plan });
	}
	const [first] = steps;
	const clean = steps.filter(
		(each) =>
			isClean(each) || (each === first && each.step.kind === 'call' && (each.step.isPlain || each.choice.isTold))
	);
	const [best, second] = clean;
	if (first?.step.kind === 'outline' && first.choice.points > (best?.choice.points ?? 0)) return first.step;
	if (best && second && !best.choice.tool && second.choice.points > ALIKE * best.choice.points)
		return { kind: 'ask', ask: { about: 'skill', skills: clean.map(({ choice }) => choice.name) }, points: 0 };
	const told = steps.filter(({ choice, step }) => choice.isTold || (step.kind === 'ask' && step.points >= 2));
	const apt = told.find(({ step }) => step.kind !== 'ask' || step.points >= 0) ?? told[0];
	return best?.step ?? apt?.step ?? null;
}

/** Does it run something, and explain all that was said? */
function isClean({ step }: Looked): boolean {
	return step.kind === 'call' && step.strange === 0;
}

/** Best first; none where nothing fits. */
function choose({ history, request, tools }: Scene, message: Message, settled: Settled): Choice[] {
	const { skills, previousSkill } = history;
	const { toolChoice } = request;
	const certain = (name: string, tool: FunctionTool | null) => [{ name, tool, points: Infinity, isTold: true }];
	const wanted = typeof toolChoice === 'object' ? tools.find(({ name }) => name === toolChoice.name) : undefined;
	if (wanted) return certain(wanted.name, wanted);
	const named = skills.find(({ name }) => settled.chosen.has(name));
	if (named) return certain(named.name, null);
	// Of equals the caller's own tool is meant: it was sent along with this very request.
	const offers = [...tools.map((tool) => ({ ...tool, tool })), ...skills.map((skill) => ({ ...skill, tool: null }))];
	const index = createSkillIndex(offers);
	const extensions = [...message.attached, ...mentions(message).map(({ value }) => value)].map(extensionOf);
	const units = message.numbers.flatMap(({ unit = '' }) => namesOfUnit(unit));
	const topics = framing(message).filter(
		(word, at) => !isFiller(word, at === 0) && !/^\p{Lu}|\d/u.test(word.text) && !isFileName(word.text)
	);
	const forms = message.typed.map(({ form, value }) => (form === 'code' ? (value.split(/\W/, 1)[0] ?? '') : form));
	const asked = framing(message).map(({ text }) => text);
	for (const query of [
		[...asked, ...extensions, ...forms, ...units],
		[message.text, ...extensions]
	].map((list) => list.join(' '))) {
		const ranked = index.rank(query, MAX_COMPARED).map(({ skill, score, words: found }) => {
			const words = found.filter((word) => !isStopWord(word));
			const isTold =
				scoreSkill(query, skill).score >= MIN_POINTS || words.length > 1 || 2 * words.length > topics.length;
			return { name: skill.name, points: score, tool: skill.tool, isTold };
		});
		if (ranked.length > 0) return ranked.filter(({ points }) => points >= NEAR * (ranked[0]?.points ?? 0));
	}
	// What was begun is gone on with, also where it is in no list.
	const begun = history.calls.flatMap((call) => readSkillContent(call.output)?.name ?? []).at(-1);
	if (begun !== undefined) return certain(begun, null);
	const isFollowUp = /^\W*(and|now|also|then|again|same|what about|how about|but)\b/i.test(message.text.slice(0, 40));
	const previous = isFollowUp && message.words.length <= 20 ? skills.find(({ name }) => name === previousSkill) : null;
	return previous ? certain(previous.name, null) : [];
}
