/** Runs pip and npm: bounded, cancellable, and without a way to other hosts than the index’s (D46). */
import { spawn } from 'node:child_process';
import { openProxy, type Proxy } from '../network/proxy.ts';

export type PackagesErrorType =
	| 'NotFound'
	| 'NoInstaller'
	| 'IndexUnreachable'
	| 'HostNotAllowed'
	| 'WrongHash'
	| 'DiskFull'
	| 'TooLarge'
	| 'Cancelled'
	| 'Failed';

/** The message says what happened, the hint what to do. */
export class PackagesError extends Error {
	readonly type: PackagesErrorType;
	readonly hint: string;
	/** What the index doesn’t have. */
	readonly missing: string | null;
	constructor(type: PackagesErrorType, message: string, hint: string, missing: string | null = null) {
		super(message);
		this.type = type;
		this.hint = hint;
		this.missing = missing;
	}
}

export function cancelled(): PackagesError {
	return new PackagesError('Cancelled', 'Installing was stopped.', 'Nothing was installed.');
}

export interface Progress {
	/** “Downloading lxml” */
	text: string;
	done?: number;
	of?: number;
	/** Written so far. */
	bytes?: number;
}

export interface Work {
	signal: AbortSignal;
	onProgress(progress: Progress): void;
	/** Bytes written so far, for limits and to tell waiting from hanging. @throws PackagesError TooLarge */
	measure(): Promise<number>;
}

export interface Program {
	name: 'pip' | 'npm';
	/** The program and what always comes first. */
	command: readonly string[];
	env: Readonly<Record<string, string>>;
	/** What its index is called in messages. */
	index: string;
	/** Hosts it may reach, as `host` or `host:port`; null: the operator’s own proxy decides. */
	hosts: readonly string[] | null;
	/** If it says and writes nothing for this long, it’s given up. */
	quietMs: number;
}

const POLL_MS = 300;
const KEPT_CHARACTERS = 64 * 1024;
const PROXIES = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'];

/** Settings of pip, npm and the connection; never a secret of the server. */
const PASSED =
	/^(PATH|HOME|LANG|LC_ALL|TZ|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE|PIP_.*|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|npm_config_(registry|userconfig|globalconfig|cache|cafile|ca|proxy|https_proxy|noproxy|strict_ssl|\/\/.*|@.*))$/i;

/** The part of an environment that installers see. */
export function environmentFor(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(environment).flatMap(([name, value]) => (PASSED.test(name) && value ? [[name, value]] : []))
	);
}

/** Whether the operator sends everything through a proxy. */
export function hasProxy(env: Readonly<Record<string, string>>): boolean {
	return Object.keys(env).some((name) => /^((https?|all)_proxy|(pip|npm_config)_(https_)?proxy)$/i.test(name));
}

/** The host with its port, if it isn’t the usual one; `file:` for a folder; never credentials. */
export function hostOf(url: string): string {
	return url.startsWith('file:') ? 'file:' : new URL(url).host;
}

/** Runs it with more arguments, in a folder. It and what it started end with it. @throws PackagesError */
export async function runInstaller(program: Program, args: readonly string[], cwd: string, work: Work): Promise<void> {
	const { hosts } = program;
	const proxy = hosts && (await openGuard(hosts));
	try {
		const proxied = proxy ? Object.fromEntries(PROXIES.map((name) => [name, proxy.socket])) : {};
		const env = { ...program.env, ...proxied, ...(proxy && { no_proxy: '', NO_PROXY: '' }), TMPDIR: cwd };
		const { exitCode, output } = await runProgram([...program.command, ...args], { ...program, cwd, env, work });
		if (exitCode === 0) return;
		const [refused] = proxy?.refused() ?? [];
		throw refused === undefined ? errorOf(program, output) : notAllowed(program, refused.replace(/:443$/, ''));
	} finally {
		await proxy?.close();
	}
}

/** The operator chose these hosts, so their addresses may be private. */
async function openGuard(hosts: readonly string[]): Promise<Proxy> {
	const allowed = new Set(hosts);
	return openProxy({
		socketPath: null,
		isAllowed: () => true,
		allows: (host, port) => allowed.has(`${host}:${port}`) || (allowed.has(host) && (port === 443 || port === 80))
	});
}

/** What pip says when it was to start a program, which is how it builds. */
export const RAN_CODE = 'openrouter-skills lets no package run code';

/** What a failed program said, as an error that a person understands. */
function errorOf({ name, index }: Pick<Program, 'name' | 'index'>, output: string): PackagesError {
	const missing =
		/No matching distribution found for ([\w.-]+)/.exec(output)?.[1] ??
		/'((?:@[\w.~-]+\/)?[\w.~-]+)@[^']*' is not in this registry/.exec(output)?.[1] ??
		/404 Not Found - GET \S+\/((?:@[\w.~-]+(?:\/|%2f))?[\w.~-]+) - /i.exec(output)?.[1]?.replace(/%2f/i, '/') ??
		/notarget No matching version found for ((?:@[\w.~-]+\/)?[\w.~-]+)@/.exec(output)?.[1];
	if (output.includes(RAN_CODE))
		return new PackagesError(
			'Failed',
			`${capitalized(index)} has a package that would run code to be installed.`,
			'Nothing was installed. It leads to source instead of a ready-made package; ask its author for one.'
		);
	if (/\bMemoryError\b/.test(output))
		return new PackagesError(
			'TooLarge',
			`${capitalized(index)} describes a package in more text than fits in memory.`,
			'Nothing was installed. The package may be broken or hostile; look at where it comes from.'
		);
	if (/No space left on device|ENOSPC|Disk quota exceeded/.test(output))
		return new PackagesError(
			'DiskFull',
			'The disk is full.',
			'Free some space, then try again. Nothing was installed.'
		);
	if (/DO NOT MATCH THE HASHES|EINTEGRITY/.test(output))
		return new PackagesError(
			'WrongHash',
			`A package from ${index} isn’t the one that was looked up.`,
			'Nothing was installed. Look the packages up again; if it stays, somebody may have changed the index.'
		);
	// pip says of a host that can’t be reached that there is no such package, too.
	if (
		/Failed to establish a new connection|NewConnectionError|Read timed out|ReadTimeoutError|ConnectTimeout|ProxyError|ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ERR_SOCKET_TIMEOUT|HTTPError|Connection aborted|Could not fetch URL \S+ (?!404)|E50\d/.test(
			output
		)
	)
		return unreachable(index);
	if (missing !== undefined)
		return new PackagesError(
			'NotFound',
			`${capitalized(index)} has no ready-made package ${missing} in the version that the skill asks for.`,
			'Check its name and version in the skill.',
			missing.toLowerCase()
		);
	const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
	const said = lines.find((line) => /^\s*(ERROR:|npm (error|ERR!))/.test(line)) ?? lines.at(-1) ?? '';
	const reason = said.replace(/^\s*(ERROR:|npm (error|ERR!)( code)?)\s*/, '').slice(0, 300);
	return new PackagesError(
		'Failed',
		`${name} couldn’t do it${reason ? `: ${reason}` : '.'}`,
		'Nothing was installed. Check the skill’s packages, then try again.'
	);
}

function notAllowed({ index }: Pick<Program, 'index'>, host: string): PackagesError {
	return new PackagesError(
		'HostNotAllowed',
		`A package from ${index} leads to ${host}, which isn’t a part of that index.`,
		'Nothing was installed. If you trust that host, whoever runs the server can add it to SKILLS_PACKAGE_HOSTS.'
	);
}

function unreachable(index: string): PackagesError {
	const hint = 'Check the connection, or name a mirror with SKILLS_PIP_INDEX_URL or SKILLS_NPM_REGISTRY.';
	return new PackagesError('IndexUnreachable', `${capitalized(index)} can’t be reached.`, hint);
}

function capitalized(text: string): string {
	return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

export interface Ended {
	exitCode: number | null;
	/** The end of what it said. */
	output: string;
}

interface RunOptions extends Pick<Program, 'env' | 'quietMs' | 'index'> {
	cwd: string;
	work: Work;
}

/** Runs one program; it and what it started end with it. @throws PackagesError for what isn’t its own exit */
export async function runProgram(
	[file = '', ...args]: readonly string[],
	{ cwd, env, quietMs, index, work }: RunOptions
): Promise<Ended> {
	const { signal } = work;
	if (signal.aborted) throw cancelled();
	const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
	let output = '';
	let heardAt = performance.now();
	let failure: Error | null = null;
	const end = () => {
		try {
			if (child.pid) process.kill(-child.pid, 'SIGKILL');
		} catch {
			// Gone already.
		}
	};
	const stop = (reason: Error) => {
		failure ??= reason;
		end();
	};
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding('utf8').on('data', (text: string) => {
			heardAt = performance.now();
			output = (output + text).slice(-KEPT_CHARACTERS);
			for (const line of text.split('\n')) if (stream === child.stdout) work.onProgress({ text: line });
		});
	const onAbort = () => stop(cancelled());
	signal.addEventListener('abort', onAbort, { once: true });
	let bytes = -1;
	let timer: NodeJS.Timeout | undefined;
	const watch = async () => {
		const now = await work.measure();
		if (now !== bytes) heardAt = performance.now();
		bytes = now;
		if (performance.now() - heardAt > quietMs) stop(unreachable(index));
		else timer = setTimeout(() => void watch().catch(stop), POLL_MS);
	};
	timer = setTimeout(() => void watch().catch(stop), POLL_MS);
	try {
		const exitCode = await new Promise<number | null>((ended, failed) => {
			child.once('error', failed).once('close', ended);
		});
		// TypeScript doesn’t see that a callback sets it.
		if (failure) throw failure as Error;
		return { exitCode, output };
	} finally {
		clearTimeout(timer);
		signal.removeEventListener('abort', onAbort);
		end();
	}
}
