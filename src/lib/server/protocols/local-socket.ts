/**
 * Sockets in the data folder, one per protocol that speaks over standard input and output. `npm run mcp` and `npm run acp`
 * connect to them, because two servers must not share a data folder.
 */
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server as SocketServer, Socket } from 'node:net';
import { join } from 'node:path';

/** A protocol that programs of this user speak without a key. */
export type LocalProtocol = 'mcp' | 'acp';

/** Serves one client until `onClosed` is called. */
type Serve = (socket: Socket, onClosed: () => void) => void;

export interface LocalSocket {
	/** Calls back when the last client disconnects; at once if there is none. */
	whenUnused(done: () => void): void;
	close(): Promise<void>;
}

const MAX_CONNECTIONS = 32;
/** The system limits the length of a socket's path. */
const MAX_PATH = 100;

/** null on Windows, where every user may open such a socket, and if the path is too long. */
function socketPath(dataDir: string, protocol: LocalProtocol): string | null {
	const path = join(dataDir, `${protocol}.sock`);
	return process.platform === 'win32' || path.length > MAX_PATH ? null : path;
}

/** null: no server is listening. `impossible`: this system or folder can't have a socket. */
export async function connectLocal(dataDir: string, protocol: LocalProtocol): Promise<Socket | 'impossible' | null> {
	const path = socketPath(dataDir, protocol);
	if (path === null) return 'impossible';
	const socket = connect(path);
	return new Promise((resolve) => {
		socket.once('connect', () => resolve(socket));
		socket.once('error', () => resolve(null));
	});
}

/** Listens for this user only. null if there can't be sockets, or another of several servers (`isShared`) listens here. */
export async function listenLocal(
	doors: Record<LocalProtocol, Serve>,
	dataDir: string,
	{ isShared = false } = {}
): Promise<LocalSocket | null> {
	const sockets = new Set<Socket>();
	const servers: SocketServer[] = [];
	let onUnused: (() => void) | null = null;
	const close = async () => {
		const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
		for (const socket of sockets) socket.destroy();
		await Promise.all(closed);
	};
	for (const [protocol, serve] of Object.entries(doors) as [LocalProtocol, Serve][]) {
		const path = socketPath(dataDir, protocol);
		if (path === null) return null;
		const other = isShared ? await connectLocal(dataDir, protocol) : null;
		if (other instanceof Socket) {
			other.destroy();
			await close();
			return null;
		}
		await rm(path, { force: true });
		const server = createServer((socket) => {
			sockets.add(socket);
			socket.on('error', () => socket.destroy());
			socket.on('close', () => {
				sockets.delete(socket);
				if (sockets.size === 0) onUnused?.();
			});
			serve(socket, () => socket.end());
		});
		server.maxConnections = MAX_CONNECTIONS;
		if (!(await listening(server, path))) {
			await close();
			return null;
		}
		servers.push(server);
		await chmod(path, 0o600);
		// Don't keep the process alive just for this.
		server.unref();
	}
	return {
		whenUnused(done) {
			onUnused = done;
			if (sockets.size === 0) done();
		},
		close
	};
}

function listening(server: SocketServer, path: string): Promise<boolean> {
	return new Promise((resolve) => {
		server.once('error', () => resolve(false));
		server.listen(path, () => resolve(true));
	});
}
