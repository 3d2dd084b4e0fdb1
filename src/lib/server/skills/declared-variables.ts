/** Which variables a skill says that it needs, and which no skill may be given (FEATURES A18, D14). */
import { isRecord } from './operations.ts';
import type { SkillSpec } from './types.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** By these a program starts as another one, or loads other code; the rest is what the server sets itself. */
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
	// Windows does not tell `Path` from `PATH`.
	'i'
);

export function isVariableName(name: string): boolean {
	return NAME.test(name);
}

/** Would it change how a program starts, or what the server sets itself? */
export function isReservedVariable(name: string): boolean {
	return RESERVED.test(name);
}

/** Names in `metadata.env`, `env` and `requires.env` of a SKILL.md: texts separated by spaces or commas, or lists. */
export function declaredVariables({ metadata, extra }: Pick<SkillSpec, 'metadata' | 'extra'>): string[] {
	const declared = [metadata.env, extra['metadata.env'], extra.env, ...requirements({ metadata, extra }, 'env')];
	return [...new Set(declared.flatMap(namesIn))].filter(isVariableName);
}

/** What stands under this key of `requires`, wherever that is written. */
export function requirements({ metadata, extra }: Pick<SkillSpec, 'metadata' | 'extra'>, key: string): unknown[] {
	return [
		...[extra.requires, extra['metadata.requires']].map((value) => (isRecord(value) ? value[key] : undefined)),
		extra[`requires.${key}`],
		extra[`metadata.requires.${key}`],
		metadata[`requires.${key}`]
	];
}

/** A list of texts or of records with a name, the keys of a record, or text separated by spaces or commas. */
export function namesIn(value: unknown): string[] {
	if (typeof value === 'string') return value.split(/[\s,]+/).filter(Boolean);
	if (Array.isArray(value)) {
		return value.flatMap((item: unknown) => {
			const name = isRecord(item) ? item.name : item;
			return typeof name === 'string' && name.trim() ? [name.trim()] : [];
		});
	}
	return isRecord(value) ? Object.keys(value) : [];
}
