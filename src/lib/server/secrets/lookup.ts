/** Which programs and Python modules scripts would find: on this machine, or in a container's image (FEATURES F3). */
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../foreign-folders.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createInterpreters, programsOnPath } from '../skills/interpreters.ts';

export interface LookupOptions {
	/** Where scripts run. */
	sandbox: Sandbox;
	/** Runs a program of this machine as it is, to ask it something. */
	host: Pick<Sandbox, 'run'>;
	/** The PATH variable. */
	path: string;
}

export interface Lookup {
	/** Those that are there. */
	binaries(names: readonly string[]): Promise<Set<string>>;
	pythonModules(names: readonly string[]): Promise<Set<string>>;
}

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

const LIST_PROGRAMS = 'for name; do command -v -- "$name" >/dev/null 2>&1 && printf "%s\\n" "$name"; done; :';
/** A package may bear another name than its module; nothing of the module itself is run. */
const LIST_MODULES = `
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
def is_there(name):
    for find in (find_spec, distribution):
        try:
            if find(name) is not None:
                return True
        except Exception:
            pass
    return False
for name in sys.argv[1:]:
    if is_there(name):
        print(name)
`;

export function createLookup({ sandbox, host, path }: LookupOptions): Lookup {
	const { programs } = sandbox;
	if (programs) {
		const ask = (file: string, args: string[]) => askInside(sandbox, file, args);
		return {
			binaries: (names) => listed(names, () => ask(programs.shell, ['-c', LIST_PROGRAMS, 'sh', ...names])),
			pythonModules: (names) => listed(names, () => ask(programs.python, ['-c', LIST_MODULES, ...names]))
		};
	}
	const interpreters = createInterpreters({ host, sandbox, path });
	const findPython = () => interpreters.python().catch(() => null);
	return {
		async binaries(names) {
			const isThere = async (name: string): Promise<boolean> => {
				// Scripts have this very Node, and the Python that was found.
				if (name === 'node') return true;
				return name === 'python3' ? (await findPython()) !== null : isOnPath(name, path);
			};
			const found = await Promise.all(names.map(isThere));
			return new Set(names.filter((_, index) => found[index]));
		},
		pythonModules: (names) =>
			listed(names, async () => {
				const python = await findPython();
				if (!python) return '';
				const { stdout } = await host.run({
					file: python.file,
					args: [...python.args, '-I', '-c', LIST_MODULES, ...names],
					// Modules of the user's home are out of a script's reach, which has a home of its own.
					env: { PATH: path, HOME: '/nonexistent' },
					cwd: '/',
					timeoutMs: TIMEOUT_MS,
					maxOutputBytes: MAX_OUTPUT_BYTES
				});
				return stdout;
			})
	};
}

async function listed(names: readonly string[], ask: () => Promise<string>): Promise<Set<string>> {
	if (names.length === 0) return new Set();
	const lines = new Set((await ask()).split(/\r?\n/));
	return new Set(names.filter((name) => lines.has(name)));
}

async function askInside(sandbox: Sandbox, file: string, args: string[]): Promise<string> {
	const workspace = await realpath(await mkdtemp(join(tmpdir(), 'skill-lookup-')));
	try {
		const folders = { workspace };
		const { stdout } = await sandbox.run({
			file,
			args,
			env: {},
			cwd: sandbox.locate(folders).workspace,
			folders,
			timeoutMs: TIMEOUT_MS,
			maxOutputBytes: MAX_OUTPUT_BYTES
		});
		return stdout;
	} finally {
		await removeFolder(workspace);
	}
}

async function isOnPath(name: string, path: string): Promise<boolean> {
	if (!/^[\w.+-]+$/.test(name)) return false;
	const first = await programsOnPath(name, path).next();
	return first.done !== true;
}
