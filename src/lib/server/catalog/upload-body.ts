/** The body of an upload: read as it comes, or, of a form, the files that it holds (FEATURES E20). */
import { AppError } from '../../shared/errors.ts';
import { INSTALL_LIMITS, tooLarge } from './staging-folder.ts';
import type { UploadedFile } from './upload-sources.ts';

/** Whoever stops reading gets to answer all the same: cancelling the body would cut the connection (`linger.ts`). */
export async function* readUpload(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
	if (body) yield* body.values({ preventCancel: true });
}

/**
 * The files of a form; the name of each is its relative path. As large as an archive may be, and kept in memory.
 * @throws AppError `too_large`, `invalid_input`
 */
export async function* readForm(
	body: ReadableStream<Uint8Array> | null,
	contentType: string
): AsyncGenerator<UploadedFile> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of readUpload(body)) {
		bytes += chunk.length;
		if (bytes > INSTALL_LIMITS.packedBytes) throw tooLarge('The upload is larger than 50 MB.');
		chunks.push(chunk);
	}
	const whole = Buffer.concat(chunks);
	refuseManyParts(whole, contentType);
	const form = await new Response(whole, { headers: { 'content-type': contentType } })
		.formData()
		.catch((cause: unknown) => {
			throw new AppError('invalid_input', 'The body is no multipart/form-data that can be read.', { cause });
		});
	for (const [field, file] of form) {
		if (typeof file === 'string') {
			throw new AppError('invalid_input', `${field.slice(0, 100)}: must be a file, with its relative path as its name`);
		}
		yield { path: file.name, content: new Uint8Array(await file.arrayBuffer()) };
	}
}

/** The parser keeps everything else waiting while it reads, so what has too many parts is not given to it. */
function refuseManyParts(body: Buffer, contentType: string): void {
	const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
	const boundary = quoted ?? plain;
	if (boundary === undefined) throw new AppError('invalid_input', 'The content-type names no boundary.');
	let parts = 0;
	for (let at = body.indexOf(`--${boundary}`); at >= 0; at = body.indexOf(`--${boundary}`, at + 1)) {
		parts += 1;
		// The last one is the end.
		if (parts > INSTALL_LIMITS.files + 1) {
			throw tooLarge(`There are more than ${INSTALL_LIMITS.files} files.`);
		}
	}
}
