/** The tools that a skill asks for: the standard's field, and the names that other clients have for it (A14, A15, A17); pure. */
import { lineOf, type Violate } from './fields.ts';

/** What other clients call `allowed-tools`. */
const ALIASES = ['allowed_tools', 'tools'];

/** Splits an `allowed-tools` value on spaces and commas outside parentheses: `Bash(git:*)` is one token (A15). */
export function parseAllowedTools(raw: string | undefined): readonly string[] {
	const tokens: string[] = [];
	let token = '';
	let depth = 0;
	for (const character of raw ?? '') {
		if (character === '(') depth += 1;
		if (character === ')' && depth > 0) depth -= 1;
		if (depth === 0 && /[\s,]/.test(character)) {
			if (token) tokens.push(token);
			token = '';
		} else {
			token += character;
		}
	}
	if (token) tokens.push(token);
	return tokens;
}

/**
 * The wish as text, a list joined by blanks. With `withAliases` and without an `allowed-tools`, `allowed_tools` or `tools`
 * is read in its place, at the top or in `metadata`, with a warning.
 */
export function readAllowedTools(
	data: Readonly<Record<string, unknown>>,
	withAliases: boolean,
	violate: Violate
): string | undefined {
	const own = 'allowed-tools';
	if (own in data) {
		const wish = asText(data[own]);
		if (wish === undefined) violate(own, 'must be text or a list of texts');
		return wish || undefined;
	}
	if (!withAliases) return undefined;
	const metadata = typeof data.metadata === 'object' && data.metadata !== null ? data.metadata : {};
	for (const [prefix, map] of [
		['', data],
		['metadata.', metadata as Record<string, unknown>]
	] as const) {
		for (const alias of ALIASES) {
			const wish = asText(map[alias]);
			if (wish) {
				violate(own, `is missing; “${prefix}${alias}” is used`, { fix: lineOf(own, wish), at: prefix + alias });
				return wish;
			}
			if (wish === undefined && !prefix && alias in map) violate(alias, 'must be text or a list of texts');
		}
	}
	return undefined;
}

function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value.trim();
	return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(' ') : undefined;
}
