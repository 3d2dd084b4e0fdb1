/** The interface of sources: each writes whole skill folders into a staging folder and records their origin (FEATURES E9, E20–E27). */
import type { InstallSource, SkillOrigin } from '../../../shared/install.ts';
import type { StagingFolder } from '../staging-folder.ts';

export interface FetchedSkills {
	/** Relative to the staging folder, with `/`, empty for the top; null to search (`findSkillFolders`). */
	folders: string[] | null;
	/** By a folder of the staging folder. */
	originOf(path: string): SkillOrigin;
	/** Sentences about what was skipped. */
	notes: string[];
	/** Security audits by folder (E25). */
	audits?: ReadonlyMap<string, { by: string; risk: string }[]>;
}

/** The methods of `SourceFetcher` for one type of source. */
export interface TypedSource<Type extends InstallSource['type']> {
	fetch(
		source: Extract<InstallSource, { type: Type }>,
		into: StagingFolder,
		signal: AbortSignal
	): Promise<FetchedSkills>;
	revisionOf(
		origin: SkillOrigin,
		source: Extract<InstallSource, { type: Type }>,
		signal: AbortSignal
	): Promise<string | null>;
}

export interface SourceFetcher {
	/** @throws AppError `not_found`, `invalid_input` naming the entry, `too_large`, `unavailable` (no answer, or a rate limit), `forbidden` */
	fetch(source: InstallSource, into: StagingFolder, signal: AbortSignal): Promise<FetchedSkills>;
	/** The current `origin.revision` of this folder; null if the source can’t tell. @throws AppError */
	revisionOf(origin: SkillOrigin, signal: AbortSignal): Promise<string | null>;
}
