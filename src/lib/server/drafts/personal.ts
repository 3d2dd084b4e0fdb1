/** Finds secrets, addresses and personal paths in what becomes a skill, and puts variables in their place; pure (F8). */

import { SECRET_PATTERNS, type SecretPattern } from '../../shared/secret-patterns.ts';

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

interface Kind extends SecretPattern {
	/** Shown instead of a variable: it's no secret, only personal. */
	sign?: string;
}

/** The first group, or else the whole match, is what is replaced. Longest and surest first. */
const KINDS: readonly Kind[] = [
	...SECRET_PATTERNS,
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
	/^(?:\$(?:\w+|\{[^}]*\}|\(.*\))|<.*>|\{.*\}|%[\w()]+%?|process\.env.*|os\.environ.*|[x*.]{3,}|(?:your|my|change|example|placeholder)[a-z_ -]*|someone@example\.com)$/is;
/** Addresses that are nobody's. */
const NOBODY = /@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|test|invalid|localhost)$/i;

/** Of one text, more are replaced by one sign, so that a list of a million is gone through in time. */
const MAX_NAMED = 100;
const MIN_KNOWN = 6;

/** Names and values of the skills' variables: a name may come twice. */
export type KnownSecrets = Iterable<readonly [name: string, value: string]>;

/** `known` values are found wherever they stand; so are those that it has found once. */
export function createHider(known: KnownSecrets = []): Hider {
	/** By value. */
	const names = new Map<string, string>();
	const taken = new Set<string>();
	const hidden = new Map<string, Hidden>();
	/** What is looked for in any text: how it's written, and its variable. */
	const remembered: { written: string; name: string; what: string }[] = [];
	const remember = (value: string, name: string, what: string) => {
		for (const written of formsOf(value)) {
			if (!remembered.some((each) => each.written === written)) remembered.push({ written, name, what });
		}
		// One may be the beginning of another.
		remembered.sort((a, b) => b.written.length - a.written.length);
	};
	const nameOf = (value: string, wanted: string): string | null => {
		const before = names.get(value);
		if (before !== undefined) return before;
		if (names.size >= MAX_NAMED) return null;
		let name = wanted;
		for (let at = 2; taken.has(name); at += 1) name = `${wanted}_${at}`;
		taken.add(name);
		names.set(value, name);
		return name;
	};
	const note = (name: string, what: string) => {
		if (!hidden.has(name)) hidden.set(name, { name, what });
	};
	for (const [name, value] of known) {
		if (value.length < MIN_KNOWN) continue;
		taken.add(name);
		remember(value, name, 'a secret of a skill');
	}

	return {
		get hidden() {
			return [...hidden.values()];
		},
		hide(text, path = '') {
			let result = text;
			for (const { written, name, what } of remembered) {
				if (!result.includes(written)) continue;
				note(name, what);
				result = replaceIn(result, written, name, path);
			}
			for (const { pattern, name, what, sign, isOfText = false } of KINDS) {
				if (isOfText && CODE.test(path)) continue;
				const found = new Set<string>();
				const replaced = result.replace(pattern, (whole: string, inside: unknown) => {
					const value = typeof inside === 'string' ? inside : whole;
					if (PLACEHOLDER.test(value) || NOBODY.test(value)) return whole;
					if (sign === undefined) {
						found.add(value);
						return whole;
					}
					note(sign, what);
					return sign;
				});
				if (sign !== undefined) {
					result = replaced;
					continue;
				}
				const many: string[] = [];
				for (const value of [...found].sort((a, b) => b.length - a.length)) {
					const own = nameOf(value, name);
					if (own === null) {
						many.push(value);
						continue;
					}
					note(own, what);
					result = replaceIn(result, value, own, path);
					// A short word may stand anywhere by chance.
					if (value.length >= MIN_KNOWN && (/[^A-Za-z]/.test(value) || value.length >= 12)) remember(value, own, what);
				}
				if (many.length === 0) continue;
				note(name, what);
				result = result.replace(pattern, (whole: string, inside: unknown) => {
					const value = typeof inside === 'string' ? inside : whole;
					return PLACEHOLDER.test(value) || NOBODY.test(value) ? whole : whole.replace(value, () => `<${name}>`);
				});
			}
			return result;
		}
	};
}

/** Plain, in JSON, in JSON inside JSON, in an address, in base64. */
function formsOf(value: string): Set<string> {
	const json = JSON.stringify(value).slice(1, -1);
	const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '');
	const address = encodeURIComponent(value.toWellFormed());
	return new Set([value, json, JSON.stringify(json).slice(1, -1), address, base64]);
}

const CODE = /\.(?:py|[cm]?js|ts)$/;

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
	return isPython && !/^[ \t]*import (?:.*\b)?os\b/m.test(result) ? withImport(result, 'os') : result;
}

function inCode(line: string, value: string, { read, isPython }: { read: string; isPython: boolean }): string {
	return (
		line
			// What is escaped outside of quotes begins no string; otherwise, each such quote would be tried to the line's end.
			.replaceAll(/\\.|(["'])((?:\\.|(?!\1)[^\\])*)\1/g, (whole: string, quote?: string, inside?: string) => {
				if (!inside?.includes(value)) return whole;
				const parts = inside.split(value).map((part) => (part === '' ? '' : `${quote}${part}${quote}`));
				const joined = parts.flatMap((part, at) => (at === 0 ? [part] : [read, part])).filter((part) => part !== '');
				return joined.join(' + ');
			})
			.replaceAll(value, isPython ? `{${read}}` : `\${${read}}`)
	);
}

/** After a first line that says what runs it, and after what must come first. */
export function withImport(code: string, module: string): string {
	const lines = code.split('\n');
	let at = 0;
	while (at < lines.length && /^(#|from __future__)/.test(lines[at] ?? '')) at += 1;
	return [...lines.slice(0, at), `import ${module}`, ...lines.slice(at)].join('\n');
}
