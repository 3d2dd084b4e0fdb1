/** Files in a bucket, or only in the data folder. */
import { createLine, type Exclusively } from '../../shared/in-turn.ts';
import type { Log } from '../log.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { type BucketSettings, openBucket } from './bucket.ts';
import { type FolderSender, openFolderSender } from './sent-folders.ts';
import { createStoredFolders, type StoredFolders } from './stored-folders.ts';
import { localSkills, openStoredSkills, skillKindsIn, type StoredSkills } from './stored-skills.ts';
import { CHAT_TOOLS, SENT_FOLDERS, WORKSPACE_KINDS } from './stored-workspaces.ts';

interface StorageParts {
	store: StoredFiles;
	log: Log;
	replica: Parameters<typeof openFolderSender>[1]['replica'];
	lockOf: Parameters<typeof openFolderSender>[1]['lockOf'];
	exclusively: Exclusively;
	editsOf(dir: string): string;
	/** Other servers have to fetch folders of skills. */
	tellOfSkills(): void;
}

/** `storage` is null without a bucket, `sender` without one and without workers. */
export async function openStorage(
	{
		bucket,
		dataDir,
		execution
	}: { bucket: BucketSettings | null; dataDir: string; execution: { runsOnWorkers: boolean } },
	{ store, log, replica, lockOf, exclusively, editsOf, tellOfSkills: tell }: StorageParts
): Promise<{ storage: StoredFolders | null; sender: FolderSender | null; storedSkills: StoredSkills }> {
	if (bucket === null) return { storage: null, sender: null, storedSkills: localSkills };
	const line = createLine();
	const kinds = skillKindsIn(line, tell);
	const all = [...WORKSPACE_KINDS, SENT_FOLDERS, CHAT_TOOLS, ...kinds];
	const storage = createStoredFolders({ store, bucket: openBucket(bucket), dataDir, log, kinds: all });
	const storedSkills = await openStoredSkills({ storage, dataDir, log, exclusively, line, kinds, editsOf, tell });
	if (!execution.runsOnWorkers) return { storage, sender: null, storedSkills };
	const sender = await openFolderSender({ dataDir }, { storage, files: store, log, lockOf, replica });
	return { storage: sender.storage, sender, storedSkills };
}
