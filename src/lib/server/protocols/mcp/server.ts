/** One MCP server instance: for one session of 2025 clients, or one request of 2026 ones (FEATURES E15). */
import { z } from 'zod';
import {
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import { withoutHiddenIn } from '../../../shared/characters.ts';
import { renderCatalog } from '../../skills/catalog.ts';
import { callTool } from './call-tool.ts';
import { complete } from './completions.ts';
import { readConsent } from './consent.ts';
import { listTools, outputSchemaOf } from './definitions.ts';
import type { McpContext, McpPeer } from './parts.ts';
import { reportProgress } from './progress.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { listResources, listTemplates, readResource } from './resources.ts';
import { getSkillEntry, listSkillEntries } from './skills-extension.ts';
import { requireScope, viewFor, type CallerView } from './view.ts';

const EXTENSION = 'io.modelcontextprotocol/skills';
/** Of the catalog in the instructions, which many clients send with each request to their model. */
const CATALOG_TOKENS = 2000;
const GUIDANCE =
	'This server has skills: folders of instructions, scripts and tools. Call load_skill before using one for the first time, then use_skill or its own tools as the instructions say. skills_list names all of them.';

export interface ServerFor {
	/** Who asks in this request. */
	peerOf(context: ServerContext): McpPeer;
	/** For the instructions, which are said once. */
	first: McpPeer;
	/** Results say how long they may be kept, as 2026-07-28 wants it. */
	isModern: boolean;
}

export function createMcpServer(context: McpContext, { peerOf, first, isModern }: ServerFor): Server {
	const { library } = viewFor(context, first.caller);
	const catalog = renderCatalog(library.skills, { budgetTokens: CATALOG_TOKENS });
	const server = new SkillsServer(
		{ name: 'openrouter-skills', title: 'Skills', version: '1.0.0' },
		{
			capabilities: {
				tools: { listChanged: true },
				resources: { listChanged: true },
				prompts: { listChanged: true },
				completions: {},
				extensions: { [EXTENSION]: {} }
			},
			instructions: [GUIDANCE, catalog].filter(Boolean).join('\n\n')
		}
	);
	const viewOfReader = (handled: ServerContext): CallerView => {
		const { caller } = peerOf(handled);
		requireScope(caller, 'read');
		return viewFor(context, caller);
	};
	const kept = isModern ? { ttlMs: 0, cacheScope: 'private' as const } : {};

	server.setRequestHandler('tools/list', ({ params }, handled) => {
		return listTools(viewOfReader(handled), peerOf(handled).caller, params?.cursor);
	});
	server.setRequestHandler('tools/call', async ({ params }, handled) => {
		const progress = reportProgress(handled);
		const { signal } = handled.mcpReq;
		const consent = readConsent(server, handled);
		const call = { peer: peerOf(handled), consent, signal, onEvent: progress.onEvent };
		const result = await callTool(context, params, call);
		await progress.flush();
		if (isInputRequiredResult(result)) return result;
		return server.projectCallToolResult(result, outputSchemaOf(params.name));
	});
	server.setRequestHandler('resources/list', ({ params }, handled) => {
		return listResources(viewOfReader(handled), params?.cursor);
	});
	server.setRequestHandler('resources/templates/list', (_request, handled) => {
		viewOfReader(handled);
		return listTemplates();
	});
	server.setRequestHandler('resources/read', ({ params }, handled) => readResource(viewOfReader(handled), params.uri));
	server.setRequestHandler('prompts/list', ({ params }, handled) => listPrompts(viewOfReader(handled), params?.cursor));
	server.setRequestHandler('prompts/get', ({ params }, handled) => {
		return getPrompt(viewOfReader(handled), params.name, params.arguments);
	});
	server.setRequestHandler('completion/complete', ({ params }, handled) => complete(viewOfReader(handled), params));
	server.setRequestHandler(
		'skills/list',
		{ params: z.looseObject({ cursor: z.string().optional() }).optional() },
		async (params, handled) => ({ ...(await listSkillEntries(viewOfReader(handled), params?.cursor)), ...kept })
	);
	server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string() }) }, async ({ uri }, handled) => ({
		...(await getSkillEntry(viewOfReader(handled), uri)),
		...kept
	}));
	return server;
}

/** Answers have no characters that are not seen. Parameters that are not right are the client’s mistake: the library would call it an internal error. */
class SkillsServer extends Server {
	protected override _wrapHandler(...[method, handler]: Wrapping): Wrapping[1] {
		const wrapped = super._wrapHandler(method, handler);
		return async (request, handled) => {
			try {
				// Whatever is answered is read by a model.
				return withoutHiddenIn(await wrapped(request, handled));
			} catch (error) {
				if (!(error instanceof Error) || error instanceof ProtocolError) throw error;
				const message = `The parameters of ${method} are not right: ${error.message.slice(0, 300)}`;
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
			}
		};
	}
}

type Wrapping = Parameters<Server['_wrapHandler']>;
