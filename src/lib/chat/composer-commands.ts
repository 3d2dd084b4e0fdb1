/** The commands of the box, for one conversation: what makes no sense at the moment is left out. */
import { commonText } from '../strings/common.ts';
import { commandText as text } from '../strings/composer.ts';
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
		{ name: 'rename', description: text.rename, run: rename },
		{ name: 'export', description: text.exportMarkdown, run: save('markdown') },
		{ name: 'export-json', description: text.exportJson, run: save('json') }
	];
	return [
		...(session.isRunning ? [{ name: 'stop', description: text.stop, run: () => void session.stop() }] : []),
		{ name: 'new', description: text.new, run: () => void app.go('/') },
		...(pickModel ? [{ name: 'model', description: text.model, run: pickModel }] : []),
		{ name: 'skills', description: text.skills, run: () => void app.go('/skills') },
		...(session.phase === 'ready' ? stored : []),
		{ name: 'clear', description: text.clear, run: () => clear(app, session) },
		{ name: 'help', description: text.help, run: () => (app.overlay = 'shortcuts') }
	];
}

function clear(app: Pick<ChatApp, 'toasts'>, { draft }: ChatSession): void {
	if (draft.isEmpty) return;
	const removed = draft.clear();
	app.toasts.show({ text: text.cleared, action: { label: commonText.undo, run: () => draft.restore(removed) } });
}

function saveFile(url: string): void {
	const link = document.createElement('a');
	link.href = url;
	link.download = '';
	link.click();
}
