/** What was decided about a call that had to be allowed, in words. Pure. */
import type { ApprovalDecision } from '../shared/events.ts';
import { cleanText } from './clean-text.ts';

const ALLOWED = {
	once: 'Allowed once',
	script: 'Allowed, always for this script',
	skill: 'Allowed, always for this skill'
} satisfies Record<Exclude<ApprovalDecision['choice'], 'deny'>, string>;

export function printDecision({ choice, reason }: ApprovalDecision): string {
	if (choice !== 'deny') return ALLOWED[choice];
	return reason ? `Denied: ${cleanText(reason)}` : 'Denied';
}
