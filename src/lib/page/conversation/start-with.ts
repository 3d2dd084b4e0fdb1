/** What an address says of a new conversation: `?skill=` pins a skill, `?q=` begins the message, `?example=` fills in a skill's example. Nothing is sent. */
import type { ChatApp } from '../app/app.svelte.ts';
import { withoutHidden } from '../../shared/characters.ts';
import { cleanText } from '../text/clean-text.ts';
import type { ChatSession } from './session.svelte.ts';

/** Longer ones do not fit into every address. */
const MAX_TEXT = 8_000;
const MAX_TRIES = 3;

export async function startWith(
	app: Pick<ChatApp, 'library' | 'toasts'>,
	session: ChatSession,
	params: URLSearchParams
): Promise<void> {
	const words = withoutHidden(params.get('q') ?? '').slice(0, MAX_TEXT);
	// What is there already was written by somebody.
	if (words !== '' && !session.draft.text.includes(words)) {
		session.draft.text = [session.draft.text, words].filter(Boolean).join('\n\n');
	}
	const names = params.getAll('skill').filter(Boolean);
	const shown = params.get('example') ?? '';
	if (names.length === 0 && shown === '') return;
	// Of two reads at once only the later one counts.
	for (let tries = 0; !app.library.isLoaded && tries < MAX_TRIES; tries++) await app.library.refresh();
	const withExample = app.library.ready.find(({ name, example }) => name === shown && example !== null);
	if (withExample && session.draft.isEmpty) await session.takeExample(withExample.id);
	if (shown !== '') names.push(shown);
	for (const name of names) {
		const skill = app.library.ready.find((ready) => ready.name === name && ready.mode !== 'off');
		if (skill) await session.skills.pinByName(name, { description: skill.description });
		else
			app.toasts.show({ text: `Skill “${cleanText(name)}” isn’t available. It may be off or removed.`, isError: true });
	}
}
