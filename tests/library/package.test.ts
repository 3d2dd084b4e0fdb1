/** The package as users install it, and its docs: every example runs, and every export is documented. */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { codeBlocks, installLibrary, type InstalledLibrary } from '../support/installed-library.ts';
import { startOfflineServer } from '../support/offline-server.ts';

const ROOT = join(import.meta.dirname, '../..');
// Each test starts programs, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let library: InstalledLibrary;
beforeAll(async () => {
	library = await installLibrary();
}, 180_000);
afterAll(() => library.remove());

const readmeBlocks = await codeBlocks('README.md');
const documentBlocks = await codeBlocks('docs/library.md');

test('without what is optional, the package brings only what the library imports', async () => {
	const text = await readFile(join(library.dir, 'node_modules/openrouter-skills/package.json'), 'utf8');
	const manifest = JSON.parse(text) as { dependencies: object };
	expect(Object.keys(manifest.dependencies)).toEqual([
		...['eventsource-parser', 'gray-matter', 'js-yaml', 'semver', 'smol-toml', 'zod']
	]);
	const { stdout } = await library.runCommand('npm', ['ls', '--all', '--parseable']);
	expect(stdout).not.toMatch(/svelte|node-linux|playwright|@openrouter/);
});

test("README's library example runs in a folder that has only the package", async () => {
	expect(readmeBlocks).toHaveLength(1);
	const source = `${readmeBlocks[0]}\nconsole.log(skills.skillNames.join(), skills.tools.length);\nawait skills.close();`;
	const { stdout } = await library.runModule(`${source}\nconsole.log(process.versions.node);`);
	expect(stdout).toContain(`\n${library.nodeVersion}\n`);
	expect(stdout).toMatch(/^code-review,count-words,.* 2$/m);
});

test('S0: `npx openrouter-skills validate` finds nothing wrong with the bundled skills', async () => {
	const { stdout } = await library.runCommand('npx', ['--no-install', 'openrouter-skills', 'validate', 'skills']);
	expect(stdout).toContain('10 skills, 0 errors');
	await expect(
		library.runCommand('npx', ['--no-install', 'openrouter-skills', 'validate', 'nowhere'])
	).rejects.toThrow();
});

test('F16: `npx openrouter-skills eval` of a bundled skill, on the built-in responder', async () => {
	const settings = { OPENROUTER_API_KEY: '', OPENROUTER_BASE_URL: '' };
	const args = ['--no-install', 'openrouter-skills', 'eval', 'skills/count-words'];
	const { stdout, stderr } = await library.runCommand('npx', args, settings);
	expect(stdout).toMatch(/^ +100 % +0 % +of the expectations that could be checked$/m);
	expect(stderr).toContain(
		'OPENROUTER_API_KEY isn’t set, so this runs in Demo mode, without an AI model to answer or judge'
	);
});

test('B17: examples/openrouter-sdk.mjs answers with the number that the skill counted', async () => {
	const program = join(library.dir, 'sdk-program');
	await mkdir(join(program, 'node_modules'), { recursive: true });
	await symlink(join(ROOT, 'node_modules/@openrouter'), join(program, 'node_modules/@openrouter'));
	await cp(join(ROOT, 'examples/openrouter-sdk.mjs'), join(program, 'main.mjs'));
	const server = await startOfflineServer();
	try {
		const settings = { OPENROUTER_API_KEY: 'any', OPENROUTER_BASE_URL: server.url };
		const { stdout } = await library.runCommand('node', [join(program, 'main.mjs')], settings);
		expect(stdout).toMatch(/words\W+4\b/);
		expect(server.requests).toHaveLength(3);
		expect(server.violations).toEqual([]);
	} finally {
		await server.close();
	}
});

test('a TypeScript program in strict mode compiles against the types of the package', async () => {
	const source = `import { createSkillsProvider, type Skill, type SkillsProvider } from 'openrouter-skills';
const skills: SkillsProvider = await createSkillsProvider('./skills', { timeout: 1000 });
const [first]: readonly Skill[] = skills.registry.snapshot().skills;
export const name: string | undefined = first?.name;
// @ts-expect-error -- no such option
await createSkillsProvider('./skills', { timeOut: 1 });
`;
	await writeFile(join(library.dir, 'program.ts'), source);
	const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
	const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'es2023', types: [] };
	await writeFile(join(library.dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
	expect(await library.runCommand(process.execPath, [tsc])).toEqual({ stdout: '', stderr: '' });
});

test('there are examples in docs/library.md', () => {
	expect(documentBlocks.length).toBeGreaterThan(8);
});

test.each(documentBlocks.map((code, index) => [index + 1, code]))(
	'example %i of docs/library.md runs',
	async (_, code) => {
		expect(await library.runModule(String(code))).toEqual({ stdout: '', stderr: '' });
	}
);

test('docs/library.md names every export, and has an example of every one that is not a type', async () => {
	const index = await readFile(join(ROOT, 'src/lib/server/skills/index.ts'), 'utf8');
	const document = await readFile(join(ROOT, 'docs/library.md'), 'utf8');
	const names = [...index.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(
		([, , list]) => list?.replaceAll('type ', '').match(/\w+/g) ?? []
	);
	expect(names.filter((name) => !document.includes(`\`${name}\``) && !document.includes(`\`${name}(`))).toEqual([]);
	const source = "import * as library from 'openrouter-skills'; console.log(Object.keys(library).join());";
	const { stdout } = await library.runModule(source);
	const imported = documentBlocks.join('\n');
	const values = stdout.trim().split(',');
	expect(
		values.filter((name) => !new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from 'openrouter-skills'`).test(imported))
	).toEqual([]);
	expect(names).toEqual(expect.arrayContaining(values));
});
