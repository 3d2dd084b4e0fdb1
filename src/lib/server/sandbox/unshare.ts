/**
 * Namespaces of Linux around a plain process: no network, no view of other processes, and what it starts ends with it,
 * also a daemon (SANDBOX, `process`). Files are as they were.
 */
import { MARKER } from './running.ts';

/**
 * The first process inside is not the script itself, for that one ignores signals without a handler. It waits for the
 * script and passes its exit code on; asked to end, it leaves what the script started the time to tidy up.
 */
const FIRST = [
	'for name in $1; do unset "$name"; done; shift',
	`asked=; trap 'asked=1' TERM`,
	// Of a program that was killed a shell says “Killed” on its standard error, which the program never did: it is not theirs.
	'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); code=$?',
	'if [ "$asked" ]; then while kill -0 -1; do sleep 0.05; done 2>/dev/null; fi',
	'exit $code'
].join('\n');

/** What a shell adds to the environment by itself. */
const SHELL_VARIABLES = ['PWD', 'OLDPWD', 'SHLVL'];

/** Which namespaces there are: `own` means a /proc of its own as well. */
export type Namespaces = 'none' | 'shared-proc' | 'own';

export interface UnshareOptions {
	/** Absolute paths. */
	unshare: string;
	shell: string;
	namespaces: Exclude<Namespaces, 'none'>;
	/** Where the caller is not root a user namespace is needed; `root` in it is who may bring its loopback up. */
	user: 'none' | 'same' | 'root';
}

/** The program that runs `file` in namespaces of its own; the exit code is its own, or 128 and the signal. */
export function wrapWithUnshare(
	{ file, args, env }: { file: string; args: string[]; env: Record<string, string> },
	{ unshare, shell, namespaces, user }: UnshareOptions
): { file: string; args: string[] } {
	const users = { none: [], same: ['--map-current-user'], root: ['--map-root-user'] }[user];
	const own = namespaces === 'own' ? ['--mount-proc'] : [];
	const forget = [MARKER, ...SHELL_VARIABLES.filter((name) => !(name in env))].join(' ');
	return {
		file: unshare,
		args: [
			...users,
			...['--pid', '--net', '--ipc', '--uts', ...own, '--fork', '--kill-child', '--'],
			...[shell, '-c', FIRST, 'sh', forget, file, ...args]
		]
	};
}

/** A shell's exit code as what it stands for. */
export function readShellCode(
	exitCode: number | null,
	signals: Record<string, number>
): { exitCode: null; signal: string } | undefined {
	const signal = Object.entries(signals).find(([, number]) => exitCode === 128 + number)?.[0];
	return signal ? { exitCode: null, signal } : undefined;
}
