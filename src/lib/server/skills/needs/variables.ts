/** Environment variables a skill declares, and those no skill may have (A18, D14). */
import type { SkillSpec } from '../types.ts';
import { isObject } from '../../../shared/json.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Variables that change which program or code runs, and those the server sets itself. */
const RESERVED = new RegExp(
	`^(${[
		'PATH|HOME|PWD|OLDPWD|SHELL|IFS|ENV|CDPATH|SHELLOPTS|BASHOPTS|PS[0-4]|PROMPT_COMMAND|GLOBIGNORE|TMPDIR|TMP|TEMP',
		'BASH_ENV|BASH_FUNC.*|BASH_LOADABLES_PATH|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|MALLOC_.*|GLIBC_TUNABLES|HOSTALIASES',
		'NODE_(?!AUTH_TOKEN$).*|NPM_CONFIG_.*|PYTHON.*|VIRTUAL_ENV|UV_.*|PIP_.*|DENO_DIR|BUN_.*',
		'PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|GEM_.*|BUNDLE_.*|LUA_.*|PHPRC|PHP_INI_.*|R_PROFILE.*|R_ENVIRON.*',
		'JAVA_TOOL_OPTIONS|_?JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS',
		'EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|LESSCLOSE|SSH_ASKPASS|SUDO_ASKPASS|CC|CXX|MAKEFLAGS',
		'GIT_(SSH|SSH_COMMAND|ASKPASS|EDITOR|PAGER|EXTERNAL_DIFF|EXEC_PATH|PROXY_COMMAND|TEMPLATE_DIR|CONFIG.*|DIR)',
		'(HTTP|HTTPS|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|OPENSSL_CONF|OPENSSL_MODULES',
		'SKILL_DIR|CLAUDE_SKILL_DIR|__PROTO__'
	].join('|')})$`,
	// Windows ignores case: `Path` is `PATH`.
	'i'
);

export function isVariableName(name: string): boolean {
	return NAME.test(name);
}

/** True for variables that change how programs start, or that the server sets. */
export function isReservedVariable(name: string): boolean {
	return RESERVED.test(name);
}

export interface DeclaredVariable {
	name: string;
	/** The skill works without it, so nobody is asked for it. */
	isOptional: boolean;
}

/** Variables in `metadata.env`, `env` and `requires.env` (see `entriesIn`). Required wins over optional. */
export function declaredVariables({ metadata, extra }: Pick<SkillSpec, 'metadata' | 'extra'>): DeclaredVariable[] {
	const declared = [
		...[metadata.env, extra['metadata.env'], extra.env],
		...['env', 'envVars'].flatMap((key) => requirements({ metadata, extra }, key))
	];
	const found = new Map<string, boolean>();
	for (const { name, isOptional } of declared.flatMap(entriesIn)) {
		if (isVariableName(name)) found.set(name, isOptional && found.get(name) !== false);
	}
	return Array.from(found, ([name, isOptional]) => ({ name, isOptional }));
}

/** Values of `requires.<key>`, in any of its spellings; also those in another client's settings, such as `metadata.openclaw`. */
export function requirements({ metadata, extra }: Pick<SkillSpec, 'metadata' | 'extra'>, key: string): unknown[] {
	const clients = Object.entries(extra).flatMap(([name, value]) =>
		name.startsWith('metadata.') && isObject(value) ? [value.requires, { envVars: value.envVars }] : []
	);
	return [
		...[extra.requires, extra['metadata.requires'], ...clients].map((value) =>
			isObject(value) ? value[key] : undefined
		),
		extra[`requires.${key}`],
		extra[`metadata.requires.${key}`],
		metadata[`requires.${key}`]
	];
}

/**
 * Reads a list of texts or of objects with a name, the keys of an object, or text split at spaces or commas. `NAME?` is
 * optional; so is an object with `optional: true` or `required: false`.
 */
export function entriesIn(value: unknown): DeclaredVariable[] {
	return pairsIn(value).flatMap(([entry, facts]) => {
		const name = typeof entry === 'string' ? entry.trim().replace(/\?$/, '') : '';
		const isOptional = name !== '' && (String(entry).trim().endsWith('?') || saysOptional(facts));
		return name === '' ? [] : [{ name, isOptional }];
	});
}

/** Each entry's name and details. */
function pairsIn(value: unknown): [unknown, unknown][] {
	if (typeof value === 'string') return value.split(/[\s,]+/).map((name) => [name, null]);
	if (Array.isArray(value)) return value.map((item: unknown) => (isObject(item) ? [item.name, item] : [item, null]));
	return isObject(value) ? Object.entries(value) : [];
}

/** In SKILL.md every scalar is text. */
function saysOptional(facts: unknown): boolean {
	return isObject(facts) && (String(facts.optional) === 'true' || String(facts.required) === 'false');
}

// Guesses which environment variables a text uses (A18).

/** Set on most computers, or by the shell. */
const USUAL =
	/^(USER|USERNAME|LOGNAME|TERM|COLORTERM|NODE_ENV|CI|DEBUG|VERBOSE|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|HOSTNAME|LANG|LANGUAGE|LC_\w+|TZ|XDG_\w+|DISPLAY|WAYLAND_DISPLAY|SSH_AUTH_SOCK|GITHUB_(ACTIONS|OUTPUT|ENV|STEP_SUMMARY)|BASH_\w+|COMP_\w+|DIRSTACK|PIPESTATUS|APPDATA|LOCALAPPDATA|PROGRAMFILES|USERPROFILE|SYSTEMROOT|COMSPEC|OSTYPE|HOSTTYPE|MACHTYPE|SKILL_\w+|CLAUDE_\w+)$/i;
const SECRET = /(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$/;

/** JavaScript and Python. Optional: read with a default, or only compared. */
export function variablesInCode(text: string): DeclaredVariable[] {
	// Also of a part (`process.env.A?.split(',') ?? []`) or a number (`Number(process.env.A) || 1`).
	const fallback = '(?<fallback>(?:\\?\\.[^\\n;]{0,80}?|\\))?\\s{0,40}(?:\\?\\?|\\|\\||[!=]==?|\\?(?![.:])|or\\b))?';
	const patterns = [
		`\\bprocess\\.env\\.(?<name>[A-Za-z_]\\w*)(?!\\w)(?![ \\t]*=[^=])${fallback}`,
		`\\bprocess\\.env\\[["'\`](?<name>[A-Za-z_]\\w*)["'\`]\\](?![ \\t]*=[^=])${fallback}`,
		`\\bDeno\\.env\\.get\\(["'\`](?<name>[A-Za-z_]\\w*)["'\`]\\)${fallback}`,
		`\\benviron\\[["'](?<name>[A-Za-z_]\\w*)["']\\](?![ \\t]*=[^=])`,
		`\\b(?:os\\.)?(?:environ\\.get|getenv)\\(\\s{0,40}["'](?<name>[A-Za-z_]\\w*)["']\\s{0,40}(?<second>,)?\\)?${fallback}`
	];
	const found = patterns.flatMap((pattern) =>
		Array.from(text.matchAll(new RegExp(`(?<not>!|\\bnot[ \\t]{1,8})?${pattern}`, 'g')), ({ groups = {} }) => ({
			name: groups.name ?? '',
			// `if (!process.env.A || !process.env.B)` is no default.
			isOptional: (groups.fallback ?? groups.second) !== undefined && groups.not === undefined
		}))
	);
	for (const [, inside = ''] of text.matchAll(/\{([^{}]{0,500})\}\s{0,8}=\s{0,8}process\.env(?![.\w[])/g)) {
		for (const part of inside.split(',')) {
			found.push({ name: /^\s*([A-Za-z_]\w*)/.exec(part)?.[1] ?? '', isOptional: part.includes('=') });
		}
	}
	return found.filter(({ name }) => isWanted(name));
}

/** Uppercase names used before they are assigned, without a default; secrets also with one. */
export function variablesInShell(text: string): DeclaredVariable[] {
	const assigned = new Set<string>();
	const found: DeclaredVariable[] = [];
	const pattern =
		/(?:^|[\s;&|(])#[^\n]*|\\\$|\bfor[ \t]+([A-Za-z_]\w*)[ \t]+in\b|\bread[ \t]+((?:-\w+[ \t]+)*)([A-Za-z_]\w*)|(?<![\w$])([A-Za-z_]\w*)\+?=|\$\{?([A-Za-z_]\w*)(:?[-=][^}]?)?/g;
	for (const [, looped, , read, set, used, fallback] of text.matchAll(pattern)) {
		for (const name of [looped, read, set]) if (name) assigned.add(name);
		if (!used || assigned.has(used)) continue;
		const hasDefault = fallback !== undefined && !fallback.endsWith('-') && !fallback.endsWith('=');
		const isUpper = /^[A-Z][A-Z0-9_]*$/.test(used);
		const isSecret = SECRET.test(used);
		if (!isSecret && !(isUpper && used.includes('_') && !hasDefault)) continue;
		found.push({ name: used, isOptional: isSecret && fallback !== undefined });
	}
	return found.filter(({ name }) => isWanted(name));
}

/** Prose: names of secrets in backticks, and exported variables. */
export function variablesInText(text: string): string[] {
	const marked = Array.from(
		text.matchAll(/`\$?\{?([A-Z][A-Z0-9_]{2,127})\}?(?:=[^`\n]{0,200})?`/g),
		(match) => match[1]
	);
	const exported = Array.from(text.matchAll(/\bexport[ \t]+([A-Z][A-Z0-9_]{2,127})=/g), (match) => match[1]);
	return [...marked, ...exported]
		.filter((name) => name !== undefined)
		.filter((name) => name.includes('_') && SECRET.test(name) && isWanted(name));
}

function isWanted(name: string): boolean {
	return /^[A-Za-z_]\w{1,127}$/.test(name) && !USUAL.test(name) && !isReservedVariable(name);
}
