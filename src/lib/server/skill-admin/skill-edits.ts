/** What files of skills said before each edit, kept by digest outside of the skills' folders (F1). */
import { isUtf8 } from 'node:buffer';
import { hash, randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ChangeObject, diffLines } from 'diff';
import { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { createLines, type Exclusively } from '../../shared/in-turn.ts';
import type { SkillEdit } from '../../shared/skills.ts';
import { MAX_SKILL_DESCRIPTION } from '../../shared/names.ts';
import { problemIn } from '../skills/doctor/doctor.ts';
import { readFrontMatter } from '../skills/read/front-matter.ts';
import { readIndex, writeIndex, writeWhole } from '../workspace-versions.ts';

/** Of one skill; the oldest go first. */
const MAX_EDITS = 100;
const MAX_BYTES = 20 * 1024 * 1024;
/** Writes of one file that follow the first one this soon are one edit. */
const JOINED_MS = 10_000;
/** Of what is compared for the list. */
const MAX_COMPARED_BYTES = 100_000;
const MAX_CHANGED_LINES = 300;
/** Characters of a line that is shown. */
const MAX_LINE = 80;
const SKILL_MD = 'SKILL.md';
/** What chats choose a skill by matters more than any line of its text. */
const NAMING = /^(?:description|name):/;

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const edit = z.object({
	id: z.string(),
	editedAt: z.string(),
	isReturn: z.boolean(),
	// Those kept by earlier versions of the app don't say it.
	isDraft: z.boolean().default(false),
	/** Of a return: the edit before which it went. */
	backTo: z.string().optional(),
	/** Of all files before it, if they were trusted. */
	trusted: digest.nullable().default(null),
	/** null: there was no such file before, or there is none after. */
	files: z.array(
		z.object({
			path: z.string(),
			before: z.object({ id: digest, bytes: z.number(), mode: z.number() }).nullable(),
			after: digest.nullable()
		})
	)
});
type Edit = z.infer<typeof edit>;

export interface EditedFile {
	path: string;
	before: { id: string; bytes: Buffer; mode: number } | null;
	after: string | null;
}

export interface SkillEdits {
	/** Keeps what files say that are about to be changed. A return to before an edit and a saved draft are never joined with others. */
	keep(dir: string, files: readonly EditedFile[], as?: { backTo: string } | 'draft'): Promise<void>;
	/** Newest first, without those that came to nothing. `now` reads a file of the skill; null, as without it: what it says isn’t told. */
	list(dir: string, now?: ReadNow): Promise<SkillEdit[]>;
	/** What the files of one edit said before and after it; no bytes: that isn’t kept. @throws AppError `not_found` */
	ofEdit(dir: string, id: string, now?: ReadNow): Promise<{ path: string; before: FileThen; after: FileThen }[]>;
	/** Whether its SKILL.md said this name before an edit. */
	hadName(dir: string, name: string): Promise<boolean>;
	/** The description that its SKILL.md had last, and when the edit was before which it had it; null if none is known. */
	lastDescription(dir: string): Promise<{ text: string; editedAt: string } | null>;
	/** Whether all files of the skill were trusted with this digest before an edit. */
	wasTrusted(dir: string, digest: string): Promise<boolean>;
	/** Once trust was withdrawn, no return brings it back. */
	forgetTrust(dir: string): Promise<void>;
	/** What all files that were changed since said before this edit; null: not there. @throws AppError `not_found` */
	before(dir: string, id: string): Promise<{ path: string; before: { bytes: Buffer; mode: number } | null }[]>;
}

/** Reads a file of the skill. */
type ReadNow = (path: string) => Promise<Buffer | null>;
/** null: not there. */
type FileThen = { sha256: string; bytes: Buffer | null } | null;

/** Runs what changes the skill in a folder, as `FolderChanges.change`. */
export type ChangeSkill = <Result>(
	dir: string,
	work: () => Promise<Result>
) => Promise<{ result: Result; unkept: string | null }>;

/** `folderOf`: a folder of the server's own for each folder of a skill. `trustedIn`: the digest of its files, if they are trusted. */
export function createSkillEdits(
	folderOf: (dir: string) => string,
	{
		now = Date.now,
		exclusively = createLines(),
		trustedIn = async () => null
	}: { now?: () => number; exclusively?: Exclusively; trustedIn?: (dir: string) => Promise<string | null> } = {}
): SkillEdits {
	const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => exclusively('skill-edits', work);
	const readAll = async (dir: string): Promise<Edit[]> => (await readIndex(folderOf(dir), z.array(edit))) ?? [];
	const indexOf = (edits: readonly Edit[], id: string): number => {
		const at = edits.findIndex((each) => each.id === id);
		if (at < 0) throw new AppError('not_found', 'This edit is no longer kept.');
		return at;
	};
	/** What an edit made of a file is kept by the next one of it, or is what it says now. */
	const bytesOf = async (dir: string, path: string, id: string, nowOf: ReadNow): Promise<Buffer | null> => {
		const bytes = await readFile(join(folderOf(dir), id)).catch(() => nowOf(path));
		return bytes !== null && hash('sha256', bytes) === id ? bytes : null;
	};
	return {
		keep: (dir, files, as) =>
			inTurn(async () => {
				const folder = folderOf(dir);
				await mkdir(folder, { recursive: true, mode: 0o700 });
				const known = (await readAll(dir)).filter(isChange);
				const changes = files.map(({ path, before, after }) => ({
					path,
					before: before && { id: before.id, bytes: before.bytes.length, mode: before.mode },
					after
				}));
				for (const { before } of files) if (before) await writeWhole(folder, before.id, before.bytes);
				const last = known.at(-1);
				const isSoon = last !== undefined && now() - Date.parse(last.editedAt) < JOINED_MS;
				const joined = isSoon && as === undefined ? joinedWith(last, changes) : null;
				const back = typeof as === 'object' ? as : {};
				const kind = {
					isReturn: typeof as === 'object',
					isDraft: as === 'draft',
					...back,
					trusted: await trustedIn(dir)
				};
				const edits = joined
					? [...known.slice(0, -1), joined]
					: [...known, { id: randomUUID(), editedAt: new Date(now()).toISOString(), ...kind, files: changes }];
				const kept = fitting(edits);
				await writeIndex(folder, kept, idsOf(kept));
			}),
		list: (dir, nowOf = () => Promise.resolve(null)) =>
			inTurn(async () => {
				const edits = (await readAll(dir)).filter(isChange).reverse();
				const textOf = async (path: string, id: string | null): Promise<string | null> => {
					if (id === null) return '';
					const bytes = await bytesOf(dir, path, id, nowOf);
					return bytes !== null && bytes.length <= MAX_COMPARED_BYTES && isUtf8(bytes) ? bytes.toString() : null;
				};
				/** Of the SKILL.md, from now on backwards. */
				const told = (text: string | null) =>
					text === null ? {} : { problem: problemIn(text, dir), name: partsIn(text)?.name };
				const current = told(await nowOf(SKILL_MD).then((bytes) => bytes?.toString() ?? null));
				const befores: ReturnType<typeof told>[] = [];
				for (const { files } of edits) {
					const file = files.find(({ path }) => path === SKILL_MD);
					const later = befores.at(-1) ?? current;
					befores.push(file ? told(await textOf(SKILL_MD, file.before?.id ?? null)) : later);
				}
				return Promise.all(
					edits.map(async ({ files, trusted: _, ...rest }, index) => {
						/** What a file was called before: nothing else changed in it. */
						const fromOf = ({ before, after }: (typeof files)[number]): string | undefined =>
							before === null ? files.find((old) => old.after === null && old.before?.id === after)?.path : undefined;
						const renamed = new Set(files.map(fromOf));
						const texts = await Promise.all(
							files.map(async (file) => {
								if (renamed.has(file.path) || fromOf(file) !== undefined) return ['', ''] as const;
								return [await textOf(file.path, file.before?.id ?? null), await textOf(file.path, file.after)] as const;
							})
						);
						const kinds = files.map((file, at) => {
							const { path, before, after } = file;
							const from = fromOf(file);
							const kind =
								before === null ? ('added' as const) : after === null ? ('removed' as const) : ('changed' as const);
							const parts = path === SKILL_MD && kind === 'changed' ? changedParts(...(texts[at] ?? [null, null])) : [];
							return { path, kind, ...(parts.length > 0 && { parts }), ...(from !== undefined && { from }) };
						});
						const { problem, name } = befores[index] ?? {};
						const told = texts.map((each) => changesIn(...each));
						const line =
							told.map((each, at) => each && files[at]?.path === SKILL_MD && firstLineOf(each, NAMING)).find(Boolean) ||
							told.map((each) => each && firstLineOf(each)).find(Boolean);
						return {
							...{ ...rest, files: kinds, lines: sumOf(told.map((each) => each && countLines(each))) },
							...(line && { line }),
							...backTo(edits, index),
							...(problem !== undefined && { problem }),
							...(typeof name === 'string' && typeof current.name === 'string' && name !== current.name && { name })
						};
					})
				);
			}),
		ofEdit: (dir, id, nowOf = () => Promise.resolve(null)) =>
			inTurn(async () => {
				const edits = await readAll(dir);
				const then = async (path: string, sha256: string | null | undefined): Promise<FileThen> =>
					sha256 ? { sha256, bytes: await bytesOf(dir, path, sha256, nowOf) } : null;
				return Promise.all(
					(edits[indexOf(edits, id)]?.files ?? []).map(async ({ path, before, after }) => ({
						path,
						before: await then(path, before?.id),
						after: await then(path, after)
					}))
				);
			}),
		async hadName(dir, name) {
			const files = (await readAll(dir)).flatMap((each) => each.files);
			for (const id of new Set(files.flatMap(({ path, before }) => (path === SKILL_MD ? (before?.id ?? []) : [])))) {
				// An older one may go meanwhile.
				const text = await readFile(join(folderOf(dir), id), 'utf8').catch(() => '');
				if (partsIn(text)?.name === name) return true;
			}
			return false;
		},
		async lastDescription(dir) {
			for (const { files, editedAt } of (await readAll(dir)).toReversed()) {
				const before = files.find(({ path }) => path === SKILL_MD)?.before;
				if (!before) continue;
				// An older one may go meanwhile.
				const text = await readFile(join(folderOf(dir), before.id), 'utf8').catch(() => '');
				const description = partsIn(text)?.description;
				if (typeof description !== 'string' || description.trim() === '') continue;
				if (description.trim().length <= MAX_SKILL_DESCRIPTION) return { text: description.trim(), editedAt };
			}
			return null;
		},
		wasTrusted: async (dir, digest) => (await readAll(dir)).some(({ trusted }) => trusted === digest),
		forgetTrust: (dir) =>
			inTurn(async () => {
				const edits = await readAll(dir);
				if (edits.every(({ trusted }) => trusted === null)) return;
				const kept = edits.map((each) => ({ ...each, trusted: null }));
				await writeIndex(folderOf(dir), kept, idsOf(kept));
			}),
		before: (dir, id) =>
			inTurn(async () => {
				const edits = await readAll(dir);
				const at = indexOf(edits, id);
				const oldest = new Map<string, Edit['files'][number]['before']>();
				for (const { path, before } of edits.slice(at).flatMap(({ files }) => files)) {
					if (!oldest.has(path)) oldest.set(path, before);
				}
				return Promise.all(
					[...oldest].map(async ([path, kept]) => ({
						path,
						before: kept && { bytes: await readFile(join(folderOf(dir), kept.id)), mode: kept.mode }
					}))
				);
			})
	};
}

/** The fields and the instructions of a SKILL.md; null if it has no front matter that can be read. */
function partsIn(text: string): Record<string, unknown> | null {
	const front = readFrontMatter(text);
	return 'field' in front ? null : { ...front.data, instructions: front.body };
}

function changedParts(before: string | null, after: string | null): string[] {
	const [was, is] = [before, after].map((text) => (text === null ? null : partsIn(text)));
	if (!was || !is) return [];
	return [...new Set(Object.keys({ ...is, ...was }))].filter((part) => !isDeepStrictEqual(was[part], is[part]));
}

type Lines = SkillEdit['lines'];

/** null if one of them isn’t known, or comparing takes too long. */
function changesIn(before: string | null, after: string | null): ChangeObject<string>[] | null {
	if (before === null || after === null) return null;
	return diffLines(before, after, { maxEditLength: MAX_CHANGED_LINES }) ?? null;
}

function countLines(changes: readonly ChangeObject<string>[]): NonNullable<Lines> {
	const count = (some: { count: number }[]): number => some.reduce((sum, each) => sum + each.count, 0);
	return {
		added: count(changes.filter(({ added }) => added)),
		removed: count(changes.filter(({ removed }) => removed))
	};
}

/** `wanted`: which lines may be told. */
function firstLineOf(changes: readonly ChangeObject<string>[], wanted = /[\p{L}\p{N}]/u): string | undefined {
	const first = (sign: string, some: { value: string }[]): string | undefined => {
		const line = some
			.flatMap(({ value }) => value.split('\n'))
			.map((each) => each.trim())
			// What only opens something, such as `{` or `"evals": [`, tells nothing.
			.find((each) => wanted.test(each) && !/^"[^"]*":\s*[[{]$/.test(each));
		return line && `${sign} ${line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).trimEnd()}…` : line}`;
	};
	return (
		first(
			'+',
			changes.filter(({ added }) => added)
		) ??
		first(
			'−',
			changes.filter(({ removed }) => removed)
		)
	);
}

/** The edit before which the files were the same already, and whether it's the one that was made last. Newest first. */
function backTo(edits: readonly Edit[], index: number): Pick<SkillEdit, 'backTo' | 'isUndo'> {
	/** Of each file that was changed since: what it says after this edit. */
	const after = new Map<string, string | null>();
	const before = new Map<string, string | null>();
	for (let at = index; at < edits.length; at++) {
		for (const file of edits[at]?.files ?? []) {
			if (!after.has(file.path)) after.set(file.path, file.after);
			before.set(file.path, file.before?.id ?? null);
		}
		if ([...after].some(([path, id]) => before.get(path) !== id)) continue;
		const { isReturn, isDraft, backTo = edits[at]?.id } = edits[index] ?? {};
		const isUndo = at === index + 1 && !isReturn && !isDraft;
		return { backTo, ...(isUndo && { isUndo }) };
	}
	return {};
}

function sumOf(counts: readonly Lines[]): Lines {
	return counts.reduce(
		(sum, each) => sum && each && { added: sum.added + each.added, removed: sum.removed + each.removed },
		{ added: 0, removed: 0 }
	);
}

/**
 * null if it was a return, a draft or a deletion, or of other files: one can go back to each; or if something else changed
 * the file in between: that content would be lost.
 */
function joinedWith(last: Edit, [change, ...others]: Edit['files']): Edit | null {
	const [file, ...more] = last.files;
	if (last.isReturn || last.isDraft || !file || !change || others.length + more.length > 0) return null;
	// Begun twice at once.
	if (isDeepStrictEqual(file, change)) return last;
	if (file.path !== change.path || file.after !== (change.before?.id ?? null)) return null;
	// What was written in between would be nowhere.
	if (change.after === null || change.after === (file.before?.id ?? null)) return null;
	return { ...last, files: [{ ...file, after: change.after }] };
}

function isChange({ files }: Edit): boolean {
	return files.some(({ before, after }) => (before?.id ?? null) !== after);
}

function fitting(edits: readonly Edit[]): Edit[] {
	let kept = edits.slice(-MAX_EDITS);
	const sizeOf = (some: readonly Edit[]) => {
		const sizes = new Map(some.flatMap(({ files }) => files.map(({ before }) => [before?.id, before?.bytes ?? 0])));
		return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
	};
	while (kept.length > 1 && sizeOf(kept) > MAX_BYTES) kept = kept.slice(1);
	return kept;
}

function idsOf(edits: readonly Edit[]): string[] {
	return edits.flatMap(({ files }) => files.flatMap(({ before }) => before?.id ?? []));
}
