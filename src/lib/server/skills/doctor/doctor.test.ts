import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmod, link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { explained, replaceFile } from './skill-file.ts';
import { applyFixes, diagnose } from './doctor.ts';

const run = promisify(execFile);

const root = emptyFolder();
let dir: string;
beforeEach(async () => {
	dir = join(root, 'demo');
	await mkdir(dir);
});
afterEach(async () => {
	await chmod(dir, 0o700);
});

const BAD = '---\nname: Demo\ndescription: Use when: it rains\nversion: v1\n---\nBody\n';
const MENDED = '---\nname: Demo\ndescription: "Use when: it rains"\nversion: v1\n---\nBody\n';
const GOOD = '---\nname: demo\ndescription: "Use when: it rains"\nversion: "1.0.0"\n---\nBody\n';
const put = (text: string | Buffer, name = 'SKILL.md') => writeFile(join(dir, name), text);
const read = (name = 'SKILL.md') => readFile(join(dir, name), 'utf8');
const KEPT = /^\.SKILL\.md\.\d{8}T\d{6}(-\d+)?\.old$/;

describe('F1, A23: a diagnosis', () => {
	test('has every issue with its line, which fix there is, and what all of them would make of it', async () => {
		await put(BAD);
		const { issues, ...rest } = await diagnose(dir);
		expect(rest).toEqual({
			...{ name: 'Demo', status: 'ready', path: join(dir, 'SKILL.md'), digest: hash('sha256', BAD) },
			fixed: { before: BAD, after: GOOD }
		});
		expect(issues.map(({ severity, field, line, fixId }) => [severity, field, line, fixId])).toEqual([
			['error', '_', 3, 'yaml'],
			['error', 'name', 2, 'name'],
			['error', 'name', 2, 'name'],
			['warning', 'version', 4, 'version']
		]);
		// An entry can only be fixed in valid YAML, so its fix includes the other one.
		expect(issues[1]?.after).toBe(MENDED.replace('Demo', 'demo'));
		expect(issues[0]?.after).toBe(MENDED);
		expect(await readdir(dir)).toEqual(['SKILL.md']);
	});

	test('of a skill that is right has no issues, and nothing to fix', async () => {
		await put(GOOD);
		expect(await diagnose(dir)).toMatchObject({ status: 'ready', issues: [], fixed: null });
	});

	test('of a SKILL.md in another encoding says where, and offers no fix: it would write the lost characters down', async () => {
		await put(Buffer.from(`${GOOD}D\xe9j\xe0 vu\n`, 'latin1'));
		const { status, issues, fixed } = await diagnose(dir);
		expect({ status, fixed }).toEqual({ status: 'ready', fixed: null });
		expect(issues).toMatchObject([
			{
				severity: 'error',
				line: 7,
				fixId: null,
				after: null,
				message: expect.stringContaining('isn’t UTF-8') as string
			}
		]);
	});

	test.each<[what: string, make: () => Promise<unknown>, message: string]>([
		['without a SKILL.md', async () => undefined, 'has no SKILL.md. Add one'],
		['with an empty one', () => put(''), 'is empty'],
		['with one that is no text', () => put(Buffer.from([1, 0, 2])), 'binary'],
		['with one that is a folder', () => mkdir(join(dir, 'SKILL.md')), 'isn’t a regular file'],
		['with one that links to nothing', () => symlink('nowhere', join(dir, 'SKILL.md')), 'ENOENT'],
		['with one that links out of it', () => symlink('/etc/hostname', join(dir, 'SKILL.md')), 'outside the skill']
	])('of a folder %s says so, and that a person has to write', async (_what, make, message) => {
		await make();
		const diagnosis = await diagnose(dir);
		expect(diagnosis).toMatchObject({ status: 'broken', fixed: null });
		expect(diagnosis.issues).toMatchObject([
			{ severity: 'error', fixId: null, after: null, message: expect.stringContaining(message) as unknown }
		]);
	});

	test('of a bad tools.json is for a person', async () => {
		await put(GOOD);
		await put('{', 'tools.json');
		const { issues } = await diagnose(dir);
		expect(issues).toMatchObject([{ field: 'tools.json', fixId: null }]);
	});

	test('A5: of a broken skill says which line it is, and mends it', async () => {
		await put('---\nname: demo\ndescription: x\nname: other\n---\nBody\n');
		const { status, issues, digest } = await diagnose(dir);
		expect({ status, issues }).toMatchObject({ status: 'broken', issues: [{ field: '_', line: 4, fixId: 'yaml' }] });
		expect(await applyFixes(dir, { digest })).toMatchObject({ status: 'ready', issues: [] });
	});
});

test('F1: a description that a fix makes up of the instructions is a guess, one that the file says elsewhere isn’t', async () => {
	const guessed = async (text: string) => {
		await put(text);
		return (await diagnose(dir)).issues.map(({ fixId, isGuess }) => [fixId, isGuess ?? false]);
	};
	expect(await guessed('---\nname: demo\n---\n1. Run scripts/tide.mjs.\n')).toContainEqual(['description', true]);
	expect(await guessed('# Demo\n\nMakes tea.\n')).toContainEqual(['opening', true]);
	expect(await guessed('---\nname: demo\nsummary: When it rains.\n---\n1. Run it.\n')).toContainEqual([
		'description',
		false
	]);
});

describe('F1: fixes', () => {
	test('are written with the rights that the file had, and the old one is kept', async () => {
		await put(BAD);
		await chmod(join(dir, 'SKILL.md'), 0o640);
		const { digest } = await diagnose(dir);
		const after = await applyFixes(dir, { digest });
		expect(after).toMatchObject({ status: 'ready', issues: [], fixed: null, digest: hash('sha256', GOOD) });
		expect(after.keptAs).toMatch(KEPT);
		expect([await read(), await read(after.keptAs)]).toEqual([GOOD, BAD]);
		expect((await stat(join(dir, 'SKILL.md'))).mode & 0o777).toBe(0o640);
		expect((await readdir(dir)).sort()).toEqual([after.keptAs, 'SKILL.md']);
	});

	test('can be applied one by one, each to what the last one made; what was kept is never written over', async () => {
		await put(BAD);
		const first = await applyFixes(dir, { digest: (await diagnose(dir)).digest, fixes: ['yaml'] });
		expect(await read()).toBe(MENDED);
		expect(first.issues.map(({ fixId }) => fixId)).toEqual(['name', 'name', 'version']);
		const second = await applyFixes(dir, { digest: first.digest, fixes: ['version'] });
		const third = await applyFixes(dir, { digest: second.digest, fixes: ['name'] });
		expect(await read()).toBe(GOOD);
		expect(new Set([first.keptAs, second.keptAs, third.keptAs]).size).toBe(3);
		expect([await read(first.keptAs), await read(second.keptAs)]).toEqual([BAD, MENDED]);
	});

	test('two olds of one second are both kept', async () => {
		await put(BAD);
		const now = new Date('2026-01-31T23:59:59.999Z');
		const replace = async (after: string) =>
			replaceFile({ dir, name: 'SKILL.md', before: await readFile(join(dir, 'SKILL.md')), after, renames: false }, now);
		expect(await replace(MENDED)).toBe('.SKILL.md.20260131T235959.old');
		expect(await replace(GOOD)).toBe('.SKILL.md.20260131T235959-2.old');
		expect(await read('.SKILL.md.20260131T235959.old')).toBe(BAD);
	});

	test('rename skill.md, with or without another fix', async () => {
		await put(GOOD, 'skill.md');
		const { digest, issues } = await diagnose(dir);
		expect(issues).toMatchObject([{ message: 'is named skill.md', line: 1, fixId: 'file-name', after: GOOD }]);
		expect(await applyFixes(dir, { digest, fixes: ['file-name'] })).toMatchObject({ issues: [], status: 'ready' });
		expect(await read()).toBe(GOOD);
		await rm(join(dir, 'SKILL.md'));
		await put(GOOD, 'Skill.md');
		await applyFixes(dir, { digest: (await diagnose(dir)).digest, fixes: ['file-name'] });
		expect(await read()).toBe(GOOD);
		await rm(join(dir, 'SKILL.md'));
		await put('# Demo\n\nMakes tea.\n', 'skill.md');
		await applyFixes(dir, { digest: (await diagnose(dir)).digest });
		expect(await read()).toContain('description: Makes tea.');
		expect((await readdir(dir)).filter((name) => !name.startsWith('.'))).toEqual(['SKILL.md']);
	});

	test('leave a file alone that has nothing to fix', async () => {
		await put(GOOD);
		const { digest } = await diagnose(dir);
		expect(await applyFixes(dir, { digest })).not.toHaveProperty('keptAs');
		expect(await readdir(dir)).toEqual(['SKILL.md']);
	});

	test('of two at the same time one is written, the other told that the file has changed', async () => {
		await put(BAD);
		const { digest } = await diagnose(dir);
		const results = await Promise.allSettled([
			applyFixes(dir, { digest, fixes: ['yaml'] }),
			applyFixes(dir, { digest }),
			applyFixes(dir, { digest })
		]);
		expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
		for (const result of results) {
			if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'changed' });
		}
		expect([GOOD, MENDED]).toContain(await read());
		expect((await readdir(dir)).filter((name) => name.endsWith('.old'))).toHaveLength(1);
		expect((await readdir(dir)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
	});
});

describe('F1: nothing is written', () => {
	const refused = async (request: Parameters<typeof applyFixes>[1], code: string) => {
		const before = await readdir(dir);
		await expect(applyFixes(dir, request)).rejects.toMatchObject({
			...{ name: 'DoctorError', code },
			message: expect.stringMatching(/\.$/) as unknown
		});
		expect(await readdir(dir)).toEqual(before);
	};

	test('when the file has changed since', async () => {
		await put(BAD);
		const { digest } = await diagnose(dir);
		await put(`${BAD}More.\n`);
		await refused({ digest }, 'changed');
		expect(await read()).toBe(`${BAD}More.\n`);
	});

	test.each([[['nonsense']], [['__proto__']], [['license']], [['name', '']]])('for fixes %j', async (fixes) => {
		await put('---\nname: demo\ndescription: x\nversion: v1\n---\n');
		await refused({ digest: (await diagnose(dir)).digest, fixes }, 'unfixable');
	});

	test('when there is no SKILL.md', () => refused({ digest: hash('sha256', '') }, 'missing'));

	test('SECURITY: through a link, even to a file of the same folder', async () => {
		await put(BAD, 'real.md');
		await symlink('real.md', join(dir, 'SKILL.md'));
		const { digest, fixed } = await diagnose(dir);
		expect(fixed?.after).toBe(GOOD);
		await refused({ digest }, 'link');
		expect(await read('real.md')).toBe(BAD);
	});

	test('SECURITY: to what shares the file under another name', async () => {
		await put(BAD);
		await link(join(dir, 'SKILL.md'), join(root, 'twin.md'));
		await applyFixes(dir, { digest: (await diagnose(dir)).digest });
		expect(await readFile(join(root, 'twin.md'), 'utf8')).toBe(BAD);
	});

	test('where the folder is gone', async () => {
		await expect(diagnose(join(root, 'gone'))).rejects.toMatchObject({ code: 'ENOENT' });
	});

	test('in a folder that is read-only, as a program without rights finds it', async () => {
		await put(BAD);
		const { digest } = await diagnose(dir);
		await chmod(root, 0o755);
		await chmod(dir, 0o555);
		const program = `const { applyFixes } = await import(${JSON.stringify(join(import.meta.dirname, 'doctor.ts'))});
			await applyFixes(${JSON.stringify(dir)}, { digest: '${digest}' }).catch((error) => console.log(error.code, error.message));`;
		const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
		const child = await run(process.execPath, ['--input-type=module', '-e', program], { ...user, cwd: '/' });
		expect(child.stdout).toMatch(/^read_only Couldn’t write .*SKILL\.md.*read-only\./);
		expect(await readdir(dir)).toEqual(['SKILL.md']);
	});

	test.each([
		['EROFS', 'read_only'],
		['EPERM', 'read_only'],
		['ENOSPC', 'full'],
		['EDQUOT', 'full'],
		['ENOENT', 'changed']
	])('the system says %s: %s, with what to do', (code, expected) => {
		const error = explained(Object.assign(new Error('no'), { code }), '/skills/demo/SKILL.md');
		expect(error).toMatchObject({ name: 'DoctorError', code: expected, message: expect.stringContaining('SKILL.md') });
	});
});
