/** The skills `file_read` and `file_write`, for workspace files only (D27). */
import { isUtf8 } from 'node:buffer';
import { hash, randomUUID } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import { readUpTo } from '../foreign-folders.ts';
import { holdFolder, isForbidden, openInside, safeSegments } from '../safe-path.ts';
import { SkillError, type SkillErrorType } from '../skills/types.ts';
import type { WorkspaceRooms } from '../workspace-rooms.ts';
import { type Builtin, type BuiltinOutcome, defineBuiltin, WORKSPACE_LANE } from './builtin.ts';
import { type HybridExecutor, runFileProgram } from './hybrid.ts';
import type { SandboxRunner } from './programs.ts';

export interface FileToolOptions {
	hybrid: HybridExecutor;
	runner: SandboxRunner;
	maxBytes: number;
	/** In the sandbox. */
	timeoutMs: number;
}

const ENCODING = { type: 'string', enum: ['utf8', 'base64'], description: 'Default: utf8.' };
const PATH = { type: 'string', minLength: 1, description: 'Relative to the working directory, with “/”.' };

export function createFileRead({ hybrid, runner, maxBytes, timeoutMs }: FileToolOptions): Builtin {
	return defineBuiltin({
		name: 'file_read',
		description: `Read a file of the working directory, at most ${sizeOf(maxBytes)}.`,
		tags: ['read file', 'open file', 'file contents', 'show file'],
		lane: null,
		asksFirst: false,
		sandbox: 'direct',
		properties: { path: PATH, encoding: ENCODING },
		required: ['path'],
		async run({ path: asked, encoding = 'utf8' }, context) {
			const path = checkWorkspacePath(asked as string);
			const outcome = (content: Buffer, sandbox: string): BuiltinOutcome => {
				if (encoding === 'utf8' && !isUtf8(content)) {
					throw new SkillError('InvalidArgs', `“${path}” isn’t UTF-8 text.`, 'Read it with encoding “base64”.');
				}
				const text = content.toString(encoding as 'utf8' | 'base64');
				return { ok: true, value: { path, encoding, bytes: content.length, content: text }, sandbox };
			};
			return hybrid.execute(
				{
					isTrusted: true,
					isRepeatable: true,
					direct: async () => outcome(await readWhole(context.workspace, path, maxBytes), 'direct'),
					sandboxed: runner.reason() === null ? sandboxed : null
				},
				context.signal
			);

			async function sandboxed(signal: AbortSignal): Promise<BuiltinOutcome> {
				const call = { kind: 'read', path, maxBytes } as const;
				const answer = await runFileProgram(runner, call, { context: { ...context, signal }, timeoutMs });
				return outcome(Buffer.from(answer.content ?? '', 'base64'), runner.sandbox.name);
			}
		}
	});
}

export function createFileWrite(options: FileToolOptions & { rooms: WorkspaceRooms }): Builtin {
	const { hybrid, runner, rooms, maxBytes, timeoutMs } = options;
	return defineBuiltin({
		name: 'file_write',
		description: `Write a file of the working directory, at most ${sizeOf(maxBytes)}. Creates missing folders.`,
		tags: ['write file', 'save file', 'create file', 'save as', 'append to'],
		lane: WORKSPACE_LANE,
		asksFirst: false,
		sandbox: 'direct',
		properties: {
			path: PATH,
			content: { type: 'string', description: 'The whole content, in the given encoding.' },
			encoding: ENCODING,
			append: { type: 'boolean', description: 'Append to an existing file. Default: false.' },
			overwrite: { type: 'boolean', description: 'false: an existing file is an error. Default: true.' }
		},
		required: ['path', 'content'],
		async run({ path: asked, content: text, encoding = 'utf8', append = false, overwrite = true }, context) {
			const path = checkWorkspacePath(asked as string);
			const content = decode(text as string, encoding as 'utf8' | 'base64');
			const options = { path, maxBytes, append: append === true, overwrite: overwrite === true };
			const outcome = (bytes: number, sandbox: string): BuiltinOutcome => {
				return { ok: true, value: { path, bytes }, files: [{ path, bytes }], sandbox };
			};
			const room = { rooms, path, bytes: content.length, append: options.append };
			return writeInRoom(context.workspace, room, () =>
				hybrid.execute(
					{
						isTrusted: true,
						isRepeatable: !options.append,
						direct: async (signal) =>
							outcome(await writeWhole(context.workspace, content, { ...options, signal }), 'direct'),
						sandboxed: runner.reason() === null ? sandboxed : null
					},
					context.signal
				)
			);

			async function sandboxed(signal: AbortSignal): Promise<BuiltinOutcome> {
				const staging = stagingName();
				const call = { kind: 'write', ...options, content: content.toString('base64'), staging } as const;
				const { bytes } = await runFileProgram(runner, call, { context: { ...context, signal }, timeoutMs });
				return outcome(bytes, runner.sandbox.name);
			}
		}
	});
}

function decode(text: string, encoding: 'utf8' | 'base64'): Buffer {
	const content = Buffer.from(text, encoding);
	if (encoding === 'base64' && content.toString('base64') !== text) {
		throw new SkillError('InvalidArgs', 'The content isn’t base64.');
	}
	return content;
}

// Reads and writes whole workspace files without following links (D27).

const TYPES: Partial<Record<ErrorCode, SkillErrorType>> = { not_found: 'FileNotFound', too_large: 'OutputTooLarge' };

/** @throws SkillError FileNotFound | InvalidArgs | OutputTooLarge */
export async function readWhole(workspace: string, path: string, maxBytes: number): Promise<Buffer> {
	const { file, bytes } = await openInside(workspace, path).catch(refuse);
	try {
		if (bytes > maxBytes) throw new SkillError('OutputTooLarge', tooLong(`“${path}” has`, bytes, maxBytes));
		return await readUpTo(file, bytes);
	} finally {
		await file.close();
	}
}

/** Writes atomically, through a temporary file. @returns the file’s size in bytes */
export async function writeWhole(
	workspace: string,
	content: Buffer,
	options: { path: string; maxBytes: number; append?: boolean; overwrite?: boolean; signal: AbortSignal }
): Promise<number> {
	const { path, maxBytes, append = false, overwrite = true, signal } = options;
	signal.throwIfAborted();
	const folder = await holdFolder(workspace, path, { make: true }).catch(refuse);
	const staging = join(folder.path, stagingName());
	try {
		const entry = await lstat(folder.target).catch(() => null);
		if (entry && !entry.isFile()) throw new SkillError('InvalidArgs', `“${path}” isn’t a regular file.`);
		if (entry && !append && !overwrite) throw new SkillError('InvalidArgs', `The file “${path}” already exists.`);
		const before = append && entry ? await readWhole(workspace, path, maxBytes) : Buffer.alloc(0);
		const whole = Buffer.concat([before, content]);
		if (whole.length > maxBytes) {
			throw new SkillError('InvalidArgs', tooLong(`“${path}” would have`, whole.length, maxBytes));
		}
		signal.throwIfAborted();
		const file = await open(staging, 'wx');
		try {
			await folder.adopt(file);
			await file.writeFile(whole, { signal });
		} finally {
			await file.close();
		}
		signal.throwIfAborted();
		await rename(staging, folder.target);
		return whole.length;
	} finally {
		await rm(staging, { force: true });
		await folder.close();
	}
}

/** Calls `write` if the workspace has room for the bytes. @throws SkillError OutputTooLarge */
export async function writeInRoom<Result>(
	workspace: string,
	{ rooms, path, bytes, append = false }: { rooms: WorkspaceRooms; path: string; bytes: number; append?: boolean },
	write: () => Promise<Result>
): Promise<Result> {
	const entry = await rooms.enter(workspace);
	try {
		const claim = async () => {
			await entry.place(join(workspace, path), append ? 'append' : 'replace');
			entry.take(bytes);
		};
		await claim().catch(refuse);
		const result = await write();
		entry.keep();
		return result;
	} finally {
		entry.leave();
	}
}

function stagingName(): string {
	return `.write-${randomUUID()}`;
}

function refuse(error: unknown): never {
	if (!(error instanceof AppError)) throw error;
	throw new SkillError(TYPES[error.code] ?? 'InvalidArgs', error.message, error.hint);
}

/** “1 MB” where it is a whole number of them, as limits are set. */
function sizeOf(bytes: number): string {
	return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MB` : `${bytes} bytes`;
}

function tooLong(what: string, bytes: number, maxBytes: number): string {
	return `${what} ${bytes} bytes, but the limit is ${maxBytes}.`;
}

// Paths that built-in skills may use, and the workspaces of API keys (D27, E18).

/** Returns a relative workspace path unchanged. @throws SkillError InvalidArgs if it isn’t allowed */
export function checkWorkspacePath(path: string): string {
	try {
		const forbidden = safeSegments(path).find(isForbidden);
		if (forbidden === undefined) return path;
		throw new SkillError('InvalidArgs', `The path can’t contain “${forbidden}”.`, 'Choose another name.');
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		const hint = 'Use a path relative to the working directory, with “/” and without “..”.';
		throw new SkillError('InvalidArgs', error.message, hint);
	}
}

/**
 * The workspace of an API key, or of a session without one (E18). Its name is a hash, and can’t equal a conversation’s id,
 * which has no full stop.
 */
export function workspaceOf(dataDir: string, owner: { apiKeyId: string } | { sessionId: string }): string {
	const digest = (text: string) => hash('sha256', text).slice(0, 24);
	const name = 'apiKeyId' in owner ? `key.${digest(owner.apiKeyId)}` : `session.${digest(owner.sessionId)}`;
	return join(dataDir, 'workspaces', name);
}
