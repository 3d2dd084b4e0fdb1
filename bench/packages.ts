/** Packages of skills: the first run with 20 of them, later runs, and what reading the needs of many skills costs. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { removeFolder } from '../src/lib/server/foreign-folders.ts';
import { createEnvironments } from '../src/lib/server/packages/environments.ts';
import { createPackages } from '../src/lib/server/packages/packages.ts';
import { createBubblewrapSandbox } from '../src/lib/server/sandbox/bubblewrap.ts';
import { createProcessSandbox } from '../src/lib/server/sandbox/process.ts';
import { createSpawner } from '../src/lib/server/sandbox/launch/spawner.ts';
import { findNeeds, readerOf } from '../src/lib/server/skills/needs/needs.ts';
import { packageNamed } from '../src/lib/server/skills/needs/packages.ts';
import { createInterpreters } from '../src/lib/server/skills/run/interpreters.ts';
import { createSkillsProvider } from '../src/lib/server/skills/provider.ts';
import type { Skill } from '../src/lib/server/skills/types.ts';
import { openSqliteStore } from '../src/lib/server/store/sqlite.ts';
import { wheelFolder } from '../tests/support/package-index.ts';
import { lacks } from '../tests/support/sandbox-packages.ts';
import { medians, rowOfTimes, timed, type Row } from './measure.ts';

const COUNT = 20;
const FIRSTS = 3;
const ROUNDS = 40;
const SKILLS = 1000;
const run = promisify(execFile);
const runner = join(import.meta.dirname, '../src/lib/server/sandbox/launch/runner.ts');

/** A skill with 20 packages beside one without any: the first run, the environment included, and later ones. */
export async function benchPackages(): Promise<Row[]> {
	const root = await realpath(await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-')));
	const names = Array.from({ length: COUNT }, (_, at) => `library-${at}`);
	await wheelFolder(
		join(root, 'wheels'),
		names.map((name) => ({ name, padding: Buffer.alloc(200_000, name) }))
	);
	for (const name of ['plain', 'packed']) {
		await mkdir(join(root, 'skills', name), { recursive: true });
		await writeFile(join(root, 'skills', name, 'SKILL.md'), `---\nname: ${name}\ndescription: Says hello.\n---\n`);
		await writeFile(join(root, 'skills', name, 'hello.py'), 'print("hello")\n');
		await writeFile(join(root, 'skills', name, 'hello.mjs'), 'console.log("hello");\n');
	}
	const launcher = createSpawner({ entry: runner });
	const sandbox = (lacks('bubblewrap') ? createProcessSandbox : createBubblewrapSandbox)({ launcher });
	const host = createProcessSandbox({ launcher });
	const interpreters = createInterpreters({ host, sandbox: host, path: process.env.PATH ?? '' });
	const python = await interpreters.python();
	const store = await openSqliteStore(join(root, 'app.sqlite'));
	const wanted = names.flatMap((name) => packageNamed('python', name) ?? []);
	const packages = createPackages({
		store: store.skillPackages,
		environments: createEnvironments({
			folder: join(root, 'environments'),
			maxBytes: 1024 ** 3,
			pipIndexUrl: pathToFileURL(join(root, 'wheels')).href,
			npmRegistry: null,
			hosts: [],
			findPython: async () => python,
			target: async () => null,
			environment: { PATH: process.env.PATH, HOME: root }
		}),
		needsOf: async () => ({
			packages: wanted.map((each) => ({ ...each, isDeclared: true, isFound: false, from: [] }))
		}),
		skillIds: () => ['skills/packed']
	});
	const skills = await createSkillsProvider(join(root, 'skills'), {
		cwd: join(root, 'work'),
		sandbox,
		host: { packagesOf: packages.packagesOf }
	});
	const packed = skills.registry.snapshot().skills.find(({ name }) => name === 'packed') as Skill;
	const use = async (skill: string, script: string): Promise<void> => {
		// With text for standard input, no Node that waits is used.
		const result = await skills.handleToolCall('use_skill', { skill, script, args: { said: 'x' }, arg_style: 'json' });
		if (!JSON.stringify(result).includes('hello')) throw new Error(`the script failed: ${JSON.stringify(result)}`);
	};
	const first = async (): Promise<void> => {
		await packages.lookUp(packed, []);
		await packages.settled(packed);
		const { proposed, problem } = await packages.stateOf(packed);
		if (!proposed) throw new Error(problem?.message);
		await packages.install(packed, proposed.digest);
		await packages.settled(packed);
		await use('packed', 'hello.py');
	};
	let bares = 0;
	const bare = async (): Promise<void> => {
		const target = join(root, `bare-${bares++}`);
		const how = ['-m', 'pip', 'install', '--no-index', '--find-links', join(root, 'wheels'), '--target', target];
		await run(python.file, [...python.args, ...how, ...names], { env: { PATH: process.env.PATH, HOME: root } });
	};
	try {
		await skills.handleToolCall('load_skill', { skill: 'plain' });
		await skills.handleToolCall('load_skill', { skill: 'packed' });
		const firsts = await medians(FIRSTS, [
			async () => {
				const ms = await timed(first);
				await packages.remove(packed);
				return ms;
			},
			() => timed(bare)
		]);
		await first();
		const later = async (script: string) =>
			medians(ROUNDS, [() => timed(() => use('packed', script)), () => timed(() => use('plain', script))]);
		return [
			rowOfTimes(
				`the first run with ${COUNT} packages: looked up, installed, used`,
				'pip, which installs them',
				firsts
			),
			rowOfTimes(`${sandbox.name}, python, later runs with them`, 'the same without packages', await later('hello.py')),
			rowOfTimes(`${sandbox.name}, node, later runs with them`, 'the same without packages', await later('hello.mjs'))
		];
	} finally {
		await packages.close();
		await skills.close();
		await sandbox.close();
		await host.close();
		await launcher.close();
		await store.close();
		await removeFolder(root);
	}
}

/** What 1,000 skills need, found in their files, against reading these. */
export async function benchNeeds(): Promise<Row> {
	const root = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const script =
		'import os, requests\nfrom PIL import Image\nTOKEN = os.environ["TOKEN"]\n' +
		'requests.get("https://api.example.org/x")\nos.system("pdftoppm a.pdf a")\n' +
		'# a line of the body\n'.repeat(200);
	for (let at = 0; at < SKILLS; at += 1) {
		const folder = join(root, `skill-${at}`);
		await mkdir(join(folder, 'scripts'), { recursive: true });
		const body = 'Run `scripts/a.py`, then look at the result.\n'.repeat(40);
		await writeFile(join(folder, 'SKILL.md'), `---\nname: skill-${at}\ndescription: Number ${at}.\n---\n${body}`);
		await writeFile(join(folder, 'scripts/a.py'), script);
		await writeFile(join(folder, 'requirements.txt'), 'requests>=2\npillow\n');
	}
	const skills = await createSkillsProvider(root, { cwd: root });
	try {
		const all = skills.registry.snapshot().skills;
		const find = async () => {
			for (const skill of all) await findNeeds(skill, readerOf(skill));
		};
		const read = async () => {
			for (const { dir } of all)
				for (const name of ['SKILL.md', 'scripts/a.py', 'requirements.txt']) await readFile(join(dir, name), 'utf8');
		};
		const times = await medians(5, [() => timed(find), () => timed(read)]);
		return rowOfTimes(`what ${SKILLS} skills need`, 'their files, read', times);
	} finally {
		await skills.close();
		await rm(root, { recursive: true, force: true });
	}
}
