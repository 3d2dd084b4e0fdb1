/** A small MCP server, built with the protocol's own library: runs over stdio when started, over HTTP when imported. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const wait = (signal: AbortSignal) =>
	new Promise<void>((resolve) => {
		if (signal.aborted) resolve();
		signal.addEventListener('abort', () => resolve(), { once: true });
	});

/** For the whole process, which may create a server per request. */
const halfway = Promise.withResolvers<void>();

/** The start of a PNG of 10 × 10 pixels. */
export const PICTURE = Buffer.concat(
	[Buffer.from('89504e470d0a1a0a0000000d494844520000000a0000000a', 'hex'), Buffer.alloc(3000)],
	3000
);

/** Every kind of field. */
const TABLE = {
	message: 'When would you like to come?',
	requestedSchema: {
		type: 'object' as const,
		properties: {
			name: { type: 'string' as const, title: 'Your name', minLength: 2, maxLength: 20 },
			mail: { type: 'string' as const, format: 'email' as const, description: 'For the confirmation.' },
			guests: { type: 'integer' as const, minimum: 1, maximum: 8, default: 2 },
			room: { type: 'string' as const, enum: ['inside', 'outside'] },
			dog: { type: 'boolean' as const, title: 'With a dog' },
			diet: { type: 'array' as const, title: 'Diet', items: { type: 'string' as const, enum: ['vegan', 'halal'] } }
		},
		required: ['name', 'guests']
	}
};

/** Its tools: `go_on`, `add`, `say`, `fail`, `show` (more than text), `environment`, `grow` (adds a tool), `wait`, `exit`, `progress`, `roots` (asks for folders), `book` (asks with a form), `sign` (asks to open a page), `think` (asks the model). */
function createFixtureServer(): McpServer {
	const server = new McpServer(
		{ name: 'fixture', version: '1.2.3' },
		{ capabilities: { tools: { listChanged: true } } }
	);
	const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
	const numbers = z.object({ a: z.number(), b: z.number() });
	server.registerTool('add', { description: 'Adds two numbers.', inputSchema: numbers }, async ({ a, b }) =>
		text(`The sum is ${a + b}.`)
	);
	const words = z.object({ text: z.string() });
	server.registerTool('say', { description: 'Says it again.', inputSchema: words }, async (given) => text(given.text));
	server.registerTool('fail', { description: 'Fails.' }, async () => ({ ...text('No such city.'), isError: true }));
	server.registerTool('show', { description: 'Shows what is not only text.' }, async () => ({
		content: [
			{ type: 'text' as const, text: 'A picture:' },
			{ type: 'image' as const, data: PICTURE.toString('base64'), mimeType: 'image/png' },
			{ type: 'resource_link' as const, uri: 'file:///report.txt', name: 'report', mimeType: 'text/plain' },
			{ type: 'resource' as const, resource: { uri: 'mem://note', text: 'A note.' } }
		]
	}));
	server.registerTool('environment', { description: 'Its environment.' }, async () =>
		text(JSON.stringify(process.env))
	);
	server.registerTool('folder', { description: 'Its folder.' }, async () => text(process.cwd()));
	server.registerTool('grow', { description: 'Learns another tool.' }, async () => {
		server.registerTool('grown', { description: 'A tool that came later.' }, async () => text('grown'));
		return text('Learned.');
	});
	server.registerTool('go_on', { description: 'Lets what waits half-way go on.' }, async () => {
		halfway.resolve();
		return text('Gone on.');
	});
	server.registerTool('progress', { description: 'Says how far it is, and waits half-way.' }, async (context) => {
		const token = context.mcpReq._meta?.progressToken;
		for (const progress of token === undefined ? [] : [1, 2]) {
			if (progress === 2) await halfway.promise;
			const params = { progressToken: token!, progress, total: 2, message: `part ${progress}` };
			await context.mcpReq.notify({ method: 'notifications/progress', params });
		}
		return text('All of it.');
	});
	server.registerTool('roots', { description: 'Asks for the client’s folders.' }, async ({ mcpReq }) => {
		const { roots } = mcpReq.inputResponses ?? {};
		if (roots === undefined) return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
		return text(JSON.stringify(roots));
	});
	server.registerTool('book', { description: 'Books a table, and asks for when.' }, async ({ mcpReq }) => {
		const { table } = mcpReq.inputResponses ?? {};
		if (table === undefined) return inputRequired({ inputRequests: { table: inputRequired.elicit(TABLE) } });
		return text(`Told: ${JSON.stringify(table)}`);
	});
	server.registerTool('sign', { description: 'Asks to sign on a page.' }, async ({ mcpReq }) => {
		const { page } = mcpReq.inputResponses ?? {};
		const asked = { message: 'Sign the form.', url: 'https://sign.example.org/forms/7?a=b' };
		if (page === undefined) return inputRequired({ inputRequests: { page: inputRequired.elicitUrl(asked) } });
		return text(`Told: ${JSON.stringify(page)}`);
	});
	server.registerTool('think', { description: 'Asks the client’s model.' }, async ({ mcpReq }) => {
		const { thought } = mcpReq.inputResponses ?? {};
		const content = { type: 'text' as const, text: 'What is 6 times 7?' };
		const asked = { systemPrompt: 'Be brief.', messages: [{ role: 'user' as const, content }], maxTokens: 100_000 };
		if (thought === undefined) return inputRequired({ inputRequests: { thought: inputRequired.createMessage(asked) } });
		return text(`Told: ${JSON.stringify(thought)}`);
	});
	server.registerTool('wait', { description: 'Waits until it is told to stop.' }, async (context) => {
		process.stderr.write('waiting\n');
		await wait(context.mcpReq.signal);
		process.stderr.write('told to stop\n');
		return text('stopped');
	});
	server.registerTool('exit', { description: 'Ends the server.' }, async () => {
		process.stderr.write('I give up.\n');
		process.exit(3);
	});
	return server;
}

export interface FixtureHttpServer {
	/** The URL of its MCP endpoint. */
	url: string;
	/** One entry per request, in order. */
	requests: { method: string; headers: IncomingMessage['headers'] }[];
	/** Cuts all connections and keeps the port for `start`. */
	stop(): Promise<void>;
	/** Starts again at the same address. */
	start(): Promise<void>;
}

/** `before` may answer a request itself and return true. */
export async function startFixtureHttp(
	before: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
): Promise<FixtureHttpServer> {
	const requests: FixtureHttpServer['requests'] = [];
	let server: Server;
	let port = 0;
	const start = async () => {
		const handler = createMcpHandler(createFixtureServer);
		server = createServer((request, response) => {
			requests.push({ method: request.method ?? '', headers: request.headers });
			if (before(request, response)) return;
			void answer(handler.fetch, request, response);
		});
		server.listen(port, '127.0.0.1');
		await once(server, 'listening');
		({ port } = server.address() as AddressInfo);
	};
	await start();
	return {
		url: `http://127.0.0.1:${port}/mcp`,
		requests,
		start,
		async stop() {
			if (!server.listening) return;
			const closed = once(server, 'close');
			server.close();
			server.closeAllConnections();
			await closed;
		}
	};
}

async function answer(
	handle: (request: Request) => Promise<Response>,
	request: IncomingMessage,
	response: ServerResponse
): Promise<void> {
	const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
	const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
	const answered = await handle(
		new Request(`http://${request.headers.host}${request.url}`, {
			method: request.method ?? 'GET',
			headers,
			...(hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' } : {})
		})
	);
	response.writeHead(answered.status, Object.fromEntries(answered.headers));
	if (!answered.body) return void response.end();
	Readable.fromWeb(answered.body as Parameters<typeof Readable.fromWeb>[0])
		.on('error', () => response.destroy())
		.pipe(response);
}

if (process.argv[1] === import.meta.filename) serveStdio(createFixtureServer);
