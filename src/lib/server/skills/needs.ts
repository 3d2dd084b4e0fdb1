/** What a skill needs to run: programs, Python modules, variables; declared, or found by reading it (FEATURES A18, D47, F3). */
import { binariesInCode, binariesInShell, binariesNamed } from './needs-binaries.ts';
import { inlineRequirements, moduleOf, modulesImported, requirementsIn } from './needs-python.ts';
import { variablesInCode, variablesInShell, variablesInText } from './needs-variables.ts';
import { declaredVariables, entriesIn, requirements } from './declared-variables.ts';
import { compareNames } from './resources.ts';
import type { Skill } from './types.ts';

export interface Need {
	name: string;
	/** Said by the skill; otherwise a guess. */
	isDeclared: boolean;
}

export interface NeededVariable extends Need {
	/** The skill says that it runs without it. */
	isOptional: boolean;
}

/** Each declared ones first, then by name; at most 64. */
export interface FoundNeeds {
	binaries: Need[];
	/** Names to import. */
	pythonModules: Need[];
	variables: NeededVariable[];
}

export type NeedySkill = Pick<Skill, 'metadata' | 'extra' | 'compatibility' | 'body' | 'files' | 'scripts'>;

/** Text of a file of the skill, at most so many bytes of it; null for what is none. */
export type ReadText = (path: string, maxBytes: number) => Promise<string | null>;

const MAX_FILES = 40;
const MAX_BYTES = 128 * 1024;
const MAX_NEEDS = 64;
const NAME = /^[A-Za-z0-9][\w.+-]{0,63}$/;

/** Pure but for `readText`, and linear in what it reads: 40 files of 128 KB at most. */
export async function findNeeds(skill: NeedySkill, readText: ReadText): Promise<FoundNeeds> {
	const declared = {
		binaries: [
			...['bins', 'binaries', 'commands'].flatMap((key) => namesUnder(skill, key)),
			...binariesNamed(skill.compatibility ?? '')
		],
		modules: namesUnder(skill, 'python').flatMap(requirementsIn),
		variables: declaredVariables(skill)
	};
	const body = skill.body.slice(0, MAX_BYTES);
	const examples = shellExamples(body);
	const found = {
		binaries: binariesInShell(examples),
		modules: [] as string[],
		variables: [...variablesInText(body), ...variablesInCode(body), ...variablesInShell(examples)]
	};
	for (const path of skill.files.filter((file) => /(^|\/)requirements\.txt$/.test(file)).slice(0, 4)) {
		declared.modules.push(...requirementsIn((await readText(path, MAX_BYTES)) ?? ''));
	}
	for (const path of skill.scripts.slice(0, MAX_FILES)) {
		const text = await readText(path, MAX_BYTES);
		if (text === null) continue;
		const language = languageOf(path, text);
		if (language === 'shell') {
			found.binaries.push('bash', ...binariesInShell(text));
			found.variables.push(...variablesInShell(text));
			continue;
		}
		found.binaries.push(...binariesInCode(text));
		found.variables.push(...variablesInCode(text));
		if (language === 'python') {
			found.binaries.push('python3');
			found.modules.push(...modulesImported(text));
			declared.modules.push(...inlineRequirements(text));
		}
	}
	const own = ownModules(skill.files);
	const optional = new Set(declared.variables.filter(({ isOptional }) => isOptional).map(({ name }) => name));
	const variables = merge(
		declared.variables.map(({ name }) => name),
		found.variables
	);
	return {
		binaries: merge(declared.binaries, found.binaries),
		pythonModules: merge(
			declared.modules.map(moduleOf),
			found.modules.filter((name) => !own.has(name))
		),
		variables: variables.map((need) => ({ ...need, isOptional: optional.has(need.name) }))
	};
}

function namesUnder(skill: NeedySkill, key: string): string[] {
	return requirements(skill, key)
		.flatMap(entriesIn)
		.map(({ name }) => name);
}

function merge(declared: readonly string[], found: readonly string[]): Need[] {
	const needs = (names: Iterable<string>, isDeclared: boolean) =>
		[...names].filter((name) => NAME.test(name) || isDeclared).map((name) => ({ name, isDeclared }));
	const first = new Set(declared.filter((name) => /^[\w.+-]{1,128}$/.test(name)));
	const rest = new Set(found.filter((name) => !first.has(name)));
	return [...needs(first, true), ...needs([...rest].sort(compareNames), false)].slice(0, MAX_NEEDS);
}

function languageOf(path: string, text: string): 'shell' | 'python' | 'javascript' {
	if (path.endsWith('.py') || /^#![^\n]{0,200}python/.test(text)) return 'python';
	return /\.([cm]?js|ts)$/.test(path) || /^#![^\n]{0,200}\b(node|deno|bun)\b/.test(text) ? 'javascript' : 'shell';
}

/** The blocks of a Markdown text that are commands. */
function shellExamples(body: string): string {
	const lines: string[] = [];
	let isShell = false;
	let fence = '';
	for (const line of body.split('\n')) {
		const mark = /^ {0,3}(`{3,}|~{3,})\s*(\w*)/.exec(line);
		if (mark?.[1] && (fence === '' || line.trim().startsWith(fence))) {
			fence = fence === '' ? mark[1] : '';
			isShell = fence !== '' && /^(bash|sh|shell|zsh|console|shellsession)$/i.test(mark[2] ?? '');
		} else if (isShell) {
			lines.push(line.replace(/^\s{0,8}[$>] /, ''));
		}
	}
	return lines.join('\n');
}

/** What an import may name that lies in the skill itself. */
function ownModules(files: readonly string[]): Set<string> {
	return new Set(files.flatMap((file) => file.split('/').map((part) => part.replace(/\.py$/, ''))));
}
