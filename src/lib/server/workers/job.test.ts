import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openJob, type ScriptJob, sealJob } from './job.ts';

const job: ScriptJob = {
	...{ at: 0, dataDir: '/data', folders: null, sandbox: 'bubblewrap', image: null, reach: ['example.org'] },
	command: {
		...{ id: 'e1', file: '/bin/sh', args: ['-c', 'echo \0 é'], env: { TOKEN: 'a secret' }, cwd: '/workspace' },
		...{ timeoutMs: 1000, maxOutputBytes: 1000, redact: ['a secret'] }
	}
};
const key = randomBytes(32);

test('F3: a job that was changed, moved to another id or sealed with another key is none', () => {
	const id = randomUUID();
	const sealed = sealJob(key, id, job);
	expect(openJob(key, id, sealed)).toEqual(job);
	expect(sealed).not.toContain('secret');
	expect(sealJob(key, id, job)).not.toBe(sealed);
	expect(openJob(key, randomUUID(), sealed)).toBeNull();
	expect(openJob(randomBytes(32), id, sealed)).toBeNull();
});

test('F3: whatever stands in its place, a worker takes it for no job and goes on', () => {
	const id = randomUUID();
	const sealed = sealJob(key, id, job);
	fc.assert(
		fc.property(fc.oneof(fc.string(), fc.json(), fc.nat(sealed.length - 1)), (value) => {
			const text = typeof value === 'number' ? `${sealed.slice(0, value)}${sealed.slice(value + 1)}` : value;
			const opened = openJob(key, id, text);
			// Without one letter of its padding it may be the same.
			if (opened !== null) expect(opened).toEqual(job);
		})
	);
});
