/** Files of tests follow each other in one process, which starts faster: each finds modules, settings and time as the first did. */
import { afterAll, vi } from 'vitest';

const environment = { ...process.env };
const umask = process.umask();

afterAll(() => {
	vi.resetModules();
	vi.useRealTimers();
	vi.unstubAllGlobals();
	for (const name of Object.keys(process.env)) if (!(name in environment)) Reflect.deleteProperty(process.env, name);
	Object.assign(process.env, environment);
	// A server closes it: what it makes is its owner's.
	process.umask(umask);
});
