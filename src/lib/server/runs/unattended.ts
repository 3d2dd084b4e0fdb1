/** Who may answer a question before something runs, and what comes of it where nobody is there to be asked (FEATURES C16, E30). */
import { toSkillId } from '../../shared/skill-names.ts';
import type { ApiScope } from '../../shared/api-keys.ts';
import type { ApprovalRequest } from '../../shared/events.ts';
import { mcpServerOf } from '../../shared/mcp-servers.ts';
import { failure, type Toolbox } from '../agent/tool.ts';

/** Who wants something to run. */
export interface Asker {
	/** Null for whoever manages the server. */
	apiKeyId: string | null;
	scopes: readonly ApiScope[];
}

/** May it answer what is asked about its own runs? Whoever manages the server may; a key only when it was made for it. */
export function mayAnswer({ apiKeyId, scopes }: Asker): boolean {
	return apiKeyId === null || scopes.includes('approve');
}

/**
 * Does it run where nobody can be asked? Only for a key that was made for it, and never what nobody has looked at.
 * Whoever manages the server is a person, who wanted to be asked.
 */
export function runsUnasked({ apiKeyId, scopes }: Asker, { trust }: Pick<ApprovalRequest, 'trust'>): boolean {
	return apiKeyId !== null && scopes.includes('approve') && trust === undefined;
}

/** A toolbox where nobody is there to be asked: what would need consent is refused, and the result says where to give it. */
export function unattended(toolbox: Toolbox, asker: Asker): Toolbox {
	return {
		...toolbox,
		approval: async () => null,
		async call(name, args, context) {
			const request = await toolbox.approval(name, args, null);
			if (!request || runsUnasked(asker, request)) return toolbox.call(name, args, context);
			const { reason } = request;
			return failure(typeOf(request), `${reason} Nobody is here to allow it.`, hintFor(request, asker));
		}
	};
}

/** Why it does not run, as a type (D13). */
export function typeOf({ trust, missing }: ApprovalRequest): 'NotTrusted' | 'MissingSecret' | 'ApprovalRequired' {
	return trust ? 'NotTrusted' : missing ? 'MissingSecret' : 'ApprovalRequired';
}

/** What would let it run the next time. */
export function hintFor({ trust, missing, skill }: ApprovalRequest, { apiKeyId }: Pick<Asker, 'apiKeyId'>): string {
	const page = `/skills/${encodeURIComponent(toSkillId(skill))}`;
	if (trust !== undefined) {
		return `Whoever manages the server can look at what the skill contains, and trust it, on its page, ${page}.`;
	}
	const orByKey = apiKeyId === null ? '' : ' A key with the scope “approve” runs it without being asked.';
	if (missing !== undefined) {
		return `Whoever manages the server can set the variables on the skill’s page, ${page}.${orByKey}`;
	}
	const where =
		mcpServerOf(skill) === null ? 'start the server with SKILLS_APPROVAL=auto' : 'have its MCP server not ask';
	return `Whoever manages the server can allow it for good in the chat, or ${where}.${orByKey}`;
}
