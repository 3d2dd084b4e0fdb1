import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
	failing,
	htmlPage,
	json,
	playedConfig,
	rateLimited,
	redirectTo,
	startSkillsmp,
	startWellKnown,
	type PlayedWellKnown
} from '../../../../../tests/support/catalog-servers.ts';
import { zipOf } from '../../../../../tests/support/zip-writer.ts';
import { createCatalogRig, skillText, type CatalogRig } from '../catalog-rig.suite.ts';
import type { SourceFetcher } from '../catalog-installer.ts';
import { createSources } from './sources.ts';

let site: PlayedWellKnown;
let rig: CatalogRig;
let sources: SourceFetcher;

const zip = zipOf([
	{ name: 'SKILL.md', content: skillText('pdf') },
	{ name: 'scripts/run.sh', content: '#!/bin/sh\n', mode: 0o100755 }
]);
const sha256 = (content: string | Uint8Array) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const fetch = (more: { url?: string; name?: string } = {}) =>
	sources.fetch({ type: 'well-known', url: site.url, ...more }, rig.staging, rig.signal);
const entryOf = (more: object) => ({
	name: 'seo',
	type: 'skill-md',
	description: 'Does seo.',
	url: '/.well-known/agent-skills/seo/SKILL.md',
	digest: sha256(skillText('seo')),
	...more
});

beforeEach(async () => {
	site = await startWellKnown({ skills: { seo: { text: skillText('seo') }, pdf: { archive: zip } } });
	rig = await createCatalogRig();
	sources = createSources({ ...playedConfig({ wellKnown: site }), skillsmpKey: () => null });
});

afterEach(async () => {
	await Promise.all([site.close(), rig.remove()]);
});

describe('E27: an index of version 0.2.0', () => {
	it('E27: all its skills are fetched, single files and whole archives, with where they came from', async () => {
		const fetched = await fetch();
		expect(fetched.folders).toEqual(['seo', 'pdf']);
		expect(await rig.files()).toEqual({
			'seo/SKILL.md': skillText('seo'),
			'pdf/SKILL.md': skillText('pdf'),
			'*pdf/scripts/run.sh': '#!/bin/sh\n'
		});
		expect(fetched.originOf('pdf')).toEqual({
			provider: 'well-known',
			source: { type: 'well-known', url: site.url, name: 'pdf' },
			url: `${site.url}/.well-known/agent-skills/pdf/skill.zip`,
			commit: null,
			path: 'pdf',
			revision: sha256(zip)
		});
	});

	it.each([
		['by its name', () => ({ name: 'seo' })],
		['by the address of its file', () => ({ url: `${site.url}/.well-known/agent-skills/seo/SKILL.md` })],
		[
			'by a name and the address of the index',
			() => ({
				url: `${site.url}/.well-known/agent-skills/index.json`,
				name: 'seo'
			})
		],
		['by a name and a page of the site', () => ({ url: `${site.url}/docs/?a=b#c`, name: 'seo' })]
	])('E27: one alone is fetched %s', async (_, more) => {
		expect((await fetch(more())).folders).toEqual(['seo']);
		expect(await rig.files()).toEqual({ 'seo/SKILL.md': skillText('seo') });
	});

	it('E27: addresses are resolved against the index, also to another host that may be reached', async () => {
		const other = await startSkillsmp();
		other.intercept = () => ({ body: skillText('seo') });
		sources = createSources({ ...playedConfig({ wellKnown: site, skillsmp: other }), skillsmpKey: () => null });
		site.index = { skills: [entryOf({ url: `${other.url}/seo.md` })] };
		expect((await fetch()).originOf('seo').url).toBe(`${other.url}/seo.md`);
		site.index = { skills: [entryOf({ name: 'two', url: 'seo/SKILL.md' })] };
		expect((await fetch()).originOf('two').url).toBe(`${site.url}/.well-known/agent-skills/seo/SKILL.md`);
		await other.close();
	});

	it('E28: the digest of the index is the revision, so that a new one is newer', async () => {
		const origin = (await fetch({ name: 'seo' })).originOf('seo');
		expect(await sources.revisionOf(origin, rig.signal)).toBe(origin.revision);
		site.skills = { seo: { text: skillText('seo', 'new') } };
		expect(await sources.revisionOf(origin, rig.signal)).toBe(sha256(skillText('seo', 'new')));
		site.skills = { pdf: { archive: zip } };
		await expect(sources.revisionOf(origin, rig.signal)).rejects.toMatchObject({ code: 'not_found' });
	});

	it.each([
		['a file', { seo: { text: skillText('seo'), digest: sha256('other') } }],
		['an archive', { seo: { archive: zip, digest: sha256('other') } }]
	])('E27: %s that is not what the index says is refused', async (_, skills) => {
		site.skills = skills;
		await expect(fetch()).rejects.toMatchObject({
			code: 'unavailable',
			message: expect.stringContaining('lists (SHA-256)') as string
		});
		expect(await rig.files()).toEqual({});
	});

	it.each([
		['no digest', entryOf({ digest: undefined }), 'digest is missing'],
		['a digest of another kind', entryOf({ digest: `md5:${'a'.repeat(32)}` }), 'digest must be in the right format'],
		['a digest cut short', entryOf({ digest: 'sha256:abc' }), 'digest must be in the right format'],
		['an unknown type', entryOf({ type: 'folder' }), 'type must be one of'],
		['a name that leads elsewhere', entryOf({ name: '../../evil' }), '“../../evil” isn’t a valid skill name'],
		['a name that is absolute', entryOf({ name: '/etc' }), '“/etc” isn’t a valid skill name'],
		['a name with invisible characters', entryOf({ name: 'a\u202e' }), '“a⟨U+202E⟩” isn’t a valid skill name'],
		['a name too long', entryOf({ name: 'a'.repeat(65) }), 'isn’t a valid skill name'],
		['an address that is none', entryOf({ url: 'file:///etc/passwd' }), 'isn’t the address of a file'],
		['nothing', null, 'it must be an object']
	])('E27: an entry with %s is left out and named; the others are fetched', async (_, entry, note) => {
		site.index = { skills: [entry, entryOf({ name: 'good' })] };
		const fetched = await fetch();
		expect(fetched.folders).toEqual(['good']);
		expect(fetched.notes.join()).toContain(note);
		site.index = { skills: [entry] };
		await expect(fetch()).rejects.toMatchObject({ name: 'AppError', code: 'not_found' });
	});

	it('E27: a name that stands twice is taken once', async () => {
		site.index = { skills: [entryOf({}), entryOf({ digest: sha256('x') })] };
		expect(await fetch()).toMatchObject({
			folders: ['seo'],
			notes: ['Skipped entry 2 of the index: seo appears twice.']
		});
	});

	it('E27: of ten thousand skills none is fetched unless it is named', async () => {
		const many = Array.from({ length: 10_000 }, (_, index) => entryOf({ name: `s${index}` }));
		site.index = { skills: many };
		await expect(fetch()).rejects.toMatchObject({ code: 'too_large', hint: 'Choose the one to install.' });
		expect((await fetch({ name: 's9999' })).folders).toEqual(['s9999']);
	});

	it.each([
		['a tar archive', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(100)])],
		['nothing', new Uint8Array()]
	])('SECURITY Archives: %s is refused with a sentence', async (_, archive) => {
		site.skills = { pdf: { archive, file: 'pdf.tar.gz' } };
		await expect(fetch()).rejects.toMatchObject({
			code: 'invalid_input',
			message: 'The archive of pdf isn’t a zip file, the only supported format.'
		});
	});

	it('SECURITY Archives: a hostile entry in an archive is refused and named', async () => {
		site.skills = { pdf: { archive: zipOf([{ name: '../../evil.sh', content: 'x' }]) } };
		await expect(fetch()).rejects.toMatchObject({
			code: 'invalid_input',
			message: expect.stringContaining('evil.sh') as string
		});
	});

	it('E27: files without end are not read to their end', async () => {
		await rig.remove();
		rig = await createCatalogRig({ packedBytes: 1000, unpackedBytes: 1000, fileBytes: 1000, files: 10 });
		site.intercept = ({ path }) => (path.endsWith('index.json') ? undefined : { zeros: 1e9 });
		for (const name of ['seo', 'pdf']) await expect(fetch({ name })).rejects.toMatchObject({ code: 'too_large' });
		site.intercept = () => ({ zeros: 1e9 });
		await expect(fetch()).rejects.toMatchObject({ code: 'too_large' });
	});
});

describe('E27: an index of version 0.1.0', () => {
	beforeEach(() => {
		site.skills = null;
		site.legacy = { old: { 'SKILL.md': skillText('old'), 'scripts/a b.sh': '#!/bin/sh\n' } };
	});

	it('E27: every file is fetched, and it is said that nothing vouches for them', async () => {
		const fetched = await fetch();
		expect(await rig.files()).toEqual({ 'old/SKILL.md': skillText('old'), '*old/scripts/a b.sh': '#!/bin/sh\n' });
		expect(fetched.notes).toEqual([`${site.host} lists no checksums, so changes to its files can’t be detected.`]);
		expect(fetched.originOf('old')).toMatchObject({ path: 'old', revision: null });
		expect(await sources.revisionOf(fetched.originOf('old'), rig.signal)).toBe(null);
	});

	it('E27: is found behind a site that answers everything with its front page', async () => {
		site.intercept = ({ path }) => (path.includes('agent-skills') ? htmlPage() : undefined);
		expect((await fetch()).folders).toEqual(['old']);
	});

	it.each(['../../evil', '/etc/passwd', 'a/../b', './a', 'a//b', 'a\\b', 'CON'])(
		'SECURITY Archives: a file %j in it is refused',
		async (path) => {
			site.legacy = { old: { 'SKILL.md': skillText('old'), [path]: 'x' } };
			await expect(fetch()).rejects.toMatchObject({
				name: 'AppError',
				code: expect.stringMatching(/invalid|not_f/) as string
			});
			expect(Object.keys(await rig.files()).every((file) => file === 'old/SKILL.md')).toBe(true);
			expect(site.requests.every((request) => request.path.startsWith('/.well-known/'))).toBe(true);
		}
	);

	it('E27: a file that is missing fails the whole', async () => {
		site.intercept = ({ path }) => (path.endsWith('.sh') ? failing(404) : undefined);
		await expect(fetch()).rejects.toMatchObject({ code: 'not_found' });
	});
});

describe('E27: a site that fails', () => {
	it.each([
		['has no index', failing(404), 'not_found'],
		['answers with a page', htmlPage(), 'unavailable'],
		['answers with another shape', json({ items: [] }), 'unavailable'],
		['answers with status 500', failing(500), 'unavailable'],
		['refuses for now', rateLimited(new Date('2031-01-01T00:00:00Z')), 'unavailable'],
		['says that we may not', failing(403), 'forbidden'],
		['has an unknown format', json({ $schema: 'https://example.com/3.0', skills: [] }), 'unavailable'],
		['leads to a private address', redirectTo('http://127.0.0.1:9/'), 'forbidden'],
		['leads to a file', redirectTo('file:///etc/passwd'), 'invalid_input']
	])('E27: %s', async (_, reply, code) => {
		// The port it redirects to isn't configured.
		sources = createSources({ ...playedConfig({}), hosts: [site.host], skillsmpKey: () => null });
		site.intercept = () => reply;
		await expect(fetch()).rejects.toMatchObject({ name: 'AppError', code });
	});

	it('SECURITY Outbound requests: a skill whose address is private is refused', async () => {
		sources = createSources({ ...playedConfig({}), hosts: [site.host], skillsmpKey: () => null });
		site.index = { skills: [entryOf({ url: 'http://169.254.169.254/latest/meta-data/' })] };
		await expect(fetch()).rejects.toMatchObject({ code: 'forbidden' });
	});

	it.each(['', 'http://', 'ftp://example.com', 'https://a:b@example.com', 'http://127.0.0.1:9'])(
		'E27: the address %j is refused',
		async (url) => {
			sources = createSources({ ...playedConfig({}), hosts: [], skillsmpKey: () => null });
			await expect(fetch({ url })).rejects.toMatchObject({
				name: 'AppError',
				code: expect.stringMatching(/invalid_input|forbidden/) as string
			});
		}
	);

	it('E27: whoever waits for a site that hangs can stop', async () => {
		site.intercept = () => 'hang';
		const failed = expect(fetch()).rejects.toMatchObject({ name: 'AppError', code: 'unavailable' });
		await site.asked('/');
		rig.stop();
		await failed;
	});
});

describe('createSources', () => {
	it('E9: the text of a SKILL.md is a skill of one file, of which nobody can tell what is newer', async () => {
		const fetched = await sources.fetch({ type: 'inline', text: skillText('a') }, rig.staging, rig.signal);
		expect(await rig.files()).toEqual({ 'SKILL.md': skillText('a') });
		expect(fetched.folders).toEqual(['']);
		expect(await sources.revisionOf(fetched.originOf(''), rig.signal)).toBe(null);
	});
});
