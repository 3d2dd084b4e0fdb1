/** Which program runs a script: by extension, inline dependencies or shebang; real paths, found once (FEATURES D5, D6). */
import { realpath, stat } from 'node:fs/promises';
import { delimiter, extname, join } from 'node:path';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { isExecutable, readHead } from './resources.ts';
import { SkillError } from './types.ts';

export interface Interpreters {
	/** Program and leading arguments for a script. @throws SkillError UnsupportedScriptType | MissingDependency */
	resolve(scriptPath: string): Promise<{ file: string; args: string[] }>;
	python(): Promise<string>;
	node(): string;
}

/** Looks programs up on `path` (the PATH variable); each lookup is done once. */
export function createInterpreters(sandbox: Sandbox, path: string): Interpreters {
	const found = new Map<string, Promise<string | null>>();
	const find = (name: string): Promise<string | null> => {
		let program = found.get(name);
		if (!program) {
			program = name === 'python3' ? findPython(sandbox, path) : findOnPath(name, path);
			found.set(name, program);
		}
		return program;
	};
	const need = async (name: string): Promise<string> => {
		const program = await find(name);
		if (program) return program;
		throw new SkillError('MissingDependency', `“${name}” is not installed on this machine.`, `Install ${name} and ask again.`);
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
	const line = /^#!\s*(\S+)(?:[ \t]+(.*))?/.exec(await readHead(scriptPath, 256));
	if (!line?.[1] || !(await isExecutable(scriptPath))) {
		throw new SkillError(
			'UnsupportedScriptType',
			'This kind of file cannot be run.',
			'Scripts end in .py, .js, .mjs, .cjs, .ts, .sh or .bash, or are executable and start with #!.'
		);
	}
	const words = (line[2] ?? '').split(/[ \t]+/).filter(Boolean);
	if (!/(^|\/)env$/.test(line[1])) return { file: line[1], args: [...words, scriptPath] };
	const [name, ...rest] = words.filter((word) => word !== '-S');
	return { file: await need(name ?? 'sh'), args: [...rest, scriptPath] };
}

async function findOnPath(name: string, path: string): Promise<string | null> {
	for (const folder of path.split(delimiter).filter(Boolean)) {
		const candidate = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
		const isFile = await stat(candidate).then(
			(entry) => entry.isFile(),
			() => false
		);
		if (isFile && (await isExecutable(candidate))) return candidate;
	}
	return null;
}

/** `python3` on PATH may be a slow shim that is invisible in a sandbox: ask it once where the real one is. */
async function findPython(sandbox: Sandbox, path: string): Promise<string | null> {
	const shim = (await findOnPath('python3', path)) ?? (await findOnPath('python', path));
	if (!shim) return null;
	const { stdout, exitCode } = await sandbox.run({
		file: shim,
		args: ['-c', 'import sys; print(sys.executable)'],
		env: { PATH: path, HOME: process.env.HOME ?? '/' },
		cwd: '/',
		timeoutMs: 10_000,
		maxOutputBytes: 4096
	});
	return exitCode === 0 && stdout.trim() ? realpath(stdout.trim()).catch(() => shim) : shim;
}
