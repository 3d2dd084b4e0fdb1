/** What was decided about a call that had to be allowed, in words. Pure. */
import { builtinNameOf } from '../shared/builtins.ts';
import type { ApprovalDecision } from '../shared/events.ts';
import { mcpServerOf } from '../shared/mcp-servers.ts';
import { approvalText as text } from '../strings/steps.ts';
import { cleanText } from './clean-text.ts';

/** Is what is asked for one tool, of an MCP server or of this server, rather than a script among those of a skill? */
export const isOneTool = (skill: string): boolean => mcpServerOf(skill) !== null || builtinNameOf(skill) !== null;

export function printDecision({ choice, reason }: ApprovalDecision, skill: string): string {
	if (choice === 'script' && isOneTool(skill)) return text.allowedTool;
	if (choice !== 'deny') return text.allowed[choice];
	return reason ? text.deniedBecause(cleanText(reason)) : text.denied;
}
