/** What helps against a failed run, by its own words. Pure. */
import { markHidden } from '../../shared/characters.ts';
import { brokenPlace, errorLine, hasTrace } from '../../shared/errors.ts';
import type { Execution } from '../../shared/message.ts';
import { cleanText } from '../text/clean-text.ts';

/** What helps against one failure: a sentence, and where it leads. */
export interface Advice {
	text: string;
	/** `message`: other words. `file`: another file. `script`: its code. `limit`: the limits of scripts. */
	leadsTo: 'message' | 'file' | 'script' | 'limit' | null;
}

/** Where what it was given can be changed: in a chat, or in the form of a run by hand. */
type Place = 'your message' | 'the input';

const MAX_QUOTED = 80;
const MAX_GIVEN = 5;
const quote = (text: string): string => `“${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}”`;

/** In the words of Node, Python and curl. */
const UNCONNECTED =
	/\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|ECONNREFUSED|ECONNRESET|ETIMEDOUT)\b|fetch failed|name resolution|Name or service not known|(?:could not|unable to|failed to) resolve|Network is unreachable|Connection (?:refused|reset|timed out)/i;

/** What a person can do about a failed script, by its own words; null where a button says it all, or nothing is known. */
export function adviceFor(execution: Execution, place: Place = 'your message'): Advice | null {
	const { error, message = '', output, missing, sandbox, args, tool, exitCode } = execution;
	if (sandbox === 'mcp' || missing) return null;
	if (error === 'ExecutionTimeout') return { text: 'Give it less to do, or give scripts more time.', leadsTo: 'limit' };
	if (error !== 'ExecutionFailed') return null;
	if (message.startsWith('Couldn’t start '))
		return { text: `It never began: its sandbox or its interpreter is the problem, not ${place}.`, leadsTo: null };
	const [stdout, stderr] = (['stdout', 'stderr'] as const).map((stream) =>
		cleanText(
			output
				.flatMap((piece) => (piece.stream === stream ? [piece.text] : []))
				.join('')
				.slice(-16_384)
		)
	);
	const said = stderr?.trim() ? stderr : (stdout ?? '');
	const line = errorLine(said) ?? '';
	const isOutOfMemory = /MemoryError|out of memory|Cannot allocate memory/i.test(line) || exitCode === 137;
	if (isOutOfMemory || / was ended by SIGKILL\.$/.test(message))
		return { text: 'It needed more memory than it may use. Give it less to do, or allow more.', leadsTo: 'limit' };
	if (/ couldn’t reach it\.$/.test(message) || UNCONNECTED.test(line))
		return { text: `The connection failed, not ${place}. Check it, then run this again.`, leadsTo: null };
	return (
		aboutArgument(line, place) ??
		aboutFile(line, place) ??
		aboutCode(execution, place) ??
		(hasTrace(output) || tool !== undefined ? null : (aboutGivenFile(line, args, place) ?? aboutGiven(args, place)))
	);
}

/** In the words of `argparse` and of Node's `parseArgs`, which most scripts use. */
function aboutArgument(line: string, place: Place): Advice | null {
	const toMessage = (text: string): Advice => ({ text, leadsTo: 'message' });
	const [, name, value, choices] = /argument ([^:]+): invalid choice: (.+?) \(choose from (.+)\)/.exec(line) ?? [];
	if (name !== undefined)
		return toMessage(`${place === 'the input' ? 'Use' : 'Ask for'} one of these instead of ${value}: ${choices}.`);
	const [, lacking] = /the following arguments are required: (.+)$/.exec(line) ?? [];
	if (lacking !== undefined) return toMessage(`Say in ${place} what ${lacking} should be.`);
	const [, unknown] = /unrecognized arguments: (.+)$|Unknown option '([^']+)'/.exec(line)?.filter(Boolean) ?? [];
	if (unknown !== undefined) return toMessage(`It doesn’t know ${quote(unknown)}. Leave that out of ${place}.`);
	const [, typed, kind, given] = /argument ([^:]+): invalid (\w+) value: (.+)$/.exec(line) ?? [];
	const [, bare] = /argument ([^:]+): expected (?:one|at least one) argument/.exec(line) ?? [];
	if (bare !== undefined) return toMessage(`Say in ${place} what ${bare} should be.`);
	if (typed === undefined) return null;
	const wanted = { int: 'a whole number', float: 'a number' }[kind ?? ''] ?? 'another value';
	return toMessage(`Give ${wanted} for ${typed} instead of ${given}.`);
}

function aboutFile(line: string, place: Place): Advice | null {
	const [, target] =
		/(?:Read-only file system|Permission denied): '([^']+)'|(?:EROFS|EACCES)\b[^']*'([^']+)'/
			.exec(line)
			?.filter(Boolean) ?? [];
	if (target !== undefined) {
		const files = place === 'the input' ? 'the files of its own folder' : 'the chat’s files';
		const words = `It can only use ${files}: ${quote(target.split('/').at(-1) ?? target)} instead of ${quote(target)}.`;
		return { text: words, leadsTo: 'script' };
	}
	const [, path] =
		/No such file or directory: '([^']+)'|ENOENT: no such file or directory, \w+ '([^']+)'/
			.exec(line)
			?.filter(Boolean) ?? [];
	if (path === undefined || path.startsWith('/skill/')) return null;
	return {
		text: `${place === 'the input' ? 'Add' : 'Attach'} ${quote(path.split('/').at(-1) ?? path)}, or correct its name in ${place}.`,
		leadsTo: 'file'
	};
}

function aboutCode({ output, script }: Execution, place: Place): Advice | null {
	const broken = brokenPlace(output, script);
	if (broken === null) return null;
	const name = markHidden(broken.file.split('/').at(-1) ?? broken.file);
	return {
		text: `It broke in line ${broken.line} of ${name}. If ${place} is right, mend line ${broken.line}.`,
		leadsTo: 'script'
	};
}

/** It complains of one file that it was given, and of nothing else that was. */
function aboutGivenFile(line: string, args: readonly string[], place: Place): Advice | null {
	const nameOf = (arg: string): string => arg.split('/').at(-1) ?? arg;
	const file = args.find(
		(arg) => /^[^-].*\.[a-z]\w{0,9}$/i.test(arg) && !arg.includes('://') && line.includes(nameOf(arg))
	);
	if (file === undefined) return null;
	const rest = line.replaceAll(file, ' ').replaceAll(nameOf(file), ' ');
	if (args.some((arg) => arg !== file && arg.length > 1 && rest.includes(arg))) return null;
	const verb = place === 'the input' ? 'Choose' : 'Attach';
	return { text: `${verb} another file instead of ${quote(markHidden(nameOf(file)))}.`, leadsTo: 'file' };
}

function aboutGiven(args: readonly string[], place: Place): Advice {
	const given = args.slice(0, MAX_GIVEN).map((arg) => quote(markHidden(arg)));
	const more = args.length > MAX_GIVEN ? ' and more' : '';
	const text =
		args.length === 0
			? `It was given nothing. If it needs a value or a file, name it in ${place}.`
			: `It was given ${given.join(', ')}${more}. If that’s not right, edit ${place}.`;
	return { text, leadsTo: 'message' };
}
