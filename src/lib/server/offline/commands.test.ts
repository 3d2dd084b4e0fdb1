import { expect, test } from 'vitest';
import { findCommands } from './actions.ts';
import type { Part } from './command-line.ts';

const FILES = [
	'scripts/run.py',
	'scripts/tool.sh',
	'lib/helper.py',
	'references/guide.md',
	'assets/template.html',
	'bin/go'
];

/** Each command as text: `<name>` for a placeholder, `[…]` for optional parts. */
function commandsIn(body: string, files = FILES): string[] {
	return findCommands({ name: 'x', body, folder: '/skills/x', files, toolNames: [] }).map(({ script, groups }) => {
		const texts = groups.map((group) => {
			const text = group.arguments.map((argument) => argument.map(partText).join('')).join(' ');
			return group.isOptional ? `[${text}]` : text;
		});
		return [script, ...texts].join(' ');
	});
}

function partText(part: Part): string {
	return typeof part === 'string' ? part : `<${part.choices.join('|') || part.name}${part.isRepeated ? '…' : ''}>`;
}

function fence(code: string): string {
	return `Do it:\n\n\`\`\`\n${code}\n\`\`\`\n`;
}

test.each([
	['python3 scripts/run.py FILE', 'scripts/run.py <FILE>'],
	['$ ./scripts/run.py FILE', 'scripts/run.py <FILE>'],
	['uv run --quiet scripts/run.py FILE', 'scripts/run.py <FILE>'],
	['python $SKILL_DIR/scripts/run.py FILE', 'scripts/run.py <FILE>'],
	['python {baseDir}/scripts/run.py FILE', 'scripts/run.py <FILE>'],
	['KEY=abc python /path/to/skill/scripts/run.py FILE', 'scripts/run.py <FILE>'],
	['run.py FILE', 'scripts/run.py <FILE>'],
	['usage: run.py [-h] FILE', 'scripts/run.py [-h] <FILE>'],
	['cd scripts && python run.py FILE | head', 'scripts/run.py <FILE>'],
	['run.py FILE > out.txt', 'scripts/run.py <FILE>'],
	['run.py FILE   # reads it', 'scripts/run.py <FILE>'],
	['run.py <input file> {count} ${NAME}', 'scripts/run.py <input file> <count> <NAME>'],
	['run.py FILE...', 'scripts/run.py <FILE…>'],
	['run.py FILE [FILE ...]', 'scripts/run.py <FILE> [<FILE…>]'],
	['run.py FILE [--group-by COLUMN] [--clean]', 'scripts/run.py <FILE> [--group-by <COLUMN>] [--clean]'],
	['run.py FILE [OPTIONS]', 'scripts/run.py <FILE>'],
	['run.py [-n | --lines N] [-q|--quiet] [--fast | --slow]', 'scripts/run.py [--lines <N>] [--quiet] [--fast]'],
	['run.py --mode fast|slow', 'scripts/run.py --mode <fast|slow>'],
	['run.py --channel=CHANNEL_ID', 'scripts/run.py --channel=<CHANNEL_ID>'],
	['run.py WxH', 'scripts/run.py <W>x<H>'],
	['run.py send "Your message"', 'scripts/run.py send <TEXT>'],
	['run.py --method GET', 'scripts/run.py --method GET'],
	[`run.py '{"text": "TEXT", "n": N}'`, 'scripts/run.py {"text": "<TEXT>", "n": <N>}'],
	['run.py FILE \\\n  --days N', 'scripts/run.py <FILE> --days <N>'],
	['bin/go NAME', 'bin/go <NAME>']
])('a fenced line %j is a command', (code, command) => {
	expect(commandsIn(fence(code))).toEqual([command]);
});

test.each([
	'pip install run',
	'cat scripts/run.py',
	'chmod +x scripts/tool.sh',
	'other.py FILE',
	'{"file": "scripts/run.py"}',
	'python -c "import run"',
	'references/guide.md'
])('a fenced line %j is none', (code) => {
	expect(commandsIn(fence(code))).toEqual([]);
});

test('indented lines and spans of code are commands, too, after the fenced ones', () => {
	const body = `Call \`scripts/run.py FILE\`.\n\n    tool.sh NAME\n\n${fence('run.py --all')}`;
	expect(commandsIn(body)).toEqual(['scripts/tool.sh <NAME>', 'scripts/run.py --all', 'scripts/run.py <FILE>']);
});

test('a script that is only mentioned counts where nothing else does', () => {
	// It says nothing of arguments, so it can be given one.
	expect(commandsIn('Run `scripts/tool.sh`.')).toEqual(['scripts/tool.sh [<ARGUMENT>]']);
	expect(commandsIn(`Exit code 1 of \`tool.sh\` is bad.\n\n${fence('run.py FILE')}`)).toEqual([
		'scripts/run.py <FILE>'
	]);
});

test('a name that two files share needs its path', () => {
	const files = ['a/run.py', 'b/run.py'];
	expect(commandsIn(fence('run.py FILE'), files)).toEqual([]);
	expect(commandsIn(fence('b/run.py FILE'), files)).toEqual(['b/run.py <FILE>']);
});

test('the values that the text names for an option are its choices', () => {
	const body = `${fence('run.py FILE --period month [--units UNITS]')}\n- \`--units\` is \`metric\` or \`imperial\`.\n- \`--period NAME\`: \`day\` or \`month\``;
	expect(commandsIn(body)).toEqual(['scripts/run.py <FILE> --period <day|month> [--units <metric|imperial>]']);
});
