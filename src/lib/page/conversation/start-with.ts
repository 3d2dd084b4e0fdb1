/** Applies the query of a new chat's address: `?skill=` pins a skill, `?q=` starts the message, `?preset=` takes a preset, `?example=` fills in a skill's example, `?shared=` takes what another app shared. Nothing is sent. */
import type { ChatApp } from '../app/app.svelte.ts';
import { withoutHidden } from '../../shared/characters.ts';
import { findPreset } from '../../shared/models.ts';
import { SHARED_CACHE } from '../../shared/names.ts';
import { cleanText } from '../text/clean-text.ts';
import type { FolderFile } from '../server.ts';
import type { ChatSession } from './session.svelte.ts';

/** Longer texts don't fit into every address. */
const MAX_TEXT = 8_000;
const MAX_TRIES = 3;

export async function startWith(
	app: Pick<ChatApp, 'library' | 'toasts' | 'account'>,
	session: ChatSession,
	params: URLSearchParams
): Promise<void> {
	begin(session, (params.get('q') ?? '').slice(0, MAX_TEXT));
	if (params.has('shared')) {
		const { words, files } = await takeShared();
		begin(session, words);
		session.draft.attach(files, [], { isHeld: true });
		if (words === '' && files.length === 0)
			app.toasts.show({ text: 'What you shared didn’t arrive. Share it again.', isError: true });
	}
	const names = params.getAll('skill').filter(Boolean);
	const shown = params.get('example') ?? '';
	const presetId = params.get('preset') ?? '';
	if (presetId !== '') {
		const { settings } = app.account;
		await settings.load();
		const preset = settings.value && findPreset(settings.value.presets, presetId);
		if (preset) {
			const before = findPreset(settings.value?.presets ?? {}, session.choices.preset ?? '');
			for (const name of before?.skills ?? []) if (session.skills.isPending(name)) await session.skills.unpin(name);
			session.choices.start(presetId, preset);
			names.push(...preset.skills);
		} else app.toasts.show({ text: `There’s no preset “${cleanText(presetId)}”. It may be removed.`, isError: true });
	}
	if (names.length === 0 && shown === '') return;
	await setAside(session, [...names, shown]);
	// If two reads run at once, only the later one counts.
	const isKnown = () => app.library.isLoaded && (shown === '' || app.library.ready.some(({ name }) => name === shown));
	for (let tries = 0; !isKnown() && tries < MAX_TRIES; tries++) await app.library.refresh();
	const withExample = app.library.ready.find(({ name, example }) => name === shown && example !== null);
	if (withExample && session.draft.isEmpty) await session.takeExample(withExample.id);
	if (shown !== '') names.push(shown);
	for (const name of names) {
		const find = () => app.library.ready.find((ready) => ready.name === name && ready.mode !== 'off');
		// Pinned before it is found: one installed a moment ago may be missing in the list, and the message is sent meanwhile.
		session.draft.fill(() => void session.skills.pinByName(name, { description: find()?.description }));
		for (let tries = 0; !find() && tries < MAX_TRIES; tries++) await app.library.refresh();
		if (find()) continue;
		session.draft.fill(() => void (session.skills.isPending(name) && session.skills.unpin(name)));
		app.toasts.show({ text: `Skill “${cleanText(name)}” isn’t available. It may be off or removed.`, isError: true });
	}
}

/** Skills that were tried before and not sent: they would go along with this one. What somebody wrote stays, with its skills. */
async function setAside({ draft, skills }: ChatSession, wanted: readonly string[]): Promise<void> {
	if (!draft.isEmpty) return;
	for (const name of skills.pins) if (!wanted.includes(name)) await skills.unpin(name);
}

/** Opens another new chat if this one has what somebody wrote, and the address asks for something else. */
export function keepDraft(app: ChatApp, session: ChatSession, params: URLSearchParams): void {
	const text = params.get('q') ?? '';
	const names = [...params.getAll('skill'), ...params.getAll('example')];
	if (text === '' && names.length === 0) return;
	const { draft } = session;
	if (draft.isGiven) return session.dropGiven();
	if (draft.isEmpty || draft.text === text) return;
	app.setDraftAside();
}

function begin({ draft }: ChatSession, text: string): void {
	const words = withoutHidden(text);
	// Keep what is already there.
	if (words === '' || draft.text.includes(words)) return;
	draft.fill(() => (draft.text = [draft.text, words].filter(Boolean).join('\n\n')));
}

/** Takes what the service worker stored, once; empty if nothing. */
async function takeShared(): Promise<{ words: string; files: FolderFile[] }> {
	const files: FolderFile[] = [];
	let words = '';
	// `caches` doesn't exist on plain http from another machine, where the page can't be installed either.
	if (!('caches' in globalThis)) return { words, files };
	const cache = await caches.open(SHARED_CACHE);
	for (const { url } of await cache.keys()) {
		const kept = await cache.match(url);
		const name = new URL(url).searchParams.get('name');
		if (name === null) words = (await kept?.text()) ?? '';
		else if (kept) files.push({ path: name, file: new File([await kept.blob()], name) });
	}
	await caches.delete(SHARED_CACHE);
	return { words, files };
}
