/** Starts the program of an MCP server, without a sandbox (SECURITY, MCP servers). Only this and the sandbox start processes. */
import { mkdir } from 'node:fs/promises';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export interface Program {
	command: string;
	args: readonly string[];
	/** In addition to PATH, HOME and a few others. */
	env: Readonly<Record<string, string>>;
	/** Absolute; created if missing. */
	cwd: string;
}

/** Characters of stderr kept to explain failures. */
const KEPT = 2_000;

export interface ProgramTransport {
	transport: StdioClientTransport;
	/** The end of its stderr. */
	said(): string;
}

export async function openStdioTransport({ command, args, env, cwd }: Program): Promise<ProgramTransport> {
	await mkdir(cwd, { recursive: true });
	const transport = new StdioClientTransport({
		command,
		args: [...args],
		// Without the server’s other variables, which include keys.
		env: { ...getDefaultEnvironment(), ...env },
		cwd,
		stderr: 'pipe'
	});
	let tail = '';
	transport.stderr?.on('data', (chunk: Buffer) => {
		tail = (tail + chunk.toString()).slice(-KEPT);
	});
	return { transport, said: () => tail };
}
