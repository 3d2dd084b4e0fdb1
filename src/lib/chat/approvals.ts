/** What was decided about a call that had to be allowed, in words. Pure. */
import type { ApprovalDecision } from '../shared/events.ts';
import { mcpServerOf } from '../shared/mcp-servers.ts';
import { approvalText as text } from '../strings/steps.ts';
import { cleanText } from './clean-text.ts';

/** `skill` is whose call it was; a server of MCP has tools, not scripts. */
export function printDecision({ choice, reason }: ApprovalDecision, skill: string): string {
	if (choice === 'script' && mcpServerOf(skill) !== null) return text.allowedTool;
	if (choice !== 'deny') return text.allowed[choice];
	return reason ? text.deniedBecause(cleanText(reason)) : text.denied;
}
