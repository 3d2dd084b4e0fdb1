/** The Skill Doctor: finds problems in a skill's folder, and fixes what it can (F1, A5, A6, A23). */
import { dirname, join, resolve } from 'node:path';
import { changed, digestOf, DoctorError, replaceFile } from './skill-file.ts';
import { FIXES, fixIdOf, isEarlier, isGuess } from './fixes.ts';
import { readEntries, readFolderName, skillFileOf } from '../read/folder-walk.ts';
import { readSafely, readSkillText } from '../read/safe-read.ts';
import { loadSkill, missingScripts, readFacts, textIssues, withoutRepeats } from '../read/skill-loader.ts';
import { type BrokenSkill, type Skill, type SkillIssue, SkillLoadError } from '../types.ts';
import { lstatSync } from 'node:fs';
import { NOT_STANDARD, parseSkill, SPEC_KEYS } from '../parser.ts';
import { instructionTokens, readFrontMatter } from '../read/front-matter.ts';
import { TOOLS_FILE } from '../read/manifest.ts';
import { linesOf, splitSkill } from './lines.ts';

/** A problem with a skill. */
export interface DiagnosedIssue extends SkillIssue {
	/** Id of its fix; null if a person has to fix it. */
	fixId: string | null;
	/** The SKILL.md with only this fix; null without one. */
	after: string | null;
	/** The fix makes up a description of what the instructions begin with. */
	isGuess?: boolean;
	/** The fix brings the description back that the skill had last. */
	isEarlier?: boolean;
}

/** The problems of a skill's folder, by the strict rules. */
export interface Diagnosis {
	name: string;
	/** A `ready` skill can be used despite its issues; a `broken` one can't. */
	status: 'ready' | 'broken';
	/** Absolute path of the SKILL.md, or of where it should be. */
	path: string;
	issues: DiagnosedIssue[];
	/** The SKILL.md with all fixes applied; null if there are none. */
	fixed: { before: string; after: string } | null;
	/** SHA-256 of the SKILL.md in hexadecimal; empty if it can't be read. */
	digest: string;
	/** After fixes: name of the file next to it with the old text, unless `keep` kept that. */
	keptAs?: string;
}

/** Which fixes of a diagnosis to apply. */
export interface FixRequest {
	/** `digest` of the diagnosis. */
	digest: string;
	/** Ids of fixes; all by default. */
	fixes?: readonly string[] | undefined;
	/** Keeps the old text somewhere else than beside the new one; called before anything is written. */
	keep?: (old: { bytes: Uint8Array; after: string }) => Promise<void>;
	/** As for `diagnose`. */
	earlier?: string | undefined;
}

/** Renames the file to SKILL.md; its text stays the same. */
const RENAME = 'file-name';

/** Never throws for problems of the skill, only if the folder can't be read. `earlier`: the description that it had last. */
export async function diagnose(dir: string, earlier?: string): Promise<Diagnosis> {
	return (await examine(resolve(dir), earlier)).diagnosis;
}

/**
 * Writes the fixed SKILL.md in one step, if there is anything to fix, and keeps the old one as
 * `.SKILL.md.<time>.old`, unless `keep` keeps it.
 * Also fixes requested problems that appear only after another fix.
 * @throws Error with a `DoctorError`'s code, without changing anything
 */
export async function applyFixes(dir: string, { digest, fixes, keep, earlier }: FixRequest): Promise<Diagnosis> {
	const folder = resolve(dir);
	const { diagnosis, file } = await examine(folder, earlier);
	if (!file) {
		throw new DoctorError('missing', `Nothing to fix: there’s no readable SKILL.md in ${folder}.`);
	}
	if (diagnosis.digest !== digest) throw changed(diagnosis.path);
	if (file.isLink) {
		throw new DoctorError('link', `${diagnosis.path} is a link to a file elsewhere. Fix that file where it is.`);
	}
	const unknown = fixes?.find((fix) => fix !== RENAME && !Object.hasOwn(FIXES, fix));
	if (unknown !== undefined) throw new DoctorError('unfixable', `Unknown fix “${unknown.slice(0, 100)}”.`);
	const renames = file.name !== 'SKILL.md' && (fixes?.includes(RENAME) ?? true);
	const after = mendAll(file.text, folder, { wanted: fixes && new Set(fixes), earlier });
	if (after === file.text && !renames) {
		if (!fixes) return diagnosis;
		const known = new Set(diagnosis.issues.flatMap(({ fixId }) => (fixId === null ? [] : [fixId])));
		const there = known.size > 0 ? `Available fixes: ${[...known].join(', ')}.` : 'No fixes are available.';
		throw new DoctorError('unfixable', `${diagnosis.path} doesn’t need the fix ${fixes.join(', ')}. ${there}`);
	}
	await keep?.({ bytes: file.bytes, after });
	const isKept = keep !== undefined;
	const keptAs = replaceFile({ dir: folder, name: file.name, before: file.bytes, after, renames, isKept });
	return { ...(await diagnose(folder)), ...(keptAs !== null && { keptAs }) };
}

interface SkillFile {
	name: string;
	isLink: boolean;
	bytes: Buffer;
	text: string;
}

async function examine(dir: string, earlier?: string): Promise<{ diagnosis: Diagnosis; file: SkillFile | null }> {
	const entries = readEntries(dir);
	const entry = skillFileOf(entries);
	if (!entry) return { diagnosis: withoutFile(dir), file: null };
	const reader = { readFolder: async (folder: string) => readEntries(folder), beforeFile: () => undefined };
	const skill = await loadSkill({ path: dir, root: { path: dirname(dir), source: '' }, file: entry, entries }, reader);
	const file = readFile(dir, entry.name, entry.isSymbolicLink());
	return { diagnosis: diagnosisOf(skill, dir, { file, earlier }), file };
}

function diagnosisOf(
	skill: Skill | BrokenSkill,
	dir: string,
	{ file, earlier }: { file: SkillFile | null; earlier: string | undefined }
): Diagnosis {
	const mend = file ? createMender(file.text, dir, earlier) : () => null;
	const found = file ? withTextIssues(file.text, skill) : strictIssues(skill);
	const issues = found.map((issue): DiagnosedIssue => {
		if (file && isFileName(issue)) return { line: 1, ...issue, fixId: RENAME, after: file.text };
		const after = mend(issue);
		const fixId = after === null ? null : fixIdOf(issue);
		return {
			...issue,
			fixId,
			after,
			...(after !== null &&
				fixId !== null &&
				(isEarlier(fixId, after, earlier) ? { isEarlier: true } : isGuess(fixId, after) && { isGuess: true }))
		};
	});
	if (file && file.name !== 'SKILL.md' && !issues.some(isFileName)) {
		const issue: SkillIssue = { field: '_', severity: 'warning', message: `${NAMED}${file.name}`, line: 1 };
		issues.push({ ...issue, fix: 'rename it to SKILL.md', fixId: RENAME, after: file.text });
	}
	const isFixable = file !== null && issues.some(({ fixId }) => fixId !== null);
	return {
		name: skill.name,
		status: skill.status,
		path: skill.path,
		issues,
		fixed: isFixable ? { before: file.text, after: mendAll(file.text, dir, { earlier }) } : null,
		digest: file ? digestOf(file.bytes) : ''
	};
}

const NAMED = 'is named ';

function isFileName({ field, message }: SkillIssue): boolean {
	return field === '_' && message.startsWith(NAMED);
}

function withoutFile(dir: string): Diagnosis {
	const message = 'has no SKILL.md. Add one';
	const issue: DiagnosedIssue = { field: '_', severity: 'error', message, line: 1, fixId: null, after: null };
	const path = join(dir, 'SKILL.md');
	return { name: readFolderName(dir).name, status: 'broken', path, issues: [issue], fixed: null, digest: '' };
}

/** null if it can't be read, or not written back unchanged: the skill has an issue that says why. */
function readFile(dir: string, name: string, isLink: boolean): SkillFile | null {
	try {
		const bytes = readSafely(join(dir, name), isLink);
		return { name, isLink, bytes, text: bytes.toString() };
	} catch {
		return null;
	}
}

// Tries fixes on a SKILL.md, keeping those that work without changing the instructions (F1); pure.

/** More than there are fixes, each of which is needed once. */
const MAX_STEPS = 30;

/** Returns the text with the issue fixed; null if no fix works. */
export function createMender(text: string, dir: string, earlier?: string): (issue: SkillIssue) => string | null {
	const tried = new Map<string, { after: string; issues: readonly SkillIssue[] } | null>();
	const attempt = (fixId: string) => {
		const after = FIXES[fixId]?.(text, dir, earlier) ?? null;
		if (after === null || after === text || !keepsBody(text, after)) return null;
		return { after, issues: textIssues(after, join(dir, 'SKILL.md')) };
	};
	return (issue) => {
		const fixId = fixIdOf(issue);
		if (fixId === null) return null;
		const known = tried.get(fixId);
		const result = known === undefined ? attempt(fixId) : known;
		tried.set(fixId, result);
		const isLeft = result?.issues.some(({ field, message }) => field === issue.field && message === issue.message);
		return result && !isLeft ? result.after : null;
	};
}

/** The text with all or the given fixes applied, repeated for problems that appear only after another fix. */
export function mendAll(
	text: string,
	dir: string,
	{ wanted, earlier }: { wanted?: ReadonlySet<string> | undefined; earlier?: string | undefined } = {}
): string {
	const seen = new Set([text]);
	let mended = text;
	for (let step = 0; step < MAX_STEPS; step += 1) {
		const mend = createMender(mended, dir, earlier);
		const next = firstOf(textIssues(mended, join(dir, 'SKILL.md')), (issue) => {
			if (wanted && !wanted.has(fixIdOf(issue) ?? '')) return null;
			const after = mend(issue);
			return after !== null && !seen.has(after) ? after : null;
		});
		if (next === null) break;
		seen.add(next);
		mended = next;
	}
	return mended;
}

function firstOf<Item>(items: readonly Item[], read: (item: Item) => string | null): string | null {
	for (const item of items) {
		const found = read(item);
		if (found !== null) return found;
	}
	return null;
}

/** True if everything below the front matter is unchanged, byte for byte. */
function keepsBody(before: string, after: string): boolean {
	const [from, to] = [splitSkill(before), splitSkill(after)];
	if (!to) return false;
	if (from) return from.rest === to.rest;
	return before.endsWith(linesOf(to.rest).slice(1).join(''));
}

// Checks a text as the SKILL.md of a folder, by the strict rules; reads and writes nothing (F1).

interface TextCheck {
	status: 'ready' | 'broken';
	/** Empty if it can't be read. */
	name: string;
	description: string;
	issues: (SkillIssue & { fixId: string | null })[];
	/** The text with one fix applied, by the fix's id. */
	fixes: Record<string, string>;
	/** Estimated tokens of the instructions. */
	tokens: number;
}

/** `dir` is the folder whose name must match; it needn't exist. */
export function checkText(text: string, dir: string, earlier?: string): TextCheck {
	const folder = resolve(dir);
	const path = join(folder, 'SKILL.md');
	const read = readLeniently(text, path);
	const mend = createMender(text, folder, earlier);
	const fixes: Record<string, string> = {};
	const issues = withoutRepeats([...textIssues(text, path), ...read.issues, ...missingScripts(text, folder)]).map(
		(issue) => {
			const after = mend(issue);
			const fixId = after === null ? null : fixIdOf(issue);
			if (fixId !== null && after !== null) fixes[fixId] = after;
			return { ...issue, fixId };
		}
	);
	return { ...read, issues, fixes };
}

/** Why a skill with this SKILL.md is broken; undefined if it isn’t. */
export function problemIn(text: string, dir: string): string | undefined {
	const { status, issues } = checkText(text, dir);
	const fault = issues.find(({ severity }) => severity === 'error');
	if (status !== 'broken' || !fault) return undefined;
	return `${fault.field === '_' ? 'SKILL.md' : fault.field} ${fault.message}`;
}

function readLeniently(text: string, path: string): Omit<TextCheck, 'fixes' | 'issues'> & { issues: SkillIssue[] } {
	const tokens = instructionTokens(text);
	try {
		const { spec, warnings } = parseSkill(text, path, { mode: 'lenient' });
		const issues = [...warnings, ...readFacts(spec).issues];
		const status = issues.some(({ severity }) => severity === 'error') ? 'broken' : 'ready';
		const { name, description } = spec;
		return { status, name, description, issues, tokens };
	} catch (error) {
		if (!(error instanceof SkillLoadError)) throw error;
		return { status: 'broken', name: '', description: '', issues: [...error.issues], tokens };
	}
}

// All issues of a skill's folder: of the SKILL.md by the strict rules, then of its other files (F1).

/** Issues of a loaded skill; every field outside the standard is one, also those that we read. */
export function strictIssues(skill: Skill | BrokenSkill): SkillIssue[] {
	const read = readSkill(skill.path);
	const { path, issues } = skill;
	const wrong = (read?.issues ?? []).map((issue) => ({ ...issue, severity: 'error' as const }));
	const found = withTextIssues(read?.text ?? null, { path, issues: [...wrong, ...issues] });
	return wrong.length > 0 ? found : withoutRepeats([...found, ...fieldIssues(read?.text ?? '')]);
}

function fieldIssues(text: string): SkillIssue[] {
	const front = readFrontMatter(text);
	if ('field' in front) return [];
	const fields = Object.keys(front.data).filter((field) => !SPEC_KEYS.has(field));
	return fields.map((field) => {
		return { field, severity: 'warning', message: NOT_STANDARD, line: front.lines.get(field) ?? front.top };
	});
}

/** The same for a text that was already read; null if it can't be read. */
function withTextIssues(
	text: string | null,
	{ path, issues }: Pick<Skill | BrokenSkill, 'path' | 'issues'>
): SkillIssue[] {
	// Problems in tools.json cost the app only tools, but are errors by the strict rules.
	const strict = issues.map((issue) => (issue.file === TOOLS_FILE ? { ...issue, severity: 'error' as const } : issue));
	return withoutRepeats([...(text === null ? [] : textIssues(text, path)), ...strict]);
}

/** null if it can't be read, which is already an issue of the skill. */
function readSkill(path: string): ReturnType<typeof readSkillText> | null {
	try {
		return readSkillText(path, lstatSync(path).isSymbolicLink());
	} catch {
		return null;
	}
}
