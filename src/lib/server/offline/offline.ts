/** Demo mode: drives skills by their words and documented commands, with no model, no key and no network (F9). */
import { createHash } from 'node:crypto';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import type { Model, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { asObject, parseJson } from '../../shared/json.ts';
import { isUnanswered, UNFIT } from '../../shared/questions.ts';
import { changeText, sameText, shelvedText } from './answers.ts';
import { decide, type Decision } from './decide.ts';
import { type History, LOAD_SKILL, readHistory } from './history.ts';
import { shapeText } from './markdown.ts';

/** `Turn weather off`, `disable the weather skill`; what is to be deleted must be called a skill. */
const CHANGING =
	/^\W*(?:(?:please|can you|could you) )?(?:(?:(?:turn|switch) (?<before>on|off)|(?<verb>enable|disable|uninstall)) (?:the )?(?:skill )?(?<one>[\w-]+)(?: skill)?|(?:turn|switch) (?:the )?(?:skill )?(?<other>[\w-]+)(?: skill)? (?<after>on|off)|(?:delete|remove) (?:the )?(?:skill )?(?<gone>[\w-]+(?= skill)|\w+-[\w-]+)(?: skill)?)\W*$/i;
/** A shorter answer may as well be told twice. */
const SHORT_ANSWER = 200;

/**
 * A model that is no language model, and says so in each answer. Deterministic and without state: equal requests get
 * equal answers. Text comes a line at a time.
 */
export function createOfflineModel(): Model {
	return { id: BUILT_IN_MODEL, takes: async () => false, stream };
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
	for (const event of respond(request)) {
		if (signal.aborted) {
			yield { type: 'failed', error: { code: 'aborted', message: 'The answer was stopped.' }, items: [] };
			return;
		}
		yield event;
		// Lets others run, and an abort arrive, between the pieces.
		await Promise.resolve();
	}
}

function respond(request: ModelRequest): ModelEvent[] {
	try {
		const history = readHistory(request);
		const decision = changing(history) ?? withShelved(decide(request), request, history);
		return eventsOf(withoutRepeat(decision, history), request);
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		const message = `Demo mode couldn't read this request: ${reason}`;
		return [{ type: 'failed', error: { code: 'provider_error', message }, items: [] }];
	}
}

/** Wants a skill turned on or off, or deleted; null where it's no skill. */
function changing({ turns, skills }: History): Decision | null {
	const found = CHANGING.exec(turns.at(-1)?.text ?? '')?.groups ?? {};
	const name = (found.one ?? found.other ?? found.gone ?? '').toLowerCase();
	const verb = found.verb?.toLowerCase();
	const to = found.before ?? found.after ?? (verb === 'enable' ? 'on' : verb === 'disable' ? 'off' : null);
	if (!skills.some((skill) => skill.name === name)) return null;
	return { kind: 'say', text: changeText(name, to?.toLowerCase() ?? null) };
}

/** Where nothing fits, but would if it could be used: found as if it could. */
function withShelved(decision: Decision, request: ModelRequest, { shelved }: History): Decision {
	if (decision.kind !== 'say' || !decision.text.includes(UNFIT)) return decision;
	const usable = { type: 'message', role: 'user', content: [], told: { skills: shelved } };
	const { call } = { call: null, ...decide({ ...request, input: [...request.input, usable] }) };
	const { skill } = asObject(parseJson(call?.name === LOAD_SKILL ? call.arguments : ''));
	const meant = shelved.find(({ name }) => name === skill);
	return meant ? { kind: 'say', text: `${shelvedText(meant)}\n\n${decision.text}` } : decision;
}

/** To another question the same long answer once more tells nothing. */
function withoutRepeat(decision: Decision, { turns: all }: History): Decision {
	const [before, asked] = all.slice(-2);
	const isRepeat =
		decision.kind === 'say' &&
		decision.text.length > SHORT_ANSWER &&
		decision.text === before?.reply &&
		before.text !== asked?.text &&
		/\b(this|that|these|those|it|they)\b/i.test(asked?.text ?? '') &&
		// What it draws instead is told again.
		!/\b(chart|graph|plot|pie)\b/i.test(asked?.text ?? '') &&
		!isUnanswered(decision.text);
	return isRepeat ? { kind: 'say', text: sameText(decision.text) } : decision;
}

function eventsOf(decision: Decision, request: ModelRequest): ModelEvent[] {
	const { instructions, input, tools, sessionId } = request;
	const { text: output, incompleteReason } =
		decision.kind === 'say'
			? shapeText(decision.text, request.options)
			: { text: decision.call.arguments, incompleteReason: null };
	// By its place in the conversation; a digest of what led here keeps it apart where a history was shortened.
	const calls = input.filter((item) => item.type === 'function_call').length;
	const digest = createHash('sha256')
		.update(JSON.stringify([sessionId, input, output]))
		.digest('hex');
	const id = `${calls + 1}_${digest.slice(0, 8)}`;
	const usage = { inputTokens: tokensOf(JSON.stringify([instructions, input, tools])), outputTokens: tokensOf(output) };
	const completed = (item: ResponseItem): ModelEvent => {
		return { type: 'completed', items: [{ ...item, status: 'completed' }], usage, incompleteReason };
	};
	if (decision.kind === 'call') {
		const [callId, call] = [`call_${id}`, decision.call];
		return [
			{ type: 'call.started', callId, name: call.name },
			{ type: 'call.delta', callId, delta: call.arguments },
			{ type: 'call.done', callId, ...call },
			completed({ type: 'function_call', id: `fc_${id}`, call_id: callId, ...call })
		];
	}
	const key = `msg_${id}`;
	const lines = output.match(/[^\n]*\n+|[^\n]+$/g) ?? [];
	const content = [{ type: 'output_text', text: output, annotations: [] }];
	return [
		...lines.map((delta): ModelEvent => ({ type: 'text.delta', key, delta })),
		completed({ type: 'message', id: key, role: 'assistant', content })
	];
}

/** An estimate: four characters are about a token. */
function tokensOf(text: string): number {
	return Math.ceil(text.length / 4);
}
