/** Finds what a skill needs to run: programs, Python modules, variables; declared or detected (A18, D47, F3). */
import { compareNames } from '../read/files.ts';
import type { Skill } from '../types.ts';
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
	/** Declared by the skill; otherwise detected. */
	isDeclared: boolean;
}

export interface NeededVariable extends Need {
	/** The skill works without it. */
	isOptional: boolean;
}

/** Each list: declared first, then by name; at most 64. */
export interface FoundNeeds {
	binaries: Need[];
	/** Import names. */
	pythonModules: Need[];
	variables: NeededVariable[];
}

export type NeedySkill = Pick<Skill, 'metadata' | 'extra' | 'compatibility' | 'body' | 'files' | 'scripts'>;

/** Reads up to `maxBytes` of a skill's file; null if it isn't text. */
export type ReadText = (path: string, maxBytes: number) => Promise<string | null>;

const MAX_FILES = 40;
const MAX_BYTES = 128 * 1024;
const MAX_NEEDS = 64;
const NAME = /^[A-Za-z0-9][\w.+-]{0,63}$/;

/** Pure except for `readText`. Linear time, over at most 40 files of 128 KB. */
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
		// One of them is enough, so none is a must.
		binaries: [...namesUnder(skill, 'anyBins'), ...binariesInShell(examples)],
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

/** Shell code blocks of a Markdown text. */
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

/** Modules in the skill itself. */
function ownModules(files: readonly string[]): Set<string> {
	return new Set(files.flatMap((file) => file.split('/').map((part) => part.replace(/\.py$/, ''))));
}

// Guesses which programs a text runs, from a list of those often missing (A18).

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
/** Also ordinary words. */
const AMBIGUOUS = new Set(['age', 'convert', 'dot', 'exa', 'fd', 'go', 'identify', 'lame', 'make', 'tree', 'gs', 'jo']);

const WORD = '([A-Za-z0-9][\\w.+-]{0,63})';
/** A command's position in a shell script. */
const COMMAND = new RegExp(
	`(?:^|[|&;(\`{!])[ \\t]*(?:(?:then|do|else|sudo|xargs|exec|time|if|while|until|env|!)[ \\t]+){0,3}${WORD}(?![\\w=/])`,
	'gm'
);
const ASKED = new RegExp(`\\b(?:command[ \\t]+-v|which|hash|type[ \\t]+-[Pp])[ \\t]+["']?${WORD}`, 'g');
/** First argument of a call that starts a process. */
const STARTED = new RegExp(
	`\\b(?:spawn|execFile|exec|fork)(?:Sync)?\\(\\s{0,40}["'\`]${WORD}(?=["'\` ])|\\b(?:run|Popen|call|check_call|check_output|create_subprocess_exec|system|popen)\\(\\s{0,40}\\[?\\s{0,40}["']${WORD}(?=["' ])`,
	'g'
);
const LOOKED_UP = new RegExp(`\\bwhich(?:Sync)?\\(\\s{0,40}["'\`]${WORD}["'\`]`, 'g');

/** Shell: known programs in command position, and anything looked up with `command -v`. */
function binariesInShell(text: string): string[] {
	// Skip comments.
	const code = text.replaceAll(/(^|[ \t;])#[^\n]*/gm, '$1');
	return [...wordsOf(code, COMMAND).filter((name) => KNOWN.has(name)), ...wordsOf(code, ASKED)];
}

/** JavaScript and Python: known programs they start, and anything they look up on the PATH. */
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

// Python modules a text imports or requires; imports are a guess (A18, D47).

/** `sys.stdlib_module_names` of Python 3.11; later versions have fewer. */
const STANDARD = new Set(
	(
		'abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect ' +
		'builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall ' +
		'concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm ' +
		'decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp ' +
		'fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip ' +
		'hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json ' +
		'keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder ' +
		'msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ' +
		'ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint ' +
		'profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib ' +
		'resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib ' +
		'sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string ' +
		'stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios ' +
		'textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle ' +
		'turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg ' +
		'winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo'
	).split(' ')
);

/** Packages whose import name differs. */
const MODULE_OF = new Map(
	(
		'attrs=attr beautifulsoup4=bs4 faiss-cpu=faiss google-api-python-client=googleapiclient gitpython=git ' +
		'markdown-it-py=markdown_it msgpack-python=msgpack mysqlclient=MySQLdb opencv-python=cv2 ' +
		'opencv-python-headless=cv2 pillow=PIL protobuf=google.protobuf psycopg2-binary=psycopg2 pycryptodome=Crypto ' +
		'pyjwt=jwt pymupdf=fitz pyserial=serial python-dateutil=dateutil python-docx=docx python-dotenv=dotenv ' +
		'python-magic=magic python-pptx=pptx pyyaml=yaml scikit-image=skimage scikit-learn=sklearn ' +
		'websocket-client=websocket youtube-dl=youtube_dl'
	)
		.split(' ')
		.map((pair) => pair.split('=') as [string, string])
);

/** Import name of a package. */
function moduleOf(packageName: string): string {
	return MODULE_OF.get(packageName.toLowerCase().replaceAll('_', '-')) ?? packageName.replaceAll('-', '_');
}

/** Top-level modules a script imports, except Python's own. */
function modulesImported(text: string): string[] {
	// Docstrings may have lines like `import the data`.
	const code = text.replaceAll(/("""|''')[\s\S]*?\1/g, '""');
	const names: string[] = [];
	for (const [, from, list = ''] of code.matchAll(
		/^[ \t]*(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b|import[ \t]+([^\n]{1,500}))/gm
	)) {
		if (from) names.push(from);
		for (const part of list.replace(/[#;].*$/, '').split(',')) {
			const name = /^[ \t]*([A-Za-z_][\w.]*)(?:[ \t]+as[ \t]+\w+)?[ \t\r]*$/.exec(part)?.[1];
			if (name) names.push(name);
		}
	}
	return names.map((name) => name.split('.')[0] ?? name).filter((name) => !STANDARD.has(name) && !name.startsWith('_'));
}

/** Packages in a requirements.txt; skips options, addresses and paths. */
function requirementsIn(text: string): string[] {
	return text.split(/\r?\n/).flatMap((line) => {
		const name = /^[ \t]*([A-Za-z0-9][A-Za-z0-9._-]*)[ \t]*(?:$|[[(<>=!~;@#, \t])/.exec(line.slice(0, 300))?.[1];
		return name ? [name] : [];
	});
}

/** Packages in a script's inline `dependencies` (PEP 723). */
function inlineRequirements(text: string): string[] {
	const start = text.search(/^# \/\/\/ script[ \t]*\r?$/m);
	if (start < 0) return [];
	const block = text.slice(start).split(/\r?\n/).slice(1);
	const end = block.findIndex((line) => /^# \/\/\/[ \t]*$/.test(line));
	const toml = block
		.slice(0, Math.max(0, end))
		.map((line) => line.replace(/^# ?/, ''))
		.join('\n');
	const list = /^dependencies[ \t]*=[ \t]*\[((?:[\s,]|#[^\n]*|"[^"\n]*"|'[^'\n]*')*)\]/m.exec(toml)?.[1] ?? '';
	return Array.from(list.matchAll(/["']([^"'\n]+)["']/g), (match) => match[1] ?? '').flatMap(requirementsIn);
}
