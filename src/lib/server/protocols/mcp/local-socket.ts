/** A socket in the data folder by which `npm run mcp` reaches the server that has the folder: two at once would harm each other. */
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server as SocketServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Mcp } from './mcp.ts';

export interface LocalSocket {
	/** Calls back once nobody is connected any more; at once where nobody is. */
	whenUnused(done: () => void): void;
	close(): Promise<void>;
}

const MAX_CONNECTIONS = 32;
/** The path of a socket is at most so long. */
const MAX_PATH = 100;

/** null on systems whose sockets everybody may open, and in folders with a name that is too long. */
function socketPath(dataDir: string): string | null {
	const path = join(dataDir, 'mcp.sock');
	return process.platform === 'win32' || path.length > MAX_PATH ? null : path;
}

/** Connected; null where no server listens, `impossible` where none could. */
export async function connectLocal(dataDir: string): Promise<Socket | 'impossible' | null> {
	const path = socketPath(dataDir);
	if (path === null) return 'impossible';
	const socket = connect(path);
	return new Promise((resolve) => {
		socket.once('connect', () => resolve(socket));
		socket.once('error', () => resolve(null));
	});
}

/** For this user alone. Null where there can be none. */
export async function listenLocal(mcp: Mcp, dataDir: string): Promise<LocalSocket | null> {
	const path = socketPath(dataDir);
	if (path === null) return null;
	await rm(path, { force: true });
	const sockets = new Set<Socket>();
	let onUnused: (() => void) | null = null;
	const server = createServer((socket) => {
		sockets.add(socket);
		socket.on('error', () => socket.destroy());
		socket.on('close', () => {
			sockets.delete(socket);
			if (sockets.size === 0) onUnused?.();
		});
		mcp.serve(new StdioServerTransport(socket, socket), () => socket.end());
	});
	server.maxConnections = MAX_CONNECTIONS;
	if (!(await listening(server, path))) return null;
	await chmod(path, 0o600);
	// It must not keep a process alive that has nothing else to do.
	server.unref();
	return {
		whenUnused(done) {
			onUnused = done;
			if (sockets.size === 0) done();
		},
		async close() {
			const closed = new Promise((resolve) => server.close(resolve));
			for (const socket of sockets) socket.destroy();
			await closed;
		}
	};
}

function listening(server: SocketServer, path: string): Promise<boolean> {
	return new Promise((resolve) => {
		server.once('error', () => resolve(false));
		server.listen(path, () => resolve(true));
	});
}
