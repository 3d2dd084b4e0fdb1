/** What can be changed while the server runs (FEATURES E1, E11, B8). */
import { z } from 'zod';

/** The catalog whose install endpoint is accepted (E1). */
export const skillsProvider = z.enum(['skillsmp', 'skillssh', 'github']);

/** `PUT /api/settings`; what is left out stays as it is. */
export const settingsPatch = z
	.strictObject({
		/** The master switch: false, and nothing of a skill is executed. */
		skillsEnabled: z.boolean().optional(),
		skillsProvider: skillsProvider.optional(),
		/** Goes in and never comes out; null removes it. */
		skillsmpApiKey: z.string().trim().min(8).max(512).nullable().optional(),
		/** Most skills that the OmniRoute scorer picks, and the fewest points for one. */
		autoMaxSkills: z.number().int().min(0).max(50).optional(),
		autoMinScore: z.number().int().min(0).max(1000).optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must name something to change');
export type SettingsPatch = z.infer<typeof settingsPatch>;

export interface Settings {
	/** In effect: SKILLS_ENABLED=false cannot be overruled here. */
	skillsEnabled: boolean;
	/** False where SKILLS_ENABLED=false keeps it off. */
	canEnableSkills: boolean;
	skillsProvider: z.infer<typeof skillsProvider>;
	hasSkillsmpApiKey: boolean;
	autoMaxSkills: number;
	autoMinScore: number;
}
