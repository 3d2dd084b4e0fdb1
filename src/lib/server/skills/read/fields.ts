/** Reads the single-line text fields of a SKILL.md: name, description and others (A6–A12); pure. */
import { markHidden, withoutHidden } from '../../../shared/characters.ts';
import type { SkillIssue } from '../types.ts';

/** Reports a problem with a field; a warning by default. */
export type Violate = (field: string, message: string, more?: ViolationDetails) => void;

interface ViolationDetails {
	severity?: SkillIssue['severity'];
	fix?: string;
	/** Key whose line to report instead of the field's own: `metadata.author`. */
	at?: string;
}

const PLAIN = /^[ -~]*$/;
const PORTABLE_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** A name as the standard has it. */
export function isPortableName(name: string): boolean {
	return PORTABLE_NAME.test(name) && name.length <= 64;
}

export const NAME = /^[\p{Ll}\p{Lo}\p{Lm}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{Lm}\p{N}]+)*$/u;

/** Characters a name can't have: separators, those forbidden in some systems' folder names, and invisible ones. */
export const UNUSABLE =
	/[/\\@:*?"<>|#%]|[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
/** Would change the meaning of a path or an id. */
const MISLEADING_START = /^[.~-]+/;
/** Longer than any sensible folder name. */
const MAX_USABLE = 200;

/** Length in characters, not UTF-16 units. */
export function lengthOf(text: string): number {
	return PLAIN.test(text) ? text.length : [...text].length;
}

export function readName(
	data: Record<string, unknown>,
	folder: string,
	skipParentDirCheck: boolean,
	violate: Violate
): string {
	const given = [data.name, data.skill].find((value) => typeof value === 'string' && value.trim() !== '');
	if (typeof given !== 'string') {
		const fault = typeof data.name === 'object' ? 'must be text' : 'is missing';
		violate('name', `${fault}, so the folder’s name is used`, { fix: lineOf('name', folder) });
		return usableName(folder);
	}
	if (given !== data.name) violate('name', 'is missing, so “skill” is used', { fix: lineOf('name', given) });
	const name = given.normalize('NFKC').trim();
	if (!isUsable(name)) {
		const standIn = usableName(folder);
		const message = `“${shown(name)}” isn’t a valid name, so the folder’s name “${standIn}” is used`;
		violate('name', message, { fix: lineOf('name', standIn) });
		return standIn;
	}
	if (lengthOf(name) > 64) violate('name', 'is longer than 64 characters');
	if (!PORTABLE_NAME.test(name) && !NAME.test(name)) {
		const fix = name
			.toLowerCase()
			.replace(/[^\p{L}\p{N}]+/gu, '-')
			.slice(0, 64)
			.replace(/^-+|-+$/g, '');
		violate('name', `“${shown(name)}” must have only lowercase letters, digits and single hyphens`, {
			fix: lineOf('name', fix || folder)
		});
	}
	if (!skipParentDirCheck && name !== folder.normalize('NFKC')) {
		violate('name', `“${shown(name)}” doesn’t match the folder “${shown(folder)}”`, { fix: lineOf('name', folder) });
	}
	return name.replaceAll(/\s+/g, '-');
}

/** True if the name works in calls, addresses and paths. */
function isUsable(name: string): boolean {
	return name.length <= MAX_USABLE && name.search(UNUSABLE) < 0 && !MISLEADING_START.test(name);
}

/** Turns a folder's name into a usable skill name. */
function usableName(folder: string): string {
	const plain = folder.normalize('NFKC').trim().replace(UNUSABLE, '-').replace(/\s+/g, '-');
	return plain.replace(MISLEADING_START, '').slice(0, MAX_USABLE).toWellFormed() || 'skill';
}

export function readDescription(data: Record<string, unknown>, violate: Violate): string {
	const given = oneLine(data.description);
	if (given) {
		const length = lengthOf(given);
		if (length > 1024) violate('description', `has ${length} characters, but the limit is 1,024`);
		return given;
	}
	for (const key of ['when_to_use', 'when-to-use', 'summary']) {
		const fallback = oneLine(data[key]);
		if (!fallback) continue;
		violate('description', `is missing, so “${key}” is used`, { fix: lineOf('description', fallback) });
		return fallback;
	}
	const fault = typeof data.description === 'object' ? 'must be text' : 'is missing';
	violate('description', `${fault}, so the model won’t know when to use the skill`, {
		severity: 'error',
		fix: 'description: …'
	});
	return '';
}

/** Text on one line, without invisible characters: a newline must not forge a second catalog entry. */
function oneLine(value: unknown): string {
	return typeof value === 'string' ? printable(value).replace(/\s+/g, ' ').trim() : '';
}

/** A front-matter line that parses as this value. */
export function lineOf(key: string, value: string): string {
	const text = oneLine(value);
	return `${key}: ${/^[\p{L}\p{N}](?:[\p{L}\p{N} .,()/_-]*[\p{L}\p{N}.)])?$/u.test(text) ? text : JSON.stringify(text)}`;
}

/** Shortens text for a message. */
export function shown(text: string): string {
	const characters = [...markHidden(text.toWellFormed())];
	return characters.length <= 100 ? characters.join('') : `${characters.slice(0, 100).join('')}…`;
}

function printable(text: string): string {
	// Nearly all text is plain, and this check takes a tenth of the time.
	if (PLAIN.test(text)) return text;
	return withoutHidden(text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, ' '));
}

export function readText(data: Record<string, unknown>, key: string, violate: Violate): string | undefined {
	if (!(key in data)) return undefined;
	const value = oneLine(data[key]);
	if (!value) violate(key, 'must not be blank');
	return value || undefined;
}
