/** The completion list at the caret: what it offers, what is active, when it is open. */
import type { WorkspaceFile } from '../../shared/api.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import type { ChatApp } from '../app/app.svelte.ts';
import type { ChatSession } from '../conversation/session.svelte.ts';
import { problemOf } from '../skills/skill-words.ts';
import { rankBy } from '../text/fuzzy.ts';
import { saveFile } from '../ui/clipboard.ts';

export interface CompletionMenuOptions {
	commands: () => CompletionSources['commands'];
	skills: () => CompletionSources['skills'];
	/** Called each time a file name is started. A rejection counts as no files. */
	readFiles: () => Promise<NonNullable<CompletionSources['files']>>;
}

export class CompletionMenu {
	readonly #options: CompletionMenuOptions;
	/** Null until read. */
	#files = $state.raw<CompletionSources['files'] | null>(null);
	#hasFiles = false;
	/** Position of a name whose list was closed by hand: it stays closed until another name. */
	#closedAt: number | null = null;
	token = $state.raw<Token | null>(null);
	/** Index reached by keyboard or pointer; -1 if none. */
	#visited = $state(-1);
	readonly list: Completion[] = $derived.by(() => {
		if (!this.token) return [];
		const { commands, skills } = this.#options;
		return completionsFor(this.token, { commands: commands(), skills: skills(), files: this.#files });
	});
	readonly isOpen = $derived(this.list.length > 0);
	/** Index in `list`; -1 for none. Defaults to the first selectable one, also for a list that arrives after the name was typed. */
	readonly activeIndex: number = $derived.by(() => {
		if (this.list[this.#visited]?.obstacle === null) return this.#visited;
		return !this.token || this.token.isTentative ? -1 : this.#next(-1, 1);
	});
	readonly active: Completion | null = $derived(this.list[this.activeIndex] ?? null);

	constructor(options: CompletionMenuOptions) {
		this.#options = options;
	}

	/** Call after each change of the text or the caret. */
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

	/** Called when the pointer moves over an option. */
	visit(index: number): void {
		if (this.list[index]?.obstacle === null) this.#visited = index;
	}

	/** Stays closed until another name is started. */
	close(): void {
		this.#closedAt = this.token?.from ?? null;
		this.token = null;
	}

	/** Next selectable index, wrapping around; -1 if there is none. */
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

interface Offer {
	/** Unique within a list. */
	key: string;
	/** Including the sign. */
	label: string;
	name: string;
	description: string;
	/** Why it can't be chosen, or null. */
	obstacle: string | null;
}

export type Completion =
	| (Offer & { kind: 'attach' })
	| (Offer & { kind: 'command'; command: ComposerCommand })
	| (Offer & { kind: 'skill' })
	| (Offer & { kind: 'file'; file: Pick<WorkspaceFile, 'path' | 'bytes'> });

export interface CompletionSources {
	commands: readonly ComposerCommand[];
	skills: readonly Pick<SkillSummary, 'id' | 'name' | 'description' | 'status' | 'mode' | 'diagnostics'>[];
	/** Null until known. */
	files: readonly Pick<WorkspaceFile, 'path' | 'bytes'>[] | null;
}

/** Offered if there are no files. */
const ATTACH: Completion = {
	kind: 'attach',
	key: '@',
	label: 'No files yet',
	name: '',
	description: 'Attach one with +',
	obstacle: null
};

/** The command that is the last row of the skills. */
const INSTALL = 'install';

/** Longer lists are cut: typing another letter narrows them. */
const MOST = 50;
/** Shorter queries match almost every description. */
const MIN_IN_DESCRIPTION = 3;

/** Best match first, unavailable ones last. A slash finds commands, then skills (F7). */
export function completionsFor({ trigger, query }: Token, sources: CompletionSources): Completion[] {
	if (trigger === 'file') {
		const { files } = sources;
		// Anything typed after @ isn't a file name then.
		if (files?.length === 0) return query === '' ? [ATTACH] : [];
		return find((files ?? []).map(fileOf), query).slice(0, MOST);
	}
	const skills = find(sources.skills.map(skillOf), query);
	const inOrder = [...skills.filter(isFree), ...skills.filter((skill) => !isFree(skill))];
	if (trigger === 'skill') {
		// Not while a name is typed: Enter would leave the message.
		const install = query === '' ? sources.commands.find(({ name }) => name === INSTALL) : undefined;
		const last = install ? [{ ...commandOf(install), label: 'Install a skill…', description: '' }] : [];
		return [...inOrder.slice(0, MOST), ...last];
	}
	return [...find(sources.commands.map(commandOf), query), ...inOrder].slice(0, MOST);
}

/** Names first, then descriptions. A fuzzy match must start with the first letter of a word, because Enter chooses it. */
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

/** Of a broken one, what is wrong: what it was described by may be a line of its instructions. */
function skillOf({ id, name, status, mode, ...skill }: CompletionSources['skills'][number]): Completion {
	const obstacle = status === 'broken' ? 'broken' : mode === 'off' ? 'off' : null;
	const description = status === 'broken' ? problemOf(skill) : skill.description;
	return { kind: 'skill', key: `$${id}`, label: `$${name}`, name, description, obstacle };
}

function fileOf(file: NonNullable<CompletionSources['files']>[number]): Completion {
	const { path } = file;
	return { kind: 'file', key: `@${path}`, label: path, name: path, description: '', obstacle: null, file };
}

export interface CommandHost {
	app: Pick<ChatApp, 'go' | 'overlay' | 'toasts' | 'actions'>;
	session: ChatSession;
	/** Opens the model picker. */
	pickModel?: (() => void) | undefined;
	/** Opens the chat's instructions. */
	instruct?: (() => void) | undefined;
	rename: () => void;
}

/** The slash commands that make sense in this chat right now. */
export function composerCommands({ app, session, pickModel, instruct, rename }: CommandHost): ComposerCommand[] {
	const save = (format: 'json' | 'markdown') => () => saveFile(app.actions.exportUrl(session.id, format));
	const stored: ComposerCommand[] = [
		{ name: 'rename', description: 'Rename this chat', run: rename },
		{
			name: 'save-skill',
			description: 'Save this chat as a skill',
			run: () => void app.actions.saveAsSkill(session.id)
		},
		{ name: 'export', description: 'Export this chat as Markdown', run: save('markdown') },
		{ name: 'export-json', description: 'Export this chat as JSON', run: save('json') }
	];
	return [
		...(session.isRunning ? [{ name: 'stop', description: 'Stop the answer', run: () => void session.stop() }] : []),
		{ name: 'new', description: 'Start a new chat', run: () => void app.go('/') },
		...(pickModel ? [{ name: 'model', description: 'Choose a model', run: pickModel }] : []),
		...(instruct ? [{ name: 'instructions', description: 'Give this chat instructions', run: instruct }] : []),
		{ name: 'skills', description: 'Browse skills', run: () => void app.go('/skills') },
		...(session.phase === 'ready' ? stored : []),
		{ name: 'clear', description: 'Clear your message', run: () => clear(app, session) },
		{ name: 'help', description: 'Show keyboard shortcuts', run: () => (app.overlay = 'shortcuts') },
		{ name: INSTALL, description: 'Install a skill', run: () => void app.go('/skills/install') }
	];
}

function clear(app: Pick<ChatApp, 'toasts'>, { draft }: ChatSession): void {
	if (draft.isEmpty) return;
	const removed = draft.clear();
	app.toasts.show({ text: 'Draft cleared', action: { label: 'Undo', run: () => draft.restore(removed) } });
}

export type Trigger = 'command' | 'skill' | 'file';

export interface Token {
	trigger: Trigger;
	/** The name up to the caret. */
	query: string;
	/** Range of the whole token with its sign: `[from, to)`. */
	from: number;
	to: number;
	/** Perhaps not a name: a bare sign after other words, as in “5 $”. Enter must not choose then. */
	isTentative: boolean;
}

const SIGNS: Record<string, Trigger> = { '/': 'command', $: 'skill', '@': 'file' };
/** `/usr/bin` and `/2` aren't commands; `$5`, `$(x)` and `${x}` aren't skills. */
const NAMES: Record<Trigger, RegExp> = {
	command: /^(?!\d)[\p{L}\p{N}_-]*$/u,
	skill: /^(?!\d)[\p{L}\p{N}_-]*$/u,
	file: /^[^\s@]*$/
};
const MAX_QUERY = 64;

/**
 * The command, skill or file being named at the caret, or null. A command starts its line; a skill or file starts a word, so
 * `a@b.c` and `US$` are neither (F7).
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

/** Length of the name after the caret. */
function restOf(trigger: Trigger, after: string): number {
	return (trigger === 'file' ? /^[^\s@]*/ : /^[\p{L}\p{N}_-]*/u).exec(after)?.[0].length ?? 0;
}

export interface ComposerCommand {
	/** Without the slash. */
	name: string;
	description: string;
	run: () => void;
}
