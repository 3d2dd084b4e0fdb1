import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { putFile } from '../../../../tests/support/folder.ts';
import { runOnDisk } from '../../../../tests/support/small-disk.ts';
import { skillOf } from './install-rig.suite.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

let dir: string;
beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'installer-disk-'))));
afterEach(() => rm(dir, { recursive: true, force: true }));

const program = (steps: string, settings: object) => `
	import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
	import { join } from 'node:path';
	import { openRig, skillOf } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'install-rig.suite.ts')))};
	const rig = await openRig({ ...${JSON.stringify(settings)}, dataDir: ${JSON.stringify(dir)} });
	const told = [];
	const attempt = async (work) => told.push(await work().then(() => 'done', ({ code, message }) => code ?? message));
	${steps}
	console.log(JSON.stringify(told));
	await rig.close();
`;

it.skipIf(lacks('bubblewrap'))(
	'E20: on a full disk an installation is refused, what was there serves on, and with room again it works',
	async () => {
		const steps = `
		await attempt(() => rig.put(skillOf('pdf', { body: 'Good.' })));
		await attempt(() => rig.put(skillOf('pdf', { version: '2.0.0', more: { 'large.txt': 'x'.repeat(8_000_000) } })));
		const filler = join(rig.dataDir, 'filler');
		for (let bytes = 4_000_000; bytes >= 1000; ) {
			try {
				writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
			} catch {
				bytes = Math.floor(bytes / 2);
			}
		}
		await attempt(() => rig.put(skillOf('pdf', { body: 'Other. '.repeat(20_000) }), { conflict: 'overwrite' }));
		await rig.registry.reload();
		told.push(rig.skill('pdf').body, rig.identities(), await rig.list('staging'));
		told.push((await rig.store.skillInstalls.list()).map(({ state }) => state));
		rmSync(filler);
		await attempt(() => rig.put(skillOf('pdf', { version: '2.0.0' })));
		told.push(rig.identities());
	`;
		const told = JSON.parse(await runOnDisk({ dir, bytes: 6 * 1024 * 1024 }, program(steps, {}))) as unknown;
		expect(told).toEqual([
			...['done', 'storage_full', 'storage_full', 'Good.', ['pdf@1.0.0'], [], ['active']],
			...['done', ['pdf@1.0.0', 'pdf@2.0.0']]
		]);
	}
);

it.skipIf(lacks('bubblewrap'))(
	'E4, E20: in a data folder that cannot be written nothing is installed or removed, and nothing is lost',
	async () => {
		const skill = join(dir, 'skills', 'pdf');
		await putFile(skill, 'SKILL.md', skillOf('pdf', { folder: '' })['SKILL.md'] ?? '');
		const steps = `
		await attempt(() => rig.put(skillOf('docx')));
		await attempt(() => rig.installer.remove(rig.skill('pdf')));
		await rig.registry.reload();
		told.push(rig.identities(), await rig.installer.trash());
	`;
		const told = JSON.parse(
			await runOnDisk({ dir, bytes: 'read-only' }, program(steps, { database: ':memory:' }))
		) as unknown;
		expect(told).toEqual(['unavailable', 'unavailable', ['pdf@1.0.0'], []]);
	}
);
