import { describe, expect, test } from 'vitest';
import type { Execution } from '../../shared/message.ts';
import { adviceFor } from './advice.ts';

const execution: Execution = {
	skill: 'sums',
	script: 'scripts/add.py',
	args: [],
	sandbox: 'process',
	output: [],
	files: []
};

describe('F14: what helps against a failure', () => {
	const failed = (text: string, change: Partial<Execution> = {}): Execution => ({
		...execution,
		...{ error: 'ExecutionFailed', message: 'scripts/add.py ended with exit code 1.', exitCode: 1 },
		output: text === '' ? [] : [{ stream: 'stderr', text }],
		...change
	});
	const trace = (last: string): string =>
		`Traceback (most recent call last):\n  File "/skill/scripts/add.py", line 7, in <module>\n    main()\n  File "/usr/lib/python3/json.py", line 99, in load\n${last}\n`;

	test.each<[string, Execution, string | RegExp, string | null]>([
		['a time limit', failed('', { error: 'ExecutionTimeout' }), /more time/, 'limit'],
		['memory', failed(trace('MemoryError: x')), /more memory/, 'limit'],
		['memory, killed', failed('', { message: 'scripts/add.py was ended by SIGKILL.' }), /more memory/, 'limit'],
		[
			'a sandbox that fails',
			failed('', { message: 'Couldn’t start scripts/add.py: spawn bwrap ENOENT' }),
			/^It never began: its sandbox/,
			null
		],
		[
			'a choice',
			failed("add.py: error: argument --bay: invalid choice: 'x' (choose from 'a', 'b')"),
			/'a', 'b'/,
			'message'
		],
		[
			'what is required',
			failed('add.py: error: the following arguments are required: --bay'),
			/what --bay should/,
			'message'
		],
		[
			'what is unknown',
			failed('add.py: error: unrecognized arguments: --fast'),
			/“--fast”\. Leave that out/,
			'message'
		],
		['a number', failed("add.py: error: argument --n: invalid int value: 'x'"), /a whole number for --n/, 'message'],
		[
			'a file that is missing',
			failed(trace("FileNotFoundError: [Errno 2] No such file or directory: 'in/a.csv'")),
			/Attach “a\.csv”/,
			'file'
		],
		[
			'the same of Node',
			failed("Error: ENOENT: no such file or directory, open 'a.csv'\n    at x:1"),
			/Attach “a\.csv”/,
			'file'
		],
		[
			'a file out of reach',
			failed(trace("OSError: [Errno 30] Read-only file system: '/etc/a.log'")),
			/“a\.log” instead of “\/etc\/a\.log”/,
			'script'
		],
		['an exception', failed(trace('KeyError: 1')), /^It broke in line 7 of add\.py\./, 'script'],
		[
			'an exception of Node',
			failed('TypeError: x\n    at f (file:///skill/scripts/add.mjs:2:19)\n    at file:///skill/scripts/add.mjs:9:1', {
				script: 'scripts/add.mjs'
			}),
			/line 2 of add\.mjs/,
			'script'
		],
		[
			'a connection, by its own words',
			failed('No connection to api.a.io (ENOTFOUND).\n', { args: ['Berlin'] }),
			'The connection failed, not your message. Check it, then run this again.',
			null
		],
		[
			'a connection that is refused, in a trace',
			failed(trace('ConnectionRefusedError: [Errno 111] Connection refused')),
			/^The connection failed/,
			null
		],
		[
			'a host that is allowed and can’t be reached',
			failed('No connection.\n', { message: 'api.a.io is allowed, but this server couldn’t reach it.' }),
			/^The connection failed/,
			null
		],
		[
			'a file that it can’t use',
			failed("text.pdf isn't a PDF.\n", { args: ['text', 'in/text.pdf'] }),
			'Attach another file instead of “text.pdf”.',
			'file'
		],
		[
			'what is not in a file',
			failed('a.csv has no column price.\n', { args: ['a.csv', '--column', 'price'] }),
			/^It was given “a\.csv”/,
			'message'
		],
		[
			'what it was given',
			failed('No such city.\n', { args: ['Berlin', 'north bay'] }),
			/^It was given “Berlin”, “north bay”\./,
			'message'
		],
		['nothing given', failed('No city.\n'), /^It was given nothing\./, 'message']
	])('%s', (_name, execution, text, leadsTo) => {
		const advice = adviceFor(execution);
		expect(advice?.text).toMatch(text);
		expect(advice?.leadsTo).toBe(leadsTo);
	});

	test('nothing is said where a button says it, or the failure isn’t the script’s', () => {
		const missing = { kind: 'variable', name: 'KEY' } as const;
		for (const each of [
			failed('x', { missing }),
			failed('x', { error: 'HostNotAllowed' }),
			failed('x', { sandbox: 'mcp' })
		])
			expect(adviceFor(each)).toBeNull();
	});

	test('F6: of a run by hand, it speaks of the input', () => {
		const required = failed('add.py: error: the following arguments are required: --bay');
		expect(adviceFor(required, 'the input')?.text).toBe('Say in the input what --bay should be.');
		expect(adviceFor(failed('No city.\n'), 'the input')?.text).toMatch(/name it in the input\.$/);
		const outside = failed(
			"Traceback (most recent call last):\nOSError: [Errno 30] Read-only file system: '/etc/a.log'\n"
		);
		expect(adviceFor(outside, 'the input')?.text).toMatch(/^It can only use the files of its own folder: “a\.log”/);
		expect(adviceFor(outside)?.text).toMatch(/^It can only use the chat’s files: /);
	});
});
