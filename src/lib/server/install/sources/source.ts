/** Where skills are fetched from: each source writes whole folders into a staging folder and says where they came from (FEATURES E9, E20–E27). */
import type { InstallSource, SkillOrigin } from '../../../shared/install.ts';
import type { StagingFolder } from '../staging-folder.ts';

/** What a source has written. */
export interface FetchedSkills {
	/** Skill folders relative to the staging folder, with `/`, empty for the top; null: look for them (`findSkillFolders`). */
	folders: string[] | null;
	/** Of a folder inside the staging folder. */
	originOf(path: string): SkillOrigin;
	/** What was left out, in sentences. */
	notes: string[];
	/** What others say of it, by folder (E25). */
	audits?: ReadonlyMap<string, { by: string; risk: string }[]>;
}

export interface SourceFetcher {
	/**
	 * Fetches everything that the source names.
	 * @throws AppError `not_found`, `invalid_input` (with the entry named), `too_large`, `unavailable` (the source does
	 * not answer, or refuses for now), `forbidden`
	 */
	fetch(source: InstallSource, into: StagingFolder, signal: AbortSignal): Promise<FetchedSkills>;
	/** The state of this folder in its source now, as `origin.revision` has it; null where the source cannot tell. @throws AppError */
	revisionOf(origin: SkillOrigin, signal: AbortSignal): Promise<string | null>;
}
