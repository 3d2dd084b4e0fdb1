/** Checks one import against layers.ts; used by lint and by the architecture test. */

import { posix } from 'node:path';
import { COMPOSITION_ROOT, CONCRETE_PARTS, isTestFile, layerOf, PROCESS_PLACES, startsWithPath } from './layers.ts';

const KIT_PACKAGE = /^(\$app|\$env|@sveltejs\/kit)(\/|$)/;
/** Node's module, and packages that start processes for their importer. */
const PROCESS_MODULE = /^((node:)?child_process|cross-spawn|@modelcontextprotocol\/client\/stdio)$/;

/** Says what's wrong with the import `specifier` in `file` (a path from `src/`); null if nothing is. */
export function importViolation(file: string, specifier: string): string | null {
	const layer = layerOf(file);
	if (isTestFile(file) || !layer) return null;

	const target = resolveImport(file, specifier);
	if (target === null) {
		if (KIT_PACKAGE.test(specifier)) return layer.kit ? null : `${file} imports Kit: ${specifier}`;
		if (PROCESS_MODULE.test(specifier) && !PROCESS_PLACES.some((path) => startsWithPath(file, path)))
			return `${file} starts processes: ${specifier}`;
		const isForeign = layer.packages && !layer.packages.includes(packageName(specifier));
		return isForeign ? `${file} imports the package ${specifier}` : null;
	}
	if (isTestFile(target)) return `${file} imports a test: ${target}`;
	if (file.endsWith('.ts') && target.endsWith('.svelte'))
		return `${file} imports the component ${target}: components import modules, never the other way round`;
	if (!isMadeFor(file, target)) return `${file} imports ${target}, which is made in ${COMPOSITION_ROOT} only`;
	const isAllowed =
		[layer.path, ...layer.imports].some((path) => startsWithPath(target, path)) ||
		CONCRETE_PARTS[target]?.includes(file);
	return isAllowed ? null : `${file} imports ${target}, which ${layer.path} may not`;
}

/** The imported file's path from `src/`; null for a package, and for Kit's generated `./$types`. */
export function resolveImport(file: string, specifier: string): string | null {
	if (/(^|\/)\$types(\.js|\.d\.ts)?$/.test(specifier)) return null;
	const path = specifier.replace(/\?.*$/, '');
	if (path === '$lib' || path.startsWith('$lib/')) return posix.join('lib', path.slice('$lib'.length));
	return path.startsWith('.') ? posix.join(posix.dirname(file), path) : null;
}

/** `a/b` → `a`, `@a/b/c` → `@a/b`. */
export function packageName(specifier: string): string {
	const words = specifier.split('/');
	return words.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

/** A concrete part may be used by the composition root, its own folder, and the files the table lists. */
function isMadeFor(file: string, part: string): boolean {
	const importers = CONCRETE_PARTS[part];
	if (!importers || file === COMPOSITION_ROOT || importers.includes(file)) return true;
	return posix.dirname(file) === posix.dirname(part);
}
