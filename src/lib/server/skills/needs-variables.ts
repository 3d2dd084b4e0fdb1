/** Environment variables that a text uses, by the common ways to write that; a guess (FEATURES A18). */
import { isReservedVariable } from './declared-variables.ts';

/** Set on most machines, or by the shell itself. */
const USUAL =
	/^(USER|USERNAME|LOGNAME|TERM|COLORTERM|NODE_ENV|CI|DEBUG|VERBOSE|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|HOSTNAME|LANG|LANGUAGE|LC_\w+|TZ|XDG_\w+|DISPLAY|WAYLAND_DISPLAY|SSH_AUTH_SOCK|GITHUB_(ACTIONS|OUTPUT|ENV|STEP_SUMMARY)|BASH_\w+|COMP_\w+|DIRSTACK|PIPESTATUS|APPDATA|LOCALAPPDATA|PROGRAMFILES|USERPROFILE|SYSTEMROOT|COMSPEC|OSTYPE|HOSTTYPE|MACHTYPE|SKILL_\w+|CLAUDE_\w+)$/i;
const SECRET = /(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$/;

/** JavaScript and Python. */
export function variablesInCode(text: string): string[] {
	const patterns = [
		/\bprocess\.env\.([A-Za-z_]\w*)(?!\w)(?![ \t]*=[^=])/g,
		/\bprocess\.env\[["'`]([A-Za-z_]\w*)["'`]\](?![ \t]*=[^=])/g,
		/\bDeno\.env\.get\(["'`]([A-Za-z_]\w*)["'`]/g,
		/\benviron\[["']([A-Za-z_]\w*)["']\](?![ \t]*=[^=])/g,
		/\b(?:environ\.get|getenv)\(\s{0,40}["']([A-Za-z_]\w*)["']/g
	];
	const names = patterns.flatMap((pattern) => Array.from(text.matchAll(pattern), (match) => match[1] ?? ''));
	for (const [, inside = ''] of text.matchAll(/\{([^{}]{0,500})\}\s{0,8}=\s{0,8}process\.env(?![.\w[])/g)) {
		names.push(...inside.split(',').map((part) => /^\s*([A-Za-z_]\w*)/.exec(part)?.[1] ?? ''));
	}
	return names.filter(isWanted);
}

/** Upper-case names that are used before anything is assigned to them, and have no default. */
export function variablesInShell(text: string): string[] {
	const assigned = new Set<string>();
	const names: string[] = [];
	const pattern =
		/(?:^|[\s;&|(])#[^\n]*|\\\$|\bfor[ \t]+([A-Za-z_]\w*)[ \t]+in\b|\bread[ \t]+((?:-\w+[ \t]+)*)([A-Za-z_]\w*)|(?<![\w$])([A-Za-z_]\w*)\+?=|\$\{?([A-Za-z_]\w*)(:?[-=][^}]?)?/g;
	for (const [, looped, , read, set, used, fallback] of text.matchAll(pattern)) {
		for (const name of [looped, read, set]) if (name) assigned.add(name);
		if (!used || assigned.has(used)) continue;
		const hasDefault = fallback !== undefined && !fallback.endsWith('-') && !fallback.endsWith('=');
		const isUpper = /^[A-Z][A-Z0-9_]*$/.test(used);
		if (SECRET.test(used) || (isUpper && used.includes('_') && !hasDefault)) names.push(used);
	}
	return names.filter(isWanted);
}

/** Prose: names of secrets in code marks, and what a reader is told to export. */
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
