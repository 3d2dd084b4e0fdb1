/** An installer over a real database, a real library and real folders, for the installer's tests. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InstallConfirm, SkillOrigin } from '../../shared/install.ts';
import { openSkillModes } from '../trust/skill-modes.ts';
import { createRegistry } from '../skills/registry/registry.ts';
import { siblingsOf } from '../skills/needs/siblings.ts';
import type { Skill, SkillRoot } from '../skills/types.ts';
import { createSkillPlaces, withSkillPlaces } from '../store/skills/places.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import { createInstaller } from './installer.ts';
import { installPlaces, ownedRoots } from './install-context.ts';
import type { Fetch, SourceFetcher } from './catalog-installer.ts';

export type InstallRig = Awaited<ReturnType<typeof openRig>>;

export interface RigSettings {
	dataDir?: string;
	/** Where the database is, when not in the data folder. */
	database?: string;
	/** Roots beside that of installed skills; they come first. */
	roots?: SkillRoot[];
	sources?: Partial<SourceFetcher>;
	/** What every skill would like to reach. */
	hosts?: string[];
	now?: () => number;
	uptime?: () => number;
}

/** `close` leaves the data folder; `remove` does not. */
export async function openRig(settings: RigSettings = {}) {
	const dataDir = settings.dataDir ?? (await mkdtemp(join(tmpdir(), 'installer-')));
	const rows = await openSqliteStore(settings.database ?? join(dataDir, 'app.sqlite'));
	const skillPlaces = createSkillPlaces(dataDir, settings.roots);
	const store = withSkillPlaces(rows, dataDir, skillPlaces);
	const isInstalled = (source: string) => source === 'installed' || source.startsWith('key.');
	const modes = await openSkillModes(store, { isInstalled });
	const installed = { path: join(dataDir, 'skills'), source: 'installed', listsCopies: true };
	const registry = await createRegistry([...(settings.roots ?? []), installed, ...(await ownedRoots(dataDir))], {
		watch: true
	});
	const logged: string[] = [];
	const log = {
		info: (_facts: object, sentence: string) => void logged.push(sentence),
		error: (facts: object, sentence: string) => void logged.push(`${sentence} ${JSON.stringify(facts)}`)
	};
	const unused = () => Promise.reject(new Error('no source was to be asked'));
	const sources = { fetch: unused, revisionOf: unused, ...settings.sources };
	const { now = Date.now, uptime = () => performance.now() } = settings;
	const hosts = (settings.hosts ?? []).map((name) => ({ name, isDeclared: false, from: [], isGranted: false }));
	const needsOf = async () => ({ binaries: [], packages: [], hosts, variables: [], skills: [] });
	const siblings = (skill: Skill, beside: readonly string[]) =>
		siblingsOf(skill, { skills: registry.snapshot().skills, off: [], beside });
	const needs = { needsOf, siblingsOf: siblings };
	const installer = await createInstaller({
		...{ store, dataDir, skillPlaces, registry, modes, sources, log },
		...needs,
		...{ now, uptime }
	});

	const close = async () => {
		await installer.close();
		await registry.close();
		await store.close();
	};
	return {
		dataDir,
		store,
		/** With paths as they are in rows. */
		rows,
		places: installPlaces(dataDir, { skillPlaces }),
		roots: settings.roots ?? [],
		modes,
		registry,
		installer,
		logged,
		close,
		async remove() {
			await close();
			await rm(dataDir, { recursive: true, force: true });
		},
		/** Installs what is given, `enabled` unless said otherwise. */
		put: (files: Record<string, string>, choice: Partial<InstallConfirm> = {}, origin?: SkillOrigin) =>
			installer.install(uploadOf(files, origin), { ...CHOICE, ...choice }, new AbortController().signal),
		stage: (files: Record<string, string>, origin?: SkillOrigin) =>
			installer.stage(uploadOf(files, origin), { signal: new AbortController().signal }),
		/** The library's skill of this name and version. */
		skill(name: string, version?: string) {
			const { skills, shadowed } = registry.snapshot();
			const found = [...skills, ...shadowed].find(
				(skill) => skill.name === name && (version === undefined || skill.version === version)
			);
			if (!found) throw new Error(`There is no ${name}@${version}`);
			return found;
		},
		/** `name@version` of all that the library has, sorted. */
		identities() {
			const { skills, shadowed } = registry.snapshot();
			return [...skills, ...shadowed].map(({ name, version }) => `${name}@${version}`).sort();
		},
		list: async (folder: string) =>
			(await readdir(join(dataDir, folder), { recursive: true }).catch(() => [] as string[])).sort()
	};
}

export const CHOICE: InstallConfirm = { conflict: 'fail', apiKeyId: 'system', enabled: true };

/** As if from a zip, or from where `origin` says. */
export function uploadOf(files: Record<string, string>, origin?: SkillOrigin): Fetch {
	return async (into) => {
		for (const [path, text] of Object.entries(files)) await into.add(path, Buffer.from(text));
		return { folders: null, originOf: (path) => origin ?? { ...UPLOADED, path }, notes: [] };
	};
}

const UPLOADED: SkillOrigin = { provider: 'zip', source: null, url: null, commit: null, path: '', revision: null };

/** A repository's folder `skills/pdf` at a commit. */
export function githubOrigin(repository: string, revision = 'a'.repeat(40)): SkillOrigin {
	return {
		provider: 'github',
		source: { type: 'github', repository },
		url: `https://github.com/${repository}`,
		commit: 'c'.repeat(40),
		path: 'skills/pdf',
		revision
	};
}

/** The files of one skill, below `folder`. */
export function skillOf(
	name: string,
	{ version = '1.0.0', body = 'Do it.', folder = name, more = {} as Record<string, string> } = {}
): Record<string, string> {
	const base = folder ? `${folder}/` : '';
	const text = `---\nname: ${name}\ndescription: What ${name} does.\nmetadata:\n  version: "${version}"\n---\n\n${body}\n`;
	const others = Object.entries(more).map(([path, content]) => [`${base}${path}`, content] as const);
	return { [`${base}SKILL.md`]: text, ...Object.fromEntries(others) };
}
