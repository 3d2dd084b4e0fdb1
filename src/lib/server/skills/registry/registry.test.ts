import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { createRegistry, type RegistryOptions, type SkillRegistry, type SkillSnapshot } from './registry.ts';
import { eventually } from '../../../../../tests/support/eventually.ts';

const folder = emptyFolder();
const opened: SkillRegistry[] = [];
beforeEach(() => {
	mkdirSync(at('root'));
});
afterEach(async () => {
	await Promise.all(opened.splice(0).map((registry) => registry.close()));
});

const at = (path: string) => join(folder, path);
const text = (name: string, body = 'Body') => `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}`;
const names = (registry: SkillRegistry) => registry.snapshot().skills.map(({ name }) => name);
const body = (registry: SkillRegistry) => registry.snapshot().skills[0]?.body;

function put(path: string, content: string): void {
	mkdirSync(dirname(at(path)), { recursive: true });
	writeFileSync(at(path), content);
}

async function open(options: RegistryOptions = {}, ...roots: string[]): Promise<SkillRegistry> {
	const registry = await createRegistry((roots.length > 0 ? roots : ['root']).map(at), options);
	opened.push(registry);
	return registry;
}
const follow = (...roots: string[]) => open({ watch: true }, ...roots);
/** Waits for what the file watcher causes; the timeout only allows for a busy machine. */
const soon = (claim: () => void) => eventually(claim);

describe('the merge', () => {
	test('A28: the first root wins; the other is kept aside with the reason; the same text twice is one', async () => {
		put('a/demo/SKILL.md', text('demo', 'First'));
		put('b/demo/SKILL.md', text('demo', 'Second'));
		put('c/demo/SKILL.md', text('demo', 'First'));
		const { skills, shadowed } = (await open({}, 'a', 'b', 'c')).snapshot();
		expect(skills.map(({ dir }) => dir)).toEqual([at('a/demo')]);
		expect(shadowed.map(({ dir }) => dir)).toEqual([at('b/demo')]);
		expect(shadowed[0]?.issues.at(-1)).toMatchObject({
			severity: 'warning',
			message: expect.stringContaining('“demo” is already defined in a/demo, which has priority') as string
		});
		expect((await open({}, 'b', 'a')).snapshot().skills[0]?.body).toBe('Second');
	});
	test('A38: in a root that lists copies, one that has the same text as another is listed all the same', async () => {
		put('a/demo/SKILL.md', text('demo'));
		put('b/demo/SKILL.md', text('demo'));
		const registry = await createRegistry([at('a'), { path: at('b'), source: 'installed', listsCopies: true }]);
		opened.push(registry);
		expect(registry.snapshot().shadowed.map(({ dir }) => dir)).toEqual([at('b/demo')]);
	});
	test('A41: a root that comes later is read and followed like the others', async () => {
		put('a/demo/SKILL.md', text('demo'));
		const registry = await follow('a');
		const root = { path: at('later'), source: 'key.1', owner: 'key.1' };
		await registry.addRoot(root);
		await registry.addRoot(root);
		put('later/mine/SKILL.md', text('mine'));
		await soon(() =>
			expect(registry.snapshot().skills.map(({ name, owner }) => [name, owner])).toEqual([
				['demo', undefined],
				['mine', 'key.1']
			])
		);
		rmSync(at('later'), { recursive: true });
		await soon(() => expect(registry.snapshot().skills.map(({ name }) => name)).toEqual(['demo']));
	});
	test('A28: a broken skill does not stand before one that works', async () => {
		put('a/demo/SKILL.md', '---\nname: demo');
		put('b/demo/SKILL.md', text('demo'));
		const { skills, broken } = (await open({}, 'a', 'b')).snapshot();
		expect(skills.map(({ dir }) => dir)).toEqual([at('b/demo')]);
		expect(broken.map(({ dir }) => dir)).toEqual([at('a/demo')]);
	});
	test.each([
		[{}, ['four', 'one', 'two']],
		[{ include: [] }, ['four', 'one', 'two']],
		[{ include: ['one', 'three'] }, ['four', 'one']],
		[{ include: ['four'] }, ['four']],
		[{ exclude: ['one', 'three'] }, ['two']],
		[{ include: ['one', 'two'], exclude: ['two'] }, ['one']],
		[{ include: ['none'] }, []]
	])('A29: %j leaves %j, by folder or name', async (options, expected) => {
		put('root/one/SKILL.md', text('one'));
		put('root/two/SKILL.md', text('two'));
		put('root/three/SKILL.md', text('four'));
		expect(names(await open(options))).toEqual(expected);
	});
	test('A27: roots that are absent are an empty library', async () => {
		expect((await open({}, 'none', 'none/at/all')).snapshot()).toMatchObject({ skills: [], shadowed: [], broken: [] });
	});
});

describe('reload', () => {
	test('A33: a snapshot stays as it was, and the next one has the change', async () => {
		put('root/demo/SKILL.md', text('demo', 'Old'));
		const registry = await open();
		const before = registry.snapshot();
		const copy = structuredClone(before);
		put('root/demo/SKILL.md', text('demo', 'New'));
		put('root/more/SKILL.md', text('more'));
		const after = await registry.reload();
		expect(before).toEqual(copy);
		expect(after.skills.map((skill) => skill.body)).toEqual(['New', 'Body']);
		expect(registry.snapshot()).toBe(after);
	});
	test('A32: the revision changes with each kind of change, and not without one', async () => {
		put('root/demo/SKILL.md', text('demo'));
		const registry = await open();
		const revisions = [registry.snapshot().revision];
		const next = async (path: string, content: string) => {
			put(path, content);
			revisions.push((await registry.reload()).revision);
		};
		await next('root/demo/SKILL.md', text('demo', 'Other'));
		await next('root/demo/run.py', '');
		await next('root/demo/tools.json', '[{"name":"say","description":"Says."}]');
		await next('root/demo/tools.json', '[{"name":"say","description":"Says it."}]');
		await next('root/bad/SKILL.md', '');
		await next('root/bad/SKILL.md', '---');
		await next('root/copy/SKILL.md', text('demo', 'Copy'));
		expect(new Set(revisions).size).toBe(revisions.length);
		const before = registry.snapshot();
		expect(await registry.reload()).toBe(before);
	});
	test('A33: listeners hear of a change once, and not of none, nor after they left', async () => {
		const registry = await open();
		const heard: SkillSnapshot[] = [];
		const leave = registry.onChange((snapshot) => heard.push(snapshot));
		await registry.reload();
		expect(heard).toEqual([]);
		put('root/demo/SKILL.md', text('demo'));
		const after = await registry.reload();
		await registry.reload();
		expect(heard).toEqual([after]);
		leave();
		put('root/demo/SKILL.md', text('demo', 'Other'));
		await registry.reload();
		expect(heard).toHaveLength(1);
	});
	test('A32: calls that come while it reads share what is read, and see what was there when they came', async () => {
		const registry = await open();
		const heard: number[] = [];
		registry.onChange(({ skills }) => heard.push(skills.length));
		const first = registry.reload();
		put('root/demo/SKILL.md', text('demo'));
		const rest = Array.from({ length: 50 }, () => registry.reload());
		expect(new Set(rest).size).toBe(1);
		expect((await rest[0])?.skills.map(({ name }) => name)).toEqual(['demo']);
		await first;
		expect(heard).toEqual([1]);
	});
	test('A32: a library that changes at each reading holds no caller up', async () => {
		const registry = await open();
		let version = 0;
		registry.onChange(() => {
			if (version === 50) return;
			put('root/demo/SKILL.md', text('demo', `Version ${(version += 1)}`));
			void registry.reload();
		});
		put('root/demo/SKILL.md', text('demo'));
		await registry.reload();
		expect(version).toBeLessThan(3);
		await eventually(() => expect(body(registry)).toBe('Version 50'));
	});
});

describe('A33: with the disk followed, without a reload', () => {
	test('a new folder, a change, a removal and a new name are noticed', async () => {
		const registry = await follow();
		const heard = vi.fn();
		registry.onChange(heard);
		put('root/demo/SKILL.md', text('demo'));
		await soon(() => expect(names(registry)).toEqual(['demo']));
		expect(heard).toHaveBeenLastCalledWith(registry.snapshot());
		put('root/demo/SKILL.md', text('demo', 'Changed'));
		await soon(() => expect(body(registry)).toBe('Changed'));
		renameSync(at('root/demo'), at('root/other'));
		await soon(() => expect(registry.snapshot().skills[0]?.dir).toBe(at('root/other')));
		put('root/other/SKILL.md', text('other', 'Changed again'));
		await soon(() => expect(body(registry)).toBe('Changed again'));
		rmSync(at('root/other'), { recursive: true });
		await soon(() => expect(names(registry)).toEqual([]));
	});
	test('an editor’s save by a second file is noticed, each time', async () => {
		put('root/demo/SKILL.md', text('demo', 'Version 0'));
		const registry = await follow();
		for (const version of ['Version 1', 'Version 2', 'Version 3']) {
			put('root/demo/.SKILL.md.swp', text('demo', version));
			renameSync(at('root/demo/.SKILL.md.swp'), at('root/demo/SKILL.md'));
			await soon(() => expect(body(registry)).toBe(version));
		}
	});
	test('a change of a file that the list doesn’t show is told of with its skill’s folder', async () => {
		put('root/demo/SKILL.md', text('demo'));
		put('root/demo/references/notes.md', 'One');
		put('root/other/SKILL.md', text('other'));
		const registry = await follow();
		const { revision } = registry.snapshot();
		const heard = vi.fn<(folders: readonly string[]) => void>();
		const leave = registry.onFiles(heard);
		put('root/demo/references/notes.md', 'Two');
		await soon(() => expect(heard).toHaveBeenCalledWith([at('root/demo')]));
		expect(registry.snapshot().revision).toBe(revision);
		leave();
		const before = heard.mock.calls.length;
		put('root/other/SKILL.md', text('other', 'Changed'));
		await soon(() => expect(registry.snapshot().revision).not.toBe(revision));
		expect(heard).toHaveBeenCalledTimes(before);
	});

	test('a folder that is removed and made anew is followed as before', async () => {
		put('root/demo/SKILL.md', text('demo', 'Version 0'));
		const registry = await follow();
		for (const version of ['Version 1', 'Version 2', 'Version 3']) {
			rmSync(at('root/demo'), { recursive: true });
			put('root/demo/SKILL.md', text('demo', version));
			await soon(() => expect(body(registry)).toBe(version));
		}
	});
	test('a folder that is copied in comes whole, with its scripts and tools', async () => {
		put('from/demo/SKILL.md', text('demo'));
		put('from/demo/tools.json', '[{"name":"say","description":"Says."}]');
		for (let index = 0; index < 40; index += 1) put(`from/demo/scripts/deep/${index}.sh`, 'echo\n'.repeat(1000));
		const registry = await follow();
		cpSync(at('from/demo'), at('root/group/demo'), { recursive: true });
		await soon(() => expect(registry.snapshot().skills[0]).toMatchObject({ name: 'demo', tools: [{ name: 'say' }] }));
		await soon(() => expect(registry.snapshot().skills[0]?.scripts).toHaveLength(40));
	});
	test('a script that is added to a folder of a skill is noticed', async () => {
		put('root/demo/SKILL.md', text('demo'));
		put('root/demo/scripts/a.sh', '');
		const registry = await follow();
		put('root/demo/scripts/b.sh', '');
		await soon(() => expect(registry.snapshot().skills[0]?.scripts).toEqual(['scripts/a.sh', 'scripts/b.sh']));
	});
	test('a broken skill that is mended, and one that is spoiled, are noticed', async () => {
		put('root/demo/SKILL.md', '---\nname: demo');
		const registry = await follow();
		expect(registry.snapshot().broken).toHaveLength(1);
		put('root/demo/SKILL.md', text('demo'));
		await soon(() => expect(names(registry)).toEqual(['demo']));
		expect(registry.snapshot().broken).toEqual([]);
		put('root/demo/SKILL.md', '');
		await soon(() => expect(registry.snapshot().broken).toHaveLength(1));
	});
	test.each(['late', '.config/agents/skills'])('a root that comes later is noticed: %s', async (root) => {
		const registry = await follow('root', root);
		put(`${root}/demo/SKILL.md`, text('demo'));
		await soon(() => expect(names(registry)).toEqual(['demo']));
		put(`${root}/demo/SKILL.md`, text('demo', 'Changed'));
		await soon(() => expect(body(registry)).toBe('Changed'));
		put(`${root}/more/SKILL.md`, text('more'));
		await soon(() => expect(names(registry)).toEqual(['demo', 'more']));
	});
	test('a root that comes step by step is noticed', async () => {
		const registry = await follow('one/two/skills');
		mkdirSync(at('one'));
		const ticked = vi.fn();
		registry.onChange(ticked);
		await registry.reload();
		mkdirSync(at('one/two'));
		await registry.reload();
		put('one/two/skills/demo/SKILL.md', text('demo'));
		await soon(() => expect(names(registry)).toEqual(['demo']));
		expect(ticked).toHaveBeenCalled();
	});
	test('a root that is moved away and back, or whose folder above is, is noticed', async () => {
		put('above/skills/demo/SKILL.md', text('demo'));
		const registry = await follow('above/skills');
		for (const path of ['above/skills', 'above']) {
			renameSync(at(path), at('away'));
			await soon(() => expect(names(registry)).toEqual([]));
			renameSync(at('away'), at(path));
			await soon(() => expect(names(registry)).toEqual(['demo']));
			put('above/skills/demo/SKILL.md', text('demo', `After ${path}`));
			await soon(() => expect(body(registry)).toBe(`After ${path}`));
		}
	});
	test('a skill and a root that are links are followed, and a link that is turned', async () => {
		put('far/demo/SKILL.md', text('demo', 'Far'));
		put('near/demo/SKILL.md', text('demo', 'Near'));
		symlinkSync(at('far/demo'), at('root/demo'));
		const registry = await follow();
		put('far/demo/SKILL.md', text('demo', 'Far, changed'));
		await soon(() => expect(body(registry)).toBe('Far, changed'));
		rmSync(at('root/demo'));
		symlinkSync(at('near/demo'), at('root/demo'));
		await soon(() => expect(body(registry)).toBe('Near'));
		put('near/demo/SKILL.md', text('demo', 'Near, changed'));
		await soon(() => expect(body(registry)).toBe('Near, changed'));
	});
	test('a folder called as the one above it is a folder like any other', async () => {
		put('root/root/SKILL.md', text('root', 'Old'));
		const registry = await follow();
		put('root/root/SKILL.md', text('root', 'New'));
		await soon(() => expect(body(registry)).toBe('New'));
		rmSync(at('root/root'), { recursive: true });
		await soon(() => expect(names(registry)).toEqual([]));
	});
	test('many changes at once are read in few goes, and the last one counts', async () => {
		put('root/demo/SKILL.md', text('demo'));
		const registry = await follow();
		let heard = 0;
		registry.onChange(() => (heard += 1));
		for (let index = 0; index <= 500; index += 1) put('root/demo/SKILL.md', text('demo', `Version ${index}`));
		await soon(() => expect(body(registry)).toBe('Version 500'));
		expect(heard).toBeLessThan(50);
	});
	test('a change during the very first reading is noticed', async () => {
		for (let index = 0; index < 300; index += 1) put(`root/s${index}/SKILL.md`, text(`s${index}`));
		const opening = follow();
		put('root/s0/SKILL.md', text('s0', 'Changed'));
		const registry = await opening;
		await soon(() => expect(body(registry)).toBe('Changed'));
	});
	test('a link to a great many folders costs no more watches than the caps allow', async () => {
		for (let index = 0; index < 2500; index += 1) mkdirSync(at(`many/${index}`), { recursive: true });
		put('root/demo/SKILL.md', text('demo'));
		symlinkSync(at('many'), at('root/link'));
		const registry = await follow();
		expect(names(registry)).toEqual(['demo']);
		expect(watches()).toBeLessThan(2100);
	});
});

describe('A33: a save that is not done yet', () => {
	/** Runs `rest` while the registry waits for the save, and returns the statuses its listeners got. */
	async function finish(rest: () => void): Promise<{ registry: SkillRegistry; heard: string[][] }> {
		const registry = opened[0] ?? (await open());
		const heard: string[][] = [];
		registry.onChange(({ skills, broken }) => heard.push([...skills, ...broken].map(({ status }) => status)));
		const reading = registry.reload();
		setTimeout(rest, 5);
		await reading;
		return { registry, heard };
	}

	test('A33: a half-written file is read again, and never reported broken', async () => {
		put('root/demo/SKILL.md', text('demo', 'Old'));
		await open();
		put('root/demo/SKILL.md', '---\nname: demo\ndescr');
		const { registry, heard } = await finish(() => put('root/demo/SKILL.md', text('demo', 'New')));
		expect(heard).toEqual([['ready']]);
		expect(body(registry)).toBe('New');
	});
	test('A33: a new skill whose file is half there is read again', async () => {
		put('root/other/SKILL.md', text('other'));
		await open();
		put('root/demo/SKILL.md', '');
		const { registry, heard } = await finish(() => put('root/demo/SKILL.md', text('demo')));
		expect(heard).toEqual([['ready', 'ready']]);
		expect(names(registry)).toEqual(['demo', 'other']);
	});
	test('A33: a file that is moved aside before the new one is written does not take its skill away', async () => {
		put('root/demo/SKILL.md', text('demo', 'Old'));
		await open();
		renameSync(at('root/demo/SKILL.md'), at('root/demo/SKILL.md~'));
		const { registry, heard } = await finish(() => put('root/demo/SKILL.md', text('demo', 'New')));
		expect(heard).toEqual([['ready']]);
		expect(body(registry)).toBe('New');
	});
	test('A33: what stays half-written is reported broken', async () => {
		put('root/demo/SKILL.md', text('demo', 'Old'));
		await open();
		put('root/demo/SKILL.md', '---\nname: demo\ndescr');
		const { heard } = await finish(() => undefined);
		expect(heard).toEqual([['broken']]);
	});
});

describe('A33: a large library', () => {
	test('A33: a folder of 500 skills that is copied in comes whole, and a snapshot taken before stays as it was', async () => {
		for (let index = 0; index < 500; index += 1) {
			put(`from/s${index}/SKILL.md`, text(`s${index}`));
			put(`from/s${index}/scripts/run.sh`, 'echo\n');
		}
		put('root/demo/SKILL.md', text('demo'));
		const registry = await follow();
		const before = registry.snapshot();
		const copy = structuredClone(before);
		const broken: number[] = [];
		registry.onChange((snapshot) => broken.push(snapshot.broken.length));
		cpSync(at('from'), at('root/pack'), { recursive: true });
		await soon(() => expect(registry.snapshot().skills).toHaveLength(501));
		await soon(() =>
			expect(registry.snapshot().skills.filter(({ scripts }) => scripts.length === 1)).toHaveLength(500)
		);
		expect(before).toEqual(copy);
		expect(Math.max(...broken)).toBe(0);
		put('root/pack/s499/SKILL.md', text('s499', 'Changed'));
		await soon(() => expect(registry.snapshot().skills.find(({ name }) => name === 's499')?.body).toBe('Changed'));
		rmSync(at('root/pack'), { recursive: true });
		await soon(() => expect(names(registry)).toEqual(['demo']));
	});
	test('A32: of many skills only the one that changed is another object in the next snapshot', async () => {
		for (let index = 0; index < 100; index += 1) put(`root/s${index}/SKILL.md`, text(`s${index}`));
		const registry = await follow();
		const before = new Set(registry.snapshot().skills);
		put('root/s7/SKILL.md', text('s7', 'Changed'));
		await soon(() => expect(registry.snapshot().skills.find(({ name }) => name === 's7')?.body).toBe('Changed'));
		const fresh = registry.snapshot().skills.filter((skill) => !before.has(skill));
		expect(fresh.map(({ name }) => name)).toEqual(['s7']);
	});
});

/** Handles in this process that watch a folder. */
const watches = () => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('FSEvent')).length;

describe('close', () => {
	test('A33: nothing is left behind, and nobody hears of what comes after', async () => {
		await eventually(() => expect(watches()).toBe(0));
		for (let index = 0; index < 20; index += 1) put(`root/s${index}/SKILL.md`, text(`s${index}`));
		const registry = await follow('root', 'absent/one');
		expect(watches()).toBeGreaterThan(20);
		const heard = vi.fn();
		registry.onChange(heard);
		put('root/new/SKILL.md', text('new'));
		const reading = registry.reload();
		await registry.close();
		await reading;
		await registry.close();
		await eventually(() => expect(watches()).toBe(0));
		put('root/late/SKILL.md', text('late'));
		await registry.reload();
		expect(watches()).toBe(0);
		expect(heard).not.toHaveBeenCalled();
	});
	test('A33: a folder that is gone is not watched any more', async () => {
		await eventually(() => expect(watches()).toBe(0));
		const registry = await follow();
		const idle = watches();
		for (let index = 0; index < 20; index += 1) put(`root/s${index}/SKILL.md`, text(`s${index}`));
		// Events about the new folders may arrive after they were read; then the folders are watched again.
		await eventually(() => expect(watches()).toBe(idle + 20));
		rmSync(at('root'), { recursive: true });
		await registry.reload();
		// The folders above the root are watched for its return.
		await eventually(() => expect(watches()).toBe(idle - 1));
	});
});
