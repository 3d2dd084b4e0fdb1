import { readFileSync } from 'node:fs';
import { delimiter, join, resolve, win32 } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { loadConfig } from './config.ts';

const root = join(import.meta.dirname, '../../..');

describe('the settings', () => {
	test('without any, the built-in responder answers and folders have their defaults', () => {
		const config = loadConfig({});
		expect(config.execution).toMatchObject({ isEnabled: true, network: null, runsInlineCommands: false });
		expect(config).toMatchObject({
			apiKey: null,
			isOffline: true,
			host: '127.0.0.1',
			limits: { maxSteps: 10, maxCostUsd: null },
			dataDir: resolve('data')
		});
		expect(config.skillsDirs[0]).toBe(resolve('skills'));
	});

	test('a key, or another model server, means a real model; an empty value is none', () => {
		expect(loadConfig({ OPENROUTER_API_KEY: 'key' }).isOffline).toBe(false);
		expect(loadConfig({ OPENROUTER_BASE_URL: 'http://127.0.0.1:11434/v1' }).isOffline).toBe(false);
		expect(loadConfig({ OPENROUTER_API_KEY: ' ', PORT: '' }).isOffline).toBe(true);
	});

	test('a bad value stops the start and names the variable and the value', () => {
		expect(() => loadConfig({ PORT: 'http' })).toThrow(/^PORT must be a number, but it’s “http”/);
		expect(() => loadConfig({ PORT: '70000' })).toThrow(/^PORT .*“70000”/);
		expect(() => loadConfig({ OPENROUTER_BASE_URL: 'file:///etc' })).toThrow(/^OPENROUTER_BASE_URL /);
	});

	test('E19: an address that others reach is refused without ADMIN_TOKEN, in a sentence that names both', () => {
		for (const HOST of ['0.0.0.0', '::', '192.168.1.5', 'box.lan', '127.0.0.1.evil.example', '127.1']) {
			expect(() => loadConfig({ HOST }), HOST).toThrow(new RegExp(`^HOST is “${HOST}”.* ADMIN_TOKEN `));
			expect(loadConfig({ HOST, ADMIN_TOKEN: 'x'.repeat(16) }).host).toBe(HOST);
		}
		for (const HOST of ['127.0.0.1', '127.8.0.1', '::1', 'localhost']) expect(loadConfig({ HOST }).host).toBe(HOST);
		const PUBLIC_ORIGIN = 'https://chat.example';
		expect(() => loadConfig({ PUBLIC_ORIGIN })).toThrow(/^PUBLIC_ORIGIN is “https:\/\/chat\.example”.* ADMIN_TOKEN /);
		expect(loadConfig({ PUBLIC_ORIGIN: 'https://localhost:8443/x' }).publicOrigin).toBe('https://localhost:8443');
	});

	test('E19: a token that is short, or that no header can carry, is refused without being shown', () => {
		for (const ADMIN_TOKEN of ['short', 'x'.repeat(15), 'two words of a token', 'ein-schlüssel-mit-umlaut']) {
			const start = (): unknown => loadConfig({ ADMIN_TOKEN });
			expect(start).toThrow(/^ADMIN_TOKEN must be 16 or more/);
			expect(start).not.toThrow(ADMIN_TOKEN);
		}
	});

	test('DATABASE_URL is refused without a key that all servers have, and by name if it’s no address, without being shown', () => {
		const DATABASE_URL = 'postgres://app:pass-word@db.example/app';
		expect(loadConfig({}).database).toBeNull();
		expect(() => loadConfig({ DATABASE_URL })).toThrow(/^DATABASE_URL is set, .* SECRETS_KEY .*openssl rand -hex 32/);
		expect(() => loadConfig({ DATABASE_URL })).not.toThrow('pass-word');
		const SECRETS_KEY = 'x'.repeat(16);
		expect(loadConfig({ DATABASE_URL, SECRETS_KEY }).database).toEqual({ url: DATABASE_URL, directUrl: DATABASE_URL });
		const DATABASE_DIRECT_URL = 'postgresql:///app?host=/run/postgresql';
		expect(loadConfig({ DATABASE_URL, DATABASE_DIRECT_URL, SECRETS_KEY }).database).toEqual({
			url: DATABASE_URL,
			directUrl: DATABASE_DIRECT_URL
		});
		for (const mode of ['prefer', 'of-mine']) {
			const unsafe = { DATABASE_URL: `${DATABASE_URL}?sslmode=${mode}`, SECRETS_KEY };
			expect(() => loadConfig(unsafe)).toThrow(
				/^DATABASE_URL must have one of these as sslmode: verify-full, .*disable\./
			);
		}
		expect(() => loadConfig({ DATABASE_DIRECT_URL })).toThrow(/^DATABASE_DIRECT_URL is set, but DATABASE_URL isn’t/);
		for (const bad of ['mysql://app:pass-word@db/app', 'db:pass-word', 'postgres://app:pass-word@db:port/app']) {
			const start = (): unknown => loadConfig({ DATABASE_URL: bad, SECRETS_KEY });
			expect(start).toThrow(
				/^DATABASE_URL must be like postgres:\/\/user:password@host\/database, .*\.env\.example\.$/
			);
			expect(start).not.toThrow('pass-word');
		}
	});

	test('S3_URL names a bucket and its keys; what is wrong is told without being shown', () => {
		expect(loadConfig({}).bucket).toBeNull();
		expect(loadConfig({ S3_URL: 'https://AKIA:a%2Fb%2Bc%3D@s3.example/bucket/sub/?region=eu-1' }).bucket).toEqual({
			...{ url: 'https://s3.example/bucket/sub', accessKeyId: 'AKIA', secretAccessKey: 'a/b+c=', region: 'eu-1' }
		});
		expect(loadConfig({ S3_URL: 'http://k:s@127.0.0.1:9000/b' }).bucket).toMatchObject({
			...{ url: 'http://127.0.0.1:9000/b', region: 'us-east-1' }
		});
		const wrong = ['s3://k:SeCrEt@b', 'https://k:SeCrEt@host', 'https://k:SeCrEt@host/', 'https://SeCrEt@host/bucket'];
		const more = ['https://k:Se/CrEt@host/b', 'https://k:SeCrEt@host/b?prefix=x', 'https://k:SeCrEt%@host/b', 'SeCrEt'];
		for (const S3_URL of [...wrong, ...more, 'https://k:SeCrEt@host/b/../c/%2e%2e', 'https://k:SeCrEt@host/b#x']) {
			const start = (): unknown => loadConfig({ S3_URL });
			expect(start, S3_URL).toThrow(/^S3_URL must be like https:\/\/key:secret@host\/bucket/);
			expect(start, S3_URL).not.toThrow('CrEt');
		}
	});

	test('folders of skills are split at the separator of the system', () => {
		const { skillsDirs } = loadConfig({ SKILLS_DIRS: ['one', '', 'two'].join(delimiter) });
		// The folder for skills added through the app is always searched too.
		expect(skillsDirs).toEqual([resolve('one'), resolve('two'), resolve('data/skills')]);
	});

	test('A27: by default the folders of the project and of the user are looked at; by its place is trusted what is the project’s', () => {
		vi.stubEnv('HOME', '/home/somebody');
		const { skillsDirs, placesOfTrust, projectDir } = loadConfig({});
		vi.unstubAllEnvs();
		const project = ['skills', '.agents/skills', '.claude/skills', '.agent/skills', '.opencode/skills'].map((dir) =>
			resolve(dir)
		);
		const dirs = ['.agents/skills', '.claude/skills', '.agent/skills', '.codex/skills', '.config/agents/skills'];
		const user = dirs.map((dir) => `/home/somebody/${dir}`);
		expect(skillsDirs).toEqual([...project, ...user, resolve('data/skills')]);
		expect(placesOfTrust).toEqual(project);
		expect(projectDir).toBe(process.cwd());
	});

	test('A27: in the user’s home their folders are no project’s; what SKILLS_DIRS names counts as named', () => {
		vi.stubEnv('HOME', process.cwd());
		const { skillsDirs, placesOfTrust } = loadConfig({});
		const named = loadConfig({ SKILLS_DIRS: resolve('.claude/skills') });
		vi.unstubAllEnvs();
		expect(placesOfTrust).toEqual([resolve('skills'), resolve('.opencode/skills')]);
		expect(new Set(skillsDirs).size).toBe(skillsDirs.length);
		expect(named).toMatchObject({ placesOfTrust: [resolve('.claude/skills')], projectDir: null });
	});

	test('SKILLS_HOME=true reads the home folder beside SKILLS_DIRS, and its skills still ask; false leaves it out', () => {
		vi.stubEnv('HOME', '/home/somebody');
		const beside = loadConfig({ SKILLS_DIRS: '/mine', SKILLS_HOME: 'true' });
		const without = loadConfig({ SKILLS_HOME: 'false' });
		vi.unstubAllEnvs();
		expect(beside.skillsDirs.slice(0, 2)).toEqual(['/mine', '/home/somebody/.agents/skills']);
		expect(beside.placesOfTrust).toEqual(['/mine']);
		expect(without.skillsDirs.filter((dir) => dir.startsWith('/home/somebody'))).toEqual([]);
	});

	test('on Windows folders of skills and modules of handlers may name their drive', () => {
		const SKILLS_DIRS = 'C:\\skills;D:\\more skills\\;\\\\server\\share';
		const { skillsDirs, execution } = loadConfig({ SKILLS_DIRS, SKILLS_HANDLERS: 'C:\\a.js;D:/b.js' }, win32);
		expect(skillsDirs.slice(0, 3)).toEqual(['C:\\skills', 'D:\\more skills', '\\\\server\\share\\']);
		expect(execution.handlerModules).toEqual(['C:\\a.js', 'D:\\b.js']);
	});

	test('SKILLS_ENV offers what it names and is set, and nothing else', () => {
		const environment = { SKILLS_ENV: 'CITY, TOKEN_X UNSET', CITY: 'Oslo', TOKEN_X: 'x', OTHER: 'no' };
		expect(loadConfig(environment).skillsEnv).toEqual({ CITY: 'Oslo', TOKEN_X: 'x' });
	});

	test('SKILLS_ENV may not name a secret of the server, nor a variable that changes what runs', () => {
		const DATABASE_URL = 'postgres://host/database';
		const secrets = { OPENROUTER_API_KEY: 'key', SECRETS_KEY: 'x'.repeat(16), DATABASE_URL };
		const S3_URL = 'https://k:s@host/bucket';
		const environment = { ...secrets, DATABASE_DIRECT_URL: DATABASE_URL, S3_URL, PATH: '/bin', BASH_ENV: 'x' };
		for (const name of [...Object.keys(environment), 'NODE_OPTIONS', 'LD_PRELOAD']) {
			expect(() => loadConfig({ ...environment, SKILLS_ENV: `CITY,${name}` }), name).toThrow(
				`SKILLS_ENV can’t include ${name}`
			);
		}
	});

	test('every variable of .env.example is one that is read, and every one that is read is there', () => {
		const example = readFileSync(join(root, '.env.example'), 'utf8');
		const names = [...example.matchAll(/^#?\s*([A-Z][A-Z0-9_]+)=/gm)].map((match) => match[1] ?? '');
		const read = new Set<string>();
		loadConfig(new Proxy({}, { get: (_, name) => void read.add(String(name)) }));
		expect(names.length).toBeGreaterThan(0);
		expect(names.filter((name) => !read.has(name))).toEqual([]);
		expect([...read].filter((name) => !names.includes(name))).toEqual([]);
	});
});
