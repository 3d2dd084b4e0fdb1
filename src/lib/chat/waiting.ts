/** Tells when there is nothing to see of a run that goes on. Pure. */
import type { Message } from '../shared/message.ts';

/** True between parts: before the first, and after one that is over while the model has not begun the next. */
export function isWaiting(message: Message): boolean {
	if (message.status !== 'running') return false;
	const last = message.parts.at(-1);
	if (!last) return true;
	if (last.type === 'text') return last.text === '';
	if (last.type === 'reasoning') return last.done;
	return last.type === 'compaction' || last.status === 'done' || last.status === 'failed';
}
