/** Lists the files this process has open (Linux only, which is where the tests run). */
import { readdirSync, readlinkSync } from 'node:fs';

/** Those in this folder, or the file at this path. */
export function openBelow(path: string): string[] {
	return readdirSync('/proc/self/fd').flatMap((descriptor) => {
		try {
			const open = readlinkSync(`/proc/self/fd/${descriptor}`);
			return open === path || open.startsWith(`${path}/`) ? [open] : [];
		} catch {
			// The listing's own descriptor.
			return [];
		}
	});
}
