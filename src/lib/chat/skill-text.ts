/** A SKILL.md as its reader sees it: the instructions without the front matter, lines, what a file is. Pure. */

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/;

/** What the model reads when it loads the skill. */
export function bodyOf(skillMd: string): string {
	// The first line keeps its indentation, which may make it code.
	return skillMd
		.replace(FRONT_MATTER, '')
		.replace(/^(?:[^\S\n]*\n)+/, '')
		.trimEnd();
}

/** Lines as an editor counts them: a text that ends in a line break has an empty last one. */
export function countLines(text: string): number {
	let lines = 1;
	for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
	return lines;
}

/** Where line `line` (from 1) begins and ends; the last one for any beyond it. */
export function rangeOfLine(text: string, line: number): [start: number, end: number] {
	let start = 0;
	for (let count = 1; count < line; count++) {
		const next = text.indexOf('\n', start);
		if (next < 0) break;
		start = next + 1;
	}
	const end = text.indexOf('\n', start);
	return [start, end < 0 ? text.length : end];
}

const INTERPRETERS = new Map(
	Object.entries({
		...{ sh: 'Shell', bash: 'Bash', zsh: 'Zsh', py: 'Python', rb: 'Ruby', pl: 'Perl', php: 'PHP', lua: 'Lua', r: 'R' },
		...{ js: 'Node', mjs: 'Node', cjs: 'Node', ts: 'Node', mts: 'Node', ps1: 'PowerShell' }
	})
);

/** What runs a file of this name; null for what is no script. */
export function interpreterOf(path: string): string | null {
	const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
	return INTERPRETERS.get(extension) ?? null;
}
