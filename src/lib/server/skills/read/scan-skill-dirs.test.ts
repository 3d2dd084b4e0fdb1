import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { scanSkillDirs } from './scanner.ts';
import { SkillLoadError, type SkillIssue } from '../types.ts';

const folder = emptyFolder();

const at = (path: string) => join(folder, path);
const text = (name: string, body = 'Body') => `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}`;

function put(...paths: [path: string, content: string][]): void {
	for (const [path, content] of paths) {
		mkdirSync(dirname(at(path)), { recursive: true });
		writeFileSync(at(path), content);
	}
}

const names = async (...args: Parameters<typeof scanSkillDirs>) =>
	(await scanSkillDirs(...args)).map(({ name }) => name);

test('A24, A19: a spec has its absolute paths and trimmed body, and nothing of the app', async () => {
	put(['root/demo/SKILL.md', text('demo', '\n# Demo\n\n')]);
	const [spec] = await scanSkillDirs([relative(process.cwd(), at('root'))]);
	expect(spec).toEqual({
		name: 'demo',
		description: 'About demo.',
		metadata: {},
		body: '# Demo',
		path: at('root/demo/SKILL.md'),
		dir: at('root/demo'),
		extra: {}
	});
});

test('A20, A24: a byte that is no UTF-8 is an error in strict mode, and an issue with its line in lenient mode', async () => {
	mkdirSync(at('root/demo'), { recursive: true });
	writeFileSync(at('root/demo/SKILL.md'), Buffer.from(text('demo', 'Déjà vu'), 'latin1'));
	await expect(scanSkillDirs([at('root')])).rejects.toThrow('isn’t UTF-8 text');
	const issues: SkillIssue[] = [];
	const specs = await scanSkillDirs([at('root')], {
		mode: 'lenient',
		onIssue: (_path, found) => issues.push(...found)
	});
	expect(specs).toMatchObject([{ name: 'demo', body: 'D\uFFFDj\uFFFD vu' }]);
	expect(issues).toMatchObject([{ field: '_', severity: 'warning', line: 5 }]);
});

test('A24: three levels are searched, or as many as are asked for; a root is a skill if it holds the file', async () => {
	put(
		['root/1/2/three/SKILL.md', text('three')],
		['root/1/2/3/four/SKILL.md', text('four')],
		['one/SKILL.md', text('one')]
	);
	expect(await names([at('root')])).toEqual(['three']);
	expect(await names([at('root')], { maxDepth: 4 })).toEqual(['four', 'three']);
	expect(await names([at('root')], { maxDepth: 2 })).toEqual([]);
	expect(await names([at('one')], { maxDepth: 0 })).toEqual(['one']);
});

test('A24: descent stops at a skill; hidden, underscored and module folders are left out, but no root for its name', async () => {
	put(
		['.agents/outer/SKILL.md', text('outer')],
		['.agents/outer/inner/SKILL.md', text('inner')],
		['.agents/.git/hidden/SKILL.md', text('hidden')],
		['.agents/_draft/SKILL.md', text('draft')],
		['.agents/node_modules/module/SKILL.md', text('module')]
	);
	expect(await names([at('.agents')])).toEqual(['outer']);
	expect(await names([at('.agents')], { skipPrefixes: ['outer', '.', 'node'], mode: 'lenient' })).toEqual(['draft']);
});

test('A24: another file name may be looked for', async () => {
	put(['root/demo/AGENT.md', text('demo')], ['root/other/SKILL.md', text('other')]);
	expect(await names([at('root')], { filename: 'AGENT.md' })).toEqual(['demo']);
});

test('A24, A28: of one name the first root wins, then the first path; absent roots are skipped', async () => {
	put(['a/z/SKILL.md', text('demo', 'z')], ['a/b/SKILL.md', text('demo', 'b')], ['c/demo/SKILL.md', text('demo', 'c')]);
	const options = { mode: 'lenient' as const };
	expect((await scanSkillDirs(['a', 'none', 'c'].map(at), options)).map(({ body }) => body)).toEqual(['b']);
	expect((await scanSkillDirs(['c', 'a', 'c'].map(at), options)).map(({ body }) => body)).toEqual(['c']);
});

test('A24, A20: strict throws with every violation of the file, lenient tells of them and goes on', async () => {
	put(
		['root/bad/SKILL.md', '---\nname: Bad Name\n---\n'],
		['root/good/SKILL.md', text('good')],
		['root/none/SKILL.md', '']
	);
	const failure: unknown = await scanSkillDirs([at('root')]).catch((error: unknown) => error);
	expect(failure).toBeInstanceOf(SkillLoadError);
	expect(new Set((failure as SkillLoadError).issues.map(({ field }) => field))).toEqual(
		new Set(['name', 'description'])
	);
	const heard: [string, readonly SkillIssue[]][] = [];
	const onIssue = (path: string, issues: readonly SkillIssue[]) => heard.push([path, issues]);
	expect(await names([at('root')], { mode: 'lenient', onIssue })).toContain('good');
	expect(heard.map(([path]) => path)).toEqual([at('root/bad/SKILL.md'), at('root/none/SKILL.md')]);
	expect(heard[1]?.[1]).toMatchObject([{ field: '_', message: 'is empty' }]);
});

test('A24: links are followed once and never round; one to elsewhere and a FIFO are no skills', async () => {
	put(['far/away/SKILL.md', text('away')], ['root/near/SKILL.md', text('near')], ['secret.md', text('leak')]);
	symlinkSync(at('far/away'), at('root/away'));
	symlinkSync(at('root'), at('root/round'));
	symlinkSync('nowhere', at('root/nothing'));
	expect(await names([at('root')])).toEqual(['away', 'near']);
	mkdirSync(at('root/leak'));
	symlinkSync(at('secret.md'), at('root/leak/SKILL.md'));
	mkdirSync(at('root/pipe'));
	execFileSync('mkfifo', [at('root/pipe/SKILL.md')]);
	await expect(scanSkillDirs([at('root')])).rejects.toThrow('a link to a file outside the skill');
	const heard: string[] = [];
	const onIssue = (_: string, issues: readonly SkillIssue[]) => heard.push(issues[0]?.message ?? '');
	expect(await names([at('root')], { mode: 'lenient', onIssue })).toEqual(['away', 'near']);
	expect(heard).toEqual(['is a link to a file outside the skill', 'isn’t a regular file']);
});

test('A24: more than 2,000 folders without a skill are too much', async () => {
	for (let index = 0; index < 2001; index += 1) mkdirSync(at(`root/${index}`), { recursive: true });
	await expect(scanSkillDirs([at('root')])).rejects.toThrow('2,000 folders');
	expect(await names([at('root')], { mode: 'lenient' })).toEqual([]);
});
