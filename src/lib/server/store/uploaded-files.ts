/** What programs uploaded to `/v1/files`: facts only, the bytes are in a workspace (F12). */
import type { Kysely } from 'kysely';
import { type Database, hasEffect } from './schema.ts';

export interface UploadedFile {
	id: string;
	/** The owner's key; null without a key. */
	apiKeyId: string | null;
	filename: string;
	purpose: string;
	bytes: number;
	/** ISO 8601 in UTC. */
	createdAt: string;
	/** ISO 8601 in UTC; null: never. */
	expiresAt: string | null;
}

const COLUMNS = [
	'id',
	'api_key_id as apiKeyId',
	'filename',
	'purpose',
	'bytes',
	'created_at as createdAt',
	'expires_at as expiresAt'
] as const;

/** Every method but `listExpired` checks the owner: an id is not a permission. */
export function createUploadedFiles(db: Kysely<Database>) {
	const own = (apiKeyId: string | null) =>
		db
			.selectFrom('uploaded_files')
			.select(COLUMNS)
			.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId);
	return {
		async put({ id, apiKeyId, filename, purpose, bytes, createdAt, expiresAt }: UploadedFile): Promise<void> {
			const row = { id, api_key_id: apiKeyId, filename, purpose, bytes, created_at: createdAt, expires_at: expiresAt };
			await db.insertInto('uploaded_files').values(row).execute();
		},

		get: async (id: string, apiKeyId: string | null): Promise<UploadedFile | null> =>
			(await own(apiKeyId).where('id', '=', id).executeTakeFirst()) ?? null,

		/** Oldest first. */
		list: (apiKeyId: string | null): Promise<UploadedFile[]> =>
			own(apiKeyId).orderBy('created_at').orderBy('id').execute(),

		/** Everybody's that expired before this time. */
		listExpired: (time: string): Promise<UploadedFile[]> =>
			db.selectFrom('uploaded_files').select(COLUMNS).where('expires_at', '<=', time).execute(),

		/** False if not found. */
		remove: (id: string, apiKeyId: string | null): Promise<boolean> =>
			hasEffect(
				db
					.deleteFrom('uploaded_files')
					.where('id', '=', id)
					.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
			)
	};
}

export type UploadedFiles = ReturnType<typeof createUploadedFiles>;
