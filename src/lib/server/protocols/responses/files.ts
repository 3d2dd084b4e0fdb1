/** `/v1/files`: files that a program uploads once, and names by id in its requests (F12). */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../log.ts';
import type { UploadedFile, UploadedFiles } from '../../store/uploaded-files.ts';
import type { Workspaces } from '../../workspaces.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { mediaTypeOf } from '../../conversations/file-headers.ts';
import { nameOfReceived } from '../received-files.ts';
import { ApiError, badParameter } from './errors.ts';
import { type ListPage, pageOf } from './items.ts';
import { checkBody } from './request.ts';

export interface FilesParts {
	store: { uploadedFiles: UploadedFiles };
	workspaces: Workspaces;
	/** Name of an owner's workspace. */
	folderOf(apiKeyId: string | null, sessionId: string): string;
	log: Log;
}

/** `File` of OpenAI's API. Times are Unix times in seconds. */
export interface FileObject {
	id: string;
	object: 'file';
	bytes: number;
	created_at: number;
	expires_at: number | null;
	filename: string;
	purpose: string;
	status: 'processed';
}

type Owner = Pick<Asker, 'apiKeyId'>;
type Opened = Awaited<ReturnType<Workspaces['read']>> & { filename: string };
/** A part of a message that may name a file by its id. */
type Part = {
	type: string;
	file_id?: string | null | undefined;
	filename?: string | null | undefined;
	file_data?: string | null | undefined;
	image_url?: string | null | undefined;
};

export interface FilesApi {
	/** @throws ApiError for a wrong field, AppError `too_large`, `storage_full` */
	create(form: FormData, owner: Owner): Promise<FileObject>;
	/** @throws ApiError for a wrong parameter */
	list(owner: Owner, query: URLSearchParams): Promise<ListPage<FileObject>>;
	/** @throws ApiError 404 */
	retrieve(id: string, owner: Owner): Promise<FileObject>;
	/** The caller closes the file. @throws ApiError 404 */
	open(id: string, owner: Owner): Promise<Opened>;
	/** @throws ApiError 404 */
	remove(id: string, owner: Owner): Promise<{ id: string; object: 'file'; deleted: true }>;
	/** The part with the content of the file that it names, or as it is if the id isn't ours. @throws ApiError naming `param` */
	resolve<Given extends Part>(part: Given, param: string, owner: Owner): Promise<Given>;
}

const OUR_ID = /^file-[0-9a-f]{32}$/;
const MOST_LISTED = 10_000;

const fields = z.object({
	purpose: z.enum(['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals']).default('user_data'),
	expires_after: z
		.object({ anchor: z.literal('created_at'), seconds: z.coerce.number().int().min(3600).max(2_592_000) })
		.optional()
});

export function createFilesApi({ store, workspaces, folderOf, log }: FilesParts): FilesApi {
	const { uploadedFiles } = store;
	const folder = ({ apiKeyId }: Owner) => `uploads.${folderOf(apiKeyId, 'uploads')}`;

	const find = async (id: string, { apiKeyId }: Owner): Promise<UploadedFile> => {
		const file = await uploadedFiles.get(id, apiKeyId);
		if (file && !isExpired(file)) return file;
		throw new ApiError(404, `No such File object: ${id.slice(0, 100)}`, { code: 'file_not_found', param: 'id' });
	};

	const removeBytes = (file: UploadedFile): Promise<void> =>
		workspaces.remove(folder(file), file.id).catch((error: unknown) => {
			// Without its row nobody finds it any more.
			log.error({ fileId: file.id, error: String(error) }, 'couldn’t delete an uploaded file');
		});

	const removeExpired = async (): Promise<void> => {
		for (const file of await uploadedFiles.listExpired(new Date().toISOString())) {
			if (await uploadedFiles.remove(file.id, file.apiKeyId)) await removeBytes(file);
		}
	};

	const open = async (id: string, owner: Owner): Promise<Opened> => {
		const { filename } = await find(id, owner);
		return { ...(await workspaces.read(folder(owner), id)), filename };
	};

	return {
		async create(form, owner) {
			const file = form.get('file');
			if (file === null || typeof file === 'string') throw badParameter('file', 'file must be a file.');
			const { purpose, expires_after: expiry } = checkBody(fields, fieldsOf(form));
			await removeExpired();
			const id = `file-${randomBytes(16).toString('hex')}`;
			const bytes = Buffer.from(await file.slice(0, 1).arrayBuffer());
			const filename = nameOfReceived({ bytes, mediaType: file.type, filename: file.name });
			const now = Date.now();
			const written = await workspaces.write(folder(owner), id, file.stream());
			const uploaded: UploadedFile = {
				...{ id, apiKeyId: owner.apiKeyId, filename, purpose, bytes: written.bytes },
				createdAt: new Date(now).toISOString(),
				expiresAt: expiry ? new Date(now + expiry.seconds * 1000).toISOString() : null
			};
			try {
				await uploadedFiles.put(uploaded);
			} catch (error) {
				await removeBytes(uploaded);
				throw error;
			}
			return toObject(uploaded);
		},

		async list(owner, query) {
			await removeExpired();
			const purpose = query.get('purpose');
			const files = (await uploadedFiles.list(owner.apiKeyId)).map(toObject);
			return pageOf(purpose ? files.filter((file) => file.purpose === purpose) : files, query, MOST_LISTED);
		},

		retrieve: async (id, owner) => toObject(await find(id, owner)),

		open,

		async remove(id, owner) {
			const file = await find(id, owner);
			await uploadedFiles.remove(id, owner.apiKeyId);
			await removeBytes(file);
			return { id, object: 'file', deleted: true };
		},

		async resolve(part, param, owner) {
			const { file_id: id, type } = part;
			if (!id || !OUR_ID.test(id) || part.file_data || part.image_url) return part;
			const opened = await open(id, owner).catch((error: unknown) => {
				if (!(error instanceof ApiError || error instanceof AppError) || error.status >= 500) throw error;
				throw badParameter(`${param}.file_id`, `There’s no file with the id ${id}. Upload it to /v1/files.`);
			});
			const { file_id: _id, ...rest } = part;
			const data = (await opened.file.readFile().finally(() => opened.file.close())).toString('base64');
			const url = `data:${mediaTypeOf(opened.filename) ?? 'application/octet-stream'};base64,${data}`;
			const content =
				type === 'input_image' ? { image_url: url } : { file_data: url, filename: part.filename ?? opened.filename };
			return { ...rest, ...content } as typeof part;
		}
	};
}

function isExpired({ expiresAt }: UploadedFile): boolean {
	return expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}

/** OpenAI's clients write nested fields in brackets. */
function fieldsOf(form: FormData): Record<string, unknown> {
	const texts = [...form].filter(([, value]) => typeof value === 'string');
	const given = Object.fromEntries(texts);
	const { ['expires_after[anchor]']: anchor, ['expires_after[seconds]']: seconds, purpose } = given;
	return {
		purpose,
		...(anchor !== undefined || seconds !== undefined ? { expires_after: { anchor, seconds } } : {})
	};
}

function toObject({ id, bytes, filename, purpose, createdAt, expiresAt }: UploadedFile): FileObject {
	const seconds = (time: string) => Math.floor(Date.parse(time) / 1000);
	return {
		...{ id, object: 'file', bytes, created_at: seconds(createdAt) },
		...{ expires_at: expiresAt === null ? null : seconds(expiresAt), filename, purpose, status: 'processed' }
	};
}
