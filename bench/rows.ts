/** The floor of a replay, in a process of its own: the rows of a run from the database file, written as they are. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

const [, , path = ''] = process.argv;
const database = new DatabaseSync(path, { readOnly: true });
const select = database.prepare('select seq, data from run_events where run_id = ? and seq > ? order by seq limit 500');
// Two thirds of the time would go into objects that are thrown away.
select.setReturnArrays(true);

const server = createServer((request, response) => {
	let after = 0;
	for (;;) {
		const rows = select.all(request.url?.slice(1) ?? '', after) as unknown as [number, string][];
		const last = rows.at(-1);
		if (!last) return void response.end();
		response.write(rows.map(([seq, data]) => `id: ${seq}\ndata: ${data}\n\n`).join(''));
		after = last[0];
	}
});
server.listen(0, '127.0.0.1', () =>
	console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
);
