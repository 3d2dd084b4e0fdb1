/** The installer’s interface: fetch, check, stage, review, confirm; versions, updates and trash (E4–E9, E20, E22, E28). */
import type {
	CustomSkill,
	InstallConfirm,
	InstalledSkill,
	InstallOutcome,
	InstallSource,
	OutdatedSkill,
	SkillOrigin,
	SkillVersions,
	StagedInstall,
	TrashedSkill,
	VersionSwitch
} from '../../shared/install.ts';
import type { SkillFileChange } from '../../shared/skills.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import type { StagingFolder } from './staging-folder.ts';

/** One version of a skill in the library. */
export type InstallSubject = Pick<Skill, 'source' | 'name' | 'version'>;

/** Writes an upload into the folder, such as `fetchZip` bound to its body. */
export type Fetch = (into: StagingFolder, signal: AbortSignal) => Promise<FetchedSkills>;

/** Every method rejects with an AppError; with nothing changed for `storage_full` and `unavailable` (the disk can’t be written). */
export interface Installer {
	/** Fetches and checks without installing, for the owner `apiKeyId`. @throws AppError as `SourceFetcher.fetch`; `invalid_input` without a skill */
	stage(what: InstallSource | Fetch, options: { apiKeyId?: string; signal: AbortSignal }): Promise<StagedInstall>;
	/** @throws AppError `not_found`, also once expired */
	staged(id: string): Promise<StagedInstall>;
	/** @throws AppError `not_found` */
	discard(id: string): Promise<void>;
	/**
	 * Installs everything chosen, or nothing.
	 * @throws AppError `not_found`, `invalid_input` for an unknown path or a broken skill, `conflict` for an existing identity
	 */
	confirm(id: string, choice: InstallConfirm): Promise<InstallOutcome>;
	/** `stage` and `confirm` in one; nothing stays staged. */
	install(what: InstallSource | Fetch, choice: InstallConfirm, signal: AbortSignal): Promise<InstallOutcome>;
	/** Installs a tool of a native handler (E5). @throws AppError `invalid_input` naming the field, `conflict` */
	installCustom(skill: CustomSkill): Promise<InstalledSkill>;

	versions(skill: InstallSubject): Promise<SkillVersions>;
	/** What using a version or an installation would change, by file. @throws AppError `not_found`, `unavailable` */
	compare(skill: InstallSubject, wanted: string): Promise<SkillFileChange[]>;
	/** Switches one on; swaps in a kept installation. Pins a version; an installation only if a newer version would be used instead. @throws AppError `not_found` */
	use(skill: InstallSubject, wanted: VersionSwitch['use']): Promise<SkillVersions>;
	/** Uses the previous installation. @throws AppError `conflict` if there is none */
	rollback(skill: InstallSubject): Promise<SkillVersions>;
	/** Checks the sources of all installed skills for updates. */
	outdated(signal: AbortSignal): Promise<OutdatedSkill[]>;
	/** Fetches the skill from its source again. @throws AppError as `stage`; `conflict` if it has none */
	stageUpdate(skill: InstallSubject, signal: AbortSignal): Promise<StagedInstall>;

	/** Moves any skill to the trash, installed or not. @throws AppError `conflict` for a link, or a root itself */
	remove(skill: Skill | BrokenSkill): Promise<TrashedSkill>;
	/** Newest first. */
	trash(): Promise<TrashedSkill[]>;
	/** Moves it back. @throws AppError `not_found`, `conflict` if its place is taken */
	restore(id: string): Promise<Pick<TrashedSkill, 'skillId' | 'name' | 'version'>>;
	/** Deletes it permanently. @throws AppError `not_found` */
	purge(id: string): Promise<void>;

	/** After another server has changed folders. */
	readAgain(): Promise<void>;
	/** Active and kept installations, newest first. */
	list(): Promise<InstalledSkill[]>;
	/** Waits for running changes and deletes what is staged. */
	close(): Promise<void>;
}

// Sources: each writes whole skill folders into a staging folder and records their origin (E9, E20–E27).

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
