/** Decides what the built-in responder does next: call something, or say something. Pure. */
import { builtinNameOf } from '../../../shared/builtins.ts';
import type { ModelRequest } from '../../agent/model.ts';
import { describeOffer, explainInstructionsOnly, explainMissing } from './answers.ts';
import { LOAD_SKILL, readCatalog, readWorkspaceFiles, USE_SKILL } from './catalog.ts';
import { chooseFor } from './choose.ts';
import type { Choice } from './choose.ts';
import { MAX_RUNS, planCalls, planTool } from './plan.ts';
import type { Plan, PlannedCall } from './plan.ts';
import { readQuestion } from './question.ts';
import type { Question } from './question.ts';
import { hasFailed, reportCalls } from './report.ts';
import { readSkillContent, readSkillContents, toolNamesOf, withoutSkillContents } from './skill-content.ts';
import { readTurn, skillOf } from './turn.ts';
import type { FinishedCall, Turn } from './turn.ts';

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
