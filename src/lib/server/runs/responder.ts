/** Who answers a run, and how: what the request chooses, else the conversation, else the settings. */
import { plainLine } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import { findPreset, presetOfModel } from '../../shared/models.ts';
import type { Settings } from '../../shared/settings.ts';
import type { ModelSource } from '../agent/model.ts';
import type { Store } from '../store/store.ts';
import type { RunRequest } from '../turns/run-request.ts';
import type { Responder } from '../turns/turn.ts';

export interface ResponderParts {
	store: Store;
	/** A run keeps the model it started with. */
	models: ModelSource;
	/** For all chats; none by default. */
	chats?(): Pick<Settings, 'instructions' | 'web' | 'presets'>;
}

/**
 * A preset that is named as the model gives the chat what it has, once: named again, or changed or removed since, it
 * changes nothing there. @throws AppError not_found
 */
export async function withPreset({ store, chats }: ResponderParts, request: RunRequest): Promise<RunRequest> {
	const { choice = {}, pins = [], conversationId } = request;
	const id = presetOfModel(choice.model);
	if (id === null) return request;
	const { model: _named, ...said } = choice;
	if ((await store.runs.choiceOf(conversationId)).preset === id) return { ...request, choice: said };
	const preset = findPreset(chats?.().presets ?? {}, id);
	if (!preset) throw new AppError('not_found', `There’s no preset “${plainLine(id).slice(0, 100)}”.`);
	const { model, effort, instructions, skills, web, routing, approval } = preset;
	const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
	return {
		...request,
		choice: { effort, instructions, web, routing, approval, ...given, model, preset: id },
		pins: [...new Set([...skills, ...pins])]
	};
}

/** `begunWith`: the model of a run that goes on. */
export async function responderFor(
	{ store, models, chats }: ResponderParts,
	request: RunRequest,
	begunWith?: string
): Promise<Responder> {
	const { conversationId, apiKeyId, choice = {}, compare } = request;
	const beside = 'messageId' in request ? await store.messages.compared(conversationId) : [];
	const own = 'messageId' in request ? beside.find(({ id }) => id === request.messageId)?.model : compare?.model;
	const kept = await store.runs.choiceOf(conversationId);
	// null resets to the settings.
	const { model: id = kept.model, effort = kept.effort, instructions = kept.instructions } = choice;
	// A program with a key isn't told what the owner has written about themselves, and spends nothing it didn't ask for.
	const all = apiKeyId === undefined ? chats?.() : undefined;
	const { web = kept.web, routing = kept.routing, approval = kept.approval } = choice;
	return {
		model: models.modelFor({ id: begunWith ?? (own || id), routing }),
		effort: effort ?? models.effort(),
		custom: { allChats: all?.instructions ?? '', thisChat: instructions ?? '' },
		web: web ?? all?.web ?? [],
		approval: approval ?? undefined
	};
}
