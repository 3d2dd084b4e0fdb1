/** Whether a skill's `allowed-tools` covers a run of its scripts or tools: beforehand, where people are asked (FEATURES A14); pure. */
import { parseAllowedTools } from '../skills/allowed-tools.ts';

export interface WishedRun {
	/** As the caller named it: a path, a bare name, or a tool of tools.json. */
	script: string;
	args: readonly string[];
	/** Names of the skill's tools. */
	tools: readonly string[];
	/** Files of the skill. */
	files: readonly string[];
}

/** What a script may be written after in a command line. */
const PROGRAMS: readonly (readonly [extension: RegExp, programs: readonly string[]])[] = [
	[/\.py$/, ['python', 'python3']],
	[/\.(?:js|mjs|cjs)$/, ['node']],
	[/\.ts$/, ['node', 'tsx']],
	[/\.(?:sh|bash)$/, ['bash', 'sh']]
];

/**
 * `use_skill` covers everything, `Bash` and `Bash(*)` every script, `Bash(scripts/x.sh:*)` and
 * `Bash(python scripts/x.py:*)` one with any arguments, without `:*` one with exactly these, the name of a tool that tool.
 * What cannot be read covers nothing.
 */
export function isAllowedBeforehand(wish: string | undefined, run: WishedRun): boolean {
	const isTool = run.tools.includes(run.script);
	const name = pathOf(run);
	// A name that could be both may be either: only what covers all covers it.
	const isScript = !isTool || run.files.includes(name);
	return parseAllowedTools(wish).some((token) => {
		if (token === 'use_skill' || token === 'use_skill(*)') return true;
		if (isTool && !isScript) return token === run.script;
		if (isTool) return false;
		const pattern = /^(?:Bash|bash|use_skill)(?:\((.*)\))?$/s.exec(token);
		return pattern !== null && commandsOf(name, run.args).some((words) => covers(pattern[1] ?? '*', words));
	});
}

/** The file that a name means: at the root or in `scripts/`, as it will be looked for. */
function pathOf({ script, files }: WishedRun): string {
	const name = withoutDot(script);
	const inScripts = `scripts/${name}`;
	return !files.includes(name) && files.includes(inScripts) ? inScripts : name;
}

function commandsOf(script: string, args: readonly string[]): string[][] {
	const programs = PROGRAMS.flatMap(([extension, names]) => (extension.test(script) ? names : []));
	return [[script, ...args], ...programs.map((program) => [program, script, ...args])];
}

/** Word by word; `*` alone, and `:*` or ` *` at the end, stand for any words more. */
function covers(pattern: string, words: readonly string[]): boolean {
	const text = pattern.trim();
	const [, start = text, more] = /^(.*?)(:\*|(?:^|\s)\*)$/s.exec(text) ?? [];
	// Quotes, wildcards within and the like would be guessed at.
	if (/["'`$*\\;&|<>(){}[\]?]/.test(start)) return false;
	const wanted = start.split(/\s+/).filter(Boolean).map(withoutDot);
	if (more === undefined && wanted.length !== words.length) return false;
	return wanted.every((word, index) => word === words[index]);
}

function withoutDot(path: string): string {
	return path.replace(/^(?:\.\/)+/, '');
}
