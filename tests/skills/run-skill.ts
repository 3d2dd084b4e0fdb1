/** Runs a bundled skill's script the way the app does: no shell, a built environment, the workspace as cwd. */

import { spawn } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const SKILLS = fileURLToPath(new URL('../../skills/', import.meta.url));

export interface SkillRun {
	stdout: string;
	stderr: string;
	/** null if a signal ended it. */
	exitCode: number | null;
}

interface RunOptions {
	/** The workspace. Default: a new empty folder. */
	cwd?: string;
	/** Added to the environment. */
	env?: Record<string, string>;
}

const INTERPRETERS: Record<string, string> = {
	'.py': 'python3',
	'.mjs': process.execPath,
	'.js': process.execPath,
	'.sh': 'bash'
};

/** `script` is `skill/path/in/skill`, such as `weather/scripts/weather.mjs`. */
export async function runSkill(script: string, args: string[], options: RunOptions = {}): Promise<SkillRun> {
	const [skill = ''] = script.split('/');
	return run(join(SKILLS, script), args, { ...options, skillDir: join(SKILLS, skill) });
}

/** Runs any script by absolute path, for scripts a skill created. */
export async function run(path: string, args: string[], options: RunOptions & { skillDir: string }): Promise<SkillRun> {
	const interpreter = INTERPRETERS[extname(path)];
	if (!interpreter) throw new Error(`No interpreter is known for ${path}.`);
	return spawned(interpreter, [path, ...args], options);
}

/** Calls a tool handler's default export (`script` as above, or absolute) in a separate process; its JSON is on stdout. */
export async function runHandler(script: string, args: unknown): Promise<SkillRun> {
	const call =
		'const module = await import(process.argv[1]);' +
		'console.log(JSON.stringify(await module.default(JSON.parse(process.argv[2]))));';
	const path = resolve(SKILLS, script);
	return spawned(process.execPath, ['--input-type=module', '-e', call, path, JSON.stringify(args)], { skillDir: path });
}

async function spawned(file: string, args: string[], options: RunOptions & { skillDir: string }): Promise<SkillRun> {
	const cwd = options.cwd ?? (await temporaryFolder());
	const env = {
		PATH: process.env.PATH ?? '',
		HOME: await temporaryFolder(),
		LANG: 'C.UTF-8',
		PYTHONUNBUFFERED: '1',
		SKILL_DIR: options.skillDir,
		CLAUDE_SKILL_DIR: options.skillDir,
		...options.env
	};
	const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
	const stdout: Buffer[] = [];
	const stderr: Buffer[] = [];
	child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
	child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
	const exitCode = await new Promise<number | null>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', resolve);
	});
	return { stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString(), exitCode };
}

/** The real path of an empty folder that's removed after the test. */
export async function temporaryFolder(): Promise<string> {
	const folder = await realpath(await mkdtemp(join(tmpdir(), 'skill-test-')));
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

export interface RecordedRequest {
	method: string;
	url: URL;
	authorization: string | undefined;
	body: string;
}

/** A server on a free local port; `answer` returns status and JSON (or text) for each request. */
export async function startServer(
	answer: (request: RecordedRequest) => {
		status?: number;
		json?: unknown;
		text?: string;
		headers?: Record<string, string>;
	}
): Promise<{ url: string; requests: RecordedRequest[] }> {
	const requests: RecordedRequest[] = [];
	const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
		let body = '';
		for await (const chunk of request) body += String(chunk);
		const recorded = {
			method: request.method ?? '',
			url: new URL(request.url ?? '/', 'http://server'),
			authorization: request.headers.authorization,
			body
		};
		requests.push(recorded);
		const { status = 200, json, text, headers = {} } = answer(recorded);
		response.writeHead(status, { 'content-type': 'application/json', ...headers });
		response.end(text ?? JSON.stringify(json ?? null));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}`, requests };
}

/** A local address where nothing listens. */
export async function closedAddress(): Promise<string> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return `http://127.0.0.1:${port}`;
}
