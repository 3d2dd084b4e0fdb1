/** Errors that callers can act on: code, sentence, optional hint; and their HTTP status. */

export const STATUS_BY_CODE = {
	invalid_input: 400,
	unauthorized: 401,
	forbidden: 403,
	not_found: 404,
	method_not_allowed: 405,
	conflict: 409,
	too_large: 413,
	unsupported_media_type: 415,
	rate_limited: 429,
	internal: 500,
	storage_full: 507,
	unavailable: 503
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof STATUS_BY_CODE;

/** The JSON body of every failed request (DESIGN §5). */
export interface ErrorBody {
	error: { code: ErrorCode; message: string; hint?: string; details?: unknown };
}

/** An expected failure; `message` says what happened and to what. */
export class AppError extends Error {
	override readonly name = 'AppError';
	readonly code: ErrorCode;
	readonly hint: string | undefined;
	readonly details: unknown;

	constructor(code: ErrorCode, message: string, options: { cause?: unknown; hint?: string; details?: unknown } = {}) {
		super(message, { cause: options.cause });
		this.code = code;
		this.hint = options.hint;
		this.details = options.details;
	}

	get status(): number {
		return STATUS_BY_CODE[this.code];
	}

	toBody(): ErrorBody {
		return { error: { code: this.code, message: this.message, hint: this.hint, details: this.details } };
	}
}

/** Deeper data can be parsed, but serialising it may overflow the stack. */
export const MAX_NESTING = 100;

/** Whether lists and objects are nested deeper than this. */
export function isNestedDeeperThan(levels: number, value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((inner) => isNestedDeeperThan(levels - 1, inner));
}

const LOOPBACK = /^(localhost|127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}|::1)$/i;

/** 127.0.0.0/8, `::1` and `localhost`; other spellings don’t count. */
export function isLoopback(host: string): boolean {
	return LOOPBACK.test(host.replace(/^\[(.*)\]$/, '$1'));
}

/** `host:port`, always with the port. */
export function hostAndPort({ hostname, port, protocol }: URL): string {
	return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`.toLowerCase();
}

/** Milliseconds of a `Retry-After` (seconds or an HTTP date); undefined if invalid. */
export function parseRetryAfterMs(value: unknown, now = Date.now()): number | undefined {
	if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.ceil(value * 1000) : undefined;
	if (typeof value !== 'string') return undefined;
	const text = value.trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
	// HTTP dates start with a weekday; `Date.parse` would read "-5" as a year.
	const date = /^[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The line of a script’s output that says what went wrong: the last of a Python trace, the one above Node’s. Null without any. */
export function errorLine(output: string): string | null {
	const lines = output.split(/[\r\n]+/).filter((line) => /\S/.test(line));
	const named = lines.findLast((line) =>
		/^(Uncaught )?[\w.$]*(error|exception|panic|fatal)\b[^:]{0,40}: *\S/i.test(line)
	);
	const plain = lines.findLast((line) => !/^\s|^Node\.js v\d|^[\])}]/.test(line));
	return (named ?? plain ?? lines.at(-1))?.trim() ?? null;
}

/** Whether a script broke, by its output: a trace, or what a shell says of its script. Otherwise it refused what it was given in words of its own. */
export function isTrace(output: string): boolean {
	return /^Traceback \(most recent call last\)|^ +at \S.*:\d+|^\S+: line \d+: |^Node\.js v\d/m.test(output);
}

/** The same for output in the order of its arrival: in a line of one stream, there may be a piece of the other. */
export function hasTrace(output: readonly { stream: string; text: string }[]): boolean {
	const streams = Map.groupBy(output, ({ stream }) => stream).values();
	return [...streams].some((pieces) => isTrace(pieces.map(({ text }) => text).join('')));
}

/** A path and a line, as Node, Python, Perl, Ruby and shells name them. */
const PLACE =
	/(?:^|[("\s])(?:file:\/\/)?((?:[A-Za-z]:)?[^\s():"][^():"\n]*?\.\w+)(?:", line |: line | line |: ?)(\d+)/gm;

const MAX_SEARCHED = 16_384;
const LONG_LINE = /^.{1000,}$/gm;

/** Where a skill’s script broke, by the trace in its output: a file of the skill and a line, from 1. Null if it doesn’t say. */
export function brokenPlace(
	output: readonly { stream: string; text: string }[],
	script: string
): { file: string; line: number } | null {
	const textOf = (wanted: string) => output.flatMap(({ stream, text }) => (stream === wanted ? [text] : [])).join('');
	// The record of a run has all it printed in one.
	const whole = textOf('stderr') || textOf('stdout');
	if (!isTrace(whole)) return null;
	// A script decides what it prints: only so much is searched that it can't take long.
	const said = whole.slice(-MAX_SEARCHED).replace(LONG_LINE, '');
	const places = [...said.matchAll(PLACE)].map(([, path = '', line]) => ({
		path: path.replaceAll('\\', '/'),
		line: Number(line)
	}));
	const start = places.find(({ path }) => path === script || path.endsWith(`/${script}`));
	if (!start) return null;
	const folder = start.path.slice(0, -script.length);
	const own = places.flatMap(({ path, line }) =>
		path.startsWith(folder) && (folder !== '' || path === script) && !path.includes('/node_modules/')
			? [{ file: path.slice(folder.length), line }]
			: []
	);
	// Node names the place first, others last.
	return (/^ +at \S|^Node\.js v\d/m.test(said) ? own[0] : own.at(-1)) ?? null;
}

/** Why a connection failed, by the system's code, as part of a sentence. */
export const UNREACHABLE: Record<string, string> = {
	ECONNREFUSED: 'nothing answers there',
	ECONNRESET: 'it closed the connection',
	ENOTFOUND: 'there is no such host',
	EAI_AGAIN: 'its address couldn’t be looked up',
	ETIMEDOUT: 'it didn’t respond',
	UND_ERR_CONNECT_TIMEOUT: 'it didn’t respond'
};
