/** A toolbox where nobody is there to be asked: what would need somebody's consent is refused, and the result says where to give it. */
import type { ApprovalRequest } from '../../shared/events.ts';
import { mcpServerOf } from '../../shared/mcp-servers.ts';
import { failure, type Toolbox } from '../agent/tool.ts';

export function unattended(toolbox: Toolbox): Toolbox {
	return {
		...toolbox,
		approval: async () => null,
		async call(name, args, context) {
			const request = await toolbox.approval(name, args, null);
			if (!request) return toolbox.call(name, args, context);
			const { reason } = request;
			return failure('ApprovalRequired', `${reason} Nobody is here to allow it.`, hintFor(request));
		}
	};
}

function hintFor({ trust, missing, skill }: ApprovalRequest): string {
	if (trust !== undefined)
		return 'Whoever manages the server can look at the skill and trust it on its page, under Skills.';
	if (missing !== undefined)
		return 'Whoever manages the server can set the variables on the skill’s page, under Skills.';
	if (mcpServerOf(skill) !== null) {
		return 'Whoever manages the server can allow it for good in the chat, or have its MCP server not ask, under Settings.';
	}
	return 'Whoever manages the server can allow it for good in the chat, or start the server with SKILLS_APPROVAL=auto.';
}
