/** A real HTTP server that plays a vendor's model for a program that has tools: it calls one tool, then repeats its result. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerBody, seenIn, type Vendor, type WireRequest } from './vendor-servers.ts';
import { streamed } from './vendor-streams.ts';

export interface VendorCall {
	/** Ends the tool's name: programs put the server's name before it. */
	tool: string;
	args: Record<string, unknown>;
}

export interface VendorModel {
	readonly url: string;
	readonly requests: WireRequest[];
	close(): Promise<void>;
}

/** Unlike `startVendorServer`, it answers whatever a program asks beside: a title, a count of tokens, its settings. */
export async function startVendorModel(vendor: Vendor, call: VendorCall): Promise<VendorModel> {
	const requests: WireRequest[] = [];
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const { pathname, searchParams } = new URL(request.url ?? '/', 'http://model');
			const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>;
			requests.push({ path: pathname, headers: request.headers, body });
			const { tools, results } = seenIn(vendor, body);
			const name = tools.find((each) => each.endsWith(call.tool));
			const reply =
				results.length === 0 && name !== undefined
					? { calls: [{ name, args: call.args }] }
					: { text: ([first = 'OK']: string[]) => first };
			const answer = answerBody(vendor, reply, results, requests.length);
			const space = namespaceOf(name, body);
			if (space) answer.output = (answer.output as object[]).map((item) => ({ ...item, namespace: space }));
			const isStream = body.stream === true || searchParams.get('alt') === 'sse';
			response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
			response.end(isStream ? streamed(vendor, answer) : JSON.stringify(answer));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		requests,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			})
	};
}

/** Codex has one for each MCP server. */
function namespaceOf(name: string | undefined, { tools }: Record<string, unknown>): string | undefined {
	const spaces = (Array.isArray(tools) ? tools : []) as { type: string; name: string; tools?: { name: string }[] }[];
	return spaces.find((space) => space.tools?.some((tool) => tool.name === name))?.name;
}
