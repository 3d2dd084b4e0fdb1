/** Labels for roots: the `source` in `source/name` (FEATURES A27, A28); pure. */
import { basename, dirname } from 'node:path';
import { UNUSABLE } from './fields.ts';
import type { SkillRoot } from './types.ts';

/**
 * Each root with a label of its own: the name of its folder, or of the folder above where that is only `skills`
 * inside a hidden one (`.claude/skills` → `claude`); the second of the same label is `label-2`.
 */
export function labelRoots(roots: readonly (string | SkillRoot)[]): SkillRoot[] {
	// A label that was given is kept, whatever a folder before it is called.
	const given = roots.flatMap((root) => (typeof root === 'string' ? [] : [root.source]));
	// Theirs are the ids of the server's own skills.
	const taken = new Set(['builtin']);
	return roots.map((root) => {
		const path = typeof root === 'string' ? root : root.path;
		const base = typeof root === 'string' ? labelOf(root) : root.source;
		let source = base;
		const isTaken = () => taken.has(source) || (typeof root === 'string' && given.includes(source));
		for (let count = 2; isTaken(); count += 1) source = `${base}-${count}`;
		taken.add(source);
		return { ...(typeof root === 'string' ? {} : root), path, source };
	});
}

function labelOf(path: string): string {
	const name = basename(path);
	const above = basename(dirname(path));
	const label = name === 'skills' && above.startsWith('.') ? above.slice(1) : name;
	// What begins with `~` is the sign of an id; with `key.`, the label of what a key owns.
	return (
		label
			.replace(UNUSABLE, '-')
			.replace(/\s+/g, '-')
			.replace(/^~+/, '')
			.replace(/^key\./, 'key-')
			.toWellFormed() || 'root'
	);
}
