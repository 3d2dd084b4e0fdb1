/** The commands of the box, for one conversation: what makes no sense at the moment is left out. */
import type { ChatApp } from './app.svelte.ts';
import type { ComposerCommand } from './commands.ts';
import type { ChatSession } from './session.svelte.ts';

export interface CommandHost {
	app: Pick<ChatApp, 'go' | 'overlay' | 'toasts' | 'actions'>;
	session: ChatSession;
	/** Opens the list of models; absent where there is none. */
	pickModel?: (() => void) | undefined;
	/** Asks for another title. */
	rename: () => void;
}

export function composerCommands({ app, session, pickModel, rename }: CommandHost): ComposerCommand[] {
	const save = (format: 'json' | 'markdown') => () => saveFile(app.actions.exportUrl(session.id, format));
	const stored: ComposerCommand[] = [
		{ name: 'rename', description: 'Give this chat another title', run: rename },
		{ name: 'export', description: 'Save this chat as Markdown', run: save('markdown') },
		{ name: 'export-json', description: 'Save this chat as JSON', run: save('json') }
	];
	return [
		...(session.isRunning ? [{ name: 'stop', description: 'Stop the answer', run: () => void session.stop() }] : []),
		{ name: 'new', description: 'Begin a new chat', run: () => void app.go('/') },
		...(pickModel ? [{ name: 'model', description: 'Choose the model that answers', run: pickModel }] : []),
		{ name: 'skills', description: 'Look at the skills', run: () => void app.go('/skills') },
		...(session.phase === 'ready' ? stored : []),
		{ name: 'clear', description: 'Empty the box', run: () => clear(app, session) },
		{ name: 'help', description: 'Show all keyboard shortcuts', run: () => (app.overlay = 'shortcuts') }
	];
}

function clear(app: Pick<ChatApp, 'toasts'>, { draft }: ChatSession): void {
	if (draft.isEmpty) return;
	const removed = draft.clear();
	app.toasts.show({ text: 'The draft was removed.', action: { label: 'Undo', run: () => draft.restore(removed) } });
}

function saveFile(url: string): void {
	const link = document.createElement('a');
	link.href = url;
	link.download = '';
	link.click();
}
