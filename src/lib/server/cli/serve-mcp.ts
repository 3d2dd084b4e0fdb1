/** The skills for one MCP client, over standard input and output. Nothing else is written there. */
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createApp, type App } from '../app.ts';
import { loadConfig } from '../config.ts';
import { DataFolderInUse } from '../data-folder.ts';
import { connectLocal } from '../protocols/mcp/local-socket.ts';

/** A server that has the folder and is not there yet, or not any more, is waited for: longer than either takes. */
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 100;

if (existsSync('.env')) process.loadEnvFile('.env');
const input = process.stdin.pipe(new PassThrough());
try {
	await start();
} catch (error) {
	process.stderr.write(`Couldn’t start the app: ${error instanceof Error ? error.message : String(error)}\n`);
	process.exit(1);
}

async function start(): Promise<void> {
	const config = loadConfig(process.env);
	const giveUpAt = performance.now() + PATIENCE_MS;
	for (;;) {
		const running = await connectLocal(config.dataDir);
		if (running !== null && running !== 'impossible' && (await passOn(running)) === 'over') process.exit(0);
		try {
			return serve(await createApp(config));
		} catch (error) {
			const isEnough = running === 'impossible' || performance.now() > giveUpAt;
			if (!(error instanceof DataFolderInUse) || isEnough) throw error;
		}
		await wait(LOOK_AGAIN_MS);
	}
}

/**
 * A server has this data folder already: it answers, and this process only passes on. `unanswered` where the server was
 * just ending and has answered nothing: what it was asked is in `input` again.
 */
function passOn(server: Socket): Promise<'over' | 'unanswered'> {
	const asked: Buffer[] = [];
	let isAnswered = false;
	const ask = (chunk: Buffer) => {
		if (!isAnswered) asked.push(chunk);
		server.write(chunk);
	};
	const finish = () => server.end();
	input.on('data', ask);
	input.on('end', finish);
	// It was paused if this is not the first server.
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

function serve(app: App): void {
	let isEnding = false;
	const end = async (): Promise<void> => {
		if (isEnding) return;
		isEnding = true;
		await app.close();
		process.exit(0);
	};
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
	app.mcp.serve(new StdioServerTransport(input), () => {
		// Others may have connected to this process meanwhile.
		if (app.localSocket) app.localSocket.whenUnused(() => void end());
		else void end();
	});
	// Paused by `passOn`, it stays so until somebody says otherwise.
	input.resume();
}
