/** Finds paths in a file's text that lead to a folder called shared other than the project's own `src/lib/shared`. */

import { posix } from 'node:path';

/** Sentences, one a stray path in `text`; `file` is its path from the project's root. */
export function strayFolderNames(file: string, text: string): string[] {
	return [...text.matchAll(/(?:\.\.\/)+shared\b/g)]
		.filter(([path]) => posix.join(posix.dirname(file), path) !== 'src/lib/shared')
		.map(([path]) => `${file} names ${path}`);
}
