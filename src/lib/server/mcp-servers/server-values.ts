/** The secrets of MCP servers in the vault: variables of a program, headers of an address (FEATURES E36, F3). */
import { AppError } from '../../shared/errors.ts';
import type { McpTransport, McpTransportPut } from '../../shared/mcp-servers.ts';
import type { Vault } from '../secrets/vault.ts';

/** All of a server's values together, as JSON: header names are no names of variables. */
const VALUES = 'VALUES';
const MAX_BYTES = 60_000;

export type Values = Readonly<Record<string, string>>;

export interface ServerValues {
	/** Null where they cannot be read: they were encrypted with another key. */
	read(server: string): Promise<Values | null>;
	write(server: string, values: Values, now: string): Promise<void>;
	remove(server: string): Promise<void>;
}

export function createServerValues(vault: Vault): ServerValues {
	return {
		async read(server) {
			const stored = (await vault.valuesOf(idOf(server)))[VALUES];
			if (stored !== undefined) return JSON.parse(stored) as Values;
			return (await vault.list(idOf(server))).length === 0 ? {} : null;
		},
		async write(server, values, now) {
			if (Object.keys(values).length === 0) await vault.remove(idOf(server), VALUES);
			else await vault.set(idOf(server), VALUES, JSON.stringify(values), now);
		},
		async remove(server) {
			await vault.remove(idOf(server), VALUES);
		}
	};
}

/** No skill's id is without a slash: no skill is given these. */
function idOf(server: string): string {
	return `mcp-server:${server}`;
}

export function valuesOf(transport: McpTransportPut): Record<string, string | null> {
	return transport.type === 'stdio' ? transport.env : transport.headers;
}

/** Where values go: what was stored for one goes to no other. */
export function placeOf(transport: McpTransport | McpTransportPut): string {
	return transport.type === 'http' ? new URL(transport.url).origin : `program ${transport.command}`;
}

/**
 * What is given, and for null what is stored. @throws AppError invalid_input; no value is in its message
 */
export function mergeValues(given: Record<string, string | null>, kept: Values | null): Values {
	const entries = Object.entries(given).map(([name, value]) => {
		const whole = value ?? (kept && Object.hasOwn(kept, name) ? kept[name] : undefined);
		if (whole === undefined) {
			throw new AppError('invalid_input', `${name}: nothing is stored for it here, so its value is needed.`, {
				details: { field: name }
			});
		}
		return [name, whole];
	});
	const values = Object.fromEntries(entries) as Values;
	if (Buffer.byteLength(JSON.stringify(values)) > MAX_BYTES) {
		throw new AppError('invalid_input', 'transport: its values together are longer than 60 KB.');
	}
	return values;
}
