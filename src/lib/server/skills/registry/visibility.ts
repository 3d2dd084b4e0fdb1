/** Decides which skills a caller sees: by owner, mode and list (A41, B6, B14, B15); pure. */
import { hash } from 'node:crypto';
import { compareNames } from '../read/files.ts';
import { skillIdOf } from '../run/execution-host.ts';
import type { BrokenSkill, Skill } from '../types.ts';
import type { SkillSnapshot } from './registry.ts';

/** `on`: its tools are always offered; `auto`: once loaded; `off`: neither offered nor executed. */
export type SkillMode = 'on' | 'off' | 'auto';

export interface Visibility {
	/** Sees this owner's skills and the system's; only the system's by default. */
	owner?: string | undefined;
	/** Sees only these skills, by name. */
	allowed?: readonly string[] | undefined;
	/** `auto` for all by default. */
	modeOf?: ((skill: Skill) => SkillMode) | undefined;
	/** Version chosen for `source/name`; null for the newest that isn't off. */
	pinOf?: ((skillId: string) => string | null) | undefined;
}

/**
 * The library as this caller sees it, and skills that are only turned off. Own skills come first; within a source the
 * chosen version, else the newest that isn't off (A38, A41).
 */
export function viewOf(library: SkillSnapshot, visibility: Visibility): { library: SkillSnapshot; off: Skill[] } {
	const { owner, allowed, modeOf } = visibility;
	const hasOwner = ({ owner: whose }: Skill) => whose !== undefined && whose !== SYSTEM;
	const hasOwners = library.skills.some(hasOwner) || library.shadowed.some(hasOwner);
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
	// Most names have one skill, and there may be ten thousand.
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

export interface UnusableSkill {
	name: string;
	description: string;
	/** `off`, `broken: its description is missing`, `in the Trash`, or `not among your skills`. */
	why: string;
}

/** Skills that were there and can’t be used, of names that no usable skill has, each once; `view` as from `viewOf`. */
export function unusableIn(
	{ library, off }: ReturnType<typeof viewOf>,
	trash: readonly { name: string; skillId: string }[],
	{ owner, allowed }: Pick<Visibility, 'owner' | 'allowed'> = {}
): UnusableSkill[] {
	const isSeen = (name: string, source: string) =>
		(!isOwned(source) || source === owner) && (!allowed || allowed.includes(name));
	const broken = library.broken.filter(({ name, source }) => isSeen(name, source));
	const trashed = trash.filter(({ name, skillId }) => isSeen(name, skillId.slice(0, skillId.lastIndexOf('/'))));
	const all = [
		...off.map(({ name, description }) => ({ name, description, why: 'off' })),
		...broken.map(({ name, description, issues }) => ({ name, description, why: `broken${faultOf(issues)}` })),
		...trashed.map(({ name }) => ({ name, description: '', why: 'in the Trash' }))
	];
	const taken = new Set(library.skills.map(({ name }) => name));
	return all.filter(({ name }) => !taken.has(name) && taken.add(name));
}

function faultOf(issues: BrokenSkill['issues']): string {
	const fault = issues.find(({ severity }) => severity === 'error');
	if (!fault) return '';
	// Without what follows from it.
	const [what = ''] = fault.message.split(', so ', 1);
	return `: ${fault.field === '_' ? 'its SKILL.md' : `its ${fault.field}`} ${what.replace(/\.$/, '')}`;
}

/** Own skills first, then by source order; the chosen version first within a source. */
function inOrder(named: readonly Skill[], { owner, pinOf }: Visibility): Skill[] {
	const sources = [...new Set(named.map(({ source }) => source))];
	const rank = (skill: Skill) =>
		(isOwn(skill, owner) ? 0 : sources.length * 2) +
		sources.indexOf(skill.source) * 2 +
		(pinOf?.(skillIdOf(skill)) === skill.version ? 0 : 1);
	return [...named].sort((a, b) => rank(a) - rank(b));
}

/** Changeable modes; turning a skill back on restores its previous mode (B6). */
export interface SkillModes {
	/** By skill or by name. */
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

// Owner labels that reveal nothing about an API key (A41, E18).

/** Owner of the skills everyone sees. */
export const SYSTEM = 'system';

/** Whether a folder of this label belongs to an API key. */
export function isOwned(source: string): boolean {
	return /^key\.[0-9a-f]{24}$/.test(source);
}

/** Owner of an API key's skills, also their folder's name; undefined for the system's. */
export function ownerOf(apiKeyId: string | undefined): string | undefined {
	return apiKeyId === undefined || apiKeyId === SYSTEM ? undefined : `key.${hash('sha256', apiKeyId).slice(0, 24)}`;
}
