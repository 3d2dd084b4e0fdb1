/** Searches the public list of MCP servers (E36): `GET /v0.1/servers` of the MCP registry's API. */
import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { parseJson } from '../../shared/json.ts';
import { findHidden, plainLine } from '../../shared/characters.ts';
import {
	type McpRegistryAnswer,
	type McpRegistryEntry,
	type McpRegistryWay,
	mcpServerPut
} from '../../shared/mcp-servers.ts';
import { createSafeFetch } from '../network/safe-fetch.ts';
import { NetworkError } from '../network/addresses.ts';

/** Newest versions, in the registry's order. @throws AppError unavailable */
export type SearchRegistry = (query: string, signal: AbortSignal) => Promise<McpRegistryAnswer>;

const MOST = 20;
const MOST_WAYS = 8;
const MAX_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

const value = z.object({
	name: z.string(),
	description: z.string().optional().catch(undefined),
	value: z.string().optional(),
	isRequired: z.boolean().optional()
});
const argument = z.object({
	type: z.string(),
	name: z.string().optional(),
	value: z.string().optional(),
	valueHint: z.string().optional(),
	isRequired: z.boolean().optional()
});
const listOf = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).catch([]).default([]);
const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const listed = z.object({
	_meta: z
		.object({ [OFFICIAL]: z.object({ status: z.string() }) })
		.nullish()
		.catch(null),
	server: z.object({
		name: z.string(),
		title: z.string().nullish().catch(null),
		description: z.string().catch(''),
		version: z.string().catch(''),
		repository: z.object({ url: z.string() }).nullish().catch(null),
		websiteUrl: z.string().nullish().catch(null),
		remotes: listOf(z.object({ type: z.string(), url: z.string(), headers: listOf(value) })),
		packages: listOf(
			z.object({
				registryType: z.string(),
				identifier: z.string(),
				version: z.string().optional(),
				transport: z.object({ type: z.string() }).optional(),
				packageArguments: listOf(argument),
				environmentVariables: listOf(value)
			})
		)
	})
});
const page = z.object({
	servers: z.array(z.unknown()),
	metadata: z.object({ nextCursor: z.string() }).nullish().catch(null)
});

type Listed = z.output<typeof listed>;
type Package = Listed['server']['packages'][number];

/** `address`: of the registry. The operator chose it, so it may be private. */
export function createRegistrySearch(address: string): SearchRegistry {
	const fetch = createSafeFetch({ isAllowed: () => true });
	return async (query, signal) => {
		const url = new URL('v0.1/servers', address.endsWith('/') ? address : `${address}/`);
		for (const [name, text] of Object.entries({ search: query, version: 'latest', limit: String(MOST) })) {
			url.searchParams.set(name, text);
		}
		const { status, body, truncated } = await fetch(url.href, {
			timeoutMs: TIMEOUT_MS,
			maxBytes: MAX_BYTES,
			signal
		}).catch((error: unknown) => {
			const reason = error instanceof NetworkError ? error.message : 'The request failed.';
			throw new AppError('unavailable', `Couldn’t search for MCP servers. ${reason}`, { cause: error });
		});
		const answer = page.safeParse(parseJson(body.toString('utf8')));
		if (status !== 200 || truncated || !answer.success) {
			throw new AppError(
				'unavailable',
				status === 200
					? `Couldn’t search for MCP servers: what ${url.host} answered isn’t a list of servers.`
					: `Couldn’t search for MCP servers: ${url.host} answered with status ${status}. Try again later.`
			);
		}
		const { servers, metadata } = answer.data;
		const entries = servers.slice(0, MOST).flatMap((each) => {
			const found = listed.safeParse(each).data;
			return found && statusOf(found) !== 'deleted' ? [entryOf(found)] : [];
		});
		const data = uniqueBy(entries, ({ name }) => name);
		return { data, hasMore: servers.length > MOST || Boolean(metadata?.nextCursor) };
	};
}

const statusOf = ({ _meta }: Listed): string | undefined => _meta?.[OFFICIAL].status;

function entryOf(found: Listed): McpRegistryEntry {
	const { name, title, description, version, remotes, packages, repository, websiteUrl } = found.server;
	const ways = [
		...remotes.flatMap((remote): McpRegistryWay[] => {
			const isTaken = remote.type === 'streamable-http' && /^https?:\/\/[^{}]+$/.test(remote.url);
			const url = isTaken ? URL.parse(remote.url)?.href : undefined;
			return url === undefined ? [] : [{ type: 'http', url, headers: neededOf(remote.headers) }];
		}),
		...packages.flatMap((each): McpRegistryWay[] => {
			const command = commandOf(each);
			return command ? [{ type: 'stdio', ...command, env: neededOf(each.environmentVariables) }] : [];
		})
	];
	return {
		name: plainLine(name).slice(0, 200),
		title: title ? plainLine(title).slice(0, 200) : null,
		description: plainLine(description).slice(0, 500),
		version: plainLine(version).slice(0, 50),
		page: [repository?.url, websiteUrl].find(isPage) ?? null,
		isDeprecated: statusOf(found) === 'deprecated',
		ways: uniqueBy(ways.filter(isUsable), (way) => JSON.stringify(way)).slice(0, MOST_WAYS)
	};
}

function isPage(address: string | null | undefined): address is string {
	const url = URL.parse(address ?? '');
	return url?.protocol === 'https:' && url.username === '' && url.password === '' && url.href.length <= 2048;
}

function uniqueBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
	return [...new Map(items.map((each) => [keyOf(each), each] as const).reverse()).values()].reverse();
}

/** Whether it can be saved as it is, and a person sees all of it: the form has an argument on each line. */
function isUsable(way: McpRegistryWay): boolean {
	const empty = (needed: readonly { name: string }[]) => Object.fromEntries(needed.map(({ name }) => [name, '']));
	const transport = way.type === 'http' ? { ...way, headers: empty(way.headers) } : { ...way, env: empty(way.env) };
	const shown = way.type === 'http' ? [way.url] : way.args;
	const isPlain = shown.every((text) => !/[\n\t]/.test(text) && findHidden(text).length === 0);
	return isPlain && mcpServerPut.safeParse({ transport }).success;
}

function neededOf(values: readonly z.output<typeof value>[]): { name: string; about: string }[] {
	const needed = values
		.filter(({ isRequired }) => isRequired)
		.map(({ name, description = '' }) => ({ name, about: plainLine(description).slice(0, 300) }));
	return uniqueBy(needed, ({ name }) => name);
}

/** Not a repository, an address or a file, which the programs take in the same place, nor one of their options. */
const NAMES: Readonly<Record<string, RegExp>> = {
	npm: /^(@[a-z\d~][\w.~-]*\/)?[a-z\d~][\w.~-]*$/i,
	pypi: /^[a-z\d]([\w.-]*[a-z\d])?$/i
};

/** null for what this can't start. */
function commandOf({ registryType, identifier, version, transport, packageArguments }: Package) {
	if (!NAMES[registryType]?.test(identifier) || (version && !/^\w[\w.+-]*$/.test(version))) return null;
	if (transport && transport.type !== 'stdio') return null;
	const args = packageArguments.flatMap(argumentsOf);
	const versioned = version ? `${identifier}@${version}` : identifier;
	if (registryType === 'npm') return { command: 'npx', args: ['-y', versioned, ...args] };
	if (registryType === 'pypi') return { command: 'uvx', args: [versioned, ...args] };
	return null;
}

/** What the person has to fill in stands in angle brackets. */
function argumentsOf({ type, name, value: text, valueHint, isRequired }: z.output<typeof argument>): string[] {
	if (text === undefined && !isRequired) return [];
	const shown = text ?? `<${valueHint ?? name ?? 'value'}>`;
	return type === 'named' && name ? [name, shown] : [shown];
}
