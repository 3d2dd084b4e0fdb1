/** Settings of the installed package. The next version replaces its folder, so user data must live elsewhere. */
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import nodePath, { delimiter, join, resolve } from 'node:path';

/** Relative paths start in the folder where the command was run. */
export interface HomeFlags {
	data?: string | undefined;
	skills?: string[] | undefined;
}

/** Of `install-packages`, for `parseArgs`. */
export const INSTALL_FLAGS = {
	all: { type: 'boolean', default: false },
	yes: { type: 'boolean', short: 'y', default: false },
	help: { type: 'boolean', short: 'h', default: false }
} as const;

export interface Machine {
	platform: NodeJS.Platform;
	environment: Record<string, string | undefined>;
	home: string;
}

const NAME = 'openrouter-skills';
/** Settings that hold a path or a list of paths. */
const PATHS = ['DATA_DIR', 'SKILLS_DIRS', 'SKILLS_HANDLERS', 'SKILLS_PUBLISHED'];

/** The usual place for user data on this system. */
export function dataFolderOf({ platform, environment, home }: Machine, paths = nodePath): string {
	switch (platform) {
		case 'win32':
			return paths.join(environment.LOCALAPPDATA || paths.join(home, 'AppData', 'Local'), NAME);
		case 'darwin':
			return paths.join(home, 'Library', 'Application Support', NAME);
		default: {
			const { XDG_DATA_HOME = '' } = environment;
			// The XDG specification says to ignore relative paths.
			return paths.join(paths.isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : paths.join(home, '.local', 'share'), NAME);
		}
	}
}

/**
 * Prepares the environment for `loadConfig`, then changes to the package's folder. Flags win over variables, and variables
 * over `.env` in the data folder. The folder where the command was run may be a stranger's repository, so its `.env` and
 * `skills` aren't read. Returns the data folder.
 * @throws Error with a message for the user
 */
export function enterHome({ data, skills = [] }: HomeFlags, root: string, environment = process.env): string {
	const named = skills.map(skillFolder);
	makeAbsolute(environment, process.cwd());
	const machine = { platform: process.platform, environment, home: homedir() };
	const dataDir = data === undefined ? environment.DATA_DIR || dataFolderOf(machine) : resolve(data);
	environment.DATA_DIR = dataDir;
	const file = join(dataDir, '.env');
	if (existsSync(file)) process.loadEnvFile(file);
	makeAbsolute(environment, dataDir);
	if (named.length > 0 || !environment.SKILLS_DIRS) {
		// The app creates new skills in the first writable folder.
		environment.SKILLS_DIRS = [...named, join(dataDir, 'my-skills'), join(root, 'skills')].join(delimiter);
		environment.SKILLS_HOME ||= String(named.length === 0);
	}
	process.chdir(root);
	return dataDir;
}

/** @throws Error if it isn't a folder */
function skillFolder(path: string): string {
	const folder = resolve(path);
	if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
		throw new Error(`“${path}” isn’t a folder. Name a folder of skills after --skills.`);
	if (folder.includes(delimiter)) throw new Error(`The path of a skill folder can’t contain “${delimiter}”: ${folder}`);
	return folder;
}

function makeAbsolute(environment: Record<string, string | undefined>, from: string): void {
	for (const name of PATHS) {
		const paths = environment[name]?.split(delimiter).filter(Boolean) ?? [];
		if (paths.length > 0) environment[name] = paths.map((path) => resolve(from, path)).join(delimiter);
	}
}
