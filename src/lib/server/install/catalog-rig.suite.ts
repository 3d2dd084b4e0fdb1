/** What the tests of remote sources share: a staging folder of their own, and what lies in it. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStagingFolder, type InstallLimits, type StagingFolder } from './staging-folder.ts';

export interface CatalogRig {
	staging: StagingFolder;
	signal: AbortSignal;
	stop(): void;
	/** Text of each staged file by its path, `*` before those that may be executed. */
	files(): Promise<Record<string, string>>;
	remove(): Promise<void>;
}

export async function createCatalogRig(limits?: InstallLimits): Promise<CatalogRig> {
	const dir = await mkdtemp(join(tmpdir(), 'catalog-'));
	const staging = await createStagingFolder(dir, limits);
	const stop = new AbortController();
	return {
		staging,
		signal: stop.signal,
		stop: () => stop.abort(),
		async files() {
			const entries = await readdir(staging.dir, { recursive: true, withFileTypes: true });
			const found: [string, string][] = [];
			for (const entry of entries.filter((each) => each.isFile())) {
				const path = join(entry.parentPath, entry.name);
				const isExecutable = ((await stat(path)).mode & 0o100) !== 0;
				const name = path.slice(staging.dir.length + 1).replaceAll('\\', '/');
				found.push([(isExecutable ? '*' : '') + name, await readFile(path, 'utf8')]);
			}
			return Object.fromEntries(found);
		},
		remove: () => rm(dir, { recursive: true, force: true })
	};
}

/** The text of a SKILL.md. */
export const skillText = (name: string, more = '') => `---\nname: ${name}\ndescription: Does ${name}.\n---\n${more}\n`;
