/** The `process` backend without namespaces: process ids are the same inside and outside, so tests can look them up. */
import { createProcessSandbox } from '../../src/lib/server/sandbox/process.ts';
import type { Sandbox } from '../../src/lib/server/sandbox/sandbox.ts';

export function plainProcesses(): Sandbox {
	return createProcessSandbox({ ways: [{ namespaces: 'none', hasLimits: false }] });
}
