/** Resolves references to skills: by name, similar spelling, version or source; pure (A28, A37–A40). */
import { basename } from 'node:path';
import { compare, maxSatisfying, validRange } from 'semver';
import { isStopWord } from '../find/words.ts';
import type { SkillSnapshot } from './registry.ts';
import { SkillError, type Skill } from '../types.ts';

/** `source/name@range`; only the name is required. */
export interface SkillReference {
	source: string | null;
	name: string;
	/** An npm range, `latest` or `==1.2.0`; null for the first match. */
	range: string | null;
}

/** Never throws: invalid text becomes a name that no skill has. */
export function parseReference(text: string): SkillReference {
	const plain = text.trim().replace(/^\*\*(.*)\*\*$/, '$1');
	const at = plain.indexOf('@', 1);
	const whole = at < 0 ? plain : plain.slice(0, at);
	const slash = whole.lastIndexOf('/');
	return {
		source: slash < 0 ? null : whole.slice(0, slash),
		name: whole.slice(slash + 1),
		range: at < 0 ? null : plain.slice(at + 1).trim()
	};
}

/**
 * Finds a skill. Exact names win over similar ones (case, spaces, `_`, `-`), then its folder's name; with a range, the
 * newest version in any root. @throws SkillError InvalidArgs for an invalid range
 */
export function findSkill(library: SkillSnapshot, text: string): Skill | undefined {
	const { source, name, range } = parseReference(text);
	if (source === null && range === null) return named(library.skills, name)[0];
	const all = named([...library.skills, ...library.shadowed], name).filter(
		(skill) => source === null || skill.source === source
	);
	return range === null ? all[0] : newestIn(all, range);
}

/** Versions of a skill, the newest first (A40). */
export function versionsOf(library: SkillSnapshot, name: string): string[] {
	const all = named([...library.skills, ...library.shadowed], name);
	return [...new Set(all.map(({ version }) => version))].sort((a, b) => compare(b, a));
}

/** Up to three names most similar to an unknown one. */
export function similarNames(names: readonly string[], wanted: string): string[] {
	const asked = pairsOf(normalise(wanted));
	return names
		.map((name) => {
			const pairs = pairsOf(normalise(name));
			const shared = [...pairs].filter((pair) => asked.has(pair)).length;
			return { name, likeness: (2 * shared) / Math.max(1, pairs.size + asked.size) };
		})
		.filter(({ likeness }) => likeness >= 0.4)
		.sort((a, b) => b.likeness - a.likeness)
		.slice(0, 3)
		.map(({ name }) => name);
}

/** Matches by exact name, else by similar name, else by the folder's name. */
function named(skills: readonly Skill[], name: string): Skill[] {
	const wanted = normalise(name);
	const tests: ((skill: Skill) => boolean)[] = [
		(skill) => skill.name === name,
		(skill) => normalise(skill.name) === wanted,
		(skill) => normalise(basename(skill.dir)) === wanted
	];
	for (const test of tests) {
		const found = skills.filter(test);
		if (found.length > 0) return found;
	}
	return [];
}

/** `use pdf-forms to …` and `run the pdf skill`: a name of one word only where it’s called a skill. */
const NAMED =
	/\b(?:[Uu]s(?:e|ing)|[Rr]un|[Tt]ry|[Ll]oad)\s+(?:the\s+)?(?:skill\s+)?["“'`*]*(?:([a-z0-9]+(?:-[a-z0-9]+)+)(?=["”'`*]*(?:\s+(?:skill|to|on|for|with)\b|[,.;!?]*\s*$))|([a-z0-9]+)(?=["”'`*]*\s+skill\b))/gm;
/** What is said of a skill that has no name yet. */
const UNNAMED =
	/^(right|best|better|first|last|next|new|old|wrong|installed|pinned|following|above|appropriate|suitable|proper|relevant|matching|correct|current|bundled|custom|existing)$/;

/**
 * Names that a message gives to skills, and that neither a skill of `names` nor a word of `texts` has: what those speak of
 * may be meant.
 */
export function unknownIn(message: string, names: readonly string[], texts: () => readonly string[]): string[] {
	const asked = [...message.matchAll(NAMED)].map(([, hyphened, plain]) => hyphened ?? plain ?? '');
	const isKnown = (name: string) => {
		const word = new RegExp(`(?<![\\w-])${name.replace(/s$/, '')}s?(?![\\w-])`, 'i');
		return (
			UNNAMED.test(name) || isStopWord(name) || [...names.map(normalise), ...texts()].some((text) => word.test(text))
		);
	};
	return [...new Set(asked)].slice(0, 3).filter((name) => !isKnown(name));
}

function newestIn(skills: readonly Skill[], given: string): Skill | undefined {
	const range = given === '' || given === 'latest' ? '*' : given.replace(/^==\s*/, '');
	if (validRange(range) === null) {
		throw new SkillError(
			'InvalidArgs',
			`“${given.slice(0, 50)}” isn’t a version range.`,
			'Use 1.2.0, ^1.2, ~1.2, >=1 <3 or latest.'
		);
	}
	const versions = skills.map((skill) => skill.version);
	// If there are only prereleases, take the newest; a range would exclude them.
	const newest = range === '*' ? maxSatisfying(versions, range, { includePrerelease: true }) : null;
	const version = maxSatisfying(versions, range) ?? newest;
	return skills.find((skill) => skill.version === version);
}

function normalise(name: string): string {
	return name
		.trim()
		.toLowerCase()
		.replace(/[\s_]+/g, '-');
}

function pairsOf(text: string): Set<string> {
	return new Set(Array.from({ length: Math.max(1, text.length - 1) }, (_, index) => text.slice(index, index + 2)));
}
