/** What installing a skill of a thousand files costs, beside unpacking and writing the same files and nothing else. */
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inflateRawSync, deflateRawSync } from 'node:zlib';
import { createInstaller } from '../src/lib/server/install/installer.ts';
import { fetchZip } from '../src/lib/server/install/sources/upload.ts';
import { createLog } from '../src/lib/server/log.ts';
import { openSkillModes } from '../src/lib/server/trust/skill-modes.ts';
import { createRegistry } from '../src/lib/server/skills/registry/registry.ts';
import { openSqliteStore } from '../src/lib/server/store/sqlite.ts';
import { zipOf } from '../tests/support/zip-writer.ts';
import { medians, rowOfTimes, timed, type Row } from './measure.ts';

const FILES = 1000;

export async function benchInstalling(): Promise<Row[]> {
	const folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const dataDir = join(folder, 'data');
	await mkdir(dataDir);
	const store = await openSqliteStore(join(dataDir, 'app.sqlite'));
	const modes = await openSkillModes(store, { isInstalled: () => true });
	const root = { path: join(dataDir, 'skills'), source: 'installed', listsCopies: true };
	const registry = await createRegistry([root], { watch: true });
	const log = createLog(() => undefined);
	const none = () => Promise.reject(new Error('nothing is fetched here'));
	const sources = { fetch: none, revisionOf: none };
	const installer = await createInstaller({
		store,
		dataDir,
		registry,
		modes,
		sources,
		log,
		siblingsOf: () => [],
		needsOf: none
	});
	try {
		let round = 0;
		const install = async (): Promise<number> => {
			round += 1;
			const zip = zipOf(filesOf(`1.0.${round}`).map(({ path, text }) => ({ name: path, content: text })));
			const { signal } = new AbortController();
			const choice = { conflict: 'fail', apiKeyId: 'system', enabled: true } as const;
			return timed(() => installer.install((into, stop) => fetchZip(bodyOf(zip), into, stop), choice, signal));
		};
		const packed = filesOf('1.0.0').map(({ path, text }) => ({ path, packed: deflateRawSync(text) }));
		const write = (): Promise<number> => {
			const target = join(folder, `plain-${round}-${Math.random()}`);
			return timed(async () => {
				const made = new Set<string>();
				for (const file of packed) {
					const path = join(target, file.path);
					if (!made.has(dirname(path))) await mkdir(dirname(path), { recursive: true });
					made.add(dirname(path));
					await writeFile(path, inflateRawSync(file.packed));
				}
				const handle = await open(target);
				await handle.sync();
				await handle.close();
			});
		};
		const times = await medians(5, [install, write]);
		return [
			rowOfTimes(`install of a skill of ${FILES} files, from a zip`, 'unpacking and writing the same files', times)
		];
	} finally {
		await installer.close();
		await registry.close();
		await store.close();
		await rm(folder, { recursive: true, force: true });
	}
}

function filesOf(version: string): { path: string; text: string }[] {
	const head = `---\nname: large\ndescription: A skill of many files.\nversion: ${version}\n---\n\nUse it.\n`;
	const files = [{ path: 'large/SKILL.md', text: head }];
	for (let index = 1; index < FILES; index += 1) {
		const text = `# File ${index}\n\n${'Some words of a reference that nobody reads. '.repeat(40)}\n`;
		files.push({ path: `large/references/part-${index % 20}/file-${index}.md`, text });
	}
	return files;
}

async function* bodyOf(zip: Buffer): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < zip.length; at += 65_536) yield zip.subarray(at, at + 65_536);
}
