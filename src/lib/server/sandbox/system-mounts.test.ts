import { homedir } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
	bubblewrapArguments,
	type BubblewrapView,
	foldersAbove,
	isWithin,
	limitedCommand,
	refuseExposing,
	systemFiles,
	systemMounts
} from './bubblewrap-arguments.ts';
import { DEFAULT_LIMITS } from './sandbox.ts';

describe('SANDBOX: what of the system is shown', () => {
	test.each(['/', '/home', '/home/somebody', '/root', homedir(), '/etc', '/var', '/srv', '/data', '/data/skills'])(
		'the whole of %s is refused',
		(path) => {
			expect(() => refuseExposing(path, ['/data/skills'])).toThrow('can’t be shared with a script');
		}
	);
	test.each(['/data/skills/x', '/home/somebody/.nvm/versions/node', '/database', '/opt/node', '/srv/app/node_modules'])(
		'%s is not',
		(path) => {
			expect(() => refuseExposing(path, ['/data/skills'])).not.toThrow();
		}
	);
	test('of /etc only what programs look for, and no link that leads out of what is shown', () => {
		const paths = systemMounts().map(({ path }) => path);
		expect(paths).toContain('/usr');
		expect(paths.filter((path) => /^\/etc(\/ssl|\/pki)?$|shadow|private|sudoers|ssh|passwd|resolv/.test(path))).toEqual(
			[]
		);
	});
	test('the user is in the files that are made, once', () => {
		for (const uid of [1000, 65534]) {
			const [users, groups] = systemFiles({ uid, gid: uid }).map(({ text }) => text);
			expect(users?.split('\n').filter((line) => line.split(':')[2] === String(uid))).toHaveLength(1);
			expect(groups).toContain(`skill:x:${uid}:\n`);
		}
	});
	test('paths are compared by their folders, not by their letters', () => {
		expect([isWithin('/a/b', '/a'), isWithin('/ab', '/a'), isWithin('/a', '/a'), isWithin('/a', '/')]).toEqual([
			true,
			false,
			true,
			true
		]);
		expect(foldersAbove('/a/b/c')).toEqual(['/a', '/a/b']);
		expect(foldersAbove('/a')).toEqual([]);
	});
});

describe('SANDBOX: the command line of bubblewrap', () => {
	const view: BubblewrapView = {
		isRoot: true,
		uid: 61_200,
		gid: 61_200,
		system: [{ kind: 'bind', path: '/usr' }],
		hidden: ['/usr/src/app'],
		runtime: ['/usr/src/app/node_modules/node/bin/node'],
		workspace: '/data/w',
		cwd: '/workspace',
		env: { A: 'secret' },
		limits: DEFAULT_LIMITS,
		fds: { info: 4, seccomp: 5, files: [] }
	};
	test('a program of the app is shown in the empty folder that covers the app', () => {
		const text = bubblewrapArguments(view).join(' ');
		const order = [
			'--ro-bind /usr /usr',
			'--tmpfs /usr/src/app --',
			'--dir /usr/src/app/node_modules --perms 0755 --dir /usr/src/app/node_modules/node',
			'--ro-bind /usr/src/app/node_modules/node/bin/node',
			'--remount-ro /usr/src/app'
		].map((part) => text.indexOf(part));
		expect(order.every((at) => at > 0)).toBe(true);
		expect(order).toEqual([...order].sort((a, b) => a - b));
		expect(text).not.toContain('--dir /usr/src --');
	});
	test('SANDBOX pitfall 2: root has no user namespace and gives up its user; others have one', () => {
		const tools = { setpriv: '/usr/bin/setpriv', prlimit: '/usr/bin/prlimit', choom: null };
		const program = { file: '/bin/sh', args: ['-c', 'true'] };
		expect(bubblewrapArguments(view)).not.toContain('--unshare-user');
		expect(limitedCommand(program, view, tools)).toContain('--bounding-set=-all');
		const other = { ...view, isRoot: false };
		expect(bubblewrapArguments(other).slice(0, 2)).toEqual(['--unshare-user', '--disable-userns']);
		expect(limitedCommand(program, other, tools)[0]).toBe('/usr/bin/prlimit');
		expect(limitedCommand(program, view, tools).join(' ')).not.toContain('secret');
	});
});
