/** Finds the skill that a name means: alike in spelling, of a version, of a source; pure (FEATURES A28, A37–A40). */
import { basename } from 'node:path';
import { compare, maxSatisfying, validRange } from 'semver';
import type { SkillSnapshot } from './registry.ts';
import { SkillError, type Skill } from '../types.ts';

/** `source/name@range`, of which only the name is needed. */
export interface SkillReference {
	source: string | null;
	name: string;
	/** An npm range, `latest`, `==1.2.0`; null is the one that comes first. */
	range: string | null;
}

/** Never throws: what is no reference is a name that nothing has. */
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
 * The skill that `text` means: of exactly this name before one that is only written alike (case, blanks, `_` and `-`),
 * a name before a folder's. With a range the newest version in it, wherever it lies.
 * @throws SkillError InvalidArgs for a range that is none
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

/** Up to three names that are most like one that is not there. */
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

/** The first group of matches that there is: by the name as it is, by one written alike, by the folder's. */
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
	// What has appeared as a preview alone is the newest there is; a range would leave it out.
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
