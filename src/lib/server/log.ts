/** Writes a line per event to stderr, for people or as JSON; never prompts, keys or file contents. */

type Facts = Record<string, unknown>;

export interface Log {
	/** Only with LOG_LEVEL=debug. */
	debug?(facts: Facts, sentence: string): void;
	info(facts: Facts, sentence: string): void;
	error(facts: Facts, sentence: string): void;
}

export interface LogOptions {
	/** `json`: one object a line. */
	format: 'text' | 'json';
	/** The least of what is written. */
	level: 'error' | 'info' | 'debug';
	/** Facts of what is under way: each line gets them. */
	context: () => Facts;
}

/** As JSON, if nothing else is said. */
export function createLog(
	write: (line: string) => void = (line) => process.stderr.write(line),
	{ format = 'json', level = 'info', context = () => ({}) }: Partial<LogOptions> = {}
): Log {
	const toLine = format === 'json' ? jsonLine : textLine;
	const line = (name: string) => (facts: Facts, message: string) =>
		write(`${toLine({ time: new Date().toISOString(), level: name, message, ...context(), ...facts })}\n`);
	return {
		...(level === 'debug' && { debug: line('debug') }),
		info: level === 'error' ? () => undefined : line('info'),
		error: line('error')
	};
}

/** Says each failure once until it works again: what is tried every second would fill the log while the database is away. */
export function createOutageLog(log: Log) {
	const told = new Set<string>();
	return {
		failed(sentence: string, error: unknown, level: 'info' | 'error' = 'info'): void {
			if (told.has(sentence)) return;
			told.add(sentence);
			log[level]({ reason: String(error) }, sentence);
		},
		worked(sentence: string): void {
			told.delete(sentence);
		}
	};
}

/** What nobody expected, with the place where it happened. */
export function logUnexpected(log: Pick<Log, 'error'>, error: unknown, facts: Facts = {}): void {
	const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
	log.error({ ...facts, error: message, ...(stack !== undefined && { stack }) }, 'something unexpected failed');
}

function jsonLine(facts: Facts): string {
	try {
		return JSON.stringify(facts);
	} catch {
		// A fact that refers to itself must not take its line away.
		return JSON.stringify(Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, String(value)])));
	}
}

/** `time level sentence name=value …`; a stack follows on lines of its own. */
function textLine({ time, level, message, stack, ...facts }: Facts): string {
	const rest = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${shown(value)}`));
	return [[time, level, message, ...rest].join(' '), ...(stack === undefined ? [] : [shownStack(stack)])].join('\n');
}

/** Nothing in it can begin a line or hide in the terminal. */
function shown(value: unknown): string {
	const text = typeof value === 'string' ? value : jsonLine({ value }).slice('{"value":'.length, -1);
	return /^[\w.:/@-]+$/.test(text) || typeof value !== 'string'
		? text
		: JSON.stringify(text).replaceAll(/\p{Cc}/gu, ' ');
}

function shownStack(stack: unknown): string {
	return String(stack)
		.split('\n')
		.map((line) => `  ${line.replaceAll(/\p{Cc}/gu, ' ').trim()}`)
		.join('\n');
}
