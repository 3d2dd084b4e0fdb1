/** The part of the server's API that is about MCP servers (FEATURES E36). */
import type { z } from 'zod';
import type { mcpServerPut, McpServer, McpServerList } from '../shared/mcp-servers.ts';
import { request } from './request.ts';

export type McpServerInput = z.input<typeof mcpServerPut>;

/** Every call resolves to the answer or throws an `ApiError`. */
export interface McpServersClient {
	list: () => Promise<McpServer[]>;
	put: (name: string, server: McpServerInput) => Promise<McpServer>;
	remove: (name: string) => Promise<void>;
	reconnect: (name: string) => Promise<McpServer>;
}

export function createMcpServersClient(): McpServersClient {
	const url = (name: string) => `/api/mcp-servers/${encodeURIComponent(name)}`;
	return {
		list: async () => (await request<McpServerList>('/api/mcp-servers')).data,
		put: (name, server) => request(url(name), 'PUT', server),
		remove: (name) => request(url(name), 'DELETE'),
		reconnect: (name) => request(`${url(name)}/reconnect`, 'POST')
	};
}
