/** What a skill needs to run: programs, Python modules, variables; declared, or found by reading it (FEATURES A18, D47, F3). */
import { compareNames } from '../read/files.ts';
import type { Skill } from '../types.ts';
import { inlineRequirements, moduleOf, modulesImported, requirementsIn } from './needs-python.ts';
import {
	declaredVariables,
	entriesIn,
	requirements,
	variablesInCode,
	variablesInShell,
	variablesInText
} from './variables.ts';

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

// Programs that a text runs, from a list of those that are often missing; a guess (FEATURES A18).

const KNOWN = new Set(
	(
		'7z aws az adb ansible cargo cmake convert curl deno docker dot exiftool fd ffmpeg ffprobe fzf gcc gcloud gh git ' +
		'go gpg gradle gs heroku helm identify inkscape java jo jq julia kubectl latexmk libreoffice lua magick make ' +
		'mediainfo mmdc mongosh mvn mysql nmap npm npx openssl pandoc pdfimages pdfinfo pdflatex pdftk pdftoppm pdftotext ' +
		'perl php pip pip3 plantuml pnpm podman poetry psql qpdf rclone redis-cli rg rsync ruby rustc Rscript scp ' +
		'shellcheck soffice sops sox sqlite3 ssh stripe svn tar terraform tesseract tree unzip uv uvx wget whois ' +
		'wkhtmltopdf wrangler xelatex xmllint xsltproc yarn yq yt-dlp zip bun chromium age exa lame node python3 typst'
	).split(' ')
);
/** Words of prose as well. */
const AMBIGUOUS = new Set(['age', 'convert', 'dot', 'exa', 'fd', 'go', 'identify', 'lame', 'make', 'tree', 'gs', 'jo']);

const WORD = '([A-Za-z0-9][\\w.+-]{0,63})';
/** Where a command stands in a shell's text. */
const COMMAND = new RegExp(
	`(?:^|[|&;(\`{!])[ \\t]*(?:(?:then|do|else|sudo|xargs|exec|time|if|while|until|env|!)[ \\t]+){0,3}${WORD}(?![\\w=/])`,
	'gm'
);
const ASKED = new RegExp(`\\b(?:command[ \\t]+-v|which|hash|type[ \\t]+-[Pp])[ \\t]+["']?${WORD}`, 'g');
/** The first argument of what starts a process, or looks one up. */
const STARTED = new RegExp(
	`\\b(?:spawn|execFile|exec|fork)(?:Sync)?\\(\\s{0,40}["'\`]${WORD}(?=["'\` ])|\\b(?:run|Popen|call|check_call|check_output|create_subprocess_exec|system|popen)\\(\\s{0,40}\\[?\\s{0,40}["']${WORD}(?=["' ])`,
	'g'
);
const LOOKED_UP = new RegExp(`\\bwhich(?:Sync)?\\(\\s{0,40}["'\`]${WORD}["'\`]`, 'g');

/** A shell script: known programs where a command stands, and whatever it asks for with `command -v`. */
function binariesInShell(text: string): string[] {
	// Not what a comment says.
	const code = text.replaceAll(/(^|[ \t;])#[^\n]*/gm, '$1');
	return [...wordsOf(code, COMMAND).filter((name) => KNOWN.has(name)), ...wordsOf(code, ASKED)];
}

/** JavaScript and Python: known programs that it starts, and whatever it looks up on the PATH. */
function binariesInCode(text: string): string[] {
	return [...wordsOf(text, STARTED).filter((name) => KNOWN.has(name)), ...wordsOf(text, LOOKED_UP)];
}

/** Prose that names programs: `Requires git, docker and jq`. */
function binariesNamed(text: string): string[] {
	return wordsOf(text, new RegExp(`(?<![\\w./-])${WORD}`, 'g')).flatMap((word) => {
		const name = word.toLowerCase().replace(/[.+-]+$/, '');
		if (name === 'python') return ['python3'];
		return KNOWN.has(name) && !AMBIGUOUS.has(name) ? [name] : [];
	});
}

function wordsOf(text: string, pattern: RegExp): string[] {
	return Array.from(text.matchAll(pattern), ([, first, second]) => first ?? second ?? '').filter(Boolean);
}
