/** A server of its own process, for tests that kill it: runs one line of shell on a worker, and says when it has begun. */
import { openWorkerServer } from './worker-rig.ts';

const [line = ''] = process.argv.slice(2);
const server = await openWorkerServer(process.env as Record<string, string>);
const onWait = (isWaiting: boolean) => void (isWaiting || process.stdout.write('begun\n'));
await server.sh(line, { id: 'killed', onWait });
