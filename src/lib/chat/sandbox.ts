/** What scripts are kept away from, in words. Pure. */
import type { Health } from '../shared/api.ts';

export function describeSandbox({ name, isolation }: Pick<Health['sandbox'], 'name' | 'isolation'>): string {
	const where = name === 'process' ? 'as plain processes' : `in ${name}`;
	return isolation.files
		? `Scripts run ${where}: no access to other files, ${isolation.network ? 'no network but the hosts that you allow' : 'but the network is open'}.`
		: `Scripts run ${where}: the files of this machine are NOT isolated.`;
}
