/** Tools for the project that is open in an editor: its files as the editor has them, and commands in its terminal. */
import { hash, randomUUID } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import type { AgentContext, ClientCapabilities, ToolCallContent } from '@agentclientprotocol/sdk';
import { done } from '../../skills/call/tools.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ApprovalRequest } from '../../../shared/events.ts';
import { asNumber } from '../../../shared/json.ts';
import { EDITOR_TOOLS } from '../../../shared/names.ts';
import type { FunctionTool } from '../../agent/model.ts';
import { failure } from '../../agent/tool.ts';
import { readUpTo, walkFiles } from '../../foreign-folders.ts';
import { isForbidden } from '../../safe-path.ts';
import { checkArguments } from '../../skills/read/manifest.ts';
import { unlessAborted } from '../../skills/turns.ts';
import type { BuiltinResult, BuiltinTools } from '../../turns/toolbox.ts';

export interface Project {
	sessionId: string;
	/** The folder where relative paths begin. Absolute. */
	cwd: string;
	/** All folders that may be used, `cwd` among them. */
	roots: readonly string[];
}

export interface Editor {
	client: AgentContext;
	capabilities: ClientCapabilities;
	project: Project;
	/** Changes of files that aren't hidden are made without asking. */
	acceptsEdits(): boolean;
	/** Shows a diff or a terminal with the call. */
	show(toolCallId: string, content: ToolCallContent[]): void;
}

/** Of the editor, by its name in `EDITOR_TOOLS`. */
type EditorTool = (typeof EDITOR_TOOLS)[number];

/** Bytes of a file. */
export const MAX_TEXT_BYTES = 2 * 1024 * 1024;
const MAX_READ_CHARACTERS = 100_000;
const MAX_READ_LINES = 2_000;
const MAX_LISTED = 500;
const WALK = { maxDepth: 16, maxEntries: 50_000 };
const MAX_OUTPUT_BYTES = 100_000;
/** Folders of tools, with more files than anybody wants to see. */
const LEFT_OUT = new Set(['node_modules', '__pycache__', 'target', 'dist', 'build', 'vendor', 'venv']);

const path = {
	type: 'string',
	minLength: 1,
	maxLength: 4096,
	description: 'Relative to the project’s folder, or absolute.'
};
const text = (description: string) => ({ type: 'string', maxLength: MAX_TEXT_BYTES, description });

const DEFINITIONS: Record<EditorTool, { description: string; properties: object; required: string[] }> = {
	editor_list: {
		description: 'List the files of the project in the user’s editor, without hidden ones and those of packages.',
		properties: {
			path: { ...path, description: 'A folder. Default: the whole project.' },
			contains: text('Only paths with this text.')
		},
		required: []
	},
	editor_read: {
		description: 'Read a text file of the project in the user’s editor, with changes that aren’t saved yet.',
		properties: {
			path,
			line: { type: 'integer', minimum: 1, description: 'First line. Default: 1.' },
			limit: { type: 'integer', minimum: 1, maximum: MAX_READ_LINES, description: `Lines. Default: ${MAX_READ_LINES}.` }
		},
		required: ['path']
	},
	editor_write: {
		description:
			'Write a whole text file of the project through the user’s editor. To change a part of one, use editor_edit.',
		properties: { path, content: text('The whole content.') },
		required: ['path', 'content']
	},
	editor_edit: {
		description: 'Replace a part of a text file of the project through the user’s editor. Read the file first.',
		properties: {
			path,
			old_text: { ...text('Exactly as in the file, and only once in it.'), minLength: 1 },
			new_text: text('What comes in its place.')
		},
		required: ['path', 'old_text', 'new_text']
	},
	editor_run: {
		description:
			'Run a command in a terminal of the user’s editor, in the project’s folder, for builds, tests and Git. The user is asked each time. Scripts of skills are run with their own tools.',
		properties: { command: { ...text('A line for the shell.'), minLength: 1, maxLength: 10_000 } },
		required: ['command']
	}
};

export function createEditorTools(editor: Editor): BuiltinTools {
	const { fs, terminal } = editor.capabilities;
	const isOffered: Record<EditorTool, boolean> = {
		editor_list: true,
		editor_read: true,
		editor_write: fs?.writeTextFile === true,
		editor_edit: fs?.writeTextFile === true,
		editor_run: terminal === true
	};
	const find = (name: string) => EDITOR_TOOLS.find((known) => known === name && isOffered[known]);
	const schemaOf = (name: EditorTool) => {
		const { properties, required } = DEFINITIONS[name];
		return { type: 'object', properties, required, additionalProperties: false };
	};
	return {
		tools: () =>
			EDITOR_TOOLS.filter((name) => isOffered[name]).map((name): FunctionTool => {
				const { description } = DEFINITIONS[name];
				return { type: 'function', name, description, parameters: schemaOf(name) };
			}),
		has: (name) => find(name) !== undefined,
		// A change sees the one before.
		lane: (name) => (isChange(name) ? 'editor' : null),
		async approval(name, args, earlier) {
			const found = find(name);
			if (!found || !(isChange(name) || name === 'editor_run')) return null;
			// It fails without having done anything.
			if (checkArguments({ name, description: '', inputSchema: schemaOf(found) }, args) !== null) return null;
			const place = isChange(name) ? await placeOf(editor.project, String(args.path)).catch(() => null) : null;
			if (isChange(name) && (!place || (editor.acceptsEdits() && !place.isHidden))) return null;
			const input = JSON.stringify(args);
			const digest = hash('sha256', JSON.stringify([name, editor.project.cwd, input]));
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			if (isAllowed && earlier.digest === digest) return null;
			const reason = place
				? `The model wants to change ${place.shown} in your editor.`
				: 'The model wants to run a command in your editor’s terminal.';
			return {
				interruptId: randomUUID(),
				skill: name,
				script: name,
				args: [input],
				reason,
				digest
			} satisfies ApprovalRequest;
		},
		async call(name, args, { signal, onEvent, caller }) {
			const found = find(name);
			if (!found) return { ok: false, ...failure('UnknownTool', `The editor has no tool “${name}”.`) };
			const problem = checkArguments({ name, description: '', inputSchema: schemaOf(found) }, args);
			if (problem !== null) return { ok: false, ...failure('InvalidArgs', problem) };
			const toolCallId = caller.toolCallId ?? '';
			try {
				switch (found) {
					case 'editor_list':
						return await list(editor, args);
					case 'editor_read':
						return await read(editor, args, signal);
					case 'editor_write':
					case 'editor_edit':
						return await change(editor, { name: found, args, toolCallId }, signal);
					case 'editor_run':
						return await run(editor, { command: String(args.command), toolCallId, onEvent }, signal);
				}
			} catch (error) {
				if (signal.aborted) return { ok: false, ...failure('Cancelled', 'The call was stopped.') };
				if (error instanceof AppError) return { ok: false, ...failure('InvalidArgs', error.message, error.hint) };
				const reason = error instanceof Error ? error.message : String(error);
				return { ok: false, ...failure('ExecutionFailed', `The editor refused: ${reason}`) };
			}
		}
	};
}

function isChange(name: string): boolean {
	return name === 'editor_write' || name === 'editor_edit';
}

/** What a change would do, for the question about it; empty if it would fail. */
export async function previewOf(
	editor: Editor,
	name: string,
	args: Record<string, unknown>
): Promise<ToolCallContent[]> {
	if (!isChange(name)) return [];
	try {
		const { place, before, after } = await changeOf(editor, name, args, AbortSignal.timeout(10_000));
		return [{ type: 'diff', path: place.path, oldText: before, newText: after }];
	} catch {
		// The call itself says why.
		return [];
	}
}

async function list({ project }: Editor, args: Record<string, unknown>): Promise<BuiltinResult> {
	const { path: folder, shown } = await placeOf(project, String(args.path ?? '.'));
	const wanted = typeof args.contains === 'string' ? args.contains.toLowerCase() : '';
	const isSkipped = (name: string) => name.startsWith('.') || LEFT_OUT.has(name) || isForbidden(name);
	const files: { path: string; bytes: number }[] = [];
	let isCut = false;
	for await (const { path: inside, facts } of walkFiles(folder, { ...WALK, isSkipped })) {
		const at = shown === '.' ? inside : `${shown}/${inside}`;
		if (!at.toLowerCase().includes(wanted)) continue;
		if (files.length === MAX_LISTED) {
			isCut = true;
			break;
		}
		files.push({ path: at, bytes: facts.size });
	}
	return done({
		files,
		...(isCut && { note: `Only the first ${MAX_LISTED} files. Name a folder, or a part of the path.` })
	});
}

async function read(editor: Editor, args: Record<string, unknown>, signal: AbortSignal): Promise<BuiltinResult> {
	const place = await placeOf(editor.project, String(args.path));
	const lines = (await readProjectText(editor, place.path, signal)).split('\n');
	const first = asNumber(args.line) ?? 1;
	const some = lines.slice(first - 1, first - 1 + (asNumber(args.limit) ?? MAX_READ_LINES));
	const content = some.join('\n').slice(0, MAX_READ_CHARACTERS);
	return done({ path: place.shown, line: first, lines: some.length, of: lines.length, content });
}

async function change(
	editor: Editor,
	{ name, args, toolCallId }: { name: string; args: Record<string, unknown>; toolCallId: string },
	signal: AbortSignal
): Promise<BuiltinResult> {
	const { place, before, after } = await changeOf(editor, name, args, signal);
	editor.show(toolCallId, [{ type: 'diff', path: place.path, oldText: before, newText: after }]);
	const { sessionId } = editor.project;
	const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
	await editor.client.request('fs/write_text_file', { sessionId, path: place.path, content: after }, options);
	return done({ path: place.shown, bytes: Buffer.byteLength(after), created: before === null });
}

/** @throws AppError invalid_input */
async function changeOf(editor: Editor, name: string, args: Record<string, unknown>, signal: AbortSignal) {
	const place = await placeOf(editor.project, String(args.path));
	const before = await readProjectText(editor, place.path, signal).catch((error: unknown) => {
		signal.throwIfAborted();
		if (name === 'editor_edit') throw error;
		return null;
	});
	if (name === 'editor_write') return { place, before, after: String(args.content) };
	const [oldText, newText, whole] = [String(args.old_text), String(args.new_text), before ?? ''];
	const count = whole.split(oldText).length - 1;
	if (count !== 1) {
		const often = count === 0 ? 'isn’t in it' : `is in it ${count} times`;
		const hint = 'Read the file, and send a text that is in it exactly once.';
		throw new AppError('invalid_input', `${place.shown} wasn’t changed: old_text ${often}.`, { hint });
	}
	// `replace` would read signs like `$&` in the new text.
	return { place, before, after: whole.split(oldText).join(newText) };
}

interface Command {
	command: string;
	toolCallId: string;
	onEvent: Parameters<BuiltinTools['call']>[2]['onEvent'];
}

async function run(
	editor: Editor,
	{ command, toolCallId, onEvent }: Command,
	signal: AbortSignal
): Promise<BuiltinResult> {
	const { sessionId, cwd } = editor.project;
	signal.throwIfAborted();
	const [shell, option] = process.platform === 'win32' ? ['cmd', '/c'] : ['sh', '-c'];
	const begunAt = performance.now();
	const terminal = await editor.client.createTerminal({
		...{ sessionId, cwd, command: shell, args: [option, command] },
		outputByteLimit: MAX_OUTPUT_BYTES
	});
	try {
		editor.show(toolCallId, [{ type: 'terminal', terminalId: terminal.id }]);
		const about = { skill: 'editor_run', script: 'editor_run', tool: 'editor_run' };
		onEvent({ type: 'started', executionId: randomUUID(), ...about, args: [command], sandbox: 'editor' });
		const exit = await unlessAborted(terminal.waitForExit(), signal);
		const { output, truncated } = await terminal.currentOutput();
		const exitCode = exit.exitCode ?? null;
		onEvent({ type: 'output', stream: 'stdout', text: output });
		const durationMs = Math.round(performance.now() - begunAt);
		onEvent({ type: 'finished', skill: 'editor_run', exitCode, durationMs, truncated, files: [] });
		const facts = { exit_code: exitCode, signal: exit.signal ?? undefined, output, truncated };
		return { ok: exitCode === 0, output: JSON.stringify({ ok: exitCode === 0, ...facts }) };
	} finally {
		if (signal.aborted) await terminal.kill().catch(() => undefined);
		await terminal.release().catch(() => undefined);
	}
}

// Places: only below the project's folders, also where links lead, and nothing that holds secrets.

interface Place {
	path: string;
	/** Relative to the project's folder, with `/`. */
	shown: string;
	/** Programs read hidden files as settings, so changes of them are always asked for. */
	isHidden: boolean;
}

/** @throws AppError `invalid_input` if the path isn't in the project, or stands for secrets */
export async function placeOf({ cwd, roots }: Project, asked: string): Promise<Place> {
	if (asked.includes('\0')) throw new AppError('invalid_input', 'The path isn’t valid.');
	const at = resolve(cwd, asked);
	const root = roots.find((each) => isInside(each, at));
	const outside = () => {
		const hint = `Use a path in ${roots.join(' or ')}.`;
		return new AppError('invalid_input', `“${asked.slice(0, 200)}” isn’t in the project.`, { hint });
	};
	if (root === undefined) throw outside();
	const segments = relative(root, at).split(sep);
	const secret = segments.find(isSecret);
	if (secret !== undefined) throw new AppError('invalid_input', `The path can’t contain “${secret}”.`);
	const [real, realRoot] = [await realPlace(at), await realpath(root)];
	if (!isInside(realRoot, real)) throw outside();
	const behind = relative(realRoot, real).split(sep);
	if (behind.some(isSecret))
		throw new AppError('invalid_input', `“${asked.slice(0, 200)}” is a link to a file that can’t be used.`);
	const shown = relative(cwd, at).split(sep).join('/');
	// A link to a hidden file is one, too.
	const isHidden = [...segments, ...behind].some((segment) => segment.startsWith('.'));
	return { path: at, shown: shown === '' ? '.' : shown, isHidden };
}

/** Of the project’s variables, only the examples may be seen. */
function isSecret(segment: string): boolean {
	return isForbidden(segment) || /^\.env\.(?!example$|sample$)/i.test(segment);
}

function isInside(root: string, at: string): boolean {
	return at === root || at.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Where links lead; of what doesn't exist, where its folder is. */
async function realPlace(at: string): Promise<string> {
	try {
		return await realpath(at);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== 'ENOENT' || dirname(at) === at)
			throw new AppError('invalid_input', `“${at}” can’t be opened.`, { cause: error });
		return resolve(await realPlace(dirname(at)), relative(dirname(at), at));
	}
}

/** A text file as the editor has it, or from the disk if the editor doesn't hand files out. */
export async function readProjectText(editor: Editor, at: string, signal: AbortSignal): Promise<string> {
	const { client, capabilities, project } = editor;
	if (capabilities.fs?.readTextFile !== true) {
		const bytes = await readProjectFile(at, MAX_TEXT_BYTES);
		if (isUtf8(bytes)) return bytes.toString('utf8');
		throw new AppError('invalid_input', `“${at}” isn’t a text.`);
	}
	const { sessionId } = project;
	const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
	const { content } = await client.request('fs/read_text_file', { sessionId, path: at }, options);
	if (Buffer.byteLength(content) <= MAX_TEXT_BYTES) return content;
	throw new AppError('invalid_input', `“${at}” is too large: the limit is 2 MB.`);
}

/** A regular file, whose place was checked. @throws AppError invalid_input */
export async function readProjectFile(at: string, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
	const file = await open(
		await realPlace(at),
		constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
	).catch((cause: unknown) => {
		throw new AppError('invalid_input', `There’s no file “${at}”.`, { cause });
	});
	try {
		const facts = await file.stat();
		if (!facts.isFile()) throw new AppError('invalid_input', `“${at}” isn’t a file.`);
		if (facts.size > maxBytes) throw new AppError('invalid_input', `“${at}” is too large.`);
		return Buffer.from(await readUpTo(file, facts.size));
	} finally {
		await file.close();
	}
}
