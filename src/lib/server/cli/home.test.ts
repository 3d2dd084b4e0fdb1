import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, posix, win32 } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { dataFolderOf, enterHome } from './home.ts';

describe('without --data the data lies where programs of the system keep theirs', () => {
	const linux = { platform: 'linux', home: '/home/ada', environment: {} } as const;

	test('on Linux below XDG_DATA_HOME, or ~/.local/share; a relative one is ignored', () => {
		expect(dataFolderOf(linux, posix)).toBe('/home/ada/.local/share/openrouter-skills');
		const at = (XDG_DATA_HOME: string) => dataFolderOf({ ...linux, environment: { XDG_DATA_HOME } }, posix);
		expect(at('/mnt/data')).toBe('/mnt/data/openrouter-skills');
		for (const value of ['', 'data', './data']) expect(at(value)).toBe(dataFolderOf(linux, posix));
	});

	test('on macOS in Application Support', () => {
		const mac = { ...linux, platform: 'darwin', home: '/Users/ada', environment: { XDG_DATA_HOME: '/x' } } as const;
		expect(dataFolderOf(mac, posix)).toBe('/Users/ada/Library/Application Support/openrouter-skills');
	});

	test('on Windows below LOCALAPPDATA, also where that isn’t set', () => {
		const windows = { platform: 'win32', home: 'C:\\Users\\ada', environment: {} } as const;
		expect(dataFolderOf(windows, win32)).toBe('C:\\Users\\ada\\AppData\\Local\\openrouter-skills');
		const LOCALAPPDATA = 'D:\\Local';
		expect(dataFolderOf({ ...windows, environment: { LOCALAPPDATA } }, win32)).toBe('D:\\Local\\openrouter-skills');
	});
});

describe('the settings of the installed app', () => {
	const before = process.cwd();
	const folder = emptyFolder();
	let root: string;
	beforeEach(() => {
		root = join(folder, 'package');
		for (const name of ['package', 'mine', 'data']) mkdirSync(join(folder, name));
		process.chdir(folder);
	});
	afterEach(() => {
		process.chdir(before);
	});

	test('new skills go into the data folder, bundled ones come from the package, and those in the home folder are read', () => {
		const environment: NodeJS.ProcessEnv = {};
		expect(enterHome({ data: 'data' }, root, environment)).toBe(join(folder, 'data'));
		expect(environment).toEqual({
			DATA_DIR: join(folder, 'data'),
			SKILLS_DIRS: [join(folder, 'data/my-skills'), join(root, 'skills')].join(delimiter),
			SKILLS_HOME: 'true'
		});
		expect(process.cwd()).toBe(root);
	});

	test('--skills comes first; a path begins where the command was started, also in a variable', () => {
		const environment: NodeJS.ProcessEnv = { DATA_DIR: 'data', SKILLS_HANDLERS: ['a.js', '/b.js'].join(delimiter) };
		enterHome({ skills: ['mine', root] }, root, environment);
		expect(environment).toEqual({
			DATA_DIR: join(folder, 'data'),
			SKILLS_HANDLERS: [join(folder, 'a.js'), '/b.js'].join(delimiter),
			SKILLS_DIRS: [join(folder, 'mine'), root, join(folder, 'data/my-skills'), join(root, 'skills')].join(delimiter),
			SKILLS_HOME: 'false'
		});
	});

	test('.env and skills where the command is run are not read; .env in the data folder is, with paths that start there', () => {
		mkdirSync(join(folder, 'skills'));
		writeFileSync('.env', 'HOME_TEST_STRANGER=1\nSKILLS_HANDLERS=stranger.js\n');
		writeFileSync('data/.env', 'SKILLS_HANDLERS=mine.js\nPORT=4000\n');
		for (const name of ['DATA_DIR', 'SKILLS_DIRS', 'SKILLS_HOME', 'SKILLS_HANDLERS']) vi.stubEnv(name, undefined);
		vi.stubEnv('PORT', '5000');
		enterHome({ data: 'data' }, root);
		const { HOME_TEST_STRANGER, SKILLS_HANDLERS, SKILLS_DIRS, PORT } = process.env;
		vi.unstubAllEnvs();
		expect({ HOME_TEST_STRANGER, SKILLS_HANDLERS, PORT }).toEqual({
			HOME_TEST_STRANGER: undefined,
			SKILLS_HANDLERS: join(folder, 'data/mine.js'),
			PORT: '5000'
		});
		expect(SKILLS_DIRS?.split(delimiter)).not.toContain(join(folder, 'skills'));
	});

	test('SKILLS_DIRS means those folders and no others', () => {
		const environment: NodeJS.ProcessEnv = { SKILLS_DIRS: 'mine' };
		enterHome({ data: 'data' }, root, environment);
		expect(environment).toEqual({ DATA_DIR: join(folder, 'data'), SKILLS_DIRS: join(folder, 'mine') });
	});

	test.each(['nowhere', 'file'])('--skills %s, which is no folder, is refused, and nothing is set', (name) => {
		writeFileSync('file', '');
		const environment: NodeJS.ProcessEnv = {};
		expect(() => enterHome({ skills: [name] }, root, environment)).toThrow(`“${name}” isn’t a folder. Name a folder`);
		expect(environment).toEqual({});
	});
});
