/** Serves one client over stdin and stdout: the skills over MCP, or the agent over ACP. Nothing else is written to stdout. */
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createApp, type App } from '../app.ts';
import { loadConfig } from '../config.ts';
import { DataFolderInUse } from '../data-folder.ts';
import { connectLocal, type LocalProtocol } from '../protocols/local-socket.ts';

/** How long to wait for a server that is starting or stopping. */
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 100;

/** Ends the process when the client has left. */
export async function serveStdio(protocol: LocalProtocol): Promise<void> {
	if (existsSync('.env')) process.loadEnvFile('.env');
	const input = process.stdin.pipe(new PassThrough());
	try {
		await start(protocol, input);
	} catch (error) {
		process.stderr.write(`Couldn’t start the app: ${error instanceof Error ? error.message : String(error)}\n`);
		process.exit(1);
	}
}

async function start(protocol: LocalProtocol, input: PassThrough): Promise<void> {
	const config = loadConfig(process.env);
	const giveUpAt = performance.now() + PATIENCE_MS;
	for (;;) {
		const running = await connectLocal(config.dataDir, protocol);
		if (running !== null && running !== 'impossible' && (await passOn(running, input)) === 'over') process.exit(0);
		try {
			return serve(await createApp(config), protocol, input);
		} catch (error) {
			const isEnough = running === 'impossible' || performance.now() > giveUpAt;
			if (!(error instanceof DataFolderInUse) || isEnough) throw error;
		}
		await wait(LOOK_AGAIN_MS);
	}
}

/**
 * Another server has this data folder: it answers, and this process only forwards. `unanswered` if that server stopped
 * without answering: the requests are in `input` again.
 */
function passOn(server: Socket, input: PassThrough): Promise<'over' | 'unanswered'> {
	const asked: Buffer[] = [];
	let isAnswered = false;
	const ask = (chunk: Buffer) => {
		if (!isAnswered) asked.push(chunk);
		server.write(chunk);
	};
	const finish = () => server.end();
	input.on('data', ask);
	input.on('end', finish);
	// Paused if this isn't the first server.
	input.resume();
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
			if (isAnswered || input.readableEnded) return resolve('over');
			for (const chunk of asked.toReversed()) input.unshift(chunk);
			resolve('unanswered');
		});
	});
}

function serve(app: App, protocol: LocalProtocol, input: PassThrough): void {
	let isEnding = false;
	const end = async (): Promise<void> => {
		if (isEnding) return;
		isEnding = true;
		await app.close();
		process.exit(0);
	};
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
	const onClosed = () => {
		// Other clients may have connected to this process.
		if (app.localSocket) app.localSocket.whenUnused(() => void end());
		else void end();
	};
	if (protocol === 'acp') return app.acp.serve(input, process.stdout, onClosed);
	app.mcp.serve(new StdioServerTransport(input), onClosed);
	// `passOn` may have paused it.
	input.resume();
}
