/** The skills `file_read` and `file_write`: files of a workspace, and no others (FEATURES D27). */
import { isUtf8 } from 'node:buffer';
import { defineBuiltin, WORKSPACE_LANE, type Builtin, type BuiltinOutcome } from './builtin.ts';
import { runFileProgram } from './file-programs.ts';
import type { HybridExecutor } from './hybrid.ts';
import type { SandboxRunner } from './sandbox-runner.ts';
import { readWhole, stagingName, writeInRoom, writeWhole } from './workspace-files.ts';
import { checkWorkspacePath } from './workspace-path.ts';
import { SkillError } from '../skills/types.ts';
import type { WorkspaceRooms } from '../workspace-rooms.ts';

export interface FileToolOptions {
	hybrid: HybridExecutor;
	runner: SandboxRunner;
	maxBytes: number;
	/** For the sandboxed way. */
	timeoutMs: number;
}

export interface FileWriteOptions extends FileToolOptions {
	/** What a workspace may hold. */
	rooms: WorkspaceRooms;
}

const ENCODING = { type: 'string', enum: ['utf8', 'base64'], description: 'Default: utf8.' };
const PATH = { type: 'string', minLength: 1, description: 'Relative to the working directory, with “/”.' };

export function createFileRead({ hybrid, runner, maxBytes, timeoutMs }: FileToolOptions): Builtin {
	return defineBuiltin({
		name: 'file_read',
		description: `Read a file of the working directory, at most ${maxBytes} bytes.`,
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
					throw new SkillError('InvalidArgs', `“${path}” is not UTF-8 text.`, 'Ask for it with encoding “base64”.');
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

export function createFileWrite({ hybrid, runner, rooms, maxBytes, timeoutMs }: FileWriteOptions): Builtin {
	return defineBuiltin({
		name: 'file_write',
		description: `Write a file of the working directory, at most ${maxBytes} bytes; folders on the way are made.`,
		tags: ['write file', 'save file', 'create file', 'save as', 'append to'],
		lane: WORKSPACE_LANE,
		asksFirst: false,
		sandbox: 'direct',
		properties: {
			path: PATH,
			content: { type: 'string', description: 'All of it; base64 where the encoding says so.' },
			encoding: ENCODING,
			append: { type: 'boolean', description: 'Add to the end of what is there. Default: false.' },
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
		throw new SkillError('InvalidArgs', 'The content is not base64.');
	}
	return content;
}
