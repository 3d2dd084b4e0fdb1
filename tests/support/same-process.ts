/** Files of tests run in one process, one after the other: what one has changed about it, the next doesn't find. */

import { afterAll, vi } from 'vitest';

const umask = process.umask();
const cwd = process.cwd();
const env = { ...process.env };

afterAll(() => {
	// An app that has the data folder closes its files to others.
	process.umask(umask);
	process.chdir(cwd);
	for (const name of Object.keys(process.env)) if (!(name in env)) Reflect.deleteProperty(process.env, name);
	Object.assign(process.env, env);
	vi.useRealTimers();
	vi.restoreAllMocks();
	vi.unstubAllEnvs();
	vi.unstubAllGlobals();
});
