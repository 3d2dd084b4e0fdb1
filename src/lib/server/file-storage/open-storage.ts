/** Files in a bucket, or only in the data folder. */
import { createLine, type Exclusively } from '../../shared/in-turn.ts';
import type { Log } from '../log.ts';
import type { StoredFiles } from '../store/stored-files.ts';
import { type BucketSettings, openBucket } from './bucket.ts';
import { createStoredFolders, type StoredFolders } from './stored-folders.ts';
import { localSkills, openStoredSkills, skillKindsIn, type StoredSkills } from './stored-skills.ts';
import { CHAT_TOOLS, WORKSPACE_KINDS } from './stored-workspaces.ts';

interface StorageParts {
	store: StoredFiles;
	log: Log;
	exclusively: Exclusively;
	editsOf(dir: string): string;
	/** Other servers have to fetch folders of skills. */
	tellOfSkills(): void;
}

/** `storage` is null without a bucket. */
export async function openStorage(
	{ bucket, dataDir }: { bucket: BucketSettings | null; dataDir: string },
	{ store, log, exclusively, editsOf, tellOfSkills: tell }: StorageParts
): Promise<{ storage: StoredFolders | null; skills: StoredSkills }> {
	if (bucket === null) return { storage: null, skills: localSkills };
	const line = createLine();
	const kinds = skillKindsIn(line, tell);
	const all = [...WORKSPACE_KINDS, CHAT_TOOLS, ...kinds];
	const storage = createStoredFolders({ store, bucket: openBucket(bucket), dataDir, log, kinds: all });
	const skills = await openStoredSkills({ storage, dataDir, log, exclusively, line, kinds, editsOf, tell });
	return { storage, skills };
}
