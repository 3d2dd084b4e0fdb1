/** What can be changed while the server runs: in effect at once, and kept over restarts (FEATURES E1, E11, B8). */
import { settingsPatch, type Settings, type SettingsPatch } from '../../shared/settings.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../store/store.ts';

export interface RunningSettings {
	/** Kept in memory: may be asked in every call. */
	current(): Settings;
	/** Is stored before it counts. @throws AppError `conflict` for what the operator has ruled out, `invalid_input` */
	change(patch: SettingsPatch, now: string): Promise<Settings>;
	/** What was stored, else the operator's; for requests to SkillsMP and nothing else. */
	skillsmpApiKey(): string | null;
}

export interface SettingsParts {
	store: Pick<Store, 'settings'>;
	/** What the operator has set: holds as long as nobody has chosen otherwise. */
	defaults: {
		isEnabled: boolean;
		provider: Settings['skillsProvider'];
		skillsmpApiKey: string | null;
		autoMaxSkills: number;
		autoMinScore: number;
	};
	/** Encrypts. */
	vault: {
		set(skillId: string, name: string, value: string, now: string): Promise<void>;
		remove(skillId: string, name: string): Promise<boolean>;
		valuesOf(skillId: string): Promise<Record<string, string>>;
	};
}

type Chosen = Omit<SettingsPatch, 'skillsmpApiKey'>;

/** No skill has an id without a slash, so none is ever given this value. */
const SKILLSMP = 'settings:skillsmp';
const API_KEY = 'SKILLSMP_API_KEY';

export async function openSettings({ store, defaults, vault }: SettingsParts): Promise<RunningSettings> {
	let chosen = readChosen(await store.settings.list());
	let storedKey = (await vault.valuesOf(SKILLSMP))[API_KEY] ?? null;
	/** One change after the other: what is in memory is what was stored last. */
	let changes: Promise<unknown> = Promise.resolve();

	const read = (): Settings => ({
		skillsEnabled: defaults.isEnabled && (chosen.skillsEnabled ?? true),
		canEnableSkills: defaults.isEnabled,
		skillsProvider: chosen.skillsProvider ?? defaults.provider,
		hasSkillsmpApiKey: (storedKey ?? defaults.skillsmpApiKey) !== null,
		autoMaxSkills: chosen.autoMaxSkills ?? defaults.autoMaxSkills,
		autoMinScore: chosen.autoMinScore ?? defaults.autoMinScore
	});

	const apply = async ({ skillsmpApiKey, ...patch }: SettingsPatch, now: string): Promise<Settings> => {
		if (patch.skillsEnabled === true && !defaults.isEnabled) {
			throw new AppError('conflict', 'SKILLS_ENABLED=false keeps the skills off.', {
				hint: 'Start the server without it.'
			});
		}
		// First what may be refused.
		if (typeof skillsmpApiKey === 'string') await vault.set(SKILLSMP, API_KEY, skillsmpApiKey, now);
		if (skillsmpApiKey === null) await vault.remove(SKILLSMP, API_KEY);
		if (skillsmpApiKey !== undefined) storedKey = skillsmpApiKey;
		await store.settings.set(patch, now);
		chosen = { ...chosen, ...patch };
		return read();
	};

	return {
		current: read,
		change(patch, now) {
			const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
			const changed = changes.then(() => apply(given, now));
			changes = changed.catch(() => undefined);
			return changed;
		},
		skillsmpApiKey: () => storedKey ?? defaults.skillsmpApiKey
	};
}

/** What an older or newer version has stored and this one does not know counts as not set. */
function readChosen(stored: ReadonlyMap<string, unknown>): Chosen {
	const values = [...stored].filter(([key, value]) => settingsPatch.safeParse({ [key]: value }).success);
	return Object.fromEntries(values.filter(([key]) => key !== 'skillsmpApiKey'));
}
