/** Which skills one caller sees: by owner, by mode, by list (FEATURES A41, B6, B14, B15); pure. */
import { hash } from 'node:crypto';
import { compareNames } from '../read/files.ts';
import { skillIdOf } from '../run/execution-host.ts';
import type { Skill } from '../types.ts';
import type { SkillSnapshot } from './registry.ts';

/** `on`: its tools are always offered; `auto`: once it is loaded; `off`: it is neither offered nor executed. */
export type SkillMode = 'on' | 'off' | 'auto';

export interface Visibility {
	/** Sees its own skills and the system's; only the system's without it. */
	owner?: string | undefined;
	/** Only these, by name. */
	allowed?: readonly string[] | undefined;
	/** `auto` for all without it. */
	modeOf?: ((skill: Skill) => SkillMode) | undefined;
	/** The version that a bare name means, of a skill by `source/name`; the newest that is not off without it. */
	pinOf?: ((skillId: string) => string | null) | undefined;
}

/**
 * The library as this caller sees it, and the skills that are only switched off. Of one name the caller's own is first,
 * of one source the version that was chosen, of the others the newest that is not off (A38, A41).
 */
export function viewOf(library: SkillSnapshot, visibility: Visibility): { library: SkillSnapshot; off: Skill[] } {
	const { owner, allowed, modeOf } = visibility;
	const isOwned = ({ owner: whose }: Skill) => whose !== undefined && whose !== SYSTEM;
	const hasOwners = library.skills.some(isOwned) || library.shadowed.some(isOwned);
	if (!hasOwners && !allowed && !modeOf) return { library, off: [] };

	const wanted = allowed && new Set(allowed);
	const isSeen = (skill: Skill) => isVisibleTo(skill, owner) && (wanted === undefined || wanted.has(skill.name));
	const isOff = (skill: Skill) => modeOf?.(skill) === 'off';
	const rivals = new Map<string, Skill[]>();
	for (const skill of library.shadowed) {
		if (isSeen(skill)) rivals.set(skill.name, [...(rivals.get(skill.name) ?? []), skill]);
	}
	const view = { skills: [] as Skill[], shadowed: [] as Skill[], off: [] as Skill[] };
	const place = (named: readonly Skill[]) => {
		let isFirst = true;
		for (const skill of named) {
			if (isOff(skill)) view.off.push(skill);
			else if (isFirst) view.skills.push(skill);
			else view.shadowed.push(skill);
			isFirst &&= isOff(skill);
		}
	};
	// Most names are those of one skill, and there may be ten thousand.
	for (const skill of library.skills) {
		const others = rivals.get(skill.name);
		rivals.delete(skill.name);
		const seen = isSeen(skill) ? [skill] : [];
		place(others ? inOrder([...seen, ...others], visibility) : seen);
	}
	for (const others of rivals.values()) place(inOrder(others, visibility));
	view.skills.sort((a, b) => compareNames(a.name, b.name));
	const { off, ...seen } = view;
	return { library: { ...library, ...seen }, off };
}

/** Own ones, then by source as they come; of a source the chosen version is first. */
function inOrder(named: readonly Skill[], { owner, pinOf }: Visibility): Skill[] {
	const sources = [...new Set(named.map(({ source }) => source))];
	const rank = (skill: Skill) =>
		(isOwn(skill, owner) ? 0 : sources.length * 2) +
		sources.indexOf(skill.source) * 2 +
		(pinOf?.(skillIdOf(skill)) === skill.version ? 0 : 1);
	return [...named].sort((a, b) => rank(a) - rank(b));
}

/** Modes that can be switched; switching a skill on again brings back the mode that it had (B6). */
export interface SkillModes {
	/** Of a skill, or of what has this name. */
	modeOf(skill: string | Pick<Skill, 'name'>): SkillMode;
	setMode(name: string, mode: SkillMode): void;
	setEnabled(name: string, isEnabled: boolean): void;
}

export function createSkillModes(initial: Readonly<Record<string, SkillMode>> = {}): SkillModes {
	const modes = new Map(Object.entries(initial));
	const before = new Map<string, SkillMode>();
	const modeOf = (skill: string | Pick<Skill, 'name'>) =>
		modes.get(typeof skill === 'string' ? skill : skill.name) ?? 'auto';
	return {
		modeOf,
		setMode(name, mode) {
			modes.set(name, mode);
			before.delete(name);
		},
		setEnabled(name, isEnabled) {
			const mode = modeOf(name);
			if (isEnabled === (mode !== 'off')) return;
			if (!isEnabled) before.set(name, mode);
			modes.set(name, isEnabled ? (before.get(name) ?? 'auto') : 'off');
		}
	};
}

function isOwn(skill: Skill, owner: string | undefined): boolean {
	return owner !== undefined && owner !== SYSTEM && skill.owner === owner;
}

function isVisibleTo(skill: Skill, owner: string | undefined): boolean {
	return skill.owner === undefined || skill.owner === SYSTEM || skill.owner === owner;
}

// Whose a skill is, as a label that tells nothing of an API key (FEATURES A41, E18).

/** Owner of the skills that everybody sees. */
export const SYSTEM = 'system';

/** The owner of a key's skills, and the name of the folder they lie in; undefined for the system's. */
export function ownerOf(apiKeyId: string | undefined): string | undefined {
	return apiKeyId === undefined || apiKeyId === SYSTEM ? undefined : `key.${hash('sha256', apiKeyId).slice(0, 24)}`;
}
