/** Who asks, once the door is passed: whoever manages the server, or a program with a key of its own (FEATURES E18, F12); pure. */
import type { ApiScope } from '../../shared/api-keys.ts';
import { API_SCOPES } from '../../shared/api-keys.ts';
import { AppError } from '../../shared/errors.ts';

export interface Caller {
	/** What is kept under its key, and of what alone it may see; null for whoever manages the server. */
	apiKeyId: string | null;
	scopes: readonly ApiScope[];
}

export const MANAGER: Caller = { apiKeyId: null, scopes: API_SCOPES };

/** What programs may do over REST, by Kit's route ids; everything else is for whoever manages the server. */
const OPEN: Record<string, Partial<Record<string, ApiScope>>> = {
	'/api/health': { GET: 'read' },
	'/api/agent/capabilities': { GET: 'read' },
	'/api/skills': { GET: 'read' },
	'/api/skills/executions': { GET: 'read', POST: 'execute' },
	'/api/chat': { POST: 'execute' },
	'/api/runs/[id]': { GET: 'read', DELETE: 'execute' },
	'/api/runs/[id]/events': { GET: 'read' },
	'/api/conversations/[id]/files': { GET: 'read' },
	'/api/conversations/[id]/files/[...path]': { GET: 'read', PUT: 'execute', DELETE: 'execute' },
	'/v1/models': { GET: 'read' },
	'/v1/models/[...id]': { GET: 'read' },
	'/v1/responses': { POST: 'execute' },
	'/v1/responses/compact': { POST: 'execute' },
	'/v1/responses/[id]': { GET: 'read', DELETE: 'execute' },
	'/a2a': { POST: 'execute' },
	// Each of its tools has a scope of its own.
	'/mcp': { GET: 'read', POST: 'read', DELETE: 'read' }
};

/** Routes of protocols: what is wrong is answered in their words, and no page leads there. */
export function isProgramRoute(route: string): boolean {
	return /^\/(api|v1|mcp|a2a|\.well-known)(\/|$)/.test(route);
}

/** @throws AppError `forbidden` */
export function checkRoute({ apiKeyId, scopes }: Caller, route: string | null, method: string): void {
	if (apiKeyId === null) return;
	const scope = OPEN[route ?? '']?.[method === 'HEAD' ? 'GET' : method];
	if (scope === undefined) {
		throw new AppError('forbidden', 'An API key is not enough for this.', {
			hint: 'Only whoever manages the server may do it: on its pages, or with ADMIN_TOKEN.'
		});
	}
	checkScope({ apiKeyId, scopes }, scope);
}

/** @throws AppError `forbidden` */
export function checkScope({ scopes }: Caller, scope: ApiScope): void {
	if (scopes.includes(scope)) return;
	throw new AppError('forbidden', `This API key may not do this: it lacks the scope “${scope}”.`, {
		hint: 'Make a key with this scope on the page Connect.'
	});
}

/** Is what was made under `owner` this caller’s to see? */
export function isOwn(caller: Caller, owner: string | null): boolean {
	return caller.apiKeyId === null || caller.apiKeyId === owner;
}
