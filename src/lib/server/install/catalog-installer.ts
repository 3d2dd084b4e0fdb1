/** Installs skills and keeps them: fetch, check, stage, show, confirm, place; versions, updates and trash (FEATURES E4–E9, E20, E22, E28). */
import type {
	CustomSkill,
	InstallOutcome,
	InstallConfirm,
	InstalledSkill,
	InstallSource,
	OutdatedSkill,
	SkillVersions,
	StagedInstall,
	TrashedSkill,
	VersionSwitch
} from '../../shared/install.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import type { FetchedSkills } from './sources/source.ts';
import type { StagingFolder } from './staging-folder.ts';

/** Which skill: a version of it, as the library has it. */
export type InstallSubject = Pick<Skill, 'source' | 'name' | 'version'>;

/** Writes what was uploaded into the folder: `fetchZip`, `fetchFolder` and `fetchInline` bound to their bodies. */
export type Fetch = (into: StagingFolder, signal: AbortSignal) => Promise<FetchedSkills>;

export interface StageOptions {
	/** Whose it is to be; it is compared with what they have. */
	apiKeyId?: string;
	signal: AbortSignal;
}

/** Everything rejects with an AppError; `storage_full` and `unavailable` where the disk cannot be written, and then nothing has changed. */
export interface Installer {
	/**
	 * Fetches and checks; nothing is installed. What a source names is fetched by `sources`.
	 * @throws AppError as `SourceFetcher.fetch`; `invalid_input` where there is no skill
	 */
	stage(what: InstallSource | Fetch, options: StageOptions): Promise<StagedInstall>;
	/** @throws AppError `not_found`, also for one that has expired */
	staged(id: string): StagedInstall;
	/** @throws AppError `not_found` */
	discard(id: string): Promise<void>;
	/**
	 * Places what was staged: all that is chosen, or nothing.
	 * @throws AppError `not_found`, `invalid_input` for a path that is none or broken, `conflict` for an identity that exists
	 */
	confirm(id: string, choice: InstallConfirm): Promise<InstallOutcome>;
	/** `stage` and `confirm` in one; nothing stays staged. */
	install(what: InstallSource | Fetch, choice: InstallConfirm, signal: AbortSignal): Promise<InstallOutcome>;
	/** A tool of a native handler (E5). @throws AppError `invalid_input` with the field named, `conflict` */
	installCustom(skill: CustomSkill): Promise<InstalledSkill>;

	versions(skill: InstallSubject): Promise<SkillVersions>;
	/** Pins a version, and switches it on; a kept installation is swapped in. @throws AppError `not_found` */
	use(skill: InstallSubject, wanted: VersionSwitch['use']): Promise<SkillVersions>;
	/** Uses the installation before the one in use. @throws AppError `conflict` where there is none */
	rollback(skill: InstallSubject): Promise<SkillVersions>;
	/** Asks the sources of all installed skills. */
	outdated(signal: AbortSignal): Promise<OutdatedSkill[]>;
	/** Fetches the skill again from where it came from. @throws AppError `conflict` where it cannot be, as `stage` */
	stageUpdate(skill: InstallSubject, signal: AbortSignal): Promise<StagedInstall>;

	/** Into the trash, also what nobody installed. @throws AppError `conflict` for a link, or a root itself */
	remove(skill: Skill | BrokenSkill): Promise<TrashedSkill>;
	/** What can be restored, the newest first. */
	trash(): Promise<TrashedSkill[]>;
	/** Back to where it lay. @throws AppError `not_found`, `conflict` where something stands there now */
	restore(id: string): Promise<Pick<TrashedSkill, 'skillId' | 'name' | 'version'>>;
	/** Deletes it for good. @throws AppError `not_found` */
	purge(id: string): Promise<void>;

	/** What is installed and in use or kept, the newest first: the origin of a skill in lists. */
	list(): Promise<InstalledSkill[]>;
	/** Waits for what is being changed, and removes what is staged. */
	close(): Promise<void>;
}
