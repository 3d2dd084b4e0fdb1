/** One file of a skill being edited. Keeps what is typed in the browser, checks it as it grows, and never loses it to a conflict. */
import type { SkillCheck, SkillDiagnostic, SkillFile, SkillFileText } from '../../../shared/skills.ts';
import { cleanText } from '../../text/clean-text.ts';
import { asArray, asObject, isObject, parseJson } from '../../../shared/json.ts';
import type { CodeMark } from './syntax-fault.ts';
import { FRONT_MATTER } from '../../markdown/tokens.ts';
import { type ApiError, asApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { readStored, storedKeys, writeStored } from '../../ui/clipboard.ts';

type EditorClient = Pick<Client, 'readFile' | 'writeFile' | 'checkText'>;

interface UnsavedText {
	path: string;
	text: string;
}

/** Before the folder and path of what was typed, in this browser’s storage. */
const TYPED = 'skill-typed:';

/** Delay after the last key. */
const CHECK_MS = 300;

export class SkillEditor {
	readonly #client: EditorClient;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#checking: AbortController | null = null;
	/** Only the latest request counts. */
	#asked = 0;
	/** The skill's id on the server, one of several it may be opened by; a changed name in SKILL.md changes it. */
	id = $state('');
	path = $state('');
	/** The saved file; null for a new one and before it's read. */
	file = $state.raw<SkillFileText | null>(null);
	text = $state('');
	check = $state.raw<SkillCheck | null>(null);
	error = $state.raw<ApiError | null>(null);
	/** On a conflict, the file as saved by someone else; `file` is null if they deleted it. */
	theirs = $state.raw<{ file: SkillFileText | null } | null>(null);
	/** What the file said before it was saved last, to go back to. */
	earlier = $state<string | null>(null);
	/** What is shown was saved just now. */
	isSaved = $state(false);
	/** That save undid the one before. */
	isUndone = $state(false);
	isLoading = $state(false);
	isSaving = $state(false);
	/** Unsaved text from earlier was restored. */
	isRestored = $state(false);
	/** Another tab of this browser changes the same file. */
	isElsewhere = $state(false);
	/** Those of the skill; null until they are known. */
	files = $state.raw<ReadonlySet<string> | null>(null);
	/** Folder of the skill, once a file was read. */
	#folder = $state<string | null>(null);
	/** Texts of other files that were typed and not saved. */
	#others = $state.raw<readonly UnsavedText[]>([]);
	readonly isDirty = $derived(
		this.file !== null &&
			this.text !== asShown(this.file.text) &&
			!(this.path === EVALS_FILE && addsOnlyBlanks(this.text, this.file.text))
	);
	/** Of all files. */
	readonly unsaved = $derived.by((): UnsavedText[] => [
		...(this.isDirty ? [{ path: this.path, text: this.text }] : []),
		...this.#others.filter(({ path }) => this.files?.has(path) ?? true)
	]);
	readonly isSkillMd = $derived(isSkillFile(this.path));

	constructor(client: EditorClient, id: string) {
		this.#client = client;
		this.id = id;
	}

	/** Never rejects: a failure sets `error`. Unsaved text of another file stays stored. Missing evals begin as `evals`. */
	async open(path: string, evals = EVALS): Promise<void> {
		const asked = ++this.#asked;
		this.#cancelCheck();
		Object.assign(this, {
			path,
			file: null,
			text: '',
			check: null,
			error: null,
			theirs: null,
			isRestored: false,
			isElsewhere: false,
			earlier: null,
			isSaved: false
		});
		this.#readOthers();
		this.isLoading = true;
		try {
			const file = await this.#client.readFile(this.id, path);
			if (asked !== this.#asked) return;
			this.id = file.skill;
			// The key is of its folder.
			this.file = file;
			this.#folder = file.folder;
			this.#readOthers();
			const kept = this.#kept();
			this.isRestored = kept !== null && kept.text !== asShown(file.text);
			this.text = kept?.text ?? asShown(file.text);
			// It was typed on another version, which must not be written over unseen.
			const isOlder = this.isRestored && kept !== null && kept.digest !== file.digest;
			if (isOlder) Object.assign(this, { file: { ...file, digest: kept.digest }, theirs: { file } });
			this.#checkSoon(0);
		} catch (error) {
			if (asked !== this.#asked) return;
			const failure = asApiError(error);
			if (path !== EVALS_FILE || failure.code !== 'not_found') this.error = failure;
			else await this.#begin(evals, asked);
		} finally {
			if (asked === this.#asked) this.isLoading = false;
		}
	}

	/** A file that is not there yet: it is once it is saved. */
	async #begin(text: string, asked: number): Promise<void> {
		const skillMd = await this.#client.readFile(this.id, 'SKILL.md').catch(() => null);
		if (asked !== this.#asked) return;
		const { skill = this.id, folder = this.id, isWritable = true } = skillMd ?? {};
		this.id = skill;
		this.#folder = folder;
		this.#readOthers();
		this.file = { path: this.path, skill, folder, text: '', bytes: 0, digest: '', isExecutable: false, isWritable };
		const kept = this.#kept();
		this.isRestored = kept !== null;
		this.text = kept?.text ?? text;
	}

	type(text: string): void {
		this.text = text;
		this.isSaved = false;
		this.#keep();
		this.#checkSoon(CHECK_MS);
	}

	/** Discards the changes. */
	revert(): void {
		if (this.theirs?.file) return this.takeTheirs();
		this.isRestored = false;
		if (this.file) this.type(asShown(this.file.text));
	}

	/** Resolves to true once saved; a conflict sets `theirs`. */
	async save(): Promise<boolean> {
		const before = this.file;
		if (!before || this.isSaving) return false;
		this.isSaving = true;
		this.error = null;
		const [path, sent] = [this.path, this.text];
		// A text area only has \n; the file keeps its own line endings.
		const text = before.text.includes('\r\n') ? sent.replace(/\n/g, '\r\n') : sent;
		const key = this.#key();
		try {
			const file = await this.#client.writeFile(this.id, { path, text, digest: before.digest || null });
			writeStored('local', key, null);
			this.id = file.skill;
			if (path !== this.path) return true;
			this.file = file;
			this.earlier = before.digest === '' ? null : asShown(before.text);
			this.isUndone = false;
			this.isSaved = true;
			this.theirs = null;
			this.isRestored = false;
			// Text typed during the save isn't saved yet.
			if (this.isDirty) this.#keep();
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

	/** Saves what the file said before; once more goes forth again. */
	async undoSave(): Promise<boolean> {
		const { earlier, isUndone } = this;
		if (earlier === null || this.isDirty || this.isSaving) return false;
		this.type(earlier);
		const isSaved = await this.save();
		if (isSaved) this.isUndone = !isUndone;
		return isSaved;
	}

	/** Overwrites the other version. */
	async keepMine(): Promise<boolean> {
		const { theirs, file, path, id } = this;
		if (!theirs || !file) return false;
		// A deleted file is created again.
		this.file = theirs.file ?? { ...file, path, skill: id, text: '', digest: '' };
		this.theirs = null;
		return this.save();
	}

	/** Replaces the text with the other version. */
	takeTheirs(): void {
		const { theirs } = this;
		if (!theirs?.file) return;
		this.file = theirs.file;
		this.theirs = null;
		this.isRestored = false;
		this.type(asShown(theirs.file.text));
	}

	/** Applies a fix from the check, as if typed. */
	fix(fixId: string): void {
		const text = this.check?.fixes[fixId];
		if (text !== undefined) this.type(asShown(text));
	}

	/** Call with what another tab has stored. */
	heard({ key, newValue }: Pick<StorageEvent, 'key' | 'newValue'>): void {
		this.#readOthers();
		if (!this.file || key !== this.#key()) return;
		this.isElsewhere = newValue !== null && this.#kept()?.text !== this.text;
		// It saved or discarded its own text, not this one.
		if (newValue === null && this.isDirty) this.#keep();
	}

	/** What is typed in the open file is in this browser’s storage: it isn’t full, nor turned off. */
	get isKept(): boolean {
		return !this.isDirty || this.#kept()?.text === this.text;
	}

	dispose(): void {
		this.#asked++;
		this.#cancelCheck();
	}

	/** False if the file hasn't changed: then the conflict is about something else. */
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
			if (checking.signal.aborted) return;
			this.check = check;
			if (this.error?.code === 'unreachable') this.error = null;
		} catch (error) {
			if (!checking.signal.aborted) this.error = asApiError(error);
		}
	}

	#cancelCheck(): void {
		clearTimeout(this.#timer);
		this.#checking?.abort();
	}

	/** In this browser, with the version it was typed on. */
	#keep(): void {
		const { file, text } = this;
		writeStored('local', this.#key(), file && this.isDirty ? JSON.stringify({ digest: file.digest, text }) : null);
	}

	#readOthers(): void {
		const start = this.#keyOf('');
		const paths = storedKeys('local', start).map((key) => key.slice(start.length));
		const others = paths.filter((path) => path !== this.path).sort();
		this.#others = others.flatMap((path) => {
			const kept = readKept(this.#keyOf(path));
			return kept ? [{ path, text: kept.text }] : [];
		});
	}

	#kept(): { digest: string; text: string } | null {
		return readKept(this.#key());
	}

	#key(): string {
		return this.#keyOf(this.path);
	}

	#keyOf(path: string): string {
		return `${TYPED}${this.#folder ?? this.id}:${path}`;
	}
}

function readKept(key: string): { digest: string; text: string } | null {
	const { digest, text } = asObject(parseJson(readStored('local', key) ?? ''));
	return typeof digest === 'string' && typeof text === 'string' ? { digest, text } : null;
}

/** Of any skill: which one it is of is known once the file was read. */
export function hasTyped(path: string): boolean {
	return storedKeys('local', TYPED).some((key) => key.endsWith(`:${path}`));
}

/** Files of a skill whose text was typed and not saved. `path`: of its SKILL.md. */
export function typedIn({ source, path }: { source: string; path: string }): string[] {
	const dir = path.split(/[\\/]/).slice(0, -1).join('/');
	return storedKeys('local', `${TYPED}${source}/`).flatMap((key) => {
		const [folder = '', ...file] = key.slice(TYPED.length + source.length + 1).split(':');
		return dir.endsWith(`/${folder}`) ? [file.join(':')] : [];
	});
}

export const EVALS_FILE = 'evals/evals.json';
const EVALS = `{
	"evals": [
		{
			"prompt": "What somebody would ask",
			"expected_output": "What a good answer says",
			"expectations": ["contains: a word that must be in it"]
		}
	]
}
`;

/** What the form of the evals begins with, and nobody has filled in, is no change: a check, or a prompt with none of its own. */
function addsOnlyBlanks(text: string, saved: string): boolean {
	const [was, is] = [saved, text].map((each) => parseJson(each || '{}'));
	const kept = JSON.stringify(withoutBlanks(is));
	return kept !== JSON.stringify(is) && kept === JSON.stringify(withoutBlanks(was));
}

function withoutBlanks(content: unknown): unknown {
	if (isObject(content)) {
		const { evals, ...rest } = content;
		const kept = asArray(withoutBlanks(evals ?? []));
		return { ...rest, ...(kept.length > 0 && { evals: kept }) };
	}
	if (!Array.isArray(content)) return content;
	return content.flatMap((each: unknown) => {
		if (!isObject(each)) return [each];
		const { expectations, ...rest } = each;
		const checks = asArray(expectations).filter((check) => !isBlank(check));
		const isBegun = Object.entries(rest).every(([key, value]) => key === 'id' || value === '');
		if (isBegun && checks.every((check) => /^skill(?:Not)?Loaded: /.test(String(check)))) return [];
		return [{ ...rest, ...(checks.length > 0 && { expectations: checks }) }];
	});
}

const isBlank = (check: unknown): boolean =>
	check === '' || (isObject(check) && Object.values(check).every((value) => value === ''));

/** Those of a file that have a line; a problem that names no file is of the SKILL.md. */
export function marksOf(problems: readonly SkillDiagnostic[], path: string): CodeMark[] {
	return problems.flatMap(({ line, severity, field, message, file = 'SKILL.md' }) =>
		line === undefined || file.toLowerCase() !== path.toLowerCase()
			? []
			: [{ line, severity, message: cleanText(`${field === '_' ? '' : `${field} `}${message}`) }]
	);
}

/** With the line endings of a text area. */
function asShown(text: string): string {
	return text.replace(/\r\n?/g, '\n');
}

export interface FileNode {
	/** Full path, also of a folder. */
	path: string;
	name: string;
	/** Null for a folder. */
	file: SkillFile | null;
	children: FileNode[];
}

/** The paths as a tree: SKILL.md first, then what it runs and shows, other folders, and files, each by name. */
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
	const at = file ? -1 : ['scripts', 'examples'].indexOf(path);
	if (at >= 0) return 1 + at;
	return file ? 4 : 3;
}

export function countFiles({ file, children }: FileNode): number {
	return file ? 1 : children.reduce((sum, child) => sum + countFiles(child), 0);
}

export function isSkillFile(path: string): boolean {
	return /^skill\.md$/i.test(path);
}

/** The instructions without the front matter. */
export function bodyOf(skillMd: string): string {
	// The first line keeps its indentation, which may make it code.
	return skillMd
		.replace(FRONT_MATTER, '')
		.replace(/^(?:[^\S\n]*\n)+/, '')
		.trimEnd();
}

/** Start and end of a line, from 1; of the last one if there are fewer. */
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

/** Name of the interpreter for this file; null if it isn't a script. */
export function interpreterOf(path: string): string | null {
	const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
	return INTERPRETERS.get(extension) ?? null;
}
