/** The library as one caller sees it: what is offered, and how it is called (FEATURES A41, B6, D17). */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ApiScope } from '../../../shared/api-keys.ts';
import { ownerOf } from '../../skills/owners.ts';
import type { SkillSnapshot } from '../../skills/registry.ts';
import type { SkillSession } from '../../skills/session.ts';
import { viewOf } from '../../skills/visibility.ts';
import type { McpCaller, McpParts } from './parts.ts';

export interface CallerView {
	library: SkillSnapshot;
	/** Every enabled skill counts as loaded: its tools are there to be called. */
	session: SkillSession;
}

/** Made for each request, so that names depend on the library alone and not on what was called before. */
export function viewFor({ skills, modes }: Pick<McpParts, 'skills' | 'modes'>, caller: McpCaller): CallerView {
	const snapshot = skills.registry.snapshot();
	const { modeOf, pinOf } = modes;
	const visibility = { owner: ownerOf(caller.apiKeyId ?? undefined), modeOf, pinOf };
	const { library } = viewOf(snapshot, visibility);
	const loaded = library.skills.filter(({ tools }) => tools.length > 0).map(({ name }) => name);
	return { library, session: skills.createSession({ snapshot, dialect: 'full', loaded, ...visibility }) };
}

export function hasScope({ scopes }: McpCaller, scope: ApiScope): boolean {
	return scopes.includes(scope);
}

export function lackOf(scope: ApiScope): string {
	return `This API key may not do this: it lacks the scope “${scope}”. Make a key with this scope on the page Connect.`;
}

/** @throws ProtocolError that names the scope */
export function requireScope(caller: McpCaller, scope: ApiScope): void {
	if (!hasScope(caller, scope)) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, lackOf(scope));
}
