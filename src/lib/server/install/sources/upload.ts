/** Uploads: a zip archive, the files of a form, a SKILL.md, or a custom tool (E5, E20, E22). */
import { open, rm } from 'node:fs/promises';
import { AppError } from '../../../shared/errors.ts';
import type { CustomSkill } from '../../../shared/install.ts';
import type { InstallProvider } from '../../../shared/names.ts';
import { skillFiles } from '../../skills/make/templates.ts';
import { readBody } from '../../read-text.ts';
import { parseManifest } from '../../skills/read/manifest.ts';
import { noteOf, readZip } from '../archive/archive-zip.ts';
import type { Fetch, FetchedSkills } from '../catalog-installer.ts';
import { isInstallableName } from '../inspection.ts';
import {
	checkEntryName,
	INSTALL_LIMITS,
	isLeftOut,
	megabytes,
	onDisk,
	type StagingFolder,
	tooLarge
} from '../staging-folder.ts';

/** Doesn’t cancel the body when reading stops early, which would cut the connection before the answer (`linger.ts`). */
export async function* readUpload(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
	if (body) yield* body.values({ preventCancel: true });
}

/** In memory, as large as an archive may be. @throws AppError `too_large`, `unavailable`, `invalid_input` */
export async function readFields(body: ReadableStream<Uint8Array> | null, contentType: string): Promise<FormData> {
	const whole = await readBody({ body }, INSTALL_LIMITS.packedBytes);
	refuseManyParts(whole, contentType);
	return new Response(whole, { headers: { 'content-type': contentType } }).formData().catch((cause: unknown) => {
		throw new AppError('invalid_input', 'The body isn’t valid multipart/form-data.', { cause });
	});
}

/** The files of a form, named by relative path. @throws AppError as `readFields` */
export async function* readForm(
	body: ReadableStream<Uint8Array> | null,
	contentType: string
): AsyncGenerator<UploadedFile> {
	const form = await readFields(body, contentType);
	for (const [field, file] of form) {
		if (typeof file === 'string') {
			throw new AppError('invalid_input', `${field.slice(0, 100)} must be a file whose name is its relative path.`);
		}
		yield { path: file.name, content: new Uint8Array(await file.arrayBuffer()) };
	}
}

/** The form parser blocks the process, so bodies with too many parts are refused before. */
function refuseManyParts(body: Buffer, contentType: string): void {
	const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
	const boundary = quoted ?? plain;
	if (boundary === undefined) throw new AppError('invalid_input', 'The content-type has no boundary.');
	let parts = 0;
	for (let at = body.indexOf(`--${boundary}`); at >= 0; at = body.indexOf(`--${boundary}`, at + 1)) {
		parts += 1;
		// The last boundary ends the form.
		if (parts > INSTALL_LIMITS.files + 1) {
			throw tooLarge(`The upload has more than ${INSTALL_LIMITS.files} files.`);
		}
	}
}

export interface UploadedFile {
	/** Relative, with `/`. */
	path: string;
	content: Uint8Array | AsyncIterable<Uint8Array>;
}

/** Stores the archive beside the staging folder meanwhile. @throws AppError `invalid_input` naming the entry, `too_large`, `storage_full`, `unavailable` */
export async function fetchZip(
	body: AsyncIterable<Uint8Array>,
	into: StagingFolder,
	signal: AbortSignal,
	file?: string
): Promise<FetchedSkills> {
	const archive = `${into.dir}.zip`;
	await storeUpload(body, archive, into.limits.packedBytes, signal);
	try {
		const { notes } = await readZip(archive, into, signal);
		return { folders: null, originOf: uploadedAs('zip', file), notes };
	} finally {
		await onDisk(rm(archive, { force: true }));
	}
}

/** Such files come without permissions, so `#!` marks scripts. @throws AppError as `StagingFolder.add` */
export async function fetchFolder(
	files: AsyncIterable<UploadedFile>,
	into: StagingFolder,
	signal: AbortSignal,
	provider: 'folder' | 'draft' = 'folder'
): Promise<FetchedSkills> {
	const leftOut: string[] = [];
	for await (const { path, content } of files) {
		signal.throwIfAborted();
		checkEntryName(path);
		if (isLeftOut(path)) {
			leftOut.push(path);
			// A stream must be read to its end before the next file.
			if (!(content instanceof Uint8Array)) for await (const chunk of content) void chunk;
		} else await into.add(path, content, { isExecutable: 'by-shebang' });
	}
	return { folders: null, originOf: uploadedAs(provider), notes: noteOf(leftOut) };
}

/** @throws AppError `too_large`, `storage_full`, `unavailable` */
export function fetchInline(text: string, into: StagingFolder): Promise<FetchedSkills> {
	return fetchFiles({ 'SKILL.md': text }, into);
}

/** One skill, by the paths of its files. @throws AppError as `StagingFolder.add` */
export async function fetchFiles(files: Readonly<Record<string, string>>, into: StagingFolder): Promise<FetchedSkills> {
	for (const [path, text] of Object.entries(files)) await into.add(path, Buffer.from(text));
	return { folders: [''], originOf: uploadedAs('inline'), notes: [] };
}

function uploadedAs(provider: InstallProvider, file?: string): FetchedSkills['originOf'] {
	return (path) => ({ provider, source: null, url: null, ...(file && { file }), commit: null, path, revision: null });
}

// A skill made of a schema and the name of a native handler, as in OmniRoute (E5, D37).

/** Writes a tools.json with the handler’s tool, and a SKILL.md. @throws AppError `invalid_input` naming the field */
export function fetchCustom(skill: CustomSkill): Fetch {
	const files = Object.entries(customFiles(skill));
	return async (into) => {
		for (const [path, text] of files) await into.add(path, Buffer.from(text));
		return { folders: [''], originOf: uploadedAs('custom'), notes: [] };
	};
}

function customFiles({ name, version, description, schema, handlerCode }: CustomSkill): Record<string, string> {
	if (!isInstallableName(name)) {
		throw refused('name', 'must be 1 to 64 lowercase letters, digits and single hyphens, such as reverse-text');
	}
	if (description.trim() === '') throw refused('description', 'must not be blank');
	if (handlerCode.trim() === '') throw refused('handlerCode', 'must be the name of a handler');
	const tool = /^[a-z]/.test(name) ? name.replaceAll('-', '_') : `tool_${name.replaceAll('-', '_')}`.slice(0, 64);
	const { input, output } = schema;
	const manifest = JSON.stringify(
		[{ name: tool, description, handler: handlerCode, parameters: parametersOf(input), output }],
		null,
		'\t'
	);
	const [issue] = parseManifest(manifest).issues;
	if (issue) {
		throw refused('schema.input', `${issue.field.replace(/^tools\.json\[0\.?|\]$/g, '')} ${issue.message}`.trim());
	}
	const body = `Call the tool \`${tool}\` and answer with its result.`;
	const text = skillFiles({ name, description, body })['SKILL.md'] ?? '';
	return {
		'SKILL.md': text.replace(/\n---\n/, `\nmetadata:\n  version: ${JSON.stringify(version)}\n---\n`),
		'tools.json': `${manifest}\n`
	};
}

/** Converts a JSON Schema of an object to the parameters of tools.json, where `optional` replaces `required`. */
function parametersOf(input: Record<string, unknown>): Record<string, unknown> {
	const { type = 'object', properties = {}, required = [] } = input;
	if (type !== 'object') throw refused('schema.input.type', 'must be “object”');
	if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
		throw refused('schema.input.properties', 'must be an object');
	}
	if (!Array.isArray(required) || !required.every((key) => typeof key === 'string' && Object.hasOwn(properties, key))) {
		throw refused('schema.input.required', 'must be a list of property names');
	}
	return Object.fromEntries(
		Object.entries(properties).map(([key, schema]: [string, unknown]) => {
			if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
				throw refused(`schema.input.properties.${key}`, 'must be a schema');
			}
			return [key, required.includes(key) ? schema : { ...schema, optional: true }];
		})
	);
}

function refused(field: string, message: string): AppError {
	return new AppError('invalid_input', `${field}: ${message}`, { details: { field } });
}

/** Writes the body to a new file, and deletes it after an error. @throws AppError `too_large`, `storage_full`, `unavailable`; errors of `body` unchanged */
async function storeUpload(
	body: AsyncIterable<Uint8Array>,
	path: string,
	maxBytes: number,
	signal: AbortSignal
): Promise<void> {
	const file = await onDisk(open(path, 'wx', 0o600));
	let bytes = 0;
	try {
		for await (const chunk of body) {
			signal.throwIfAborted();
			bytes += chunk.byteLength;
			if (bytes > maxBytes) throw tooLarge(`The upload is larger than ${megabytes(maxBytes)}.`);
			await onDisk(file.appendFile(chunk));
		}
		await onDisk(file.close());
	} catch (error) {
		await file.close();
		await rm(path, { force: true });
		throw error;
	}
}
