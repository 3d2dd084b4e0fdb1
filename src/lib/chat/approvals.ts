/** What was decided about a call that had to be allowed, in words. Pure. */
import type { ApprovalDecision } from '../shared/events.ts';
import { mcpServerOf } from '../shared/mcp-servers.ts';
import { cleanText } from './clean-text.ts';

const allowedText = {
	once: 'Allowed once',
	script: 'Allowed, always for this script',
	skill: 'Allowed, always for this skill'
};

/** `skill` is whose call it was; a server of MCP has tools, not scripts. */
export function printDecision({ choice, reason }: ApprovalDecision, skill: string): string {
	if (choice === 'script' && mcpServerOf(skill) !== null) return 'Allowed, always for this tool';
	if (choice !== 'deny') return allowedText[choice];
	return reason ? `Denied: ${cleanText(reason)}` : 'Denied';
}
