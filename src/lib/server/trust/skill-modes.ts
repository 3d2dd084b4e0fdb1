/** Stores which skills are on, off or automatic, and which version a name means (A38, B6, E3). */
import { createLine } from '../../shared/in-turn.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { SkillMode } from '../skills/registry/visibility.ts';
import type { SkillSetting } from '../store/skills/choices.ts';
import type { Store } from '../store/store.ts';

/** A version of a skill, or a built-in one by its id `builtin/name`. */
export type ModeSubject = Pick<Skill, 'source' | 'name' | 'version'> | `builtin/${string}`;

export interface StoredSkillModes {
	/** `auto` by default. */
	modeOf(subject: ModeSubject): SkillMode;
	/**
	 * For an installed skill sets only this version, else the name in every folder: new versions and copies of a skill
	 * that is off are off as well.
	 */
	setMode(subject: ModeSubject, mode: SkillMode): Promise<void>;
	/** Turns a skill off, or back to its previous mode. */
	setEnabled(subject: ModeSubject, isEnabled: boolean): Promise<void>;
	/** Version chosen for `source/name`; null for the newest enabled one. */
	pinOf(skillId: string): string | null;
	setPin(skillId: string, version: string | null): Promise<void>;
	/** Deletes the settings of one version, or of all versions of a skill. */
	forget(skillId: string, version?: string): Promise<void>;
	/** After another server has changed them. */
	readAgain(): Promise<void>;
}

/** Keeps settings in memory, because every turn reads them. Changes are stored before they apply. */
export async function openSkillModes(
	store: Pick<Store, 'skillSettings' | 'skillPins'>,
	{ isInstalled = () => false }: { isInstalled?: (source: string) => boolean } = {}
): Promise<StoredSkillModes> {
	const readSettings = async () =>
		new Map((await store.skillSettings.list()).map((setting) => [setting.skillId, setting]));
	let settings = await readSettings();
	let pins = await store.skillPins.list();
	/** Changes run one at a time, so that memory and store agree. */
	const inTurn = createLine();
	/** Names that have a mode for a version; the others are looked up by name only. */
	let versioned = versionedNames(settings);
	const now = () => new Date().toISOString();

	const settingOf = (subject: ModeSubject): SkillSetting | undefined => {
		if (typeof subject === 'string') return settings.get(subject);
		const own = versioned.has(subject.name) ? settings.get(versionKey(subject)) : undefined;
		return own ?? settings.get(subject.name);
	};
	const modeOf = (subject: ModeSubject): SkillMode => settingOf(subject)?.mode ?? 'auto';
	const set = async (subject: ModeSubject, mode: SkillMode, modeBefore: SkillMode | null) => {
		const setting = { skillId: keyFor(subject), mode, modeBefore };
		await store.skillSettings.set(setting, now());
		settings.set(setting.skillId, setting);
		versioned = versionedNames(settings);
	};
	const pin = async (skillId: string, version: string | null) => {
		await store.skillPins.set(skillId, version, now());
		if (version === null) pins.delete(skillId);
		else pins.set(skillId, version);
	};
	const keyFor = (subject: ModeSubject): string => {
		if (typeof subject === 'string') return subject;
		const isOwn = isInstalled(subject.source) || settings.has(versionKey(subject));
		return isOwn ? versionKey(subject) : subject.name;
	};

	return {
		modeOf,
		setMode: (subject, mode) => inTurn(() => set(subject, mode, null)),
		setEnabled: (subject, isEnabled) =>
			inTurn(async () => {
				const mode = modeOf(subject);
				if (isEnabled === (mode !== 'off')) return;
				if (isEnabled) await set(subject, settingOf(subject)?.modeBefore ?? 'auto', null);
				else await set(subject, 'off', mode);
			}),
		pinOf: (skillId) => pins.get(skillId) ?? null,
		setPin: (skillId, version) => inTurn(() => pin(skillId, version)),
		forget: (skillId, version) =>
			inTurn(async () => {
				const isGone = (key: string) =>
					version === undefined ? key.startsWith(`${skillId}@`) : key === `${skillId}@${version}`;
				for (const key of [...settings.keys()].filter(isGone)) {
					await store.skillSettings.remove(key);
					settings.delete(key);
				}
				versioned = versionedNames(settings);
				const pinned = pins.get(skillId);
				if (pinned !== undefined && (version === undefined || pinned === version)) await pin(skillId, null);
			}),
		readAgain: () =>
			inTurn(async () => {
				[settings, pins] = await Promise.all([readSettings(), store.skillPins.list()]);
				versioned = versionedNames(settings);
			})
	};
}

function versionKey(skill: Pick<Skill, 'source' | 'name' | 'version'>): string {
	return `${skillIdOf(skill)}@${skill.version}`;
}

function versionedNames(settings: ReadonlyMap<string, unknown>): Set<string> {
	const keys = [...settings.keys()].filter((key) => key.includes('/') && !key.startsWith('builtin/'));
	return new Set(keys.map((key) => key.slice(key.lastIndexOf('/') + 1, key.lastIndexOf('@'))));
}
