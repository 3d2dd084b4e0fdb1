/** Which skills one caller sees: by owner, by mode, by list (FEATURES A41, B6, B14, B15); pure. */
import type { SkillSnapshot } from './registry.ts';
import type { Skill } from './types.ts';

/** `on`: its tools are always offered; `auto`: once it is loaded; `off`: it is neither offered nor executed. */
export type SkillMode = 'on' | 'off' | 'auto';

export interface Visibility {
	/** Sees its own skills and the system's; only the system's without it. */
	owner?: string | undefined;
	/** Only these, by name. */
	allowed?: readonly string[] | undefined;
	/** `auto` for all without it. */
	modeOf?: ((name: string) => SkillMode) | undefined;
}

/** Owner of the skills that everybody sees. */
const SYSTEM = 'system';

/** The library as this caller sees it, and the skills that are only switched off. Of one name, the caller's own is first. */
export function viewOf(library: SkillSnapshot, visibility: Visibility): { library: SkillSnapshot; off: Skill[] } {
	const { owner, allowed, modeOf } = visibility;
	const all = [...library.skills, ...library.shadowed];
	const isOwned = all.some((skill) => skill.owner !== undefined && skill.owner !== SYSTEM);
	if (!isOwned && !allowed && !modeOf) return { library, off: [] };

	const seen = all.filter(
		(skill) => isVisibleTo(skill, owner) && (allowed === undefined || allowed.includes(skill.name))
	);
	const first = new Map<string, Skill>();
	const rest: Skill[] = [];
	for (const skill of [...seen.filter((each) => isOwn(each, owner)), ...seen.filter((each) => !isOwn(each, owner))]) {
		if (first.has(skill.name)) rest.push(skill);
		else first.set(skill.name, skill);
	}
	const isOff = ({ name }: Skill) => modeOf?.(name) === 'off';
	const skills = [...first.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
	return {
		library: {
			...library,
			skills: skills.filter((skill) => !isOff(skill)),
			shadowed: rest.filter((skill) => !isOff(skill))
		},
		off: [...skills, ...rest].filter(isOff)
	};
}

/** Modes that can be switched; switching a skill on again brings back the mode that it had (B6). */
export interface SkillModes {
	modeOf(name: string): SkillMode;
	setMode(name: string, mode: SkillMode): void;
	setEnabled(name: string, isEnabled: boolean): void;
}

export function createSkillModes(initial: Readonly<Record<string, SkillMode>> = {}): SkillModes {
	const modes = new Map(Object.entries(initial));
	const before = new Map<string, SkillMode>();
	const modeOf = (name: string) => modes.get(name) ?? 'auto';
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
