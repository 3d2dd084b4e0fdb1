import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	chmodSync,
	existsSync,
	mkdirSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { createScanner, scanRoots, type Scanner, type ScanPass } from './scanner.ts';
import { createPace } from './lean.ts';
import { eventually } from '../../../../../tests/support/eventually.ts';

const folder = emptyFolder();

const at = (path: string) => join(folder, path);
const text = (name: string, body = 'Body') => `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}`;

function put(files: Record<string, string | Buffer>): void {
	for (const [path, content] of Object.entries(files)) {
		mkdirSync(dirname(at(path)), { recursive: true });
		writeFileSync(at(path), content);
	}
}

function link(target: string, path: string): void {
	mkdirSync(dirname(at(path)), { recursive: true });
	symlinkSync(target, at(path));
}

async function scan(...roots: string[]) {
	const found = await scanRoots(roots.length > 0 ? roots.map(at) : [folder]);
	const ready = found.filter((skill) => skill.status === 'ready');
	const broken = found.filter((skill) => skill.status === 'broken');
	return { found, ready, broken, names: ready.map(({ name }) => name) };
}

describe('what is found', () => {
	test('F1: a script that SKILL.md names and that isn’t there is a warning, once, with its line, until it is there', async () => {
		const body =
			'Run scripts/go.sh\nor scripts/old.sh,\nor scripts/old.sh.\nLoad the skill `other` and run `scripts/its.sh`.';
		put({ 'root/demo/SKILL.md': text('demo', body) });
		put({ 'root/demo/scripts/go.sh': '' });
		const message = 'names scripts/old.sh, but the skill has no such file';
		const { ready } = await scan('root');
		expect(ready[0]?.issues).toEqual([{ field: '_', severity: 'warning', message, line: 6 }]);
		put({ 'root/demo/scripts/old.sh': '' });
		expect((await scan('root')).ready[0]?.issues).toEqual([]);
	});

	test('A1: a skill has its folder, root, digest, files and scripts, whatever the layout', async () => {
		put({
			'root/demo/SKILL.md': text('demo'),
			'root/demo/run.py': '',
			'root/demo/scripts/go.sh': '',
			'root/demo/references/more.md': '',
			'root/demo/odd/deep/x.ts': '',
			'root/demo/.hidden': '',
			'root/demo/.git/config': '',
			'root/demo/node_modules/a/index.js': '',
			'root/demo/__pycache__/run.pyc': ''
		});
		const { ready } = await scan('root');
		expect(ready).toMatchObject([
			{
				name: 'demo',
				path: at('root/demo/SKILL.md'),
				dir: at('root/demo'),
				root: at('root'),
				digest: createHash('sha256').update(text('demo')).digest('hex').slice(0, 16),
				files: ['SKILL.md', 'odd/deep/x.ts', 'references/more.md', 'run.py', 'scripts/go.sh'],
				scripts: ['odd/deep/x.ts', 'run.py', 'scripts/go.sh'],
				issues: []
			}
		]);
	});
	test('A2: skill.md, Skill.md and SKILL.MD are read with a warning, and SKILL.md before them', async () => {
		put({
			'cap/Skill.md': text('cap'),
			'loud/SKILL.MD': text('loud'),
			'low/skill.md': text('low'),
			'two/SKILL.md': text('two'),
			'two/skill.md': text('two', 'Other')
		});
		const { ready } = await scan();
		expect(ready).toMatchObject([
			...['cap', 'loud', 'low'].map((name) => ({
				name,
				issues: [{ severity: 'warning', fix: 'rename it to SKILL.md' }]
			})),
			{ name: 'two', body: 'Body', issues: [] }
		]);
	});
	test('A24: folders in folders are searched, a skill inside a skill and hidden folders are not', async () => {
		put({
			'group/inner/SKILL.md': text('inner'),
			'group/inner/nested/SKILL.md': text('nested'),
			'.git/SKILL.md': text('git'),
			'_draft/SKILL.md': text('draft'),
			'node_modules/SKILL.md': text('module'),
			'SKILL.md': text('root')
		});
		expect((await scan()).names).toEqual(['inner']);
	});
	test('A24: descent ends at the sixth level', async () => {
		put({ '1/2/3/4/5/six/SKILL.md': text('six'), '1/2/3/4/5/6/seven/SKILL.md': text('seven') });
		expect((await scan()).names).toEqual(['six']);
	});
	test('A27, A28: skills come in the order of the roots, then by path; absent and repeated roots add nothing', async () => {
		put({ 'b/x/SKILL.md': text('x'), 'b/a/SKILL.md': text('a'), 'a/z/SKILL.md': text('z'), 'a/x/SKILL.md': text('x') });
		const { ready, broken } = await scan('b', 'absent/deeply', 'a', 'b');
		expect(ready.map(({ dir }) => dir)).toEqual(['b/a', 'b/x', 'a/x', 'a/z'].map(at));
		expect(broken).toEqual([]);
	});
	test('A24: each folder is named before it is read', async () => {
		put({ 'root/group/demo/SKILL.md': text('demo'), 'root/group/demo/scripts/a.sh': '' });
		const folders: string[] = [];
		const follow = (path: string) => folders.push(path) === 0;
		const pass = { follow, touched: new Set<string>(), moved: new Set<string>(), verifies: true };
		await createScanner([at('root'), at('absent')]).scan(pass);
		expect(folders).toEqual(['root', 'root/group', 'root/group/demo', 'root/group/demo/scripts'].map(at));
	});
});

describe('links', () => {
	test('A24: a folder that is linked to is read once, however many links lead to it', async () => {
		put({ 'far/away/SKILL.md': text('away'), 'root/near/SKILL.md': text('near') });
		link(at('far/away'), 'root/away');
		link(at('far/away'), 'root/copy');
		link('near', 'root/again');
		expect((await scan('root')).found.map(({ dir }) => dir)).toEqual([at('root/again'), at('root/away')]);
	});
	test('A24: a folder that a link leads to, out of the root, says so in each scan; one within the root does not', async () => {
		put({
			'far/away/SKILL.md': text('away'),
			'group/deep/SKILL.md': text('deep'),
			'root/near/SKILL.md': text('near'),
			'root/.hidden/inside/SKILL.md': text('inside')
		});
		link(at('far/away'), 'root/away');
		link(at('group'), 'root/group');
		link('.hidden/inside', 'root/inside');
		link('root', 'linked-root');
		for (const root of ['root', 'linked-root']) {
			const scanner = createScanner([at(root)]);
			for (let round = 0; round < 2; round += 1) {
				const outside = (await scanner.scan()).filter(({ issues }) =>
					issues.some(({ message }) =>
						message.includes('is a link to a folder outside its skill folder, so it isn’t trusted automatically')
					)
				);
				expect(outside.map(({ name }) => name).sort(), `${root} ${round}`).toEqual(['away', 'deep']);
			}
		}
	});
	test('A24: links that go round, to themselves or to nothing end', async () => {
		put({ 'root/a/demo/SKILL.md': text('demo'), 'root/b/note.txt': '' });
		link('..', 'root/a/up');
		link('.', 'root/b/here');
		link('../a', 'root/b/across');
		link('self', 'root/self');
		link('nowhere', 'root/dangling');
		const { names, broken } = await scan('root');
		expect(names).toEqual(['demo']);
		expect(broken).toEqual([]);
	});
	test('A24: a root that is a link is followed', async () => {
		put({ 'real/demo/SKILL.md': text('demo') });
		link('real', 'root');
		expect((await scan('root', 'real')).ready.map(({ path }) => path)).toEqual([at('root/demo/SKILL.md')]);
	});
	test('A24: a SKILL.md may be a link within its folder, not out of it', async () => {
		put({ 'inside/docs/real.md': text('inside'), 'other.md': text('outside'), 'inside-2/SKILL.md': text('inside-2') });
		link('docs/real.md', 'inside/SKILL.md');
		link('../other.md', 'outside/SKILL.md');
		// The names share a prefix, but only a whole path segment counts as inside.
		link('../inside-2/SKILL.md', 'inside-/SKILL.md');
		const { names, broken } = await scan();
		expect(names.sort()).toEqual(['inside', 'inside-2']);
		expect(broken.map(({ name, issues }) => [name, issues[0]?.message])).toEqual([
			['inside-', 'is a link to a file outside the skill'],
			['outside', 'is a link to a file outside the skill']
		]);
	});
	test('A24: links inside a skill are not listed, so a listing never leaves it', async () => {
		put({ 'demo/SKILL.md': text('demo'), 'demo/a.py': '' });
		link('/etc', 'demo/etc');
		link('a.py', 'demo/b.py');
		expect((await scan()).ready[0]?.files).toEqual(['SKILL.md', 'a.py']);
	});
});

describe('bad input is listed as broken, and the others load', () => {
	const cases: [what: string, message: string, make: (path: string) => void][] = [
		['empty', 'is empty', (path) => put({ [path]: '' })],
		['of blank lines', 'is empty', (path) => put({ [path]: '\r\n \n\t\n' })],
		['binary', 'is a binary file', (path) => put({ [path]: Buffer.from([0x2d, 0x2d, 0x2d, 0, 1]) })],
		['half-written', 'has no closing ---', (path) => put({ [path]: '---\nname: bad\ndescr' })],
		['plain text', 'has no front matter: its first line must be exactly ---', (path) => put({ [path]: '# Bad\n' })],
		['without a description', 'so the model won’t know', (path) => put({ [path]: '---\nname: bad\n---\n' })],
		['a folder', 'isn’t a regular file', (path) => mkdirSync(at(path))],
		['a FIFO', 'isn’t a regular file', (path) => execFileSync('mkfifo', [at(path)])],
		['a link to a FIFO in the folder', 'isn’t a regular file', linkedFifo],
		['a link to a device', 'a link to a file outside the skill', (path) => link('/dev/zero', path)],
		['a link to a secret', 'a link to a file outside the skill', (path) => link('/etc/passwd', path)],
		['a link to nothing', 'ENOENT', (path) => link('nothing', path)],
		// Root can't read this either, unlike a file with mode 000.
		['a link to itself', 'ELOOP', (path) => link('SKILL.md', path)]
	];
	function linkedFifo(path: string): void {
		execFileSync('mkfifo', [join(dirname(at(path)), 'pipe')]);
		link('pipe', path);
	}
	test.each(cases)('A10, A24: a SKILL.md that is %s', async (_what, message, make) => {
		put({ 'bad/note.txt': '', 'good/SKILL.md': text('good') });
		make('bad/SKILL.md');
		const { names, broken } = await scan();
		expect(names).toEqual(['good']);
		expect(broken).toMatchObject([
			{ name: 'bad', dir: at('bad'), path: at('bad/SKILL.md'), root: folder, issues: [{ severity: 'error' }] }
		]);
		expect(broken[0]?.issues[0]?.message).toContain(message);
	});
	test.each<[string, Buffer, string]>([
		['of 5 MB', Buffer.from(text('demo', 'x'.repeat(5_000_000))), 'is larger than 2 MiB'],
		[
			'in UTF-16 with Windows line ends',
			Buffer.from(`\uFEFF${text('demo', 'x').replaceAll('\n', '\r\n')}`, 'utf16le'),
			'is UTF-16'
		]
	])('A24: a SKILL.md %s loads, and says so', async (_, bytes, message) => {
		put({ 'demo/SKILL.md': bytes });
		const [demo] = (await scan()).ready;
		expect(demo).toMatchObject({ name: 'demo', body: expect.stringMatching(/^x+$/) as string });
		expect(demo?.issues).toMatchObject([{ severity: 'warning', message: expect.stringContaining(message) as string }]);
	});
	test('A24: a SKILL.md with a byte that is no UTF-8 loads, and says on which line it is', async () => {
		put({ 'demo/SKILL.md': Buffer.from(text('demo', 'One\nDéjà vu\nThree'), 'latin1') });
		const [demo] = (await scan()).ready;
		expect(demo?.body).toBe('One\nD\uFFFDj\uFFFD vu\nThree');
		expect(demo?.issues).toMatchObject([
			{ field: '_', severity: 'warning', line: 6, message: expect.stringContaining('isn’t UTF-8 text') as string }
		]);
		put({ 'demo/SKILL.md': text('demo', 'One\nDéjà vu') });
		expect((await scan()).ready[0]?.issues).toEqual([]);
	});
	test('A24: a file that may not be read says so, to whom that applies', async () => {
		put({ 'bad/SKILL.md': text('bad'), 'good/SKILL.md': text('good') });
		chmodSync(at('bad/SKILL.md'), 0o000);
		const { names, broken } = await scan();
		const isRoot = process.getuid?.() === 0;
		expect(names).toEqual(isRoot ? ['bad', 'good'] : ['good']);
		expect(broken.map(({ issues }) => issues[0]?.message.includes('EACCES'))).toEqual(isRoot ? [] : [true]);
	});
	test('A4: front matter in JavaScript is refused and never runs', async () => {
		const proof = at('proof');
		const code = `require('node:fs').writeFileSync(${JSON.stringify(proof)}, 'ran')`;
		put({
			'js/SKILL.md': `---js\n{ name: ${code} }\n---\n`,
			'javascript/SKILL.md': `---javascript\nmodule.exports = { name: ${code} }\n---\n`,
			'spaced/SKILL.md': `--- js\n{ name: ${code} }\n---\n`,
			'coffee/SKILL.md': `---coffee\nname: ${code}\n---\n`,
			'tag/SKILL.md': `---\nname: tag\ndescription: !!js/function 'function () { ${code} }'\n---\n`,
			'good/SKILL.md': text('good')
		});
		const { names, ready, broken } = await scan();
		expect(names).toEqual(['good', 'tag']);
		expect(ready[1]?.description).toContain('!!js/function');
		expect(broken.map(({ name }) => name)).toEqual(['coffee', 'javascript', 'js', 'spaced']);
		expect(existsSync(proof)).toBe(false);
	});
	test('A10: the first paragraph is offered where the description is missing', async () => {
		put({ 'bad/SKILL.md': '---\nname: bad\n---\n# Title\n\nTurns text\nround.\n\nMore.' });
		expect((await scan()).broken).toMatchObject([{ name: 'bad', description: 'Turns text\nround.' }]);
	});
	test.each([
		['a FIFO', (path: string) => execFileSync('mkfifo', [path])],
		['5 MB', (path: string) => writeFileSync(path, ' '.repeat(5_000_000))],
		['binary', (path: string) => writeFileSync(path, '[\0]')],
		['a link out', (path: string) => symlinkSync('/etc/passwd', path)],
		['not JSON', (path: string) => writeFileSync(path, '[')]
	])('D16: a tools.json that is %s costs the skill its tools, with a warning', async (_what, make) => {
		put({ 'demo/SKILL.md': text('demo') });
		make(at('demo/tools.json'));
		const { ready } = await scan();
		expect(ready).toMatchObject([{ name: 'demo', tools: [], issues: [{ field: 'tools.json', severity: 'warning' }] }]);
	});
	test('A36: a tools.json is found behind more than a hundred files', async () => {
		put({ 'demo/SKILL.md': text('demo'), 'demo/tools.json': '[{"name":"say","description":"Says."}]' });
		for (let index = 0; index < 120; index += 1) put({ [`demo/a${index}.txt`]: '' });
		expect((await scan()).ready).toMatchObject([{ tools: [{ name: 'say' }] }]);
	});
	test('A24: a root that is a file is told, not passed over', async () => {
		put({ root: 'x', 'other/demo/SKILL.md': text('demo') });
		const { names, broken } = await scan('root', 'other');
		expect(names).toEqual(['demo']);
		expect(broken).toMatchObject([{ name: 'root', dir: at('root'), issues: [{ severity: 'error' }] }]);
		expect(broken[0]?.issues[0]?.message).toContain('ENOTDIR');
	});
});

describe('caps', () => {
	test('A24: of a skill, a hundred files are listed', async () => {
		put({ 'demo/SKILL.md': text('demo') });
		for (let index = 0; index < 150; index += 1) put({ [`demo/data/f${index}.txt`]: '' });
		expect((await scan()).ready[0]?.files).toHaveLength(100);
	});
	test('A24: after 2,000 folders without a skill the search ends and says so; the next root is read', async () => {
		for (let index = 0; index < 2100; index += 1)
			mkdirSync(at(`root/${String(index).padStart(4, '0')}`), { recursive: true });
		put({
			'root/0005/SKILL.md': text('early'),
			'root/2099/SKILL.md': text('late'),
			'other/demo/SKILL.md': text('demo')
		});
		const { names, broken } = await scan('root', 'other');
		expect(names).toEqual(['early', 'demo']);
		expect(broken).toMatchObject([{ name: 'root', path: at('root'), issues: [{ severity: 'error' }] }]);
		expect(broken[0]?.issues[0]?.message).toContain('2,000 folders');
	});
	test('A24: skills do not count as such folders: 2,500 load', { timeout: 30_000 }, async () => {
		for (let index = 0; index < 2500; index += 1) put({ [`many/s${index}/SKILL.md`]: text(`s${index}`) });
		const { ready, broken } = await scan('many');
		expect(ready).toHaveLength(2500);
		expect(broken).toEqual([]);
	});
});

describe('a scan after another', () => {
	/** Once the files are a moment old, their times show whether they changed. */
	const settled = (scanner: Scanner) =>
		eventually(async () => {
			const [first, second] = [await scanner.scan(), await scanner.scan()];
			expect(second.every((skill, index) => skill === first[index])).toBe(true);
			return second;
		});

	test('A32: a skill that did not change is not read again, one that did is', async () => {
		put({ 'a/SKILL.md': text('a'), 'a/scripts/x.sh': '', 'b/SKILL.md': text('b'), 'group/c/SKILL.md': text('c') });
		const scanner = createScanner([folder]);
		const before = await settled(scanner);
		put({ 'b/SKILL.md': text('b', 'Else') });
		const after = await scanner.scan();
		expect(after.map((skill, index) => skill === before[index])).toEqual([true, false, true]);
		expect(after[1]).toMatchObject({ body: 'Else' });
		expect(before[1]).toMatchObject({ body: 'Body' });
	});
	test.each<[what: string, change: () => void, expected: object]>([
		['a new script', () => put({ 'a/scripts/y.sh': '' }), { scripts: ['scripts/x.sh', 'scripts/y.sh'] }],
		['a tools.json', () => put({ 'a/tools.json': '[{"name":"t","description":"T."}]' }), { tools: [{ name: 't' }] }],
		['a script that is gone', () => rmSync(at('a/scripts/x.sh')), { scripts: [] }],
		['a folder of scripts that is gone', () => rmSync(at('a/scripts'), { recursive: true }), { scripts: [] }],
		['another file in its place', saveAside, { body: 'Save' }],
		['a change that keeps size and time', keepTime, { body: 'Kept' }],
		['a folder that was made anew', remake, { body: 'Anew' }]
	])('A32: %s is seen by the times alone', async (_what, change, expected) => {
		put({ 'a/SKILL.md': text('a'), 'a/scripts/x.sh': '' });
		const scanner = createScanner([folder]);
		await settled(scanner);
		change();
		expect(await scanner.scan()).toMatchObject([expected]);
	});
	function saveAside(): void {
		put({ 'a/.SKILL.md.tmp': text('a', 'Save') });
		renameSync(at('a/.SKILL.md.tmp'), at('a/SKILL.md'));
	}
	function keepTime(): void {
		const { atime, mtime } = statSync(at('a/SKILL.md'));
		put({ 'a/SKILL.md': text('a', 'Kept') });
		utimesSync(at('a/SKILL.md'), atime, mtime);
	}
	function remake(): void {
		rmSync(at('a'), { recursive: true });
		put({ 'a/SKILL.md': text('a', 'Anew') });
	}
	test('A32: changes of the same size in quick succession are seen each time, whatever the clock of the disk', async () => {
		put({ 'a/SKILL.md': text('a', 'v000'), 'a/tools.json': '[{"name":"v000","description":"T."}]' });
		const scanner = createScanner([folder]);
		await scanner.scan();
		for (let version = 100; version < 300; version += 1) {
			put({ 'a/SKILL.md': text('a', `v${version}`), 'a/tools.json': `[{"name":"v${version}","description":"T."}]` });
			expect(await scanner.scan()).toMatchObject([{ body: `v${version}`, tools: [{ name: `v${version}` }] }]);
		}
	});
	test('A32: what is behind a link is read each time', async () => {
		put({ 'a/docs/.one.md': text('a', 'One'), 'a/docs/.two.md': text('a', 'Two') });
		link('docs/.current', 'a/SKILL.md');
		link('.one.md', 'a/docs/.current');
		const scanner = createScanner([folder]);
		expect(await scanner.scan()).toMatchObject([{ body: 'One' }]);
		rmSync(at('a/docs/.current'));
		link('.two.md', 'a/docs/.current');
		expect(await scanner.scan()).toMatchObject([{ body: 'Two' }]);
	});
	test('A32: a link that is turned, and one whose target comes later, are seen', async () => {
		put({
			'far/one/SKILL.md': text('x', 'One'),
			'far/two/SKILL.md': text('x', 'Two'),
			'root/near/SKILL.md': text('near')
		});
		link(at('far/one'), 'root/x');
		link(at('far/late'), 'root/late');
		const scanner = createScanner([at('root')]);
		await settled(scanner);
		rmSync(at('root/x'));
		link(at('far/two'), 'root/x');
		put({ 'far/late/SKILL.md': text('late') });
		expect(await scanner.scan()).toMatchObject([{ name: 'late' }, { name: 'near' }, { name: 'x', body: 'Two' }]);
	});
	test('A33: of what is watched only what was touched is looked at, and that is read whatever its times say', async () => {
		put({ 'a/SKILL.md': text('a'), 'b/SKILL.md': text('b'), 'b/scripts/x.sh': '', 'c/d/SKILL.md': text('d') });
		const scanner = createScanner([folder]);
		const before = await settled(scanner);
		const watched: ScanPass = { follow: () => true, touched: new Set(), moved: new Set(), verifies: false };
		put({ 'a/SKILL.md': text('a', 'Else'), 'b/scripts/y.sh': '' });
		expect((await scanner.scan(watched)).map((skill, index) => skill === before[index])).toEqual([true, true, true]);
		const touched = { ...watched, touched: new Set([at('b/scripts')]) };
		expect((await scanner.scan(touched)).map((skill, index) => skill === before[index])).toEqual([true, false, true]);
		const moved = { ...watched, moved: new Set([at('c')]) };
		expect((await scanner.scan(moved)).map((skill, index) => skill === before[index])).toEqual([true, false, false]);
		const above = { ...watched, moved: new Set([dirname(folder)]) };
		expect(await scanner.scan(above)).toMatchObject([{ body: 'Else' }, {}, {}]);
	});
	test('A33: what is not watched is looked at each time', async () => {
		put({ 'a/SKILL.md': text('a'), 'a/scripts/x.sh': '' });
		const scanner = createScanner([folder]);
		await settled(scanner);
		put({ 'a/scripts/y.sh': '' });
		const follow = (path: string) => path !== at('a/scripts');
		const found = await scanner.scan({ follow, touched: new Set(), moved: new Set(), verifies: false });
		expect(found).toMatchObject([{ scripts: ['scripts/x.sh', 'scripts/y.sh'] }]);
	});
});

describe('slices', () => {
	test('the event loop gets its turn when a slice is over', async () => {
		let turns = 0;
		setImmediate(() => (turns += 1));
		await createPace(0)();
		expect(turns).toBe(1);
	});
	test('within a slice work goes on at once', async () => {
		let turns = 0;
		const timer = setImmediate(() => (turns += 1));
		await createPace(Infinity)();
		expect(turns).toBe(0);
		clearImmediate(timer);
	});
});
