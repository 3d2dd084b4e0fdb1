/** Loads a skill from its folder, ready or broken; opens regular files only (A1, A2, A10, D16). */
import { scriptsNamedIn } from '../find/words.ts';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { coerce, valid } from 'semver';
import { asArray } from '../../../shared/json.ts';
import { parseSkill } from '../parser.ts';
import {
	type BrokenSkill,
	type Skill,
	SkillError,
	type SkillIssue,
	SkillLoadError,
	type SkillRoot,
	type SkillSpec
} from '../types.ts';
import { lengthOf, shown } from './fields.ts';
import { listTree, resolveScript, scriptsOf } from './files.ts';
import { type Entry, readEntries, readFolderName, skillFileOf } from './folder-walk.ts';
import { readFrontMatter } from './front-matter.ts';
import { apart, lean, leanRecord } from './lean.ts';
import { parseManifest, TOOLS_FILE } from './manifest.ts';
import { readSafely, readSkillText } from './safe-read.ts';
import type { IsReserved } from './tool-names.ts';

/** A skill's folder and its listing. */
export interface SkillFolder {
	path: string;
	root: SkillRoot;
	/** The entry of the SKILL.md. */
	file: Entry;
	entries: Entry[];
	/** Reached through a link that leaves the root. */
	isOutside?: boolean;
	/** Tool names it can't use; none by default. */
	isReserved?: IsReserved | undefined;
}

/** Access to a skill's files and folders, recorded to decide when to read them again. */
export interface SkillReader {
	/** Entries of a folder inside the skill. */
	readFolder(folder: string): Promise<Entry[]>;
	/** Called just before a file is read. */
	beforeFile(path: string, isLink: boolean): void;
}

/** Doesn't name the target, which only the operator may know. */
const OUTSIDE: SkillIssue = {
	field: '_',
	severity: 'warning',
	message: 'is a link to a folder outside its skill folder, so it isn’t trusted automatically'
};

/** The skill in a folder that needn't be in a library; null without a SKILL.md. `source` labels it. */
export async function loadFolder(dir: string, source: string): Promise<Skill | BrokenSkill | null> {
	const entries = readEntries(dir);
	const file = skillFileOf(entries);
	if (!file) return null;
	const reader = { readFolder: async (folder: string) => readEntries(folder), beforeFile: () => undefined };
	return loadSkill({ path: dir, root: { path: dirname(dir), source }, file, entries }, reader);
}

/** Never throws: problems become issues. */
export async function loadSkill(
	{ path: dir, root: from, file, entries, isOutside = false, isReserved }: SkillFolder,
	reader: SkillReader
): Promise<Skill | BrokenSkill> {
	const { path: root, source, owner } = from;
	const path = join(dir, file.name);
	const broken = (issues: readonly SkillIssue[], description = ''): BrokenSkill => {
		return {
			status: 'broken',
			name: readFolderName(dir).name,
			description,
			path,
			dir,
			root,
			source,
			issues: [...issues]
		};
	};
	try {
		reader.beforeFile(path, file.isSymbolicLink());
		const read = readSkillText(path, file.isSymbolicLink());
		const { spec, warnings } = parseSkill(read.text, path, { mode: 'lenient' });
		const issues = [...read.issues, ...warnings];
		if (file.name !== 'SKILL.md') {
			issues.push({ field: '_', severity: 'warning', message: `is named ${file.name}`, fix: 'rename it to SKILL.md' });
		}
		if (isOutside) issues.push(OUTSIDE);
		if (issues.some((issue) => issue.severity === 'error')) return broken(issues, firstParagraph(spec.body));
		// Reuse the listing that showed the SKILL.md.
		const { files, truncated } = await listTree(dir, async (folder) => {
			return folder === dir ? entries : reader.readFolder(folder);
		});
		issues.push(...missingScripts(read.text, dir));
		const manifest = await readManifest({ dir, entries, isReserved }, reader);
		const { facts, issues: doubts } = readFacts(spec);
		const { license, compatibility, allowedTools } = spec;
		if (isReserved?.(spec.name)) {
			const message = `“${spec.name}” is a built-in name. Use this skill as ${source}/${spec.name}, or rename it`;
			issues.push({ field: 'name', severity: 'warning', message });
		}
		return {
			...optional({ license, compatibility, allowedTools, author: facts.author, example: facts.example, owner }),
			name: apart(spec.name),
			description: apart(spec.description),
			metadata: leanRecord(spec.metadata),
			body: apart(spec.body),
			path,
			dir,
			extra: leanRecord(spec.extra),
			version: facts.version,
			tags: lean(facts.tags.map(apart)),
			triggers: lean(facts.triggers.map(apart)),
			status: 'ready',
			root,
			source,
			digest: hash('sha256', read.bytes, 'buffer').toString('hex', 0, 8),
			tools: lean(manifest.tools),
			files: lean(files),
			hasMoreFiles: truncated,
			scripts: lean(scriptsOf(files)),
			issues: lean([...issues, ...doubts, ...manifest.issues])
		};
	} catch (error) {
		if (error instanceof SkillLoadError) return broken(error.issues);
		return broken([{ field: '_', severity: 'error', message: (error as Error).message }]);
	}
}

/** Copies the texts that are present. */
function optional<Key extends string>(texts: Record<Key, string | undefined>): Partial<Record<Key, string>> {
	const kept: Partial<Record<Key, string>> = {};
	for (const key in texts) if (texts[key] !== undefined) kept[key] = apart(texts[key]);
	return kept;
}

/** An unreadable tools.json costs the skill only its tools (D16). */
async function readManifest(
	{ dir, entries, isReserved }: Pick<SkillFolder, 'entries' | 'isReserved'> & { dir: string },
	reader: SkillReader
): Promise<ReturnType<typeof parseManifest>> {
	const file = entries.find(({ name }) => name === TOOLS_FILE);
	if (!file) return { tools: [], issues: [] };
	const path = join(dir, file.name);
	try {
		reader.beforeFile(path, file.isSymbolicLink());
		const text = readSafely(path, file.isSymbolicLink()).toString();
		const manifest = parseManifest(text, isReserved);
		const faults = new Map<string, string>();
		for (const { script } of manifest.tools) {
			if (script === undefined || faults.has(script)) continue;
			const fault = await scriptFault(dir, script);
			if (fault !== null) faults.set(script, fault);
		}
		return faults.size === 0 ? manifest : parseManifest(text, isReserved, (script) => faults.get(script) ?? null);
	} catch (error) {
		const { message } = error as Error;
		return { tools: [], issues: [{ field: TOOLS_FILE, file: TOOLS_FILE, line: 1, severity: 'warning', message }] };
	}
}

/** Resolves the script as a call would, to report a problem once instead of at every call. */
async function scriptFault(dir: string, script: string): Promise<string | null> {
	try {
		await resolveScript(dir, script);
		return null;
	} catch (error) {
		const isMissing = error instanceof SkillError && error.type === 'ScriptNotFound';
		return isMissing ? `doesn’t exist: there is no file “${shown(script)}” in the skill` : (error as Error).message;
	}
}

/** A folder that can't be searched, reported as a broken skill. */
export function brokenFolder(dir: string, { path: root, source }: SkillRoot, message: string): BrokenSkill {
	const issue: SkillIssue = { field: '_', severity: 'error', message };
	return {
		status: 'broken',
		name: readFolderName(dir).name,
		description: '',
		path: dir,
		dir,
		root,
		source,
		issues: [issue]
	};
}

function firstParagraph(body: string): string {
	return (
		body
			.split(/\n\s*\n/)
			.find((part) => part.trim() && !part.trim().startsWith('#'))
			?.trim()
			.slice(0, 300) ?? ''
	);
}

// Fields beyond the standard: version, author, tags, triggers, example; pure (A17, A38).

export interface SkillFacts {
	version: string;
	author?: string;
	example?: string;
	tags: string[];
	triggers: string[];
}

const TAGS = ['tags', 'tag'];
const TRIGGERS = ['triggers', 'trigger_patterns', 'trigger', 'activation'];
const DEFAULT_VERSION = '1.0.0';
const MAX_EXAMPLE_CHARS = 500;

/** Top-level keys win over `metadata`. Invalid values become a warning and the default. */
export function readFacts(spec: SkillSpec): { facts: SkillFacts; issues: SkillIssue[] } {
	const value = (keys: readonly string[]) => fieldOf(spec, keys);
	const author = value(['author']);
	const { version, issues } = readVersion(value(['version']), readFolderName(spec.dir).version);
	const example = spec.metadata.example?.trim();
	const isTooLong = example !== undefined && lengthOf(example) > MAX_EXAMPLE_CHARS;
	if (isTooLong) {
		const message = `is longer than ${MAX_EXAMPLE_CHARS} characters, so it isn’t offered`;
		issues.push({ field: 'metadata.example', severity: 'warning', message });
	}
	return {
		facts: {
			version,
			author: typeof author === 'string' && author.trim() ? author.trim() : undefined,
			example: isTooLong ? undefined : example || undefined,
			tags: readList(value(TAGS), /[\s,]+/),
			triggers: readList(value(TRIGGERS), /,/)
		},
		issues
	};
}

type Fields = Pick<SkillSpec, 'extra' | 'metadata'>;

function fieldOf({ extra, metadata }: Fields, keys: readonly string[]): unknown {
	for (const key of keys) {
		const found = extra[key] ?? metadata[key] ?? extra[`metadata.${key}`];
		if (found !== undefined && found !== '') return found; // a blank value doesn't hide its aliases
	}
	return undefined;
}

/** Whether the SKILL.md says a version: 1.0.0 may be one that was filled in. */
export const statesVersion = (spec: Fields): boolean => fieldOf(spec, ['version']) !== undefined;

function readVersion(given: unknown, ofFolder = DEFAULT_VERSION): { version: string; issues: SkillIssue[] } {
	if (given === undefined || given === '') return { version: ofFolder, issues: [] };
	const text = typeof given === 'string' ? given.trim().slice(0, 256) : '';
	const exact = valid(text);
	if (exact) return { version: exact, issues: [] };
	const version = coerce(text)?.version ?? DEFAULT_VERSION;
	const message = `“${text.slice(0, 50)}” isn’t a full version number. ${version} is used`;
	return { version, issues: [{ field: 'version', severity: 'warning', message, fix: `version: ${version}` }] };
}

/** Reads a list, or text split at separators (commas win over spaces), without duplicates. */
function readList(value: unknown, separator: RegExp): string[] {
	const items = typeof value === 'string' ? value.split(value.includes(',') ? ',' : separator) : asArray(value);
	const texts = items.flatMap((item) => (typeof item === 'string' && item.trim() ? [item.trim()] : []));
	return [...new Set(texts)].slice(0, 64);
}

// Issues in the text of a SKILL.md by the strict rules; pure (F1, A20–A23).

/** Violations of the standard are errors here, though the app loads them with a warning. Each issue has a line. */
export function textIssues(text: string, path: string): SkillIssue[] {
	const issues: SkillIssue[] = [];
	if (text.startsWith('\uFEFF')) {
		const message = 'starts with a byte order mark, which some clients can’t read';
		issues.push({ field: '_', severity: 'warning', message, line: 1 });
	}
	for (const mode of ['strict', 'lenient'] as const) {
		try {
			const { spec, warnings } = parseSkill(text, path, { mode });
			if (mode === 'lenient') issues.push(...warnings, ...withLines(readFacts(spec).issues, text));
		} catch (error) {
			if (!(error instanceof SkillLoadError)) throw error;
			issues.push(...error.issues);
		}
	}
	return withoutRepeats(issues);
}

/** Scripts that the text of a SKILL.md names and its folder doesn’t have; none without a folder. */
export function missingScripts(text: string, dir: string): SkillIssue[] {
	if (!existsSync(dir)) return [];
	return [...scriptsNamedIn(text)].flatMap(([path, index]): SkillIssue[] => {
		if (existsSync(join(dir, path))) return [];
		const line = text.slice(0, index).split('\n').length;
		return [{ field: '_', severity: 'warning', message: `names ${path}, but the skill has no such file`, line }];
	});
}

/** Removes duplicates, keeping the first. */
export function withoutRepeats(issues: readonly SkillIssue[]): SkillIssue[] {
	const said = new Set<string>();
	return issues.filter(({ field, message }) => {
		const mark = `${field}\n${message}`;
		return !said.has(mark) && said.add(mark);
	});
}

/** Adds line numbers, which parsed fields no longer have. */
function withLines(issues: readonly SkillIssue[], text: string): SkillIssue[] {
	const front = issues.length > 0 ? readFrontMatter(text) : null;
	if (!front || 'field' in front) return [...issues];
	return issues.map((issue) => {
		const line = front.lines.get(issue.field) ?? front.lines.get(`metadata.${issue.field}`) ?? front.top;
		return { ...issue, line };
	});
}
