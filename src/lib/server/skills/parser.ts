/** Parses SKILL.md by the Agent Skills specification; pure (A6–A17, A20–A22). */
import { dirname } from 'node:path';
import { isObject } from '../../shared/json.ts';
import { readAllowedTools } from './read/manifest.ts';
import { lengthOf, readDescription, readName, readText, shown, type Violate } from './read/fields.ts';
import { readFolderName } from './read/folder-walk.ts';
import { readFrontMatter } from './read/front-matter.ts';
import { SkillLoadError, type SkillIssue, type SkillSpec } from './types.ts';

export { parseAllowedTools } from './read/manifest.ts';

export interface ParseOptions {
	/** `strict` (the default) throws on any violation; `lenient` loads what it can and warns. */
	mode?: 'strict' | 'lenient';
	/** Allows a name that differs from the folder's (A7). */
	skipParentDirCheck?: boolean;
}

/** Standard fields. */
export const SPEC_KEYS: ReadonlySet<string> = new Set([
	'name',
	'description',
	'license',
	'compatibility',
	'metadata',
	'allowed-tools'
]);

/**
 * Parses the text of a SKILL.md (S3).
 * @throws SkillLoadError with all issues: for any violation in strict mode, for unreadable front matter in both
 */
export function parseSkill(
	contents: string,
	filepath: string,
	options: ParseOptions = {}
): { spec: SkillSpec; warnings: readonly SkillIssue[] } {
	const front = readFrontMatter(contents);
	if ('field' in front) throw new SkillLoadError(filepath, [front]);
	const { data, lines, top } = front;
	const notes: SkillIssue[] = [];
	// Repaired YAML is invalid YAML, so it's a violation (A20); so are blank lines before the fence.
	const violations: SkillIssue[] = [...front.warnings];
	const report = (to: SkillIssue[]): Violate => {
		return (field, message, { severity = 'warning', fix, at } = {}) => {
			const line = lines.get(at ?? field) ?? lines.get(field) ?? top;
			to.push({ field, message, severity, line, fix });
		};
	};
	const note = report(notes);
	const violate = report(violations);
	const isStrict = (options.mode ?? 'strict') === 'strict';

	const folder = readFolderName(dirname(filepath)).name;
	const name = readName(data, folder, options.skipParentDirCheck ?? false, violate);
	if (/[^\0-\x7f]/.test(name)) {
		note('name', 'has non-ASCII letters, which some clients reject');
	}
	const description = readDescription(data, violate);
	const license = readText(data, 'license', violate);
	const compatibility = readText(data, 'compatibility', violate);
	if (compatibility && lengthOf(compatibility) > 500) violate('compatibility', 'is longer than 500 characters');

	// A null prototype, so that `__proto__` is an ordinary key.
	const extra = Object.create(null) as Record<string, unknown>;
	for (const [key, value] of Object.entries(data)) {
		if (SPEC_KEYS.has(key)) continue;
		extra[key] = value;
		if (isStrict || !KNOWN_EXTRA.has(key)) note(key, NOT_STANDARD);
	}
	const metadata = readMetadata(data, extra, { violate, note });
	const allowedTools = readAllowedTools(data, !isStrict, violate);

	if (isStrict && violations.length > 0) {
		throw new SkillLoadError(
			filepath,
			violations.map((violation) => ({ ...violation, severity: 'error' }))
		);
	}
	return {
		spec: {
			name,
			description,
			license,
			compatibility,
			metadata,
			allowedTools,
			body: front.body,
			path: filepath,
			dir: dirname(filepath),
			extra
		},
		warnings: [...notes, ...violations]
	};
}

/** `parseSkill` in strict mode; returns only the spec (A21). */
export function parseSkillFile(contents: string, filepath: string): SkillSpec {
	return parseSkill(contents, filepath).spec;
}

/** What is said of a field outside `SPEC_KEYS`. */
export const NOT_STANDARD = 'isn’t a standard field';

/** Nonstandard fields that we read (A10, A17) or that are common in the wild. */
export const KNOWN_EXTRA: ReadonlySet<string> = new Set(
	(
		'version author skill tags tag triggers trigger_patterns trigger activation allowed_tools tools env requires cwd ' +
		'when_to_use when-to-use summary'
	).split(' ')
);

function readMetadata(
	data: Record<string, unknown>,
	extra: Record<string, unknown>,
	{ violate, note }: Record<'violate' | 'note', Violate>
): Record<string, string> {
	const metadata = Object.create(null) as Record<string, string>;
	if (data.metadata === undefined || data.metadata === '') return metadata;
	if (!isObject(data.metadata)) {
		violate('metadata', 'must be a mapping with text values');
		return metadata;
	}
	for (const [key, value] of Object.entries(data.metadata)) {
		if (typeof value === 'string') {
			metadata[key] = value;
		} else {
			// Many public skills keep another client's settings here, and the reference validator allows it (A13).
			note('metadata', `“${shown(key)}” isn’t text, so it isn’t part of the metadata`, { at: `metadata.${key}` });
			extra[`metadata.${key}`] = value;
		}
	}
	return metadata;
}
