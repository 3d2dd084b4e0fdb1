/** What was decided about a call that had to be allowed, in words. Pure. */
import type { ApprovalDecision } from '../shared/events.ts';
import { approvalText as text } from '../strings/steps.ts';
import { cleanText } from './clean-text.ts';

export function printDecision({ choice, reason }: ApprovalDecision): string {
	if (choice !== 'deny') return text.allowed[choice];
	return reason ? text.deniedBecause(cleanText(reason)) : text.denied;
}
