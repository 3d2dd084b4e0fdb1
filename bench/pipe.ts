/** The floor of a relay, in a process of its own: hands the bytes of the server given as an argument on as they are. */

import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';

const [, , upstream = ''] = process.argv;

const server = createServer((request, response) => {
	if (request.url === '/health') return void response.end('{}');
	const onward = ask(`${upstream}/v1/responses`, { method: 'POST' }, (answer) => {
		response.writeHead(answer.statusCode ?? 502, { 'content-type': 'text/event-stream' });
		answer.pipe(response);
	});
	onward.on('error', () => response.destroy());
	request.pipe(onward);
});
server.listen(0, '127.0.0.1', () =>
	console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
);
