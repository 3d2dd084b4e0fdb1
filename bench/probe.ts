/** Preloaded into a process that is measured: says over HTTP what CPU and memory it has used so far. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What `GET /` answers. Garbage has been collected before memory is looked at, when `?settled` asks for it. */
export interface Usage {
	/** Microseconds of all threads, in user space and in the kernel. */
	cpuUs: number;
	rssBytes: number;
	/** Of JavaScript's objects. */
	heapBytes: number;
}

// A build that the app starts first inherits NODE_OPTIONS, and is not what is measured.
if (!process.argv[1]?.includes('node_modules')) {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as (how: object) => void;
	const server = createServer((request, response) => {
		if (request.url?.endsWith('?settled')) collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
		const { user, system } = process.cpuUsage();
		const { rss, heapUsed } = process.memoryUsage();
		const usage: Usage = { cpuUs: user + system, rssBytes: rss, heapBytes: heapUsed };
		response.end(JSON.stringify(usage));
	});
	server.listen(0, '127.0.0.1', () => {
		console.log(`Probe on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
		server.unref();
	});
}
