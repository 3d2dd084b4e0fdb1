/** A port of this machine that leads to a unix socket, for a program that knows no such sockets. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface LoopbackRelay {
	port: number;
	/** Ends every connection. */
	close(): Promise<void>;
}

/** @throws Error when there is no free port */
export async function openLoopbackRelay(socketPath: string): Promise<LoopbackRelay> {
	const sockets = new Set<Socket>();
	const own = (socket: Socket) => {
		sockets.add(socket);
		socket.on('close', () => sockets.delete(socket));
		return socket;
	};
	const server = createServer({ allowHalfOpen: true }, (near) => {
		const far = own(connect({ path: socketPath, allowHalfOpen: true }));
		own(near).pipe(far).pipe(near);
		near.on('error', () => far.destroy());
		far.on('error', () => near.destroy());
		near.on('close', () => far.destroy());
		far.on('close', () => near.destroySoon());
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		port: (server.address() as AddressInfo).port,
		async close() {
			const closed = once(server, 'close');
			server.close();
			for (const socket of sockets) socket.destroy();
			await closed;
		}
	};
}
