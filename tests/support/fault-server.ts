/** A model server that fails in every way we know of, then accepts only what the strictest server accepts. */
import { BODY_FAULTS } from './faults/bodies.ts';
import { CONNECTION_FAULTS } from './faults/connections.ts';
import { ENDING_FAULTS } from './faults/endings.ts';
import { ERROR_FRAME_FAULTS } from './faults/error-frames.ts';
import { RECOVERED, type Fault } from './faults/fault.ts';
import { ITEM_FAULTS } from './faults/items.ts';
import { STATUS_FAULTS } from './faults/statuses.ts';
import { STREAM_FAULTS } from './faults/streams.ts';
import { dynamic, status, text, type Handler } from './model-replies.ts';

export { RECOVERED, repliesOf, type Fault, type Outcome } from './faults/fault.ts';

/** Each with exactly what the user sees. */
export const FAULTS: readonly Fault[] = [
	...STATUS_FAULTS,
	...CONNECTION_FAULTS,
	...ERROR_FRAME_FAULTS,
	...STREAM_FAULTS,
	...BODY_FAULTS,
	...ITEM_FAULTS,
	...ENDING_FAULTS
];

/** Long enough for a busy machine to send a byte, short enough to wait for. */
export const STALL_MS = 800;

/** For tests that send megabytes on a busy machine. */
export const PATIENCE_MS = 60_000;

type Item = Record<string, unknown>;

/** The next response: `RECOVERED`, unless some server would refuse the history as a whole. */
export function strictReply(): Handler {
	return dynamic(({ input }) => {
		const problem = problemOf(input);
		return problem === null ? text(RECOVERED) : status(400, { error: { code: 400, message: problem } });
	});
}

function problemOf(input: unknown): string | null {
	if (!Array.isArray(input) || input.length === 0) return 'no input';
	const items = input as Item[];
	// JSON.stringify escapes only lone surrogates; Rust parsers refuse the whole body because of one.
	if (/(^|[^\\])(\\\\)*\\ud[89a-f]/.test(JSON.stringify(items))) return 'half a character';
	if (items.at(-1)?.role !== 'user') return 'the last item is no question';
	const called = idsOf(items, 'function_call');
	const answered = idsOf(items, 'function_call_output');
	if (new Set(called).size !== called.length) return 'a call id twice';
	if (called.toSorted().join() !== answered.toSorted().join()) return 'calls and outputs do not match';
	return items.map(itemProblem).find((problem) => problem !== null) ?? null;
}

function idsOf(items: Item[], type: string): string[] {
	return items.filter((item) => item.type === type).map((item) => String(item.call_id));
}

function itemProblem(item: Item): string | null {
	if (item.type === 'function_call') {
		if (typeof item.call_id !== 'string' || item.call_id === '') return 'a call without an id';
		if (typeof item.name !== 'string' || item.name === '') return 'a call without a name';
		return isJsonObject(item.arguments) ? null : 'arguments that are not a JSON object';
	}
	if (item.type === 'function_call_output') return typeof item.output === 'string' ? null : 'an output without text';
	if (item.type === 'message') return isBlank(item.content) ? 'a blank message' : null;
	return item.type === 'reasoning' ? null : `an item of type ${String(item.type)}`;
}

function isJsonObject(value: unknown): boolean {
	try {
		const parsed: unknown = JSON.parse(String(value));
		return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
	} catch {
		// It isn't JSON.
		return false;
	}
}

function isBlank(content: unknown): boolean {
	if (!Array.isArray(content)) return String(content).trim() === '';
	return content.every((part: Item) => String(part.text ?? '').trim() === '');
}
