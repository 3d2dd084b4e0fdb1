/** `install-packages NAME…`: the packages of skills, for images and servers without a page (D46). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { lacksPackages, type LockedPackage, type SkillPackagesState, spaceUsed } from '../../shared/packages.ts';
import { type App, createApp } from '../app.ts';
import { loadConfig } from '../config.ts';
import { idOf, isFirst, requireSkill } from '../skill-admin/skill-details.ts';
import type { Skill } from '../skills/types.ts';
import { INSTALL_FLAGS } from './home.ts';

export interface InstallPackagesOptions {
	names: readonly string[];
	/** Every skill that lacks packages. */
	all: boolean;
	/** Without asking. */
	yes: boolean;
	/** How it is called, for messages. */
	usage: string;
}

const POLL_MS = 200;
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/** Reads the arguments. An unknown one is said in one sentence, with exit code 2. `command`: how it is called. */
export async function installPackagesOf(args: string[], command: string): Promise<void> {
	const usage = `${command} SKILL…, or --all; with --yes, without asking`;
	try {
		const { values, positionals } = parseArgs({ args, options: INSTALL_FLAGS, allowPositionals: true });
		if (values.help) tell(usage);
		else await runInstallPackages({ ...values, names: positionals, usage });
	} catch (error) {
		const [said] = (error as Error).message.split(/\.(?:\s|$)|\n/, 1);
		process.stderr.write(`${said}. Usage: ${usage}\n`);
		process.exitCode = 2;
	}
}

/** Uses the settings in the environment. Sets the exit code: 1 if anything wasn’t installed. */
export async function runInstallPackages({ names, all, yes, usage }: InstallPackagesOptions): Promise<void> {
	let app: App | undefined;
	try {
		if (all === names.length > 0) throw new Error(`Name skills, or all of them: ${usage}`);
		if (!yes && !process.stdin.isTTY)
			throw new Error('Nobody can be asked here. Add --yes to install whatever the skills need.');
		app = await createApp(loadConfig(process.env));
		const running = app;
		const skills = all
			? running.skills.registry.snapshot().skills.map((skill) => idOf(skill, isFirst(running, skill)))
			: names;
		for (const id of skills) await installFor(running, requireSkill(running, null, id), { yes, isNamed: !all });
	} catch (error) {
		fail(error instanceof Error ? error.message : String(error));
	} finally {
		await app?.close();
	}
}

function fail(message: string): void {
	process.stderr.write(`${message}\n`);
	process.exitCode = 1;
}

async function installFor(app: App, skill: Skill, how: { yes: boolean; isNamed: boolean }): Promise<void> {
	const { packages } = await app.preflight.needsOf(skill);
	const { installed } = await app.packages.stateOf(skill);
	const isMissing = lacksPackages(packages, installed);
	if (installed?.state === 'ready' && !isMissing)
		return tell(`${skill.name}: ${count(installed.packages)} installed already.`);
	if (!isMissing && !installed) {
		if (how.isNamed) tell(`${skill.name}: it needs no packages, or they are there.`);
		return;
	}
	// What a person allowed before, in exactly those versions.
	const again = !isMissing && installed?.state === 'gone' ? installed : null;
	if (!again) {
		await app.packages.lookUp(skill, []);
		const { problem } = await followed(app, skill);
		if (problem) return fail(`${skill.name}: ${problem.message} ${problem.hint}`);
	}
	const { proposed: found, space } = await app.packages.stateOf(skill);
	const proposed = again ?? found;
	if (!proposed) {
		if (installed) tell(`${skill.name}: ${count(installed.packages)} installed already.`);
		return;
	}
	tell(`${skill.name} needs ${count(proposed.packages)}:`);
	for (const { name, version, from, bytes } of proposed.packages)
		tell(
			`  ${name} ${version} from ${from === 'file:' ? 'a folder' : from}${bytes === null ? '' : `, ${sizeOf(bytes)}`}`
		);
	if (proposed.notFound) tell(`  Not in the index, so probably no packages: ${proposed.notFound.join(', ')}`);
	if (space) tell(`  All skills’ packages: ${spaceUsed(space)}`);
	if (!how.yes && !(await isAllowed())) return fail(`${skill.name}: nothing was installed.`);
	await app.packages.install(skill, proposed.digest);
	const { problem } = await followed(app, skill);
	if (problem) return fail(`${skill.name}: ${problem.message} ${problem.hint}`);
	tell(`${skill.name}: installed.`);
}

/** Tells what is being done until it is over. */
async function followed(app: App, skill: Skill): Promise<SkillPackagesState> {
	const over = new AbortController();
	const settled = app.packages.settled(skill).finally(() => over.abort());
	settled.catch(() => undefined);
	let last = '';
	for (;;) {
		const { work } = await app.packages.stateOf(skill);
		if (work && work.text !== last) process.stderr.write(`  ${(last = work.text)}\n`);
		await delay(POLL_MS, undefined, { signal: over.signal }).catch(() => undefined);
		if (!over.signal.aborted) continue;
		await settled;
		return app.packages.stateOf(skill);
	}
}

function count(packages: readonly Pick<LockedPackage, 'name'>[]): string {
	return packages.length === 1 ? '1 package' : `${packages.length} packages`;
}

function sizeOf(bytes: number): string {
	return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

async function isAllowed(): Promise<boolean> {
	const terminal = createInterface({ input: process.stdin, output: process.stdout });
	const answer = await terminal.question('Install them? [y/N] ');
	terminal.close();
	return /^y(es)?$/i.test(answer.trim());
}

// `npm run install-packages`
if (import.meta.main) {
	process.chdir(join(import.meta.dirname, '../../../..'));
	if (existsSync('.env')) process.loadEnvFile('.env');
	await installPackagesOf(process.argv.slice(2), 'npm run install-packages --');
}
