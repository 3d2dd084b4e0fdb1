/** Runs programs in a real bubblewrap, with test folders, for the tests of that backend. */
import { execFileSync } from 'node:child_process';
import {
	chmodSync,
	existsSync,
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
import {
	DEFAULT_LIMITS,
	type Sandbox,
	type SandboxCommand,
	type SandboxResult
} from '../../src/lib/server/sandbox/sandbox.ts';

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

/** Debian’s; a snap or a wrapper elsewhere can’t start in a sandbox. */
const CHROMIUM = '/usr/bin/chromium';
export const lacksChromium = !existsSync(CHROMIUM);
/** What Chromium needs beyond the defaults: a skill asks for `virtual-memory: 1tb`, the server allows the processes. */
export const BROWSER_LIMITS = { ...DEFAULT_LIMITS, processes: 256, virtualBytes: 1024 ** 4 };
/** A Python script that serves a page, and prints it with Chromium in its working directory. */
export const PRINT_PAGE = `
import http.server, os, subprocess, threading
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'<h1>Printed</h1>')
    def log_message(self, *args): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
subprocess.run(['${CHROMIUM}', '--headless', '--no-sandbox', '--print-to-pdf=page.pdf',
    'http://127.0.0.1:%d/' % server.server_port], check=True, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
print(open('page.pdf', 'rb').read(4).decode(), os.path.getsize('page.pdf') > 5000, os.listdir('.'))`;
export const PRINTED = "%PDF True ['page.pdf']\n";

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

/** Starts programs as another user than root. */
export function launcherAs(launcher: Launcher, { uid, gid }: { uid: number; gid: number }): Launcher {
	const user = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
	return {
		...launcher,
		launch: (spec, stdin) =>
			launcher.launch({ ...spec, file: '/usr/bin/setpriv', args: [...user, spec.file, ...spec.args] }, stdin)
	};
}
