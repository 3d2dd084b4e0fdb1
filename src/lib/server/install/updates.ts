/** Asks the sources of installed skills whether there is something new (FEATURES E28). */
import { AppError } from '../../shared/errors.ts';
import type { InstallSource, OutdatedSkill } from '../../shared/install.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { installationsOf, type InstallContext } from './install-context.ts';
import type { InstallSubject } from './catalog-installer.ts';
import type { SourceFetcher } from './sources/source.ts';
import { versionInUse } from './versions.ts';

const AT_ONCE = 4;

/** One for each installed skill, by its id; a source that fails fails for its own. */
export async function askSources(
	context: InstallContext,
	sources: Pick<SourceFetcher, 'revisionOf'>,
	signal: AbortSignal
): Promise<OutdatedSkill[]> {
	const active = (await context.store.skillInstalls.list()).filter(({ state }) => state === 'active');
	const skillIds = [...new Set(active.map(({ skillId }) => skillId))].sort();
	const rows = skillIds.flatMap((skillId) => {
		const [newest, ...others] = active.filter((row) => row.skillId === skillId);
		const used = versionInUse(context, skillId);
		return newest ? [[newest, ...others].find(({ version }) => version === used) ?? newest] : [];
	});
	const answers: OutdatedSkill[] = [];
	const waiting = [...rows.entries()];
	const work = async () => {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			const [index, row] = next;
			signal.throwIfAborted();
			const { skillId, name, version } = row;
			answers[index] = { skillId, name, version, ...(await stateOf(row, { sources, signal, log: context.log })) };
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	return answers;
}

async function stateOf(
	{ skillId, origin }: InstallRecord,
	{
		sources,
		signal,
		log
	}: Pick<InstallContext, 'log'> & { sources: Pick<SourceFetcher, 'revisionOf'>; signal: AbortSignal }
): Promise<Pick<OutdatedSkill, 'state' | 'message'>> {
	if (origin.source === null) return { state: 'unknown', message: 'It was uploaded: there is no source to ask.' };
	try {
		const revision = await sources.revisionOf(origin, signal);
		if (revision === null || origin.revision === null) {
			return { state: 'unknown', message: 'Its source does not tell what is new.' };
		}
		if (revision === origin.revision) return { state: 'current', message: 'It is as its source has it.' };
		return { state: 'outdated', message: 'Its source has changed since it was installed.' };
	} catch (error) {
		signal.throwIfAborted();
		if (error instanceof AppError) return { state: 'unknown', message: error.message };
		log.error({ skillId, error: String(error) }, 'A source could not be asked.');
		return { state: 'unknown', message: 'Its source could not be asked.' };
	}
}

/** Where an installed version comes from, to fetch it again. @throws AppError `conflict` where that cannot be */
export async function updateSourceOf(
	context: InstallContext,
	skill: InstallSubject
): Promise<{ source: InstallSource; row: InstallRecord }> {
	const rows = await installationsOf(context, skillIdOf(skill));
	const row = rows.find(({ state, version }) => state === 'active' && version === skill.version);
	if (!row) throw new AppError('conflict', `“${skill.name}” was not installed here, so there is no source to ask.`);
	if (row.origin.source === null) {
		throw new AppError('conflict', `“${skill.name}” was uploaded: there is no source to fetch it from.`, {
			hint: 'Upload the new version.'
		});
	}
	return { source: row.origin.source, row };
}
