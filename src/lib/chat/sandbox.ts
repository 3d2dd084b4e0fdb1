/** What scripts are kept away from, in words. Pure. */
import type { Health } from '../shared/api.ts';
import { sandboxText as text } from '../strings/skills.ts';

export function describeSandbox({ name, isolation }: Pick<Health['sandbox'], 'name' | 'isolation'>): string {
	const where = name === 'process' ? text.asProcesses : text.inSandbox(name);
	return isolation.files ? text.apart(where, isolation.network) : text.together(where);
}
