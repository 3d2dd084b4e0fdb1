/** Contract tests for the list of MCP servers, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import { createMcpServers, type McpServers, type StoredMcpServer } from '../access.ts';

export function testMcpServers(bench: () => Bench): void {
	describe('MCP servers', () => {
		let servers: McpServers;
		beforeEach(async () => {
			await bench().db.deleteFrom('mcp_servers').execute();
			servers = createMcpServers(bench().db);
		});
		const local = (name: string, more: Partial<StoredMcpServer> = {}): StoredMcpServer => ({
			...{ name, isEnabled: true, approval: 'ask', updatedAt: at(1) },
			transport: { type: 'stdio', command: 'node', args: ['a b', '“ü”'], env: ['A_KEY'], cwd: '/srv' },
			...more
		});

		test('E36: are listed by name, as they were put', async () => {
			const remote = local('b', { transport: { type: 'http', url: 'https://example.org/mcp', headers: ['X-Key'] } });
			await servers.put(remote);
			await servers.put(local('a'));
			expect(await servers.list()).toEqual([local('a'), remote]);
		});

		test('E36: one is put in place of the one of its name, and keeps when it was made', async () => {
			await servers.put(local('a'));
			const changed = local('a', { isEnabled: false, approval: 'auto', updatedAt: at(5) });
			await servers.put(changed);
			expect(await servers.list()).toEqual([changed]);
			expect(await bench().db.selectFrom('mcp_servers').select(['created_at', 'updated_at']).execute()).toEqual([
				{ created_at: at(1), updated_at: at(5) }
			]);
		});

		test('E36: one is removed, once', async () => {
			await servers.put(local('a'));
			expect(await servers.remove('b')).toBe(false);
			expect(await servers.remove('a')).toBe(true);
			expect(await servers.remove('a')).toBe(false);
			expect(await servers.list()).toEqual([]);
		});
	});
}
