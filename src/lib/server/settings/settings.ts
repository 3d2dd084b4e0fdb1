/** Settings that take effect at once and survive restarts (E1, E11, B8, F9, F11). */
import { AppError } from '../../shared/errors.ts';
import { MAX_PRESETS, type Preset, type Presets } from '../../shared/models.ts';
import { createLine } from '../../shared/in-turn.ts';
import { isOpenRouter } from '../../shared/names.ts';
import { type ModelSettings, type Settings, settingsPatch, type SettingsPatch } from '../../shared/settings.ts';
import type { Store } from '../store/store.ts';

export interface RunningSettings {
	/** From memory, so cheap. */
	current(): Settings;
	/** Stores the change, then applies it. @throws AppError `conflict` if the operator has ruled it out, `invalid_input` */
	change(patch: SettingsPatch, now: string): Promise<Settings>;
	/** Calls back with the settings at once, and after each change. */
	follow(apply: (settings: Settings) => void): void;
	/** The stored key, else the operator’s. Only for SkillsMP. */
	skillsmpApiKey(): string | null;
	/** The key for this base URL; a key may only be sent to the host it was entered for. */
	modelKeyFor(baseUrl: string): string | null;
	/** After another server has changed them. */
	readAgain(): Promise<void>;
	/** Stores a key for the current base URL. @throws AppError `conflict` for another base URL, `invalid_input` */
	setModelKey(apiKey: string, baseUrl: string, now: string): Promise<Settings>;
}

export interface SettingsParts {
	store: Pick<Store, 'settings'>;
	defaults: {
		isEnabled: boolean;
		provider: Settings['skillsProvider'];
		catalogRequests: boolean;
		skillsmpApiKey: string | null;
		autoMaxSkills: number;
		autoMinScore: number;
		model: ModelDefaults;
		autoTitles: boolean;
		limits: Settings['limits'];
	};
	vault: {
		set(skillId: string, name: string, value: string, now: string): Promise<void>;
		remove(skillId: string, name: string): Promise<boolean>;
		valuesOf(skillId: string): Promise<Record<string, string>>;
	};
}

type Chosen = Omit<SettingsPatch, 'skillsmpApiKey' | 'modelApiKey' | 'presets'> & { presets?: Presets };

const KEYS: readonly string[] = ['skillsmpApiKey', 'modelApiKey'];

/** Ids of skills contain a slash, so no skill gets these values. */
const SKILLSMP = 'settings:skillsmp';
const API_KEY = 'SKILLSMP_API_KEY';
const MODEL = 'settings:model';
const MODEL_KEY = 'MODEL_API_KEY';

export async function openSettings({ store, defaults, vault }: SettingsParts): Promise<RunningSettings> {
	const readStored = async () => ({
		chosen: readChosen(await store.settings.list()),
		storedKey: (await vault.valuesOf(SKILLSMP))[API_KEY] ?? null,
		modelKey: storedModelKey.read((await vault.valuesOf(MODEL))[MODEL_KEY])
	});
	let { chosen, storedKey, modelKey } = await readStored();
	/** Changes run one at a time, so that memory and store agree. */
	const inTurn = createLine();
	const followers: ((settings: Settings) => void)[] = [];

	const read = (): Settings => ({
		skillsEnabled: defaults.isEnabled && (chosen.skillsEnabled ?? true),
		canEnableSkills: defaults.isEnabled,
		skillsProvider: chosen.skillsProvider ?? defaults.provider,
		hasSkillsmpApiKey: (storedKey ?? defaults.skillsmpApiKey) !== null,
		catalogRequests: chosen.catalogRequests ?? defaults.catalogRequests,
		autoMaxSkills: chosen.autoMaxSkills ?? defaults.autoMaxSkills,
		autoMinScore: chosen.autoMinScore ?? defaults.autoMinScore,
		instructions: chosen.instructions ?? '',
		autoTitles: chosen.autoTitles ?? defaults.autoTitles,
		web: chosen.web ?? [],
		presets: chosen.presets ?? {},
		model: modelSettingsOf(chosen, modelKey, defaults.model),
		limits: {
			maxSteps: chosen.maxSteps ?? defaults.limits.maxSteps,
			maxCostUsd: chosen.maxCostUsd ?? defaults.limits.maxCostUsd,
			maxDurationMs: chosen.maxDurationMs ?? defaults.limits.maxDurationMs,
			scriptTimeoutMs: chosen.scriptTimeoutMs ?? defaults.limits.scriptTimeoutMs
		},
		defaults: {
			skillsProvider: defaults.provider,
			catalogRequests: defaults.catalogRequests,
			autoMaxSkills: defaults.autoMaxSkills,
			autoMinScore: defaults.autoMinScore,
			model: defaults.model.id,
			autoTitles: defaults.autoTitles,
			maxSteps: defaults.limits.maxSteps,
			maxCostUsd: defaults.limits.maxCostUsd,
			maxDurationMs: defaults.limits.maxDurationMs,
			scriptTimeoutMs: defaults.limits.scriptTimeoutMs
		}
	});

	const keepModelKey = async (value: StoredModelKey | null, now: string): Promise<void> => {
		if (value) await vault.set(MODEL, MODEL_KEY, storedModelKey.write(value), now);
		else if (modelKey) await vault.remove(MODEL, MODEL_KEY);
		modelKey = value;
	};

	const apply = async (
		{ skillsmpApiKey, modelApiKey, presets, ...others }: SettingsPatch,
		now: string
	): Promise<Settings> => {
		const patch: Chosen = presets ? { ...others, presets: withPresets(chosen.presets, presets) } : others;
		if (patch.skillsEnabled === true && !defaults.isEnabled) {
			const hint = 'Restart the server without it.';
			throw new AppError('conflict', 'SKILLS_ENABLED=false keeps skills off.', { hint });
		}
		// What may fail comes first.
		if (typeof skillsmpApiKey === 'string') await vault.set(SKILLSMP, API_KEY, skillsmpApiKey, now);
		if (skillsmpApiKey === null) await vault.remove(SKILLSMP, API_KEY);
		if (skillsmpApiKey !== undefined) storedKey = skillsmpApiKey;
		const origin = originOf(modelBaseUrlOf({ ...chosen, ...patch }, defaults.model));
		// Before the address changes, so that a key never belongs to another host.
		if (typeof modelApiKey === 'string') await keepModelKey({ key: modelApiKey, origin }, now);
		else if (modelApiKey === null || modelKey?.origin !== origin) await keepModelKey(null, now);
		await store.settings.set(patch, now);
		chosen = { ...chosen, ...patch };
		return tell();
	};
	const tell = (): Settings => {
		const current = read();
		for (const follower of followers) follower(current);
		return current;
	};

	return {
		current: read,
		change(patch, now) {
			const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
			return inTurn(() => apply(given, now));
		},
		follow(apply) {
			followers.push(apply);
			apply(read());
		},
		readAgain: () =>
			inTurn(async () => {
				({ chosen, storedKey, modelKey } = await readStored());
				tell();
			}),
		skillsmpApiKey: () => storedKey ?? defaults.skillsmpApiKey,
		modelKeyFor: (baseUrl) => modelKeyFor(baseUrl, modelKey, defaults.model)?.key ?? null,
		setModelKey: (modelApiKey, baseUrl, now) =>
			inTurn(async () => {
				const { model } = read();
				if (model.baseUrl === baseUrl) return apply({ modelApiKey }, now);
				throw new AppError('conflict', 'This key is for another server than the current one.', {
					hint: `The current server is ${originOf(model.baseUrl)}. Sign in there, or change the base URL back.`
				});
			})
	};
}

/** @throws AppError `invalid_input` if there are too many */
function withPresets(before: Presets = {}, changes: NonNullable<SettingsPatch['presets']>): Presets {
	const all = Object.entries({ ...before, ...changes });
	const after = Object.fromEntries(all.filter((entry): entry is [string, Preset] => entry[1] !== null));
	if (Object.keys(after).length <= MAX_PRESETS) return after;
	throw new AppError('invalid_input', `There can be ${MAX_PRESETS} presets. Remove one first.`);
}

/** Ignores settings of other versions. */
function readChosen(stored: ReadonlyMap<string, unknown>): Chosen {
	const values = [...stored].map(([key, value]) => settingsPatch.safeParse({ [key]: value }).data);
	return Object.fromEntries(
		values.flatMap((each) => Object.entries(each ?? {})).filter(([key]) => !KEYS.includes(key))
	);
}

// The model’s address and key (F9, F11; SECURITY, *Outbound requests*).

export interface ModelDefaults {
	id: string;
	baseUrl: string;
	/** Only sent to `baseUrl`. */
	apiKey: string | null;
	/** Neither a key nor a base URL is configured. */
	isOffline: boolean;
}

export interface StoredModelKey {
	key: string;
	origin: string;
}

/** Stored as one value, so that a key always has its origin. */
const storedModelKey = {
	write: ({ key, origin }: StoredModelKey): string => `${origin} ${key}`,
	/** null if invalid. */
	read(text: string | undefined): StoredModelKey | null {
		const [origin, key, ...rest] = text?.split(' ') ?? [];
		return origin && key && rest.length === 0 ? { key, origin } : null;
	}
};

function modelBaseUrlOf(chosen: SettingsPatch, defaults: ModelDefaults): string {
	return chosen.modelBaseUrl ?? defaults.baseUrl;
}

function originOf(baseUrl: string): string {
	return new URL(baseUrl).origin;
}

/** The key for a base URL: the one entered for its origin, else the operator’s for the operator’s address. */
function modelKeyFor(
	baseUrl: string,
	stored: StoredModelKey | null,
	{ baseUrl: configured, apiKey }: ModelDefaults
): { key: string; from: 'settings' | 'environment' } | null {
	if (stored?.origin === originOf(baseUrl)) return { key: stored.key, from: 'settings' };
	return apiKey !== null && withoutSlash(baseUrl) === withoutSlash(configured)
		? { key: apiKey, from: 'environment' }
		: null;
}

const OPENROUTER = 'https://openrouter.ai/api/v1';

function modelSettingsOf(chosen: SettingsPatch, stored: StoredModelKey | null, defaults: ModelDefaults): ModelSettings {
	const baseUrl = modelBaseUrlOf(chosen, defaults);
	const key = modelKeyFor(baseUrl, stored, defaults);
	// An operator who configures OpenRouter without a key should get an error, not demo mode.
	const isNamed = withoutSlash(defaults.baseUrl) === OPENROUTER && defaults.apiKey === null && !defaults.isOffline;
	return {
		id: chosen.model ?? defaults.id,
		effort: chosen.effort ?? null,
		routing: chosen.routing ?? {},
		baseUrl,
		defaultBaseUrl: defaults.baseUrl,
		isOffline: key === null && withoutSlash(baseUrl) === OPENROUTER && !isNamed,
		keyFrom: key?.from ?? null,
		canSignIn: isOpenRouter(baseUrl)
	};
}

function withoutSlash(url: string): string {
	return url.replace(/\/+$/, '');
}
