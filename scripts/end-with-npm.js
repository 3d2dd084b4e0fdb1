// Ends what npm started when npm is ended: it passes signals on to its shell alone, and many a shell leaves the program behind.
import { isMainThread } from 'node:worker_threads';

const LOOK_AGAIN_MS = 500;
/** On Windows it never changes, and is not needed: there a console ends all that runs in it. */
const shell = process.ppid;

const timer = setInterval(() => {
	if (process.ppid === shell) return;
	clearInterval(timer);
	process.kill(process.pid, 'SIGHUP');
}, LOOK_AGAIN_MS);
timer.unref();
if (!isMainThread) clearInterval(timer);
