/** SKILL.md → spec or issues, by the Agent Skills specification; pure (FEATURES A6–A17, A20–A22). */
import { basename, dirname } from 'node:path';
import { readFrontMatter } from './front-matter.ts';
import { SkillLoadError, type SkillIssue, type SkillSpec } from './types.ts';

export interface ParseOptions {
	/** `strict` (the default) throws on any violation; `lenient` loads what it can and warns. */
	mode?: 'strict' | 'lenient';
	/** The name need not equal the folder's (A7). */
	skipParentDirCheck?: boolean;
}

const SPEC_KEYS = new Set(['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']);

/**
 * Parses the text of a SKILL.md (S3).
 * @throws SkillLoadError with every issue: in strict mode on any violation, in both modes without readable front matter.
 */
export function parseSkill(
	contents: string,
	filepath: string,
	options: ParseOptions = {}
): { spec: SkillSpec; warnings: readonly SkillIssue[] } {
	const front = readFrontMatter(contents);
	if ('field' in front) throw new SkillLoadError(filepath, [front]);
	const { data, lines, top, repair } = front;
	const notes: SkillIssue[] = front.warnings.filter((warning) => warning !== repair);
	// What only a repair makes readable is no valid YAML, and so a violation (A20).
	const violations: SkillIssue[] = repair ? [repair] : [];
	const violate = (field: string, message: string, severity: SkillIssue['severity'] = 'warning', fix?: string) =>
		violations.push(issue({ field, message, severity, line: lines.get(field) ?? top, fix }));

	const folder = basename(dirname(filepath));
	const name = readName(data, folder, options.skipParentDirCheck ?? false, violate);
	if (/[^\0-\x7f]/.test(name)) {
		const message = 'has letters beyond ASCII: less portable, some clients refuse it';
		notes.push(issue({ field: 'name', severity: 'warning', message, line: lines.get('name') }));
	}
	const description = readDescription(data, violate);
	const license = readText(data, 'license', violate);
	const compatibility = readText(data, 'compatibility', violate);
	if (compatibility && [...compatibility].length > 500) violate('compatibility', 'is longer than 500 characters');

	// Without a prototype, a key called __proto__ is a key.
	const extra = Object.create(null) as Record<string, unknown>;
	for (const [key, value] of Object.entries(data)) {
		if (SPEC_KEYS.has(key)) continue;
		extra[key] = value;
		if (!KNOWN_EXTRA.has(key)) {
			notes.push(
				issue({ field: key, severity: 'warning', message: 'is not a field of the standard', line: lines.get(key) })
			);
		}
	}
	const metadata = readMetadata(data, extra, violate);
	const allowedTools = readAllowedTools(data, violate);

	const strict = (options.mode ?? 'strict') === 'strict';
	if (strict && violations.length > 0) {
		throw new SkillLoadError(
			filepath,
			violations.map((violation) => ({ ...violation, severity: 'error' }))
		);
	}
	return {
		spec: {
			name,
			description,
			...(license ? { license } : {}),
			...(compatibility ? { compatibility } : {}),
			metadata,
			...(allowedTools ? { allowedTools } : {}),
			body: front.body,
			path: filepath,
			dir: dirname(filepath),
			extra
		},
		warnings: [...notes, ...violations]
	};
}

/** `parseSkill` in strict mode, the spec alone (A21). */
export function parseSkillFile(contents: string, filepath: string): SkillSpec {
	return parseSkill(contents, filepath).spec;
}

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

/** Fields of other clients that we read (A10, A17) or that are common in the wild. */
const KNOWN_EXTRA = new Set([
	'version',
	'author',
	'skill',
	'tags',
	'tag',
	'triggers',
	'trigger_patterns',
	'trigger',
	'activation',
	'env',
	'cwd',
	'when_to_use',
	'when-to-use',
	'summary'
]);

type Violate = (field: string, message: string, severity?: SkillIssue['severity'], fix?: string) => void;

function issue(value: SkillIssue & { line?: number | undefined; fix?: string | undefined }): SkillIssue {
	const { line, fix, ...rest } = value;
	return { ...rest, ...(line === undefined ? {} : { line }), ...(fix === undefined ? {} : { fix }) };
}

function readName(
	data: Record<string, unknown>,
	folder: string,
	skipParentDirCheck: boolean,
	violate: Violate
): string {
	const given = [data.name, data.skill].find((value) => typeof value === 'string' && value.trim() !== '');
	if (typeof given !== 'string') {
		const fault = typeof data.name === 'object' ? 'must be text' : 'is missing';
		violate('name', `${fault}; the folder\u2019s name is used`, 'warning', `name: ${folder}`);
		return folder;
	}
	if (given !== data.name) violate('name', 'is missing; “skill” is used', 'warning', `name: ${shown(given)}`);
	const name = given.normalize('NFKC').trim();
	if ([...name].length > 64) violate('name', 'is longer than 64 characters');
	if (!/^[\p{Ll}\p{Lo}\p{Lm}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{Lm}\p{N}]+)*$/u.test(name)) {
		const fix = name
			.toLowerCase()
			.replace(/[^\p{L}\p{N}]+/gu, '-')
			.replace(/^-+|-+$/g, '');
		violate(
			'name',
			`“${shown(name)}” may hold lower-case letters, digits and single hyphens only`,
			'warning',
			`name: ${fix}`
		);
	}
	if (!skipParentDirCheck && name !== folder.normalize('NFKC')) {
		violate('name', `“${shown(name)}” differs from the folder “${shown(folder)}”`, 'warning', `name: ${folder}`);
	}
	return printable(name).replaceAll(/\s+/g, '-');
}

function readDescription(data: Record<string, unknown>, violate: Violate): string {
	const given = oneLine(data.description);
	if (given) {
		const length = [...given].length;
		if (length > 1024) violate('description', `has ${length} characters; 1,024 is the most`);
		return given;
	}
	for (const key of ['when_to_use', 'when-to-use', 'summary']) {
		const fallback = oneLine(data[key]);
		if (!fallback) continue;
		violate('description', `is missing; “${key}” is used`, 'warning', `description: ${fallback}`);
		return fallback;
	}
	const fault = typeof data.description === 'object' ? 'must be text' : 'is missing';
	violate('description', `${fault}: the model would not know when to use the skill`, 'error', 'description: …');
	return '';
}

/** Text on one line without control characters: a newline must not forge a second entry of the catalog. */
function oneLine(value: unknown): string {
	return typeof value === 'string' ? printable(value).replace(/\s+/g, ' ').trim() : '';
}

/** As much of what somebody wrote as a message has room for. */
function shown(text: string): string {
	const characters = [...printable(text)];
	return characters.length <= 100 ? characters.join('') : `${characters.slice(0, 100).join('')}…`;
}

function printable(text: string): string {
	return text.replace(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u{E0000}-\u{E007F}]/gu, ' ');
}

function readText(data: Record<string, unknown>, key: string, violate: Violate): string | undefined {
	if (!(key in data)) return undefined;
	const value = oneLine(data[key]);
	if (!value) violate(key, 'must be text that is not blank');
	return value || undefined;
}

function readMetadata(
	data: Record<string, unknown>,
	extra: Record<string, unknown>,
	violate: Violate
): Record<string, string> {
	const metadata = Object.create(null) as Record<string, string>;
	if (data.metadata === undefined || data.metadata === '') return metadata;
	if (typeof data.metadata !== 'object' || data.metadata === null || Array.isArray(data.metadata)) {
		violate('metadata', 'must be a map of text to text');
		return metadata;
	}
	for (const [key, value] of Object.entries(data.metadata)) {
		if (typeof value === 'string') {
			metadata[key] = value;
		} else {
			violate('metadata', `“${shown(key)}” is not text; it is kept apart`);
			extra[`metadata.${key}`] = value;
		}
	}
	return metadata;
}

function readAllowedTools(data: Record<string, unknown>, violate: Violate): string | undefined {
	const value = data['allowed-tools'];
	if (value === undefined) return undefined;
	if (typeof value === 'string') return value.trim() || undefined;
	if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(' ') || undefined;
	violate('allowed-tools', 'must be text or a list of texts');
	return undefined;
}
