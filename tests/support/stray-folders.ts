/** Finds paths in a text that point to a folder named shared, other than the project's own `src/lib/shared`. */

import { posix } from 'node:path';

/** One sentence per stray path in `text`; `file` is its path from the project's root. */
export function strayFolderNames(file: string, text: string): string[] {
	return [...text.matchAll(/(?:\.\.\/)+shared\b/g)]
		.filter(([path]) => posix.join(posix.dirname(file), path) !== 'src/lib/shared')
		.map(([path]) => `${file} names ${path}`);
}
