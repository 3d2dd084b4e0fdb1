/** Python and JavaScript packages that files of a skill declare, import or tell to install (A18, D47). Pure. */
import { isBuiltin } from 'node:module';
import { parse as parseToml } from 'smol-toml';
import { isObject, parseJson } from '../../../shared/json.ts';

export type Ecosystem = 'python' | 'javascript';

export interface Package {
	ecosystem: Ecosystem;
	/** As its index has it: `python-docx`, not `docx`; in the index's plain form. */
	name: string;
	/** What to give `pip` or `npm`: `python-docx>=1.1`, `left-pad@^1.3.0`; the name alone if no version is asked for. */
	requirement: string;
}

const MAX_LINES = 1000;
const JAVASCRIPT_NAME = /^(?:@[a-z0-9~][\w.~-]{0,80}\/)?[a-zA-Z0-9~][\w.~-]{0,120}$/;
const PYTHON_NAME = /^[A-Za-z0-9](?:[\w.-]{0,98}[A-Za-z0-9])?$/;
/** Name, extras, versions, marker (PEP 508); no address and no path, which would lead away from the index. */
const REQUIREMENT =
	/^([A-Za-z0-9][\w.-]{0,99})[ \t]*(\[[\w., \t-]{0,200}\])?[ \t]*(?:\(?[ \t]*([<>=!~][^;@()#"'/\\]{0,200}?)[ \t]*\)?)?[ \t]*(?:;[ \t]*([^@#]{1,200}))?$/;
const FOR_WINDOWS = /\b(?:sys_platform|platform_system|os_name)[ \t]*==[ \t]*["'](?:win32|Windows|nt)["']/;

/** `python-docx>=1.1` or a line of a requirements.txt; null for options, addresses, paths and what only Windows needs. */
export function pythonPackage(text: string): Package | null {
	const line = text
		.slice(0, 500)
		.replace(/(?:^|[ \t])(?:#|--).*$/s, '')
		.trim();
	const [, name, extras = '', versions = '', marker] = REQUIREMENT.exec(line) ?? [];
	if (name === undefined || !PYTHON_NAME.test(name) || (marker && FOR_WINDOWS.test(marker))) return null;
	const plain = name.toLowerCase().replace(/[-_.]+/g, '-');
	const version = versions.replace(/[ \t]+/g, '');
	const requirement = `${plain}${extras.replace(/[ \t]+/g, '')}${version}${marker ? `; ${marker.trim()}` : ''}`;
	return { ecosystem: 'python', name: plain, requirement };
}

/** `left-pad@^1.3.0`; null if it isn't in the registry by a version: an address, a path, another package's alias. */
function javascriptPackage(text: string): Package | null {
	const at = text.indexOf('@', 1);
	const [name, version] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1).trim()];
	if (!JAVASCRIPT_NAME.test(name) || !/^[\w.^~<>=|*+ -]{0,100}$/.test(version)) return null;
	return { ecosystem: 'javascript', name, requirement: version === '' || version === '*' ? name : text.trim() };
}

/** A package by its name or requirement; null if it isn't one. */
export function packageNamed(ecosystem: Ecosystem, text: string): Package | null {
	return ecosystem === 'python' ? pythonPackage(text) : javascriptPackage(text);
}

/** Packages that a requirements.txt, pyproject.toml or package.json declares. */
export function packagesDeclaredIn(path: string, text: string): Package[] {
	switch (path.split('/').at(-1)) {
		case 'requirements.txt':
			return text.split(/\r?\n/, MAX_LINES).flatMap((line) => pythonPackage(line) ?? []);
		case 'pyproject.toml': {
			const { project, tool } = readToml(text);
			if (isObject(project)) return pythonPackages(project.dependencies);
			const poetry = isObject(tool) && isObject(tool.poetry) ? tool.poetry.dependencies : undefined;
			return isObject(poetry) ? Object.entries(poetry).slice(0, MAX_LINES).flatMap(poetryPackage) : [];
		}
		case 'package.json': {
			const json = parseJson(text);
			const dependencies = isObject(json) && isObject(json.dependencies) ? Object.entries(json.dependencies) : [];
			return dependencies
				.slice(0, MAX_LINES)
				.flatMap(([name, range]) => (typeof range === 'string' ? (javascriptPackage(`${name}@${range}`) ?? []) : []));
		}
		default:
			return [];
	}
}

/** `typer = "^0.9"` or `{ version = "^0.9" }`; no address, no path, and not Python itself. */
function poetryPackage([name, facts]: [string, unknown]): Package[] {
	const { version, optional } = isObject(facts) ? facts : { version: facts, optional: false };
	if (name.toLowerCase() === 'python' || typeof version !== 'string' || optional === true) return [];
	const caret = /^\^(\d+)(?:\.(\d+))?[\d.]*$/.exec(version);
	const [, major = '', minor = ''] = caret ?? [];
	const below = Number(major) > 0 || minor === '' ? Number(major) + 1 : `0.${Number(minor) + 1}`;
	const exact = /^[\d.]+$/.test(version) ? `==${version}` : version.replace(/^(?:\*|~(?!=)).*/, '');
	const range = caret ? `>=${version.slice(1)},<${below}` : exact;
	const found = pythonPackage(`${name}${range}`) ?? pythonPackage(name);
	return found ? [found] : [];
}

/** Packages in a script's inline `dependencies` (PEP 723). */
export function inlinePackages(text: string): Package[] {
	const start = text.search(/^# \/\/\/ script[ \t]*\r?$/m);
	if (start < 0) return [];
	const block = text.slice(start).split(/\r?\n/).slice(1);
	const end = block.findIndex((line) => /^# \/\/\/[ \t]*$/.test(line));
	const toml = block.slice(0, Math.max(0, end)).map((line) => line.replace(/^# ?/, ''));
	return pythonPackages(readToml(toml.join('\n')).dependencies);
}

function pythonPackages(list: unknown): Package[] {
	const lines = Array.isArray(list) ? list.slice(0, MAX_LINES) : [];
	return lines.flatMap((line: unknown) => (typeof line === 'string' ? (pythonPackage(line) ?? []) : []));
}

function readToml(text: string): Record<string, unknown> {
	try {
		return parseToml(text, { maxDepth: 20 });
	} catch {
		// Somebody else's file: what can't be read declares nothing.
		return {};
	}
}

/** Packages that a shell text installs: `pip install …`, `npm install …`. */
export function packagesInstalledIn(shell: string): Package[] {
	const installs =
		/\b(pip3?|uv|npm|pnpm|yarn|bun)[ \t]{1,20}(?:pip[ \t]{1,20})?(?:install|add|i)[ \t]([^\n|;&`]{1,500})/g;
	return Array.from(shell.matchAll(installs)).flatMap(([, program = '', rest = '']) => {
		const read = /^(pip|uv)/.test(program) ? pythonPackage : javascriptPackage;
		// Without redirections, and without options of pip that take a file or folder.
		const words = rest
			.replaceAll(/(?:^|[ \t])\d?>{1,2}[ \t]{0,20}\S{0,200}/g, ' ')
			.replaceAll(read === pythonPackage ? /(?:^|[ \t])-[cefirt][ \t]{1,20}\S{1,200}/g : /^$/g, ' ');
		return words.split(/[ \t]+/).flatMap((word) => read(word.replace(/^["']|["']$/g, '')) ?? []);
	});
}

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

/** Packages whose import name differs; of several with one import name, the first is the one to install. */
const MODULE_OF = (
	'attrs=attr beautifulsoup4=bs4 biopython=Bio discord-py=discord djangorestframework=rest_framework dnspython=dns ' +
	'faiss-cpu=faiss ffmpeg-python=ffmpeg gitpython=git google-api-python-client=googleapiclient ' +
	'google-auth=google.oauth2 google-auth=google.auth google-genai=google.genai matplotlib=mpl_toolkits ' +
	'google-generativeai=google.generativeai markdown-it-py=markdown_it msgpack-python=msgpack mysqlclient=MySQLdb ' +
	'openai-whisper=whisper opencv-python=cv2 opencv-python-headless=cv2 opencv-contrib-python=cv2 ' +
	'pdfminer-six=pdfminer pillow=PIL protobuf=google.protobuf psycopg2-binary=psycopg2 py-cpuinfo=cpuinfo ' +
	'pycairo=cairo pycryptodome=Crypto pygithub=github pyjwt=jwt pymupdf=fitz pynacl=nacl pyopenssl=OpenSSL ' +
	'pyserial=serial pysocks=socks python-barcode=barcode python-dateutil=dateutil python-docx=docx ' +
	'python-dotenv=dotenv python-levenshtein=Levenshtein python-louvain=community python-magic=magic ' +
	'python-pptx=pptx python-telegram-bot=telegram pyusb=usb pywin32=win32com pywin32=pythoncom pyyaml=yaml ' +
	'pyzmq=zmq ruamel-yaml=ruamel scikit-image=skimage scikit-learn=sklearn setuptools=pkg_resources ' +
	'snowflake-connector-python=snowflake speechrecognition=speech_recognition tabula-py=tabula umap-learn=umap ' +
	'websocket-client=websocket youtube-dl=youtube_dl tavily-python=tavily firecrawl-py=firecrawl'
)
	.split(' ')
	.map((pair) => pair.split('=') as [string, string]);
/** Part of a program (LibreOffice, Blender), of Python in a browser, or of Python 2, so no index has them. */
const NO_PACKAGE = new Set(
	(
		'uno unohelper officehelper bpy js pyodide micropip google azure apt pip ' +
		'urllib2 urlparse httplib cookielib ConfigParser Queue StringIO cStringIO cPickle HTMLParser Tkinter commands'
	).split(' ')
);
/** Many packages share these modules: `from google.cloud import storage` needs google-cloud-storage. */
const SHARED = /^(?:google(?:\.cloud)?|azure(?:\.(?:ai|mgmt|storage|keyvault|data|search|communication))?)$/;

/** Packages that only drive a program. */
const PROGRAM_OF = new Map(
	(
		'pytesseract=tesseract pdf2image=pdftoppm pypandoc=pandoc pydub=ffmpeg ffmpeg-python=ffmpeg moviepy=ffmpeg ' +
		'openai-whisper=ffmpeg graphviz=dot tabula-py=java pdfkit=wkhtmltopdf imgkit=wkhtmltopdf ocrmypdf=tesseract ' +
		'fluent-ffmpeg=ffmpeg node-tesseract-ocr=tesseract'
	)
		.split(' ')
		.map((pair) => pair.split('=') as [string, string])
);

/** The program that a package drives, if that’s known. */
export function programOf(packageName: string): string | null {
	return PROGRAM_OF.get(packageName) ?? null;
}

/** Import name of a Python package. */
export function moduleOf(name: string): string {
	return MODULE_OF.find(([each]) => each === name)?.[1] ?? name.replaceAll('-', '_');
}

/** The package that brings a module: `docx.shared` → python-docx, `lodash/fp` → lodash; null for Node's, Python's own, and paths. */
export function packageOf(ecosystem: Ecosystem, module: string): Package | null {
	if (ecosystem === 'javascript') {
		// `~/` and `@/` stand for a project's own folder, `bun` for what runs the script.
		if (isBuiltin(module) || /^(?:~|bun)(?:\/|$)/.test(module)) return null;
		const parts = module.split('/', 2);
		return javascriptPackage((module.startsWith('@') ? parts.join('/') : (parts[0] ?? '')).replace(/(?<=.)@.*/, ''));
	}
	const [first = '', second = ''] = module.split('.', 2);
	if (STANDARD.has(first) || first.startsWith('_')) return null;
	const named = MODULE_OF.find(([, each]) => each === first || each === `${first}.${second}`)?.[0];
	if (named === undefined && NO_PACKAGE.has(first)) {
		const [, , third = ''] = module.split('.', 3);
		if (module.startsWith('google.cloud.') && third) return pythonPackage(`google-cloud-${third.split('_v')[0]}`);
		if (first !== 'azure' || second === '') return null;
		const isShared = SHARED.test(`azure.${second}`);
		return isShared && third === '' ? null : pythonPackage(`azure-${second}${isShared ? `-${third}` : ''}`);
	}
	return pythonPackage(named ?? first);
}

/** Modules a script imports, except relative ones. */
export function modulesImported(ecosystem: Ecosystem, code: string): string[] {
	if (ecosystem === 'python') return pythonImports(code);
	const patterns = [
		// At the start of a statement, because texts quote imports, too.
		/(?:^|[;}])[ \t]*(?:import|export)(?=[\s{*])(?!\s+type\s)[^"'`;()]{0,500}?\bfrom\s{0,20}["']([^"'\s]{1,214})["']/gm,
		/(?:^|[;}])[ \t]*import\s{0,20}["']([^"'\s]{1,214})["']/gm,
		/(?<![\w.$])(?:import|require)\(\s{0,40}["'`]([^"'`\s]{1,214})["'`]\s{0,40}[,)]/g
	];
	return patterns.flatMap((pattern) => Array.from(code.matchAll(pattern), (match) => match[1] ?? ''));
}

function pythonImports(code: string): string[] {
	const names: string[] = [];
	for (const [, from, inBrackets, onLine = '', list = ''] of withoutAlternatives(code).matchAll(
		/^[ \t]*(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b[ \t]*(?:\(([^)]{0,500})|([^\n]{0,500}))|import[ \t]+([^\n]{1,500}))/gm
	)) {
		const parts = namesIn(from === undefined ? list : (inBrackets ?? onLine));
		if (from === undefined) names.push(...parts);
		else names.push(...(SHARED.test(from) ? parts.map((part) => `${from}.${part}`) : [from]));
	}
	return names;
}

function namesIn(list: string): string[] {
	return list
		.replaceAll(/[#;][^\n]*/g, '')
		.split(',')
		.flatMap((part) => /^\s*([A-Za-z_][\w.]*)(?:\s+as\s+\w+)?\s*$/.exec(part)?.[1] ?? []);
}

/** For types only, for Windows only, or only if what was tried first isn't there. */
const ALTERNATIVE =
	/^[ \t]*(?:if[ \t]+(?:typing\.|t\.)?TYPE_CHECKING\b|(?:el)?if\b[^\n]{0,200}==[ \t]*["'](?:win32|Windows|nt)["']|except\b[^\n]{0,200}\b(?:ImportError|ModuleNotFoundError)\b|except[ \t]*:)/;

function withoutAlternatives(code: string): string {
	let outer: number | null = null;
	const kept = code.split('\n').filter((line) => {
		const depth = line.length - line.trimStart().length;
		if (outer !== null && line.trim() !== '' && depth <= outer) outer = null;
		if (outer !== null) return false;
		if (ALTERNATIVE.test(line)) outer = depth;
		return true;
	});
	return kept.join('\n');
}
