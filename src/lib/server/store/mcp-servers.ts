/** MCP servers as somebody has described them (FEATURES E36); their secrets are in the vault. */
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { McpServer } from '../../shared/mcp-servers.ts';
import type { Database } from './schema.ts';

export type StoredMcpServer = Omit<McpServer, 'status'>;

export interface McpServers {
	/** In place of the one of that name, if there is one. */
	put(server: StoredMcpServer): Promise<void>;
	/** False when there was none. */
	remove(name: string): Promise<boolean>;
	/** By name. */
	list(): Promise<StoredMcpServer[]>;
}

const config: z.ZodType<Pick<McpServer, 'transport' | 'approval'>> = z.object({
	transport: z.discriminatedUnion('type', [
		z.object({
			type: z.literal('stdio'),
			command: z.string(),
			args: z.array(z.string()),
			env: z.array(z.string()),
			cwd: z.string().optional()
		}),
		z.object({ type: z.literal('http'), url: z.string(), headers: z.array(z.string()) })
	]),
	approval: z.enum(['ask', 'auto'])
});

export function createMcpServers(db: Kysely<Database>): McpServers {
	return {
		async put({ name, isEnabled, updatedAt, transport, approval }) {
			const values = {
				config: JSON.stringify({ transport, approval }),
				is_enabled: isEnabled ? 1 : 0,
				updated_at: updatedAt
			};
			await db
				.insertInto('mcp_servers')
				.values({ name, ...values, created_at: updatedAt })
				.onConflict((conflict) => conflict.column('name').doUpdateSet(values))
				.execute();
		},

		async remove(name) {
			const { numDeletedRows } = await db.deleteFrom('mcp_servers').where('name', '=', name).executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		},

		async list() {
			const rows = await db.selectFrom('mcp_servers').selectAll().orderBy('name').execute();
			return rows.map((row) => ({
				name: row.name,
				...config.parse(JSON.parse(row.config)),
				isEnabled: row.is_enabled === 1,
				updatedAt: row.updated_at
			}));
		}
	};
}
