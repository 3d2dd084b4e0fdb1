/** Which skills are on, off or offered when they fit; kept over restarts (FEATURES B6, E3). */
import type { SkillMode } from '../skills/visibility.ts';
import type { SkillSetting } from '../store/skill-settings.ts';
import type { Store } from '../store/store.ts';

export interface SkillModes {
	/** `skillId` is `source/name`, or a name: a mode is of the name, whichever folder it is in. `auto` for those nobody has set. */
	modeOf(skillId: string): SkillMode;
	setMode(skillId: string, mode: SkillMode): Promise<void>;
	/** Off, or back to the mode that it had. */
	setEnabled(skillId: string, isEnabled: boolean): Promise<void>;
}

/** What is asked in every turn is kept in memory; what is changed is stored before it counts. */
export async function openSkillModes(store: Pick<Store, 'skillSettings'>): Promise<SkillModes> {
	const settings = new Map((await store.skillSettings.list()).map((setting) => [setting.skillId, setting]));
	const modeOf = (skillId: string): SkillMode => settings.get(keyOf(skillId))?.mode ?? 'auto';
	const set = async (setting: SkillSetting) => {
		await store.skillSettings.set(setting, new Date().toISOString());
		settings.set(setting.skillId, setting);
	};
	return {
		modeOf,
		setMode: (skillId, mode) => set({ skillId: keyOf(skillId), mode, modeBefore: null }),
		async setEnabled(skillId, isEnabled) {
			const mode = modeOf(skillId);
			if (isEnabled === (mode !== 'off')) return;
			const before = settings.get(keyOf(skillId))?.modeBefore ?? 'auto';
			await set({
				skillId: keyOf(skillId),
				mode: isEnabled ? before : 'off',
				modeBefore: isEnabled ? null : mode
			});
		}
	};
}

function keyOf(skillId: string): string {
	return skillId.startsWith('builtin/') ? skillId : skillId.slice(skillId.lastIndexOf('/') + 1);
}
