/** The backend `process` without namespaces: processes have the same ids inside and outside, so a test can look for them. */
import { createProcessSandbox } from '../../src/lib/server/sandbox/process.ts';
import type { Sandbox } from '../../src/lib/server/sandbox/sandbox.ts';

export function plainProcesses(): Sandbox {
	return createProcessSandbox({ ways: [{ namespaces: 'none', hasLimits: false }] });
}
