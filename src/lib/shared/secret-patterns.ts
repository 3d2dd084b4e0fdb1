/** What secrets look like in a text that people write: shared by what hides them in made skills and in lists. Pure. */

export interface SecretPattern {
	/** Global. Its first group, or else the whole match, is the secret. */
	pattern: RegExp;
	/** Of the variable that could stand in its place. */
	name: string;
	what: string;
	/** In code, a name would look the same. */
	isOfText?: boolean;
}

const NAMED =
	'(?:[A-Za-z0-9_-]{0,40}(?:token|secret|passw(?:or)?d|api[_-]?key|access[_-]?key|client[_-]?key|credentials?))';

/** Longest and surest first. */
export const SECRET_PATTERNS: readonly SecretPattern[] = [
	{
		pattern:
			/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----BEGIN)[^]){1,20000}?-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
		name: 'PRIVATE_KEY',
		what: 'a private key'
	},
	{
		pattern:
			/(?<![\w-])(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|hf_\w{20,}|npm_\w{30,}|[rs]k_(?:live|test)_\w{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{8,})/g,
		name: 'API_TOKEN',
		what: 'a token'
	},
	{ pattern: /\bBearer\s{1,9}([\w.~+/=-]{16,})/g, name: 'API_TOKEN', what: 'a token' },
	{
		pattern: /\bAuthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:Basic|Token)\s{1,9}([\w.~+/=-]{8,})/gi,
		name: 'API_TOKEN',
		what: 'a token'
	},
	{
		pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>]{1,200}:([^\s/@"'<>]{3,200})@/gi,
		name: 'PASSWORD',
		what: 'a password'
	},
	{
		// Quotes may be escaped: code inside JSON.
		pattern: new RegExp(
			`${NAMED}(?:\\\\{0,3}["'\`])?\\s{0,4}(?::|=|:=)\\s{0,4}\\\\{0,3}["'\`]([^\\s"'\`]{6,500}?)\\\\{0,3}["'\`]`,
			'gi'
		),
		name: 'SECRET',
		what: 'a secret'
	},
	{ pattern: new RegExp(`${NAMED}=([^\\s"'\`$&;|<>]{6,500})`, 'gi'), name: 'SECRET', what: 'a secret' },
	// An option, or a line of a settings file; a word without a digit is rather prose or a name.
	{
		pattern: new RegExp(`--${NAMED}[ \\t]{1,9}(?=[^\\s]{0,99}\\d)([^\\s"'\`$&;|<>(){}]{6,500})`, 'gi'),
		name: 'SECRET',
		what: 'a secret'
	},
	{
		pattern: new RegExp(
			`^[ \\t-]{0,40}${NAMED}[ \\t]{0,9}[:=][ \\t]{0,9}(?=[^\\s]{0,99}\\d)([^\\s"'\`$&;|<>(){}[\\]]{6,500})[ \\t]{0,9}\\r?$`,
			'gim'
		),
		name: 'SECRET',
		what: 'a secret',
		isOfText: true
	}
];

/** Stands in the place of a secret. */
const HIDDEN = '•••';

const WHOLE_NAME = new RegExp(`^${NAMED}$`, 'i');

/** Whether the value of this name is a secret: `apiKey`. */
const isSecretName = (name: string): boolean => WHOLE_NAME.test(name);

/** Whether the word after this one on a command line is a secret: `--token`. */
const isSecretOption = (word: string): boolean => /^-[^=]*$/.test(word) && isSecretName(word);

/** What a script was given, with dots in the place of whatever looks like a secret: words, or a tool's input as JSON. */
export function withoutSecretInput<Given extends { argv: string[]; input: string | null }>(given: Given): Given {
	const argv = given.argv.map((word, index, all) => withoutSecretWord(word, all[index - 1] ?? ''));
	return { ...given, argv, input: given.input === null ? null : withoutSecretValues(given.input) };
}

function withoutSecretWord(word: string, before: string): string {
	if (isSecretOption(before)) return HIDDEN;
	// Some secrets are known by the word before them.
	const both = withoutSecrets(`${before} ${word}`);
	return both.startsWith(`${before} `) ? both.slice(before.length + 1) : withoutSecrets(word);
}

/** Of JSON, or of the beginning of it. */
export function withoutSecretValues(json: string): string {
	try {
		let isHidden = false;
		const hide = (key: string, value: unknown): unknown => {
			const isSecret = typeof value !== 'object' && value !== '' && isSecretName(key);
			const shown = isSecret ? HIDDEN : typeof value === 'string' ? withoutSecrets(value) : value;
			isHidden ||= shown !== value;
			return shown;
		};
		const value: unknown = JSON.parse(json, hide);
		// Otherwise as it was written.
		return isHidden ? JSON.stringify(value) : json;
	} catch {
		return withoutSecrets(json);
	}
}

/** With dots in the place of whatever looks like a secret. */
export function withoutSecrets(text: string): string {
	return SECRET_PATTERNS.reduce(
		(result, { pattern }) =>
			result.replace(pattern, (whole: string, inside: unknown) =>
				whole.replace(typeof inside === 'string' ? inside : whole, () => HIDDEN)
			),
		text
	);
}
