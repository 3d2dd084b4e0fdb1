/** `npm run vendor`: writes the libraries that bundled skills bring along, so that they run without an installation. */
import { readFile, writeFile } from 'node:fs/promises';

const root = new URL('../', import.meta.url);

/** Built files of devDependencies, by their place in `skills/`. */
const VENDORED: Record<string, { from: string; licence: string }> = {
	'pdf/vendor/pdf-lib.mjs': {
		from: '@cantoo/pdf-lib/dist/pdf-lib.esm.min.js',
		licence: '@cantoo/pdf-lib, with fflate, culori and tslib: see LICENSES.txt.'
	},
	'pdf/vendor/pdfjs.mjs': {
		from: 'unpdf/dist/pdfjs.mjs',
		licence: 'Mozilla’s pdf.js, built by unpdf: see LICENSES.txt.'
	}
};

/** What each file holds, by its place in `skills/`. */
export async function vendoredFiles(): Promise<Map<string, string>> {
	const files = new Map<string, string>();
	for (const [path, { from, licence }] of Object.entries(VENDORED)) {
		const built = await readFile(new URL(`node_modules/${from}`, root), 'utf8');
		files.set(path, `/*! ${licence} */\n${built.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')}`);
	}
	return files;
}

if (import.meta.main)
	for (const [path, content] of await vendoredFiles()) await writeFile(new URL(`skills/${path}`, root), content);
