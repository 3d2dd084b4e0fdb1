/** One file of a skill while somebody edits it: what is typed is kept in the browser, checked as it grows, and never lost to a conflict. */
import type { SkillCheck, SkillFileText } from '../shared/skill-files.ts';
import { asApiError, type ApiError } from './api-error.ts';
import { isSkillFile } from './file-tree.ts';
import type { SkillFilesClient } from './skill-files-client.ts';
import { readStored, writeStored } from './stored.ts';

type EditorClient = Pick<SkillFilesClient, 'readFile' | 'writeFile' | 'checkText'>;

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
