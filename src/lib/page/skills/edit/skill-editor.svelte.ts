/** One file of a skill while somebody edits it: what is typed is kept in the browser, checked as it grows, and never lost to a conflict. */
import type { SkillCheck, SkillFileText } from '../../../shared/skill-files.ts';
import type { SkillFile } from '../../../shared/skills.ts';
import { type ApiError, asApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { readStored, writeStored } from '../../ui/clipboard.ts';

type EditorClient = Pick<Client, 'readFile' | 'writeFile' | 'checkText'>;

/** After the last key. */
const CHECK_MS = 300;

export class SkillEditor {
	readonly #client: EditorClient;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#checking: AbortController | null = null;
	/** Only the file that was asked for last is shown. */
	#asked = 0;
	/** As the server names the skill; another after a SKILL.md that names it anew. */
	id = $state('');
	path = $state('');
	/** As the server had it; null for a new one and before it is read. */
	file = $state.raw<SkillFileText | null>(null);
	text = $state('');
	check = $state.raw<SkillCheck | null>(null);
	error = $state.raw<ApiError | null>(null);
	/** The file as somebody else has written it meanwhile; null without a conflict, and with `text` null where it is gone. */
	theirs = $state.raw<{ file: SkillFileText | null } | null>(null);
	isLoading = $state(false);
	isSaving = $state(false);
	/** What was typed before came back. */
	isRestored = $state(false);
	readonly isDirty = $derived(this.file !== null && this.text !== asShown(this.file.text));
	readonly isSkillMd = $derived(isSkillFile(this.path));

	constructor(client: EditorClient, id: string) {
		this.#client = client;
		this.id = id;
	}

	/** Never rejects: a failure is in `error`. What was typed in another file stays kept. */
	async open(path: string): Promise<void> {
		const asked = ++this.#asked;
		this.#cancelCheck();
		Object.assign(this, { path, file: null, text: '', check: null, error: null, theirs: null, isRestored: false });
		this.isLoading = true;
		try {
			const file = await this.#client.readFile(this.id, path);
			if (asked !== this.#asked) return;
			this.file = file;
			const kept = readStored('local', this.#key());
			this.isRestored = kept !== null && kept !== asShown(file.text);
			this.text = kept ?? asShown(file.text);
			this.#checkSoon(0);
		} catch (error) {
			if (asked === this.#asked) this.error = asApiError(error);
		} finally {
			if (asked === this.#asked) this.isLoading = false;
		}
	}

	type(text: string): void {
		this.text = text;
		writeStored('local', this.#key(), this.isDirty ? text : null);
		this.#checkSoon(CHECK_MS);
	}

	/** Takes back what was typed. */
	revert(): void {
		if (this.file) this.type(asShown(this.file.text));
		this.isRestored = false;
	}

	/** True when it is on the server; on a conflict `theirs` has what is there. */
	async save(): Promise<boolean> {
		const before = this.file;
		if (!before || this.isSaving) return false;
		this.isSaving = true;
		this.error = null;
		const [path, sent] = [this.path, this.text];
		// A text area knows one kind of line end; the file keeps its own.
		const text = before.text.includes('\r\n') ? sent.replace(/\n/g, '\r\n') : sent;
		const key = this.#key();
		try {
			const file = await this.#client.writeFile(this.id, { path, text, digest: before.digest || null });
			writeStored('local', key, null);
			this.id = file.skill;
			if (path !== this.path) return true;
			this.file = file;
			this.theirs = null;
			this.isRestored = false;
			// What was typed while it was written is not on the server yet.
			if (this.isDirty) writeStored('local', this.#key(), this.text);
			return true;
		} catch (error) {
			const failure = asApiError(error);
			if (failure.code === 'conflict' && (await this.#readTheirs())) return false;
			this.error = failure;
			return false;
		} finally {
			this.isSaving = false;
		}
	}

	/** Writes over what somebody else has written. */
	async keepMine(): Promise<boolean> {
		const { theirs, file, path, id } = this;
		if (!theirs || !file) return false;
		// One that is gone is made anew.
		this.file = theirs.file ?? { ...file, path, skill: id, text: '', digest: '' };
		this.theirs = null;
		return this.save();
	}

	/** Shows what somebody else has written; what was typed here goes. */
	takeTheirs(): void {
		const { theirs } = this;
		if (!theirs?.file) return;
		this.file = theirs.file;
		this.theirs = null;
		this.type(asShown(theirs.file.text));
	}

	/** Applies a fix that the check has found, as if it were typed. */
	fix(fixId: string): void {
		const text = this.check?.fixes[fixId];
		if (text !== undefined) this.type(asShown(text));
	}

	dispose(): void {
		this.#asked++;
		this.#cancelCheck();
	}

	/** False where what is there is what was read: then the conflict is another. */
	async #readTheirs(): Promise<boolean> {
		try {
			const file = await this.#client.readFile(this.id, this.path);
			if (file.digest === this.file?.digest) return false;
			this.theirs = { file };
			return true;
		} catch (error) {
			if (asApiError(error).code !== 'not_found') return false;
			this.theirs = { file: null };
			return true;
		}
	}

	#checkSoon(delayMs: number): void {
		this.#cancelCheck();
		if (!this.isSkillMd) return;
		this.#timer = setTimeout(() => void this.#check(), delayMs);
	}

	async #check(): Promise<void> {
		const checking = new AbortController();
		this.#checking = checking;
		try {
			const check = await this.#client.checkText(this.id, this.text, checking.signal);
			if (!checking.signal.aborted) this.check = check;
		} catch (error) {
			if (!checking.signal.aborted) this.error = asApiError(error);
		}
	}

	#cancelCheck(): void {
		clearTimeout(this.#timer);
		this.#checking?.abort();
	}

	#key(): string {
		return `skill-draft:${this.id}:${this.path}`;
	}
}

/** As a text area has it. */
function asShown(text: string): string {
	return text.replace(/\r\n?/g, '\n');
}

// A list of paths as the tree that it is, folders first, flat enough to be rendered. Pure.

export interface FileNode {
	/** Of a folder with the whole path that leads to it. */
	path: string;
	/** The last part. */
	name: string;
	/** Null for a folder. */
	file: SkillFile | null;
	children: FileNode[];
}

/** The SKILL.md comes first, then folders, then files, each by name. */
export function treeOf(files: readonly SkillFile[]): FileNode[] {
	const root: FileNode = { path: '', name: '', file: null, children: [] };
	// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
	const folders = new Map([['', root]]);
	const folderAt = (path: string): FileNode => {
		const known = folders.get(path);
		if (known) return known;
		const slash = path.lastIndexOf('/');
		const folder: FileNode = { path, name: path.slice(slash + 1), file: null, children: [] };
		folders.set(path, folder);
		folderAt(slash < 0 ? '' : path.slice(0, slash)).children.push(folder);
		return folder;
	};
	for (const file of files) {
		const slash = file.path.lastIndexOf('/');
		const parent = folderAt(slash < 0 ? '' : file.path.slice(0, slash));
		parent.children.push({ path: file.path, name: file.path.slice(slash + 1), file, children: [] });
	}
	for (const folder of folders.values()) folder.children.sort(inOrder);
	return root.children;
}

function inOrder(a: FileNode, b: FileNode): number {
	return rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);
}

function rankOf({ path, file }: FileNode): number {
	if (isSkillFile(path)) return 0;
	return file ? 2 : 1;
}

export function isSkillFile(path: string): boolean {
	return /^skill\.md$/i.test(path);
}

// A SKILL.md as its reader sees it: the instructions without the front matter, lines, what a file is. Pure.

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/;

/** What the model reads when it loads the skill. */
export function bodyOf(skillMd: string): string {
	// The first line keeps its indentation, which may make it code.
	return skillMd
		.replace(FRONT_MATTER, '')
		.replace(/^(?:[^\S\n]*\n)+/, '')
		.trimEnd();
}

/** Lines as an editor counts them: a text that ends in a line break has an empty last one. */
export function countLines(text: string): number {
	let lines = 1;
	for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
	return lines;
}

/** Where line `line` (from 1) begins and ends; the last one for any beyond it. */
export function rangeOfLine(text: string, line: number): [start: number, end: number] {
	let start = 0;
	for (let count = 1; count < line; count++) {
		const next = text.indexOf('\n', start);
		if (next < 0) break;
		start = next + 1;
	}
	const end = text.indexOf('\n', start);
	return [start, end < 0 ? text.length : end];
}

const INTERPRETERS = new Map(
	Object.entries({
		sh: 'Shell',
		bash: 'Bash',
		zsh: 'Zsh',
		py: 'Python',
		rb: 'Ruby',
		pl: 'Perl',
		php: 'PHP',
		lua: 'Lua',
		r: 'R',
		js: 'Node',
		mjs: 'Node',
		cjs: 'Node',
		ts: 'Node',
		mts: 'Node',
		ps1: 'PowerShell'
	})
);

/** What runs a file of this name; null for what is no script. */
export function interpreterOf(path: string): string | null {
	const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
	return INTERPRETERS.get(extension) ?? null;
}
