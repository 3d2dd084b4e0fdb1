/** Python modules that a text imports or says it requires; a guess where it is only imported (FEATURES A18, D47). */

/** `sys.stdlib_module_names` of Python 3.11; later ones have fewer. */
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

/** Packages that are imported by another name. */
const MODULE_OF = new Map([
	['attrs', 'attr'],
	['beautifulsoup4', 'bs4'],
	['faiss-cpu', 'faiss'],
	['google-api-python-client', 'googleapiclient'],
	['gitpython', 'git'],
	['markdown-it-py', 'markdown_it'],
	['msgpack-python', 'msgpack'],
	['mysqlclient', 'MySQLdb'],
	['opencv-python', 'cv2'],
	['opencv-python-headless', 'cv2'],
	['pillow', 'PIL'],
	['protobuf', 'google.protobuf'],
	['psycopg2-binary', 'psycopg2'],
	['pycryptodome', 'Crypto'],
	['pyjwt', 'jwt'],
	['pymupdf', 'fitz'],
	['pyserial', 'serial'],
	['python-dateutil', 'dateutil'],
	['python-docx', 'docx'],
	['python-dotenv', 'dotenv'],
	['python-magic', 'magic'],
	['python-pptx', 'pptx'],
	['pyyaml', 'yaml'],
	['scikit-image', 'skimage'],
	['scikit-learn', 'sklearn'],
	['websocket-client', 'websocket'],
	['youtube-dl', 'youtube_dl']
]);

/** The name by which a package is imported. */
export function moduleOf(packageName: string): string {
	return MODULE_OF.get(packageName.toLowerCase().replaceAll('_', '-')) ?? packageName.replaceAll('-', '_');
}

/** Top-level modules of a script, without those of Python itself. */
export function modulesImported(text: string): string[] {
	// Prose has lines like `import the data`.
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

/** Packages of a requirements.txt; options, addresses and paths are passed over. */
export function requirementsIn(text: string): string[] {
	return text.split(/\r?\n/).flatMap((line) => {
		const name = /^[ \t]*([A-Za-z0-9][A-Za-z0-9._-]*)[ \t]*(?:$|[[(<>=!~;@#, \t])/.exec(line.slice(0, 300))?.[1];
		return name ? [name] : [];
	});
}

/** Packages of the `dependencies` that a script states itself (PEP 723). */
export function inlineRequirements(text: string): string[] {
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
