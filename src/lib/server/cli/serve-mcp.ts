/** The skills for one MCP client, over standard input and output. Nothing else is written there. */
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createApp } from '../app.ts';
import { loadConfig } from '../config.ts';
import { connectLocal } from '../protocols/mcp/local-socket.ts';

if (existsSync('.env')) process.loadEnvFile('.env');
const config = loadConfig(process.env);
const input = process.stdin.pipe(new PassThrough());
const running = await connectLocal(config.dataDir);
const unanswered = running ? await passOn(running) : [];
if (unanswered === null) process.exit(0);
await serve(unanswered);

/**
 * A server has this data folder already: it answers, and this process only passes on. Null when that is over; where the
 * server was just ending and has answered nothing, what it was asked.
 */
function passOn(server: Socket): Promise<Buffer[] | null> {
	const asked: Buffer[] = [];
	let isAnswered = false;
	const ask = (chunk: Buffer) => {
		if (!isAnswered) asked.push(chunk);
		server.write(chunk);
	};
	const finish = () => server.end();
	input.on('data', ask);
	input.on('end', finish);
	server.on('data', (chunk: Buffer) => {
		isAnswered = true;
		asked.length = 0;
		process.stdout.write(chunk);
	});
	server.on('error', () => server.destroy());
	return new Promise((resolve) => {
		server.on('close', () => {
			input.pause();
			input.off('data', ask);
			input.off('end', finish);
			resolve(isAnswered || input.readableEnded ? null : asked);
		});
	});
}

async function serve(first: readonly Buffer[]): Promise<void> {
	const app = await createApp(config);
	let isEnding = false;
	const end = async (): Promise<void> => {
		if (isEnding) return;
		isEnding = true;
		await app.close();
		process.exit(0);
	};
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end());
	for (const chunk of first.toReversed()) input.unshift(chunk);
	app.mcp.serve(new StdioServerTransport(input), () => {
		// Others may have connected to this process meanwhile.
		if (app.localSocket) app.localSocket.whenUnused(() => void end());
		else void end();
	});
}
