/** Finds what a skill needs to run: programs, packages, hosts, variables; declared or detected, and where (A18, D47, F3). */
import { compareNames, readSkillFile } from '../read/files.ts';
import { type Skill, SkillError } from '../types.ts';
import { covers, declaredDomains, hostsOfClient, hostsInCode } from './hosts.ts';
import {
	type Ecosystem,
	inlinePackages,
	moduleOf,
	modulesImported,
	type Package,
	packageOf,
	packagesDeclaredIn,
	packagesInstalledIn,
	programOf,
	pythonPackage
} from './packages.ts';
import {
	type DeclaredVariable,
	declaredVariables,
	entriesIn,
	requirements,
	variablesInCode,
	variablesInShell,
	variablesInText
} from './variables.ts';

export interface Need {
	name: string;
	/** Declared by the skill; otherwise detected. */
	isDeclared: boolean;
	/** Files of the skill, or fields of its SKILL.md; at most 5. */
	from: string[];
}

export interface NeededVariable extends Need {
	/** The skill works without it. */
	isOptional: boolean;
}

export interface NeededPackage extends Need, Package {}

/** Each list: declared first, then by name; at most 64. */
export interface FoundNeeds {
	binaries: Need[];
	packages: NeededPackage[];
	/** As they can be granted: `example.org`, `*.example.org`, `example.org:8443`. Detected ones are a proposal. */
	hosts: Need[];
	variables: NeededVariable[];
}

export type NeedySkill = Pick<Skill, 'metadata' | 'extra' | 'compatibility' | 'body' | 'files' | 'scripts'>;

/** Reads up to `maxBytes` of a skill's file; null if it isn't text. */
export type ReadText = (path: string, maxBytes: number) => Promise<string | null>;

const MAX_FILES = 40;
const MAX_MANIFESTS = 8;
const MAX_BYTES = 128 * 1024;
const MAX_NEEDS = 64;
const MAX_FROM = 5;
const NAME = /^[A-Za-z0-9][\w.+-]{0,63}$/;
const INSTRUCTIONS = 'SKILL.md';

/** Pure except for `readText`. Linear time, over at most 40 files of 128 KB. */
export async function findNeeds(skill: NeedySkill, readText: ReadText): Promise<FoundNeeds> {
	const binaries = createList();
	const packages = createList<Package>();
	const hosts = createList();
	const variables = createList<{ isOptional: boolean }>();
	const own = ownModules(skill.files);
	const folders = new Set(skill.files.filter((file) => file.includes('/')).map((file) => file.split('/')[0] ?? ''));
	const isOwn = (ecosystem: Ecosystem, module: string) =>
		ecosystem === 'python'
			? own.has(module.split('.')[0] ?? '')
			: module.includes('/') && folders.has(module.split('/')[0] ?? '');
	/** Keys of declared packages by module: several packages may bring one, such as `cv2`. */
	const bringers = new Map<string, string>();
	const { domains } = declaredDomains(skill);

	const declarePackages = (from: string, declared: readonly Package[]) => {
		for (const each of declared) {
			packages.add(keyOf(each), from, true, each);
			bringers.set(keyOf({ ...each, name: moduleOf(each.name) }), keyOf(each));
		}
	};
	const addHosts = (from: string, names: readonly string[]) => {
		for (const name of names) hosts.add(domains.find((domain) => covers(domain, name)) ?? name, from);
	};
	const addVariables = (from: string, used: readonly DeclaredVariable[]) => {
		for (const { name, isOptional } of used) {
			const variable = variables.add(name, from, false, { isOptional });
			if (!variable.isDeclared) variable.isOptional &&= isOptional;
		}
	};
	const readCode = (from: string, ecosystem: Ecosystem, text: string) => {
		const code = withoutComments(ecosystem, text);
		for (const name of binariesInCode(code)) binaries.add(name, from);
		for (const module of modulesImported(ecosystem, code)) {
			const top = module.split('.')[0] ?? '';
			const found = isOwn(ecosystem, module) ? null : packageOf(ecosystem, module);
			if (!found) continue;
			const program = programOf(found.name);
			if (program) binaries.add(program, from);
			packages.add(bringers.get(keyOf({ ecosystem, name: top })) ?? keyOf(found), from, false, found);
			addHosts(from, hostsOfClient(found.name));
		}
		addHosts(from, hostsInCode(code, from !== INSTRUCTIONS));
		addVariables(from, variablesInCode(text));
	};
	const addInstalled = (from: string, code: string) => {
		for (const each of packagesInstalledIn(code)) packages.add(keyOf(each), from, false, each);
	};
	const readShell = (from: string, text: string) => {
		const { shell, python, javascript } = withoutHeredocs(text);
		const code = withoutHashes(shell);
		for (const name of binariesInShell(code)) binaries.add(name, from);
		addInstalled(from, code);
		// As if it imported the module.
		const modules = Array.from(code.matchAll(MODULE_RUN), ([, module = '']) => `import ${module}`);
		readCode(from, 'python', [python, ...modules].join('\n'));
		readCode(from, 'javascript', javascript);
		addHosts(from, hostsInCode(code, from !== INSTRUCTIONS));
		addVariables(from, variablesInShell(text));
	};

	for (const key of ['bins', 'binaries', 'commands']) {
		for (const name of namesUnder(skill, key)) binaries.add(name, 'metadata.requires', true);
	}
	for (const name of binariesNamed(skill.compatibility ?? '')) binaries.add(name, 'compatibility', true);
	// One of them is enough, so none is a must.
	for (const name of namesUnder(skill, 'anyBins')) binaries.add(name, 'metadata.requires');
	const required = namesUnder(skill, 'python').flatMap((text) => pythonPackage(text) ?? []);
	declarePackages('metadata.requires', required);
	for (const domain of domains) hosts.add(domain, 'metadata.network', true);
	for (const { name, isOptional } of declaredVariables(skill))
		variables.add(name, 'metadata.env', true, { isOptional });

	const manifests = skill.files.filter(isManifest).slice(0, MAX_MANIFESTS);
	for (const path of manifests) {
		declarePackages(path, packagesDeclaredIn(path, (await readText(path, MAX_BYTES)) ?? ''));
	}
	const scripts: { path: string; text: string; language: Language }[] = [];
	for (const path of skill.scripts.filter((path) => !isTest(path)).slice(0, MAX_FILES - manifests.length)) {
		const text = await readText(path, MAX_BYTES);
		if (text === null) continue;
		const language = languageOf(path, text);
		scripts.push({ path, text, language });
		// Before any import is looked at, which may mean one of them.
		if (language === 'python') declarePackages(path, inlinePackages(text));
	}
	for (const { path, text, language } of scripts) {
		if (language === 'shell') {
			binaries.add('bash', path);
			readShell(path, text);
			continue;
		}
		if (language === 'other') {
			const program = programInFirstLine(text);
			if (program) binaries.add(program, path);
			addHosts(path, hostsInCode(withoutHashes(text)));
			continue;
		}
		const program = programInFirstLine(text);
		const other = program && /^(deno|bun|tsx)$/.test(program) ? program : null;
		binaries.add(other ?? (language === 'python' ? 'python3' : 'node'), path);
		readCode(path, language, text);
	}
	const body = skill.body.slice(0, MAX_BYTES);
	const examples = codeBlocks(body);
	readShell(INSTRUCTIONS, examples.shell);
	// `pip install "markitdown[pptx]"`, in a sentence or a list.
	addInstalled(INSTRUCTIONS, Array.from(body.matchAll(/`([^`\n]{1,500})`/g), ([, code = '']) => code).join('\n'));
	readCode(INSTRUCTIONS, 'python', examples.python);
	readCode(INSTRUCTIONS, 'javascript', examples.javascript);
	const named = variablesInText(body).map((name) => ({ name, isOptional: false }));
	addVariables(INSTRUCTIONS, [...named, ...variablesInCode(body)]);
	return {
		binaries: binaries.sorted(({ name, isDeclared }) => (isDeclared ? /^[\w.+-]{1,128}$/ : NAME).test(name)),
		packages: packages.sorted(),
		hosts: hosts.sorted(),
		variables: variables.sorted()
	};
}

export function readerOf({ dir }: Pick<Skill, 'dir'>): ReadText {
	return async (path, maxBytes) => {
		try {
			return (await readSkillFile(dir, path, { limit: maxBytes })).text;
		} catch (error) {
			// Not text, or deleted meanwhile: it shows no needs.
			if (error instanceof SkillError) return null;
			throw error;
		}
	};
}

interface List<T> {
	/** The need of this key, as it was first added; `from` is noted. */
	add(key: string, from: string, isDeclared?: boolean, facts?: T): Need & T;
	/** Declared ones as added, then the others by name; at most 64. */
	sorted(isKept?: (need: Need & T) => boolean): (Need & T)[];
}

function createList<T extends object>(): List<T> {
	const needs = new Map<string, Need & T>();
	return {
		add(key, from, isDeclared = false, facts = {} as T) {
			const need = needs.get(key) ?? { name: key, ...facts, isDeclared, from: [] };
			needs.set(key, need);
			if (need.from.length < MAX_FROM && !need.from.includes(from)) need.from.push(from);
			return need;
		},
		sorted(isKept = () => true) {
			const all = [...needs.values()].filter(isKept);
			const found = all.filter(({ isDeclared }) => !isDeclared).sort((a, b) => compareNames(a.name, b.name));
			return [...all.filter(({ isDeclared }) => isDeclared), ...found].slice(0, MAX_NEEDS);
		}
	};
}

function keyOf({ ecosystem, name }: Pick<Package, 'ecosystem' | 'name'>): string {
	return `${ecosystem}:${name}`;
}

/** What a template or an example would need isn't what the skill needs. */
function isManifest(path: string): boolean {
	return (
		/(^|\/)(requirements\.txt|pyproject\.toml|package\.json)$/.test(path) &&
		!/(^|\/)(templates?|examples?|assets|tests?|evals)\//.test(path)
	);
}

/** What only those who work on the skill run. */
function isTest(path: string): boolean {
	return (
		/(^|\/)(tests?|__tests__|evals)\//.test(path) ||
		/(^|\/)(conftest\.py|test_[^/]*\.py|[^/]*(_test\.py|\.(test|spec)\.([cm]?js|ts)))$/.test(path)
	);
}

function namesUnder(skill: NeedySkill, key: string): string[] {
	return requirements(skill, key)
		.flatMap(entriesIn)
		.map(({ name }) => name);
}

type Language = 'shell' | 'other' | Ecosystem;

/** By the extension, else by the program in the first line. */
function languageOf(path: string, text: string): Language {
	if (path.endsWith('.py')) return 'python';
	if (/\.([cm]?js|ts)$/.test(path)) return 'javascript';
	if (/\.(ba)?sh$/.test(path)) return 'shell';
	const program = programInFirstLine(text) ?? '';
	if (/^(python|uv)/.test(program)) return 'python';
	if (/^(node|deno|bun|tsx)$/.test(program)) return 'javascript';
	return /^(ba|da|z|k)?sh$/.test(program) ? 'shell' : 'other';
}

function programInFirstLine(text: string): string | null {
	const [, path = '', rest = ''] = /^#![ \t]{0,20}(\S{1,200})([^\n]{0,200})/.exec(text) ?? [];
	const name = path.split('/').at(-1) ?? '';
	const program = name === 'env' ? rest.split(/\s+/).find((word) => /^\w/.test(word) && !word.includes('=')) : name;
	return program ? program : null;
}

function withoutHashes(text: string): string {
	return text.replaceAll(/(^|[ \t;])#[^\n]*/gm, '$1');
}

/** Also without docstrings, which may have lines like `import the data`. What isn't closed ends the text: linear. */
function withoutComments(ecosystem: Ecosystem, text: string): string {
	if (ecosystem === 'python') return withoutHashes(text.replaceAll(/("""|''')[\s\S]*?(?:\1|$)/g, '""'));
	return text.replaceAll(JAVASCRIPT_PARTS, (part: string, before: string | undefined) => {
		if (part.startsWith('/*')) return ' ';
		if (before !== undefined) return before;
		// The text of another file, or of a message, which may have lines that are code.
		return part.length > 1 && part.startsWith('`') && part.endsWith('`') && part.includes('\n') ? '``' : part;
	});
}

/** Comments, texts and regular expressions: what looks like one inside another isn't. */
const JAVASCRIPT_PARTS =
	/\/\*[\s\S]*?(?:\*\/|$)|(^|[\s;,{}()])\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[\s\S])*(?:`|$)|(?<=[=(,:[!&|?{};][ \t]{0,4}|\breturn[ \t])\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.){0,100}\]){1,200}\//g;

const MODULE_RUN = /\bpython3?[ \t]{1,8}-m[ \t]{1,8}([A-Za-z_][\w.]{0,100})/g;

/**
 * A shell text without what it hands to programs as text: code for Python or Node is given apart, what a shell runs
 * stays, and the rest, such as help and files to write, is left out.
 */
function withoutHeredocs(text: string): Record<'shell' | Ecosystem, string> {
	const code: Record<'shell' | Ecosystem, string[]> = { shell: [], python: [], javascript: [] };
	let end: string | null = null;
	let into: keyof typeof code | null = null;
	for (const line of text.split('\n')) {
		if (end !== null) {
			if (line.trim() === end) end = null;
			else if (into !== null) code[into].push(line);
			continue;
		}
		code.shell.push(line);
		const [, command = '', mark] = /^(.{0,300}?)(?<!<)<<-?[ \t]?["']?([A-Za-z_]\w{0,40})["']?/.exec(line) ?? [];
		if (mark === undefined) continue;
		end = mark;
		if (/\bpython3?\b/.test(command)) into = 'python';
		else if (/\bnode\b/.test(command)) into = 'javascript';
		else into = /\b(?:bash|sh)\b/.test(command) ? 'shell' : null;
	}
	return { shell: code.shell.join('\n'), python: code.python.join('\n'), javascript: code.javascript.join('\n') };
}

/** Code of a Markdown text by language. */
function codeBlocks(body: string): Record<'shell' | Ecosystem, string> {
	const code = { shell: '', python: '', javascript: '' };
	let language: keyof typeof code | undefined;
	let fence = '';
	for (const line of body.split('\n')) {
		const mark = /^ {0,3}(`{3,}|~{3,})\s*(\w*)/.exec(line);
		if (mark?.[1] && (fence === '' || line.trim().startsWith(fence))) {
			fence = fence === '' ? mark[1] : '';
			const name = fence === '' ? '' : (mark[2] ?? '').toLowerCase();
			if (/^(bash|sh|shell|zsh|console|shellsession)$/.test(name)) language = 'shell';
			else if (/^(python3?|py)$/.test(name)) language = 'python';
			else language = /^(javascript|typescript|[mc]?js|ts)$/.test(name) ? 'javascript' : undefined;
		} else if (language) {
			code[language] += `${language === 'shell' ? line.replace(/^\s{0,8}[$>] /, '') : line}\n`;
		}
	}
	return code;
}

/** Modules in the skill itself. */
function ownModules(files: readonly string[]): Set<string> {
	return new Set(files.flatMap((file) => file.split('/').map((part) => part.replace(/\.py$/, ''))));
}

// Guesses which programs a text runs, from a list of those often missing (A18).

const KNOWN = new Set(
	(
		'7z aws az adb ansible cargo cmake convert curl deno docker dot exiftool fd ffmpeg ffprobe fzf gcc gcloud gh git ' +
		'go gpg gradle gs heroku helm identify inkscape java jo jq julia kubectl latexmk libreoffice lua magick make ' +
		'mediainfo mmdc mongosh mvn mysql nmap npm npx openssl pandoc pdfimages pdfinfo pdflatex pdftk pdftoppm pdftotext pdfunite pdfseparate pdftocairo pdfunite pdfseparate pdftocairo ' +
		'perl php pip pip3 plantuml pnpm podman poetry psql qpdf rclone redis-cli rg rsync ruby rustc Rscript scp ' +
		'shellcheck soffice sops sox sqlite3 ssh stripe svn tar terraform tesseract tree unzip uv uvx wget whois ' +
		'mutool ocrmypdf gifsicle cwebp rsvg-convert unrar osascript wkhtmltopdf wrangler xelatex xmllint xsltproc yarn yq yt-dlp zip bun chromium age exa lame node python3 typst'
	).split(' ')
);
/** Also ordinary words. */
const AMBIGUOUS = new Set(['age', 'convert', 'dot', 'exa', 'fd', 'go', 'identify', 'lame', 'make', 'tree', 'gs', 'jo']);

const WORD = '([A-Za-z0-9][\\w.+-]{0,63})';
/** A command's position in a shell script. */
const COMMAND = new RegExp(
	`(?:^|[|&;(\`{!])[ \\t]*(?:(?:then|do|else|sudo|xargs|exec|time|if|while|until|env|!)[ \\t]+){0,3}${WORD}(?![\\w=/])`,
	'gm'
);
const ASKED = new RegExp(
	`\\b(?:command[ \\t]+-v|which|hash|type[ \\t]+-[Pp])[ \\t]+["']?${WORD}|(?:^|[;&|(!]|\\bif)[ \\t]{0,8}type[ \\t]{1,8}${WORD}(?=[ \\t]{0,4}(?:&>|\\d?>))`,
	'gm'
);
/** `for tool in jq ffmpeg; do command -v "$tool"` */
const LOOP = /\bfor[ \t]{1,8}(\w{1,40})[ \t]{1,8}in[ \t]{1,8}([^;\n$]{1,300})/g;
const LOOPED = /\b(?:command[ \t]{1,8}-v|which|hash|type)[ \t]{1,8}(?:-[Pp][ \t]{1,8})?"?\$\{?(\w{1,40})/g;
/** First argument of a call that starts a process. */
const STARTED = new RegExp(
	`\\b(?:spawn|execFile|exec|fork|execa)(?:Sync|Async|P|Promise)?\\)?\\(\\s{0,40}["'\`]${WORD}(?=["'\` ])|\\b(?:run|Popen|call|check_call|check_output|create_subprocess_exec|system|popen)\\(\\s{0,40}\\[?\\s{0,40}["']${WORD}(?=["' ])`,
	'g'
);
const LOOKED_UP = new RegExp(`\\bwhich(?:Sync)?\\(\\s{0,40}["'\`]${WORD}["'\`]`, 'g');

/** A command line that is put together first. */
const PREPARED = new RegExp(`(?:cmd|command|args)\\s{0,8}=\\s{0,8}\\[\\s{0,40}["']${WORD}["']`, 'gi');

/** Shell: known programs in command position, and anything looked up with `command -v`. */
function binariesInShell(code: string): string[] {
	const asked = new Set(Array.from(code.matchAll(LOOPED), ([, name = '']) => name));
	const listed = Array.from(code.matchAll(LOOP)).flatMap(([, variable = '', words = '']) =>
		asked.has(variable) ? words.split(/[\s"']+/).filter((word) => NAME.test(word)) : []
	);
	return [...wordsOf(code, COMMAND).filter((name) => KNOWN.has(name)), ...wordsOf(code, ASKED), ...listed];
}

/** JavaScript and Python: known programs they start, and anything they look up on the PATH. */
function binariesInCode(text: string): string[] {
	const started = [...wordsOf(text, STARTED), ...wordsOf(text, PREPARED)];
	return [...started.filter((name) => KNOWN.has(name)), ...wordsOf(text, LOOKED_UP)];
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
