/** A socket in the data folder. `npm run mcp` connects to it, because two servers must not share a data folder. */
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server as SocketServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Mcp } from './mcp.ts';

export interface LocalSocket {
	/** Calls back when the last client disconnects; at once if there is none. */
	whenUnused(done: () => void): void;
	close(): Promise<void>;
}

const MAX_CONNECTIONS = 32;
/** The system limits the length of a socket's path. */
const MAX_PATH = 100;

/** null on Windows, where every user may open such a socket, and if the path is too long. */
function socketPath(dataDir: string): string | null {
	const path = join(dataDir, 'mcp.sock');
	return process.platform === 'win32' || path.length > MAX_PATH ? null : path;
}

/** null: no server is listening. `impossible`: this system or folder can't have a socket. */
export async function connectLocal(dataDir: string): Promise<Socket | 'impossible' | null> {
	const path = socketPath(dataDir);
	if (path === null) return 'impossible';
	const socket = connect(path);
	return new Promise((resolve) => {
		socket.once('connect', () => resolve(socket));
		socket.once('error', () => resolve(null));
	});
}

/** Listens for this user only. null if there can't be a socket. */
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
	// Don't keep the process alive just for this.
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
