/** The list of names under the caret: what is in it, what is chosen of it, when it is open. */
import type { WorkspaceFile } from '../../shared/api.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import type { ChatApp } from '../app/app.svelte.ts';
import type { ChatSession } from '../conversation/session.svelte.ts';
import { rankBy } from '../text/fuzzy.ts';

export interface CompletionMenuOptions {
	commands: () => CompletionSources['commands'];
	skills: () => CompletionSources['skills'];
	/** Read once each time that a file is named. A rejection counts as none. */
	readFiles: () => Promise<NonNullable<CompletionSources['files']>>;
}

export class CompletionMenu {
	readonly #options: CompletionMenuOptions;
	/** Null before they were read. */
	#files = $state.raw<CompletionSources['files'] | null>(null);
	#hasFiles = false;
	/** Closed by hand: it stays closed while the same name is written. */
	#closedAt: number | null = null;
	token = $state.raw<Token | null>(null);
	/** Where somebody went in the list; -1 while nobody has gone anywhere. */
	#visited = $state(-1);
	readonly list: Completion[] = $derived.by(() => {
		if (!this.token) return [];
		const { commands, skills } = this.#options;
		return completionsFor(this.token, { commands: commands(), skills: skills(), files: this.#files });
	});
	readonly isOpen = $derived(this.list.length > 0);
	/** Of `list`; -1 for none. Skills and files may come after the name was written: then it is the first that can be chosen. */
	readonly activeIndex: number = $derived.by(() => {
		if (this.list[this.#visited]?.obstacle === null) return this.#visited;
		return !this.token || this.token.isTentative ? -1 : this.#next(-1, 1);
	});
	readonly active: Completion | null = $derived(this.list[this.activeIndex] ?? null);

	constructor(options: CompletionMenuOptions) {
		this.#options = options;
	}

	/** Call it after each change of the text or the caret. */
	look(text: string, caret: number): void {
		const token = tokenAt(text, caret);
		if (!token || token.from !== this.#closedAt) this.#closedAt = null;
		const isSame = token?.from === this.token?.from && token?.query === this.token?.query;
		this.token = this.#closedAt === null ? token : null;
		if (token?.trigger === 'file') void this.#readFiles();
		else this.#hasFiles = false;
		if (!isSame) this.#visited = -1;
	}

	move(to: 'next' | 'previous' | 'first' | 'last'): void {
		if (to === 'next') this.#visited = this.#next(this.activeIndex, 1);
		else if (to === 'previous') this.#visited = this.#next(Math.max(this.activeIndex, 0), -1);
		else this.#visited = to === 'first' ? this.#next(-1, 1) : this.#next(0, -1);
	}

	/** The pointer is on it. */
	visit(index: number): void {
		if (this.list[index]?.obstacle === null) this.#visited = index;
	}

	/** Until another name is begun. */
	close(): void {
		this.#closedAt = this.token?.from ?? null;
		this.token = null;
	}

	/** The nearest that can be chosen, round and round; -1 where none can. */
	#next(from: number, step: 1 | -1): number {
		const { length } = this.list;
		for (let count = 1; count <= length; count++) {
			const index = (from + step * count + length * 2) % length;
			if (this.list[index]?.obstacle === null) return index;
		}
		return -1;
	}

	async #readFiles(): Promise<void> {
		if (this.#hasFiles) return;
		this.#hasFiles = true;
		this.#files = await this.#options.readFiles().catch(() => []);
	}
}

// What is offered for a name that somebody has begun to write. Pure (FEATURES F7).

interface Offer {
	/** Within one list no other has it. */
	key: string;
	/** With its sign. */
	label: string;
	name: string;
	description: string;
	/** Why it cannot be chosen; null when it can. */
	obstacle: string | null;
}

export type Completion =
	| (Offer & { kind: 'attach' })
	| (Offer & { kind: 'command'; command: ComposerCommand })
	| (Offer & { kind: 'skill' })
	| (Offer & { kind: 'file'; file: Pick<WorkspaceFile, 'path' | 'bytes'> });

export interface CompletionSources {
	commands: readonly ComposerCommand[];
	skills: readonly Pick<SkillSummary, 'id' | 'name' | 'description' | 'status' | 'mode'>[];
	/** Null while nobody knows. */
	files: readonly Pick<WorkspaceFile, 'path' | 'bytes'>[] | null;
}

/** In place of files where there are none. */
const ATTACH: Completion = {
	kind: 'attach',
	key: '@',
	label: 'No files yet',
	name: '',
	description: 'Attach one with +',
	obstacle: null
};

/** Of more than these somebody writes another letter. */
const MOST = 50;
/** Fewer letters begin some word of every description. */
const MIN_IN_DESCRIPTION = 3;

/** Best first; what cannot be chosen comes last. A slash finds commands, and then skills. */
export function completionsFor({ trigger, query }: Token, sources: CompletionSources): Completion[] {
	if (trigger === 'file') {
		const { files } = sources;
		// Who writes a name that begins so means something else.
		if (files?.length === 0) return query === '' ? [ATTACH] : [];
		return find((files ?? []).map(fileOf), query).slice(0, MOST);
	}
	const skills = find(sources.skills.map(skillOf), query);
	const inOrder = [...skills.filter(isFree), ...skills.filter((skill) => !isFree(skill))];
	if (trigger === 'skill') return inOrder.slice(0, MOST);
	return [...find(sources.commands.map(commandOf), query), ...inOrder].slice(0, MOST);
}

/** Names first, then descriptions. Letters may be left out of a name, but not the first one of a word: Enter would choose it. */
function find(all: readonly Completion[], query: string): Completion[] {
	const wanted = query.toLowerCase();
	const named = rankBy(
		all.filter(
			({ name }) => name.toLowerCase().includes(wanted) || wordsOf(name).some((word) => word[0] === wanted[0])
		),
		query,
		({ name }) => name
	);
	if (wanted.length < MIN_IN_DESCRIPTION) return named;
	const described = all.filter(({ description }) => wordsOf(description).some((word) => word.startsWith(wanted)));
	return [...named, ...described.filter((completion) => !named.includes(completion))];
}

function wordsOf(text: string): string[] {
	return text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
}

function isFree({ obstacle }: Offer): boolean {
	return obstacle === null;
}

function commandOf(command: ComposerCommand): Completion {
	const { name, description } = command;
	return { kind: 'command', key: `/${name}`, label: `/${name}`, name, description, obstacle: null, command };
}

function skillOf({ id, name, description, status, mode }: CompletionSources['skills'][number]): Completion {
	const obstacle = status === 'broken' ? 'broken' : mode === 'off' ? 'off' : null;
	return { kind: 'skill', key: `$${id}`, label: `$${name}`, name, description, obstacle };
}

function fileOf(file: NonNullable<CompletionSources['files']>[number]): Completion {
	const { path } = file;
	return { kind: 'file', key: `@${path}`, label: path, name: path, description: '', obstacle: null, file };
}

// The commands of the box, for one conversation: what makes no sense at the moment is left out.

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
		{ name: 'rename', description: 'Rename this chat', run: rename },
		{ name: 'export', description: 'Export this chat as Markdown', run: save('markdown') },
		{ name: 'export-json', description: 'Export this chat as JSON', run: save('json') }
	];
	return [
		...(session.isRunning ? [{ name: 'stop', description: 'Stop the answer', run: () => void session.stop() }] : []),
		{ name: 'new', description: 'Start a new chat', run: () => void app.go('/') },
		...(pickModel ? [{ name: 'model', description: 'Choose a model', run: pickModel }] : []),
		{ name: 'skills', description: 'Browse skills', run: () => void app.go('/skills') },
		...(session.phase === 'ready' ? stored : []),
		{ name: 'clear', description: 'Clear your message', run: () => clear(app, session) },
		{ name: 'help', description: 'Show keyboard shortcuts', run: () => (app.overlay = 'shortcuts') }
	];
}

function clear(app: Pick<ChatApp, 'toasts'>, { draft }: ChatSession): void {
	if (draft.isEmpty) return;
	const removed = draft.clear();
	app.toasts.show({ text: 'Draft cleared', action: { label: 'Undo', run: () => draft.restore(removed) } });
}

function saveFile(url: string): void {
	const link = document.createElement('a');
	link.href = url;
	link.download = '';
	link.click();
}

// What is being named at the caret: a command, a skill or a file. Pure (FEATURES F7).

export type Trigger = 'command' | 'skill' | 'file';

export interface Token {
	trigger: Trigger;
	/** What has been written of the name, up to the caret. */
	query: string;
	/** Of the whole token with its sign: `[from, to)`. */
	from: number;
	to: number;
	/** Perhaps no name at all: a bare sign after other words, as in “5 $”. Enter must not choose then. */
	isTentative: boolean;
}

const SIGNS: Record<string, Trigger> = { '/': 'command', $: 'skill', '@': 'file' };
/** `/usr/bin` and `/2` are no commands; `$5`, `$(x)` and `${x}` no skills. */
const NAMES: Record<Trigger, RegExp> = {
	command: /^(?!\d)[\p{L}\p{N}_-]*$/u,
	skill: /^(?!\d)[\p{L}\p{N}_-]*$/u,
	file: /^[^\s@]*$/
};
const MAX_QUERY = 64;

/**
 * Null where nothing is named. A command begins its line; a skill or a file begins a word, so neither `a@b.c` nor `US$` names
 * anything.
 */
export function tokenAt(text: string, caret: number): Token | null {
	const lineStart = text.lastIndexOf('\n', caret - 1) + 1;
	const line = text.slice(lineStart, caret);
	const match = /(?:^|[\s(])([/$@])([^\s$@(]*)$/.exec(line.slice(-MAX_QUERY - 2));
	const [, sign = '', query = ''] = match ?? [];
	const trigger = SIGNS[sign];
	if (!trigger || !NAMES[trigger].test(query)) return null;
	const from = caret - query.length - 1;
	const before = text.slice(lineStart, from);
	if (trigger === 'command' && before.trim() !== '') return null;
	const isTentative = query === '' && before.trim() !== '';
	return { trigger, query, from, to: caret + restOf(trigger, text.slice(caret, caret + MAX_QUERY)), isTentative };
}

/** How far the name goes on after the caret. */
function restOf(trigger: Trigger, after: string): number {
	return (trigger === 'file' ? /^[^\s@]*/ : /^[\p{L}\p{N}_-]*/u).exec(after)?.[0].length ?? 0;
}

// What can be done by writing a slash and a word.

export interface ComposerCommand {
	/** Without the slash. */
	name: string;
	/** In a sentence. */
	description: string;
	run: () => void;
}
