/** Runs the project's command-line tools with this Node, whatever PATH says. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

export interface ToolResult {
	/** null when a signal ended it. */
	exitCode: number | null;
	/** Standard output and standard error as they came; empty when they were shown. */
	output: string;
}

export interface ToolOptions {
	/** Show the output while it runs instead of keeping it. */
	isShown?: boolean;
	env?: Record<string, string>;
}

/** `name` is the package, and the name of its command where the two differ: `@sveltejs/kit:svelte-kit`. */
export function runTool(name: string, args: string[], options: ToolOptions = {}): Promise<ToolResult> {
	const stream = options.isShown ? 'inherit' : 'pipe';
	const bin = join(root, 'node_modules/.bin');
	const child = spawn(process.execPath, [commandPath(name), ...args], {
		cwd: root,
		stdio: ['ignore', stream, stream],
		env: {
			...process.env,
			PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}`,
			...options.env
		}
	});
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
		child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
		child.once('error', reject);
		child.once('close', (exitCode) => resolve({ exitCode, output: Buffer.concat(chunks).toString() }));
	});
}

function commandPath(name: string): string {
	const [packageName = name, command = name] = name.split(':');
	const folder = join(root, 'node_modules', packageName);
	const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
		bin: string | Record<string, string>;
	};
	const path = typeof bin === 'string' ? bin : bin[command];
	if (!path) throw new Error(`${packageName} has no command ${command}`);
	return join(folder, path);
}
