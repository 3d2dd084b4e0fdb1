/** The settings page's changes: each is saved at once, in order (E1, E11, B8, F11). */
import type { Settings, SettingsPatch } from '../../shared/settings.ts';
import type { Account } from '../models/account.svelte.ts';
import { type ApiError, asApiError } from '../request.ts';

/** In their order; `words` find a section in the command palette. */
/** `rows`: its settings, as they’re labelled. `words`: what else people call them. */
export const SETTINGS_SECTIONS = [
	{
		...{ id: 'model', title: 'Model', rows: ['Connection', 'Default model', 'Reasoning', 'Fallbacks and providers'] },
		words: 'api key openrouter ollama sign in thinking effort'
	},
	{
		...{ id: 'chats', title: 'Chats', rows: ['Custom instructions', 'Automatic titles', 'Web tools'] },
		words: 'system prompt search memory language tone style internet'
	},
	{ id: 'presets', title: 'Presets', rows: [], words: 'assistants' },
	{
		...{ id: 'limits', title: 'Limits' },
		rows: ['Steps per reply', 'Cost per reply', 'Time per reply', 'Time per script'],
		words: 'time limit for scripts or of answers timeout minutes seconds budget money price spending'
	},
	{
		...{ id: 'skills', title: 'Skills', rows: ['Suggest new skills', 'Catalog', 'SkillsMP key', 'Your skills'] },
		words: 'suggestions'
	},
	{ id: 'mcp-servers', title: 'MCP servers', rows: [], words: 'registry tools' },
	{ id: 'access', title: 'Access', rows: ['API keys', 'Login'], words: 'log out admin token password' },
	{
		...{ id: 'appearance', title: 'Appearance', rows: ['Theme', 'Keyboard shortcuts'] },
		words: 'dark light mode colors'
	},
	{
		...{ id: 'advanced', title: 'Advanced' },
		rows: ['Run skills', 'Maximum skills', 'Minimum score', 'Skill scores', 'API docs'],
		words: 'turn off scripts selection sandbox'
	}
] as const;

export type SettingName = keyof SettingsPatch;

export class SettingsForm {
	readonly #account: Account;
	#last: Promise<unknown> = Promise.resolve();
	/** Status of the last change. */
	said = $state('');
	saved = $state.raw<{ name: SettingName | undefined } | null>(null);
	#failed = $state.raw<{ name: SettingName; error: ApiError } | null>(null);

	constructor(account: Account) {
		this.#account = account;
	}

	/** The value in effect; undefined until loaded, and for keys. */
	valueOf(name: SettingName): string | number | boolean | null | undefined {
		const settings = this.#account.settings.value;
		return settings ? valuesOf(settings)[name] : undefined;
	}

	/** Whether it differs from the default. */
	isChanged(name: SettingName): boolean {
		const settings = this.#account.settings.value;
		if (!settings) return false;
		const defaults = { ...settings.defaults, modelBaseUrl: settings.model.defaultBaseUrl, effort: null };
		return name in defaults && valuesOf(settings)[name] !== defaults[name as keyof typeof defaults];
	}

	errorOf(name: SettingName): ApiError | null {
		return this.#failed?.name === name ? this.#failed.error : null;
	}

	/** Resolves to false on failure; see `errorOf`. */
	save(patch: SettingsPatch): Promise<boolean> {
		this.said = 'Saving…';
		const saved = this.#last.then(() => this.#change(patch));
		this.#last = saved;
		return saved;
	}

	reset(name: SettingName): Promise<boolean> {
		return this.save({ [name]: null });
	}

	async #change(patch: SettingsPatch): Promise<boolean> {
		const [name] = Object.keys(patch) as SettingName[];
		if (this.#failed?.name === name) this.#failed = null;
		try {
			await this.#account.change(patch);
			this.said = 'Saved';
			this.saved = { name };
			return true;
		} catch (error) {
			if (name) this.#failed = { name, error: asApiError(error) };
			this.said = 'Not saved';
			return false;
		}
	}
}

function valuesOf({
	model,
	limits,
	...rest
}: Settings): Partial<Record<SettingName, string | number | boolean | null>> {
	const { skillsEnabled, skillsProvider, catalogRequests, autoMaxSkills, autoMinScore, instructions, autoTitles } =
		rest;
	const ofSkills = { skillsEnabled, skillsProvider, catalogRequests, autoMaxSkills, autoMinScore };
	return {
		...ofSkills,
		instructions,
		autoTitles,
		...limits,
		model: model.id,
		modelBaseUrl: model.baseUrl,
		effort: model.effort
	};
}
