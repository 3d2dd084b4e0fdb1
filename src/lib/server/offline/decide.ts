/** Decides what demo mode does next: call something, ask something, or tell how it went. Pure. */
import { builtinNameOf } from '../../shared/names.ts';
import type { FunctionTool, ModelRequest } from '../agent/model.ts';
import { createSkillIndex } from '../skills/find/skill-index.ts';
import { actionsOf, type PlannedCall, toolAction } from './actions.ts';
import { ASKED, askText, instructionsText, offerText, reportText } from './answers.ts';
import { type History, LOAD_SKILL, readHistory, readSkillContent, toolNamesOf, USE_SKILL } from './history.ts';
import { framing, mentions, type Message, readMessage } from './message.ts';
import { type Plan, planActions, settle, type Settled, SETTLED_NOTHING } from './plan.ts';
import { extensionOf } from './slots.ts';

export type Decision = { kind: 'call'; call: PlannedCall } | { kind: 'say'; text: string };

/** Tools that serve skills themselves: no message asks for them by their words. */
const SKILL_TOOLS = new Set([LOAD_SKILL, USE_SKILL, 'list_skills', 'search_skills', 'read_skill_file']);
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
}

interface Choice {
	name: string;
	points: number;
	tool: FunctionTool | null;
}

type Step = { kind: 'load' | 'outline'; skill: string } | Plan;

export function decide(request: ModelRequest): Decision {
	const history = readHistory(request);
	const { calls, turns, skills } = history;
	const runs = calls.filter((call) => readSkillContent(call.output) === null);
	const say = (text: string): Decision => ({ kind: 'say', text });
	if (runs.length > 0) return say(reportText(runs));
	const step = request.toolChoice === 'none' || turns.length === 0 ? null : nextStep(request, history);
	const call =
		step?.kind === 'load' ? { name: LOAD_SKILL, arguments: JSON.stringify({ skill: step.skill }) } : undefined;
	const planned = step?.kind === 'call' ? step.call : call;
	if (planned) {
		const isMade = calls.some((made) => made.name === planned.name && made.arguments === planned.arguments);
		return isMade ? say(reportText(calls)) : { kind: 'call', call: planned };
	}
	if (step?.kind === 'ask') return say(askText(step.ask));
	const skill = step?.kind === 'outline' ? history.loaded.get(step.skill) : undefined;
	return say(skill ? instructionsText(skill, turns.at(-1)?.text ?? '') : offerText(skills));
}

/** Takes up the question that was asked last, if this message answers it; else the message stands for itself. */
function nextStep(request: ModelRequest, history: History): Step | null {
	const { turns, loaded } = history;
	const skillTools = new Set([...loaded.values()].flatMap(toolNamesOf));
	const isMeant = (name: string) => builtinNameOf(name) === null || turns.at(-1)?.text.includes(name) === true;
	const tools = request.tools.filter(({ name }) => !SKILL_TOOLS.has(name) && !skillTools.has(name) && isMeant(name));
	const scene: Scene = { request, history, tools };
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
	const files = (text: string) => mentions(readMessage(text, { attached: [], earlier: [], workspace }));
	const earlier = turns
		.slice(0, start)
		.toReversed()
		.flatMap(({ text, attached }) => [...attached, ...files(text).map(({ value }) => value)]);
	const [first, ...answers] = turns.slice(start);
	let message = readMessage(first?.text ?? '', { attached: first?.attached ?? [], earlier, workspace });
	let settled = SETTLED_NOTHING;
	let step = stepFor(scene, message, settled);
	for (const { text, attached } of answers) {
		if (step?.kind !== 'ask') return 'other';
		const isFile = text === '' && attached.length > 0;
		const answer = readMessage(text, { ...message, attached });
		const next = isFile ? settled : settle(step.ask, answer, settled);
		if (!next) return 'other';
		message = { ...message, attached: [...message.attached, ...attached] };
		settled = next;
		step = stepFor(scene, message, settled);
	}
	return step;
}

function stepFor(scene: Scene, message: Message, settled: Settled): Step | null {
	const { history, request } = scene;
	const steps: { choice: Choice; step: Step }[] = [];
	const isClean = ({ step }: { step: Step }) => step.kind === 'call' && step.strange === 0;
	for (const choice of choose(scene, message, settled)) {
		const { name, tool, points } = choice;
		// Another one is looked at where the better one has no answer, or is hardly better.
		if (steps.some((before) => isClean(before) && points < ALIKE * before.choice.points)) break;
		const skill = history.loaded.get(name);
		if (!tool && !skill && request.tools.some((each) => each.name === LOAD_SKILL)) return { kind: 'load', skill: name };
		const about = history.skills.find((each) => each.name === name)?.description ?? '';
		const actions = tool ? [toolAction(tool)] : skill ? actionsOf(skill, about, request.tools) : [];
		const plan = planActions(actions, message, settled);
		steps.push({ choice, step: plan.kind === 'nothing' && skill ? { kind: 'outline', skill: name } : plan });
	}
	const [first] = steps;
	if (first?.step.kind === 'outline') return first.step;
	// What explains all that was said; else what fits best, with some talk around it.
	const runs = steps.filter((each) => isClean(each) || (each === first && each.step.kind === 'call'));
	const [best, second] = runs;
	if (best && second && !best.choice.tool && second.choice.points > ALIKE * best.choice.points)
		return { kind: 'ask', ask: { about: 'skill', skills: runs.map(({ choice }) => choice.name) }, points: 0 };
	return (best ?? steps.find(({ step }) => step.kind !== 'ask' || step.points >= 0) ?? first)?.step ?? null;
}

/** Best first; none where nothing fits. */
function choose({ history, request, tools }: Scene, message: Message, settled: Settled): Choice[] {
	const { skills, previousSkill } = history;
	const { toolChoice } = request;
	const certain = (name: string | undefined, tool: FunctionTool | null = null) =>
		name === undefined ? [] : [{ name, tool, points: Infinity }];
	const wanted = typeof toolChoice === 'object' ? tools.find(({ name }) => name === toolChoice.name) : undefined;
	if (wanted) return certain(wanted.name, wanted);
	const chosen = skills.find(({ name }) => settled.chosen.has(name));
	if (chosen) return certain(chosen.name);
	// Of equals the caller's own tool is meant: it was sent along with this very request.
	const offers = [...tools.map((tool) => ({ ...tool, tool })), ...skills.map((skill) => ({ ...skill, tool: null }))];
	const index = createSkillIndex(offers);
	const extensions = [...message.attached, ...mentions(message).map(({ value }) => value)].map(extensionOf);
	const forms = message.typed.map(({ form, value }) => (form === 'code' ? (value.split(/\W/, 1)[0] ?? '') : form));
	const asked = framing(message).map(({ text }) => text);
	for (const query of [
		[...asked, ...extensions, ...forms],
		[message.text, ...extensions]
	]) {
		const ranked = index.rank(query.join(' '), MAX_COMPARED).map(({ skill: { name, tool }, score }) => {
			return { name, tool, points: score };
		});
		if (ranked.length > 0) return ranked.filter(({ points }) => points >= NEAR * (ranked[0]?.points ?? 0));
	}
	// What was begun is gone on with, also where it is in no list.
	const begun = history.calls.flatMap((call) => readSkillContent(call.output)?.name ?? []).at(-1);
	const isFollowUp = /^\W*(and|now|also|then|again|same|what about|how about|but)\b/i.test(message.text.slice(0, 40));
	return certain(begun ?? (isFollowUp ? skills.find(({ name }) => name === previousSkill)?.name : undefined));
}
