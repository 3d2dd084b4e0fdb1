/** Runs programs in a real bubblewrap, with test folders, for the tests of that backend. */
import { execFileSync } from 'node:child_process';
import {
	chmodSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapSandbox, type BubblewrapOptions } from '../../src/lib/server/sandbox/bubblewrap.ts';
import { createLauncher } from '../../src/lib/server/sandbox/launch/launch.ts';
import type { Launcher } from '../../src/lib/server/sandbox/launch/launcher.ts';
import type { Sandbox, SandboxCommand, SandboxResult } from '../../src/lib/server/sandbox/sandbox.ts';

export interface BubblewrapRig {
	sandbox: Sandbox;
	/** Closed to other users, as server folders often are. */
	dir: string;
	skill: string;
	workspace: string;
	/** Runs a bash script in the workspace. */
	run(script: string, options?: Partial<SandboxCommand>): Promise<SandboxResult>;
	/** Runs a Python program. */
	python(program: string, options?: Partial<SandboxCommand>): Promise<SandboxResult>;
	close(): Promise<void>;
}

export interface BubblewrapRigOptions extends Partial<BubblewrapOptions> {
	/** Start bubblewrap as this user even if the tests run as root. */
	asUser?: { uid: number; gid: number };
}

export function createBubblewrapRig({ asUser, ...options }: BubblewrapRigOptions = {}): BubblewrapRig {
	const dir = realpathSync(mkdtempSync(join(tmpdir(), 'bubblewrap-')));
	const skill = join(dir, 'skill');
	const workspace = join(dir, 'workspace');
	mkdirSync(skill);
	chmodSync(skill, 0o755);
	mkdirSync(workspace);
	writeFileSync(join(skill, 'SKILL.md'), 'the skill');
	const own = createLauncher();
	const launcher = asUser ? launcherAs(own, asUser) : own;
	const sandbox = createBubblewrapSandbox({ launcher, ...options, ...(asUser ? { user: asUser } : {}) });
	const run = (command: Pick<SandboxCommand, 'file' | 'args'>, more: Partial<SandboxCommand> = {}) =>
		sandbox.run({
			env: { PATH: '/usr/bin:/bin' },
			cwd: '/workspace',
			folders: { skill, workspace },
			timeoutMs: 60_000,
			maxOutputBytes: 20_480,
			...command,
			...more
		});
	return {
		sandbox,
		dir,
		skill,
		workspace,
		run: (script, more) => run({ file: '/bin/bash', args: ['-c', script] }, more),
		python: (program, more) => {
			const { file, prefix } = findPython();
			return run({ file, args: ['-c', program] }, { runtime: [prefix], ...more });
		},
		async close() {
			await sandbox.close();
			await own.close();
			rmSync(dir, { recursive: true, force: true });
		}
	};
}

/** The real interpreter behind `python3`, and its install folder. */
function findPython(): { file: string; prefix: string } {
	const script = 'import sys; print(sys.executable); print(sys.base_prefix)';
	const [file = '', prefix = ''] = execFileSync('python3', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
	return { file, prefix };
}

/** Command lines of all processes that contain `text`. */
export function processesWith(text: string): { pid: number; commandLine: string; environment: string }[] {
	return readdirSync('/proc')
		.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
		.flatMap((name) => {
			try {
				const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
				if (!commandLine.includes(text)) return [];
				return [{ pid: Number(name), commandLine, environment: readFileSync(`/proc/${name}/environ`, 'utf8') }];
			} catch {
				// It ended while we were looking.
				return [];
			}
		});
}

function launcherAs(launcher: Launcher, { uid, gid }: { uid: number; gid: number }): Launcher {
	const user = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
	return {
		...launcher,
		launch: (spec, stdin) =>
			launcher.launch({ ...spec, file: '/usr/bin/setpriv', args: [...user, spec.file, ...spec.args] }, stdin)
	};
}
