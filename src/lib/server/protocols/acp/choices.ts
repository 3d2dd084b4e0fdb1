/** What the editor offers its user to choose for a session: modes, models and effort. */
import type { SessionConfigOption, SessionMode, SessionModeState } from '@agentclientprotocol/sdk';
import type { ModelList } from '../../../shared/models.ts';
import { REASONING_EFFORTS } from '../../../shared/names.ts';

/** `edits` counts for the session, `ask` is kept with the conversation. */
export type Mode = 'default' | 'ask' | 'edits';

/** The usual choice: a mode, a model, an effort. */
export const DEFAULT = 'default';
const MODELS_MS = 3_000;
const MAX_MODELS = 500;

/** `approvals`: of the server, which may ask for every script. */
export function modesFor(approvals: 'ask' | 'auto'): SessionMode[] {
	const scripts = approvals === 'ask' ? ' and before scripts run' : '';
	const usual = {
		id: DEFAULT,
		name: 'Ask before edits',
		description: `Asks before it changes files of the project${scripts}.`
	};
	const always = {
		id: 'ask',
		name: 'Always ask',
		description: 'Asks before edits, and before every script of a skill.'
	};
	const description = 'Changes files of the project without asking, except hidden ones.';
	const edits = { id: 'edits', name: 'Accept edits', description };
	return approvals === 'ask' ? [usual, edits] : [usual, always, edits];
}

/** Demo mode has no model to choose. */
export async function optionsFor(
	models: { list(signal?: AbortSignal): Promise<ModelList>; current(): { id: string; offline: boolean } },
	{ currentModeId, availableModes }: SessionModeState,
	{ model, effort }: { model: string | null; effort: string | null }
): Promise<SessionConfigOption[]> {
	const modes = availableModes.map(({ id, name, description }) => ({ value: id, name, description }));
	const mode: SessionConfigOption = {
		...{ type: 'select', id: 'mode', name: 'Mode', category: 'mode' },
		currentValue: currentModeId,
		options: modes
	};
	const { id: usual, offline } = models.current();
	if (offline) return [mode];
	const { data } = await models.list(AbortSignal.timeout(MODELS_MS)).catch(() => ({ data: [] }));
	const known = new Map(data.slice(0, MAX_MODELS).map(({ id, name }) => [id, name]));
	if (model !== null && !known.has(model)) known.set(model, model);
	const named = [...known].map(([value, name]) => ({ value, name }));
	const efforts = [DEFAULT, ...REASONING_EFFORTS].map((value) => ({
		value,
		name: value.replace(/^./, (first) => first.toUpperCase())
	}));
	return [
		mode,
		{
			...{ type: 'select', id: 'model', name: 'Model', category: 'model' },
			currentValue: model ?? DEFAULT,
			options: [{ value: DEFAULT, name: `Default (${usual})` }, ...named]
		},
		{
			...{ type: 'select', id: 'effort', name: 'Reasoning effort', category: 'thought_level' },
			currentValue: effort ?? DEFAULT,
			options: efforts
		}
	];
}
