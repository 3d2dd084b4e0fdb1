/** Fetches a skill for review: one source at a time, with progress. */
import type { InstallSource, StagedInstall } from '../../shared/install.ts';
import { ApiError, type UploadOptions } from '../request.ts';
import { isArchive, skillFiles } from '../composer/attachment.svelte.ts';
import { fileName, fileUrl, openFile } from '../files/files.ts';
import type { FolderFile, Client } from '../server.ts';
import { Task } from '../ui/reading.svelte.ts';

export type StagingClient = Pick<Client, 'stage' | 'stageZip' | 'stageFolder' | 'listFiles'>;

export class Staging {
	readonly task = new Task();
	readonly #client: StagingClient;
	readonly #onstaged: (staged: StagedInstall) => void;
	#abort = new AbortController();
	/** From 0 to 1 during an upload; null while the server works. */
	share = $state<number | null>(null);
	/** What is being fetched, for the status. */
	what = $state('');

	constructor(client: StagingClient, onstaged: (staged: StagedInstall) => void) {
		this.#client = client;
		this.#onstaged = onstaged;
	}

	source(source: InstallSource, what: string): Promise<void> {
		return this.#run(what, null, ({ signal }) => this.#client.stage(source, signal));
	}

	/** A zip file, or the files of a folder. */
	files(files: readonly FolderFile[]): void {
		const [first] = files;
		if (!first) return;
		if (files.length === 1 && isArchive(first.file)) void this.zip(first.file);
		else void this.folder(files);
	}

	zip(file: File): Promise<void> {
		return this.#run(file.name, 0, (options) => this.#client.stageZip(file, options));
	}

	folder(files: readonly FolderFile[]): Promise<void> {
		const { kept } = skillFiles(files);
		const [first] = kept;
		return this.#run(first?.path.split('/')[0] ?? '', 0, (options) => {
			if (first) return this.#client.stageFolder(kept, options);
			const hint = 'Choose the folder that has a SKILL.md in it.';
			return Promise.reject(new ApiError('invalid_input', 'There are no files in it.', { hint }));
		});
	}

	/** A folder that somebody's chat has among its files. */
	fromChat(conversationId: string, folder: string): Promise<void> {
		const name = folder.slice(folder.lastIndexOf('/') + 1);
		return this.#run(name, null, async (options) => {
			const listed = await this.#client.listFiles(conversationId);
			const files: FolderFile[] = [];
			for (const { path } of listed.filter((file) => file.path.startsWith(`${folder}/`))) {
				const response = await openFile(fileUrl(conversationId, path));
				const file = new File([await response.blob()], fileName(path));
				files.push({ path: name + path.slice(folder.length), file });
				options.signal?.throwIfAborted();
			}
			if (files.length > 0) return this.#client.stageFolder(files, options);
			throw new ApiError('not_found', 'These files are no longer in the chat.');
		});
	}

	cancel(): void {
		this.#abort.abort();
	}

	async #run(
		what: string,
		share: number | null,
		work: (options: UploadOptions) => Promise<StagedInstall>
	): Promise<void> {
		if (this.task.isBusy) return;
		this.#abort = new AbortController();
		this.what = what;
		this.share = share;
		const { signal } = this.#abort;
		const onprogress = (sent: number): void => {
			this.share = sent < 1 ? sent : null;
		};
		const staged = await this.task.run(() => work({ signal, onprogress }));
		if (staged) this.#onstaged(staged);
	}
}
