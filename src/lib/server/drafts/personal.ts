/** Finds secrets, addresses and personal paths in what becomes a skill, and puts variables in their place; pure (F8). */

export interface Hidden {
	/** The variable in its place, or what stands there: `API_TOKEN`, `~`. */
	name: string;
	/** What it was, for people. */
	what: string;
}

/** Remembers what it has seen, so that the same secret becomes the same variable in every file. */
export interface Hider {
	/** Of a file (by its name) or of any text. */
	hide(text: string, path?: string): string;
	/** What was replaced, each once. */
	readonly hidden: readonly Hidden[];
}

interface Kind {
	pattern: RegExp;
	name: string;
	what: string;
	/** Shown instead of a variable: it's no secret, only personal. */
	sign?: string;
}

const NAMED =
	'(?:[A-Za-z0-9_-]{0,40}(?:token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key|client[_-]?key|credentials?))';

/** The first group, or else the whole match, is what is replaced. Longest and surest first. */
const KINDS: readonly Kind[] = [
	{
		pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^]{1,20000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
		name: 'PRIVATE_KEY',
		what: 'a private key'
	},
	{
		pattern:
			/(?<![\w-])(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|hf_\w{20,}|npm_\w{30,}|[rs]k_(?:live|test)_\w{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{8,})/g,
		name: 'API_TOKEN',
		what: 'a token'
	},
	{ pattern: /\bBearer\s+([\w.~+/=-]{16,})/g, name: 'API_TOKEN', what: 'a token' },
	{
		pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>]{1,200}:([^\s/@"'<>]{3,200})@/gi,
		name: 'PASSWORD',
		what: 'a password'
	},
	{
		pattern: new RegExp(`${NAMED}["'\`]?\\s{0,4}(?::|=|:=)\\s{0,4}["'\`]([^\\s"'\`]{6,500})["'\`]`, 'gi'),
		name: 'SECRET',
		what: 'a secret'
	},
	{ pattern: new RegExp(`${NAMED}=([^\\s"'\`$&;|<>]{6,500})`, 'gi'), name: 'SECRET', what: 'a secret' },
	{
		pattern: /(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-])/g,
		name: 'EMAIL',
		what: 'an e-mail address',
		sign: 'someone@example.com'
	},
	{
		pattern:
			/(?<![\w/.~-])(?:\/(?:home|Users)\/[^\s/"'`<>:]{1,64}|[A-Za-z]:\\Users\\[^\s\\"'`<>:]{1,64})(?=[/\\\s"'`<>:)]|$)/g,
		name: 'HOME',
		what: 'a personal folder',
		sign: '~'
	},
	{
		pattern: /(?<![\d.])(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?![\d.])/g,
		name: 'HOST_ADDRESS',
		what: 'an address in a private network'
	}
];
const PLACEHOLDER =
	/^(?:\$|<|\{|%|process\.env|os\.environ|x{3,}|\*{3,}|your[-_ ]|change[-_ ]?me|example|placeholder|someone@example\.com$)/i;
/** Addresses that are nobody's. */
const NOBODY = /@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|test|invalid|localhost)$/i;

/** `known`: values of the skills' variables by name; they are found wherever they stand. */
export function createHider(known: ReadonlyMap<string, string>): Hider {
	const names = new Map<string, string>();
	const hidden: Hidden[] = [];
	const nameOf = (value: string, wanted: string): string => {
		const before = names.get(value);
		if (before !== undefined) return before;
		const taken = new Set(names.values());
		let name = wanted;
		for (let at = 2; taken.has(name); at += 1) name = `${wanted}_${at}`;
		names.set(value, name);
		return name;
	};
	const note = (name: string, what: string) => {
		if (!hidden.some((each) => each.name === name)) hidden.push({ name, what });
	};

	return {
		hidden,
		hide(text, path = '') {
			let result = text;
			for (const [name, value] of known) {
				if (value.length < 6 || !result.includes(value)) continue;
				names.set(value, name);
				note(name, 'a secret of a skill');
				result = replaceIn(result, value, name, path);
			}
			for (const { pattern, name, what, sign } of KINDS) {
				const found = new Set<string>();
				for (const match of result.matchAll(pattern)) {
					const value = match[1] ?? match[0];
					if (!PLACEHOLDER.test(value) && !NOBODY.test(value)) found.add(value);
				}
				for (const value of found) {
					if (sign !== undefined) {
						note(sign, what);
						result = result.replaceAll(value, sign);
						continue;
					}
					const own = nameOf(value, name);
					note(own, what);
					result = replaceIn(result, value, own, path);
				}
			}
			return result;
		}
	};
}

/** As each language reads a variable; elsewhere a sign that a person understands. */
function replaceIn(text: string, value: string, name: string, path: string): string {
	const language = /\.(sh|bash|py|[cm]?js|ts)$/.exec(path)?.[1] ?? '';
	if (language === 'sh' || language === 'bash') {
		// Single quotes would keep the variable from being read.
		return text.replaceAll(`'${value}'`, `"\${${name}}"`).replaceAll(value, `\${${name}}`);
	}
	if (language === '') return text.replaceAll(value, `<${name}>`);
	const isPython = language === 'py';
	const read = isPython ? `os.environ["${name}"]` : `process.env.${name}`;
	const result = text
		.split('\n')
		.map((line) => (line.includes(value) ? inCode(line, value, { read, isPython }) : line))
		.join('\n')
		// What spans lines, such as a key.
		.replaceAll(value, `<${name}>`);
	return isPython && !/^\s*import (?:.*\b)?os\b/m.test(result) ? withImport(result, 'os') : result;
}

function inCode(line: string, value: string, { read, isPython }: { read: string; isPython: boolean }): string {
	return line
		.replaceAll(/(["'])((?:\\.|(?!\1)[^\\])*)\1/g, (whole: string, quote: string, inside: string) => {
			if (!inside.includes(value)) return whole;
			const parts = inside.split(value).map((part) => (part === '' ? '' : `${quote}${part}${quote}`));
			const joined = parts.flatMap((part, at) => (at === 0 ? [part] : [read, part])).filter((part) => part !== '');
			return joined.join(' + ');
		})
		.replaceAll(value, isPython ? `{${read}}` : `\${${read}}`);
}

/** After a first line that says what runs it, and after what must come first. */
export function withImport(code: string, module: string): string {
	const lines = code.split('\n');
	let at = 0;
	while (at < lines.length && /^(#|from __future__)/.test(lines[at] ?? '')) at += 1;
	return [...lines.slice(0, at), `import ${module}`, ...lines.slice(at)].join('\n');
}
