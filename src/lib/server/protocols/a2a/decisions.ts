/** What a client answers to a task that waits: “allow” or “deny”, or a choice as data; pure. */
import type { Message } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { approvalDecision } from '../../../shared/api.ts';
import type { ApprovalDecision } from '../../../shared/events.ts';
import { withoutUndefined } from '../../runs/agui-input.ts';

const ALLOW = /^(allow|yes|ok|approve|approved|once)[.!]?$/i;
const DENY = /^(deny|no|refuse|reject|denied)[.!]?$/i;

const choice = z.looseObject({ interruptId: z.string().optional() });

/**
 * A decision for each question that the message answers, of those that are `open`; what names none answers all.
 * @throws A2AError for what is no answer to them
 */
export function readDecisions(message: Message, open: readonly string[]): Map<string, ApprovalDecision> {
	const decisions = new Map<string, ApprovalDecision>();
	for (const { content } of message.parts) {
		if (content?.$case === 'text') {
			const decision = wordDecision(content.value.trim());
			for (const id of open) decisions.set(id, decision);
		}
		if (content?.$case !== 'data') continue;
		const named = choice.safeParse(content.value);
		const { interruptId, ...rest } = named.data ?? {};
		const parsed = approvalDecision.safeParse(rest);
		if (!named.success || !parsed.success) throw notUnderstood();
		if (interruptId !== undefined && !open.includes(interruptId)) {
			throw new RequestMalformedError('This task does not wait for a decision with that interruptId.');
		}
		for (const id of interruptId === undefined ? open : [interruptId]) {
			decisions.set(id, withoutUndefined(parsed.data));
		}
	}
	if (decisions.size === 0) throw notUnderstood();
	return decisions;
}

function wordDecision(text: string): ApprovalDecision {
	if (ALLOW.test(text)) return { choice: 'once' };
	if (DENY.test(text)) return { choice: 'deny' };
	throw notUnderstood();
}

function notUnderstood(): Error {
	return new RequestMalformedError(
		'This task waits for consent: answer “allow” or “deny”, or send a data part {"choice": "once" | "deny"}.'
	);
}
