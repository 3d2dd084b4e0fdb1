/** What a skill says of itself beyond the standard: version, author, tags, triggers; pure (FEATURES A17, A38). */
import { coerce, valid } from 'semver';
import { readFolderName } from './folder-name.ts';
import type { SkillIssue, SkillSpec } from './types.ts';

export interface SkillFacts {
	version: string;
	author?: string;
	tags: string[];
	triggers: string[];
}

const TAGS = ['tags', 'tag'];
const TRIGGERS = ['triggers', 'trigger_patterns', 'trigger', 'activation'];
const DEFAULT_VERSION = '1.0.0';

/** Reads the front matter's own keys before `metadata`; what cannot be read is a warning and its default. */
export function readFacts(spec: SkillSpec): { facts: SkillFacts; issues: SkillIssue[] } {
	const value = (keys: readonly string[]): unknown => {
		for (const key of keys) {
			const found = spec.extra[key] ?? spec.metadata[key] ?? spec.extra[`metadata.${key}`];
			if (found !== undefined && found !== '') return found; // a blank one hides none of its other names
		}
		return undefined;
	};
	const author = value(['author']);
	const { version, issues } = readVersion(value(['version']), readFolderName(spec.dir).version);
	return {
		facts: {
			version,
			...(typeof author === 'string' && author.trim() ? { author: author.trim() } : {}),
			tags: readList(value(TAGS), /[\s,]+/),
			triggers: readList(value(TRIGGERS), /,/)
		},
		issues
	};
}

function readVersion(given: unknown, ofFolder = DEFAULT_VERSION): { version: string; issues: SkillIssue[] } {
	if (given === undefined || given === '') return { version: ofFolder, issues: [] };
	const text = typeof given === 'string' ? given.trim().slice(0, 256) : '';
	const exact = valid(text);
	if (exact) return { version: exact, issues: [] };
	const version = coerce(text)?.version ?? DEFAULT_VERSION;
	const message = `“${text.slice(0, 50)}” is not a version of three numbers; ${version} is used`;
	return { version, issues: [{ field: 'version', severity: 'warning', message, fix: `version: ${version}` }] };
}

/** A list, or text with items between separators (a comma wins over spaces); without repeats. */
function readList(value: unknown, separator: RegExp): string[] {
	const isText = typeof value === 'string';
	const items: unknown[] = isText
		? value.split(value.includes(',') ? ',' : separator)
		: Array.isArray(value)
			? value
			: [];
	const texts = items.flatMap((item) => (typeof item === 'string' && item.trim() ? [item.trim()] : []));
	return [...new Set(texts)].slice(0, 64);
}
