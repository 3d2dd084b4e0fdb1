/** Starts the program of an MCP server; with the sandbox the only place where processes begin. It is not sandboxed (SECURITY, MCP servers). */
import { mkdir } from 'node:fs/promises';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export interface Program {
	command: string;
	args: readonly string[];
	/** All that it is given beside PATH, HOME and a few words about the user. */
	env: Readonly<Record<string, string>>;
	/** Absolute; made if it is not there. */
	cwd: string;
}

/** So much of the end of what it writes beside the protocol is kept, to say why it failed. */
const KEPT = 2_000;

export interface ProgramTransport {
	transport: StdioClientTransport;
	/** The last of what it wrote to stderr. */
	said(): string;
}

export async function openStdioTransport({ command, args, env, cwd }: Program): Promise<ProgramTransport> {
	await mkdir(cwd, { recursive: true });
	const transport = new StdioClientTransport({
		command,
		args: [...args],
		// Nothing of the server's own environment but these: no key of the app is among them.
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
