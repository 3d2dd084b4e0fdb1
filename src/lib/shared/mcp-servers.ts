/** REST contracts of MCP servers (E36). Times are ISO 8601. */
import { z } from 'zod';

/** Lower-case letters, digits, `-` and `_`, at most 32. */
export const mcpServerName = z.string().regex(/^[a-z0-9_-]{1,32}$/, 'must be at most 32 characters: a–z, 0–9, - and _');

const text = (most: number) =>
	z
		.string()
		.max(most)
		.refine((value) => !value.includes('\0') && value.isWellFormed(), 'isn’t valid text');

/** null keeps the stored value. Values are never returned. */
const secretValue = text(16_384).nullable();

const variables = z
	.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'isn’t a valid variable name'), secretValue)
	.refine((given) => Object.keys(given).length <= 64, 'must have at most 64 entries');

/** Headers of the connection and the protocol. */
const OWN_HEADER =
	/^(host|connection|keep-alive|content-length|content-type|accept|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|mcp-.*)$/i;

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const headers = z
	.record(
		z
			.string()
			.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'isn’t a valid header name')
			.refine((name) => !OWN_HEADER.test(name), 'can’t be set as a header'),
		secretValue.refine((value) => value === null || HEADER_VALUE.test(value), 'isn’t a valid header value')
	)
	.refine((given) => Object.keys(given).length <= 64, 'must have at most 64 entries');

const address = text(2048).refine(isServerAddress, 'must start with http:// or https://, without user or password');

/** A program on the server’s computer, or a URL. */
const transport = z.discriminatedUnion('type', [
	z.strictObject({
		type: z.literal('stdio'),
		/** A program’s name or path, not run through a shell. */
		command: text(1024).min(1),
		args: z.array(text(8192)).max(128).default([]),
		env: variables.default({}),
		/** Absolute. Default: its own folder. */
		cwd: text(4096)
			.regex(/^(\/|[A-Za-z]:[\\/])/, 'must be an absolute path')
			.optional()
	}),
	z.strictObject({ type: z.literal('http'), url: address, headers: headers.default({}) })
]);

/** `PUT /api/mcp-servers/:name` */
export const mcpServerPut = z.strictObject({
	transport,
	isEnabled: z.boolean().default(true),
	/** `ask`: the user approves calls; `auto`: they run at once. */
	approval: z.enum(['ask', 'auto']).default('ask')
});
export type McpServerPut = z.infer<typeof mcpServerPut>;
export type McpTransportPut = McpServerPut['transport'];

/** With the names of variables and headers, without values. */
export const mcpTransport = z.discriminatedUnion('type', [
	z.object({
		type: z.literal('stdio'),
		command: z.string(),
		args: z.array(z.string()),
		env: z.array(z.string()),
		cwd: z.string().optional()
	}),
	z.object({
		type: z.literal('http'),
		url: z.string(),
		headers: z.array(z.string())
	})
]);
export type McpTransport = z.infer<typeof mcpTransport>;

export const mcpToolInfo = z.object({
	/** `mcp__server__tool`. */
	name: z.string(),
	/** The server’s own name. */
	tool: z.string(),
	description: z.string()
});

export const mcpServerStatus = z.object({
	/** `waiting`: the last attempt failed, and another will follow. */
	state: z.enum(['off', 'connecting', 'connected', 'waiting']),
	/** Its own name and version; null before the first connection. */
	software: z.string().nullable(),
	/** The latest known tools, as the model sees them. */
	tools: z.array(mcpToolInfo),
	/** A sentence about why it isn’t connected. */
	error: z.string().nullable(),
	/** A sentence about skipped tools. */
	note: z.string().nullable()
});
export type McpServerStatus = z.infer<typeof mcpServerStatus>;

export const mcpServer = z.object({
	name: z.string(),
	transport: mcpTransport,
	isEnabled: z.boolean(),
	approval: z.enum(['ask', 'auto']),
	/** `wanted`: it refused access, and somebody may sign in; `done`: somebody has. */
	signIn: z.enum(['none', 'wanted', 'done']),
	status: mcpServerStatus,
	updatedAt: z.string()
});
export type McpServer = z.infer<typeof mcpServer>;

/** A sentence if the authorization server didn’t take the access back; null if it did, or wasn’t asked. */
const notRevoked = z.string().nullable();
/** `DELETE /api/mcp-servers/:name/sign-in` */
export const mcpSignedOut = mcpServer.extend({ notRevoked });
/** `DELETE /api/mcp-servers/:name` */
export const mcpServerRemoved = z.object({ notRevoked });

/** `POST /api/mcp-servers/:name/sign-in/complete`: what the page for signing in has sent back. */
export const mcpSignInAnswer = z.strictObject({
	code: z.string().min(1).max(4096),
	state: z.string().min(1).max(256),
	iss: z.string().max(2048).optional()
});

export const mcpServerList = z.object({
	data: z.array(mcpServer)
});
export type McpServerList = z.infer<typeof mcpServerList>;

/** A variable or header that a server needs. `about`: what it is, in its publisher’s words; may be empty. */
const needed = z.object({ name: z.string(), about: z.string() });

/** A way to use a server of the registry, as `mcpServerPut` has it, with what it needs. */
const way = z.discriminatedUnion('type', [
	z.object({ type: z.literal('http'), url: z.string(), headers: z.array(needed) }),
	z.object({ type: z.literal('stdio'), command: z.string(), args: z.array(z.string()), env: z.array(needed) })
]);
export type McpRegistryWay = z.infer<typeof way>;

export const mcpRegistryEntry = z.object({
	/** Like `io.github.owner/name`. */
	name: z.string(),
	title: z.string().nullable(),
	description: z.string(),
	version: z.string(),
	/** `https:` address of its source or website, as its publisher says. */
	page: z.string().nullable(),
	/** Its publisher advises against it. */
	isDeprecated: z.boolean(),
	/** Empty if this app can't start or reach it. */
	ways: z.array(way)
});
export type McpRegistryEntry = z.infer<typeof mcpRegistryEntry>;

/** `GET /api/mcp-registry` */
export const mcpRegistryQuery = z.object({
	query: z.string().trim().min(1).max(200).describe('Words in the name of a server.')
});
export const mcpRegistryAnswer = z.object({
	data: z.array(mcpRegistryEntry),
	/** The registry has others for these words. */
	hasMore: z.boolean()
});
export type McpRegistryAnswer = z.infer<typeof mcpRegistryAnswer>;

function isServerAddress(value: string): boolean {
	const url = URL.parse(value);
	return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === '' && url.password === '';
}
