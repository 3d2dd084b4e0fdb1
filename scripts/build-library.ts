/** `npm run build:lib [-- folder]`: the skills library as a package of its own in dist/, with types and a command line. */
import { spawnSync } from 'node:child_process';
import { copyFile, glob, readFile, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

interface RootPackage {
	version: string;
	license: string;
	dependencies: Record<string, string>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(process.argv[2] ?? `${root}dist`);

await rm(dist, { recursive: true, force: true });
const tsc = [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.library.json`, '--outDir', dist];
const { status, stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8' });
if (status !== 0) {
	process.stderr.write(stdout);
	process.exit(1);
}
// Others import the skills alone; the rest is for the command line.
for await (const path of glob('**/*.d.ts', { cwd: dist })) {
	if (!/^server[\\/](skills|sandbox)[\\/]/.test(path)) await rm(`${dist}/${path}`);
}
// The application's packages are devDependencies, so these are the library's.
const { version, license, dependencies } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as RootPackage;
const manifest = {
	name: 'openrouter-skills',
	version,
	description: 'Give an agent skills: folders with a SKILL.md as a prompt, tools and one function that runs them.',
	license,
	type: 'module',
	engines: { node: '>=20.12' },
	exports: { '.': { types: './server/skills/index.d.ts', default: './server/skills/index.js' } },
	bin: { 'openrouter-skills': './server/cli/main.js' },
	files: ['server', 'shared', 'README.md', 'skills.md', 'LICENSE'],
	dependencies
};
await writeFile(`${dist}/package.json`, `${JSON.stringify(manifest, null, '\t')}\n`);
await copyFile(`${root}docs/library.md`, `${dist}/README.md`);
const skillsPage = await readFile(`${root}docs/skills.md`, 'utf8');
await writeFile(`${dist}/skills.md`, skillsPage.replaceAll('](library.md', '](README.md'));
await copyFile(`${root}LICENSE`, `${dist}/LICENSE`);
