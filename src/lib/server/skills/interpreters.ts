/** Which program runs a script: by extension, inline dependencies or shebang; found once (FEATURES D5, D6). */
import { stat } from 'node:fs/promises';
import { delimiter, extname, isAbsolute, join } from 'node:path';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { isExecutable, readHead } from './resources.ts';
import { SkillError } from './types.ts';

export interface Interpreters {
	/** Program and leading arguments for a script. @throws SkillError UnsupportedScriptType | MissingDependency */
	resolve(scriptPath: string): Promise<{ file: string; args: string[] }>;
	python(): Promise<string>;
	node(): string;
}

/** Looks programs up on `path` (the PATH variable); what is found is kept, what is missing may be installed meanwhile. */
export function createInterpreters(sandbox: Sandbox, path: string): Interpreters {
	const found = new Map<string, Promise<string | null>>();
	const find = (name: string): Promise<string | null> => {
		let program = found.get(name);
		if (!program) {
			program = name === 'python3' ? findPython(sandbox, path) : findOnPath(name, path);
			found.set(name, program);
			void program.then((file) => file ?? found.delete(name));
		}
		return program;
	};
	const need = async (name: string): Promise<string> => {
		const program = await find(name);
		if (program) return program;
		throw missing(name);
	};
	return {
		python: () => need('python3'),
		node: () => process.execPath,
		async resolve(scriptPath) {
			switch (extname(scriptPath)) {
				case '.js':
				case '.mjs':
				case '.cjs':
				case '.ts':
					return { file: process.execPath, args: [scriptPath] };
				case '.sh':
				case '.bash':
					return { file: await need('bash'), args: [scriptPath] };
				case '.py': {
					// PEP 723: the script states its own dependencies; uv fetches them where there is one.
					const uv = (await readHead(scriptPath, 4096)).includes('# /// script') ? await find('uv') : null;
					return uv
						? { file: uv, args: ['run', '--script', scriptPath] }
						: { file: await need('python3'), args: [scriptPath] };
				}
				default:
					return byShebang(scriptPath, need);
			}
		}
	};
}

async function byShebang(scriptPath: string, need: (name: string) => Promise<string>) {
	const line = /^#![ \t]*(\S+)(?:[ \t]+(.*))?/.exec(await readHead(scriptPath, 256));
	if (!line?.[1] || !(await isExecutable(scriptPath))) {
		throw new SkillError(
			'UnsupportedScriptType',
			'This kind of file cannot be run.',
			'Scripts end in .py, .js, .mjs, .cjs, .ts, .sh or .bash, or are executable and start with #!.'
		);
	}
	const words = (line[2] ?? '').split(/[ \t]+/).filter(Boolean);
	if (!/(^|\/)env$/.test(line[1])) {
		if (!isAbsolute(line[1]) || !(await isExecutable(line[1]))) throw missing(line[1]);
		return { file: line[1], args: [...words, scriptPath] };
	}
	const [name, ...rest] = words.filter((word) => word !== '-S');
	return { file: await need(name ?? 'sh'), args: [...rest, scriptPath] };
}

async function findOnPath(name: string, path: string): Promise<string | null> {
	for await (const program of programsOnPath(name, path)) return program;
	return null;
}

/** In the order of PATH. A relative folder is passed over: it would be looked for in the workspace. */
async function* programsOnPath(name: string, path: string): AsyncGenerator<string, void, undefined> {
	for (const folder of path.split(delimiter).filter(isAbsolute)) {
		const candidate = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
		const isFile = await stat(candidate).then(
			(entry) => entry.isFile(),
			() => false
		);
		if (isFile && (await isExecutable(candidate))) yield candidate;
	}
}

/**
 * `python3` on PATH may be a slow shim that is invisible in a sandbox, or one that has no Python behind it: each is
 * asked where the real one is. The answer is no further resolved: the link is what makes a virtual environment.
 */
async function findPython(sandbox: Sandbox, path: string): Promise<string | null> {
	for (const name of ['python3', 'python']) {
		for await (const shim of programsOnPath(name, path)) {
			const { stdout, exitCode } = await sandbox.run({
				file: shim,
				args: ['-c', 'import sys; assert sys.version_info[0] == 3; print(sys.executable)'],
				env: { PATH: path, HOME: process.env.HOME ?? '/' },
				cwd: '/',
				timeoutMs: 10_000,
				maxOutputBytes: 4096
			});
			const program = stdout.trim();
			if (exitCode === 0) return isAbsolute(program) && (await isExecutable(program)) ? program : shim;
		}
	}
	return null;
}

function missing(name: string): SkillError {
	return new SkillError(
		'MissingDependency',
		`“${name}” is not installed on this machine.`,
		`Install ${name} and ask again.`
	);
}
