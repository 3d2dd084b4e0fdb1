import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnsiScreen, type Block, type Stream, type AnsiStyle } from './ansi.ts';

type Chunk = [Stream, string];

function screenOf(chunks: Chunk[]): Block[] {
	const screen = new AnsiScreen();
	for (const [stream, text] of chunks) screen.write(stream, text);
	return screen.blocks();
}
const show = (text: string): string => textOf(screenOf([['stdout', text]]));
const textOf = (blocks: Block[]): string => blocks.flatMap(({ runs }) => runs.map(({ text }) => text)).join('');
const runsOf = (text: string) => screenOf([['stdout', text]]).flatMap(({ runs }) => runs);

function looks(text: string): [string, Partial<AnsiStyle>][] {
	return runsOf(text).map(({ text, style }) => [
		text,
		Object.fromEntries(Object.entries(style).filter(([, value]) => value !== null && value !== false))
	]);
}

describe('a line that is written over', () => {
	test.each([
		['10 %\r20 %\r100 %\n', '100 %\n'],
		['long text\rshort\n', 'short' + 'text\n'],
		['long text\r\x1b[Kshort\n', 'short\n'],
		['50 %\x1b[2K\rdone\n', 'done\n'],
		['abc\b\bX\n', 'aXc\n'],
		['abc\x1b[1GX\n', 'Xbc\n'],
		['abc\x1b[2DX\n', 'aXc\n'],
		['a\x1b[3Cb', 'a   b'],
		['one\r\ntwo\r\n', 'one\ntwo\n'],
		['\r\r\b\b', ''],
		['😀😀\rx', 'x😀']
	])('%j shows %j', (text, shown) => {
		expect(show(text)).toBe(shown);
	});

	const said = (...chunks: Chunk[]) =>
		screenOf(chunks).flatMap(({ runs }) => runs.map(({ text, stream, style }) => [text, stream, style.color]));

	test('a line of one stream is whole, though the other wrote in the middle of it', () => {
		expect(
			said(['stdout', '\x1b[31mcounting '], ['stderr', 'careful\n'], ['stdout', 'on\n'], ['stderr', 'again'])
		).toEqual([
			['counting on\n', 'stdout', 'red'],
			['careful\nagain', 'stderr', null]
		]);
	});

	test('a line that is never ended stands where it was begun, each stream on its own', () => {
		expect(
			said(['stdout', 'looking up'], ['stderr', 'Traceback\n'], ['stderr', 'Error: no']).map(([text]) => text)
		).toEqual(['looking up\n', 'Traceback\nError: no']);
	});

	test('a progress bar stays below what the other stream says meanwhile', () => {
		expect(said(['stderr', '\r10 %'], ['stdout', 'a\n'], ['stderr', '\r55 %'], ['stdout', 'b\n'])).toEqual([
			['a\nb\n', 'stdout', null],
			['55 %', 'stderr', null]
		]);
	});

	test('a flood waits for no line of the other stream', () => {
		const screen = new AnsiScreen();
		screen.write('stdout', 'name? ');
		screen.write('stderr', 'line\n'.repeat(5_000));
		expect(screen.blocks().length).toBeGreaterThan(2);
	});
});

describe('SGR', () => {
	test.each([
		[
			'\x1b[1;31mred\x1b[0m plain',
			[
				['red', { isBold: true, color: 'red' }],
				[' plain', {}]
			]
		],
		['\x1b[92mbright\x1b[39m', [['bright', { color: 'green' }]]],
		['\x1b[38;5;196mx', [['x', { color: 'red' }]]],
		['\x1b[38;5;21mx', [['x', { color: 'blue' }]]],
		['\x1b[48;5;46mx', [['x', { ground: 'green' }]]],
		['\x1b[38;2;255;170;0mx', [['x', { color: 'yellow' }]]],
		['\x1b[38:2:0:200:210mx', [['x', { color: 'cyan' }]]],
		['\x1b[38;5;250mx', [['x', { color: 'white' }]]],
		['\x1b[38;2;250;250;250mx', [['x', {}]]],
		[
			'\x1b[7;4mx\x1b[27my\x1b[mz',
			[
				['x', { isInverse: true, isUnderlined: true }],
				['y', { isUnderlined: true }],
				['z', {}]
			]
		],
		['\x1b[2mdim\x1b[22m', [['dim', { isDim: true }]]],
		['\x1b[38;5mx', [['x', { color: 'black' }]]],
		['\x1b[?25lx\x1b[>4mx', [['xx', {}]]]
	] satisfies [string, [string, Partial<AnsiStyle>][]][])('%j', (text, wanted) => {
		expect(looks(text)).toEqual(wanted);
	});
});

describe('what could hide or forge', () => {
	test.each([
		['title', '\x1b]0;owned\x07safe', 'safe'],
		['link', '\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\', 'click'],
		['title that never ends', 'a\x1b]0;gone\nstill here', 'a\nstill here'],
		['device control', '\x1bPq#0;2\x1b\\safe', 'safe'],
		['C1', '\u009b31mred\u009d0;t\u009c!', 'red!'],
		['cursor to elsewhere', 'secret\x1b[2J\x1b[H\x1b[5A!', 'secret!'],
		['concealed', '\x1b[8mhidden', 'hidden'],
		['bidi', 'exe\u202Efdp', 'exe⟨U+202E⟩fdp'],
		['tags', 'a\u{e0041}b', 'a⟨U+E0041⟩b'],
		['zero width', 'a\u200bb', 'a⟨U+200B⟩b'],
		['bell and null', 'a\u0007\u0000b', 'ab'],
		['half a character', 'a\ud83dz\udc00', 'a\ufffdz\ufffd']
	])('%s', (_, text, shown) => {
		expect(show(text)).toBe(shown);
	});
});

describe('as it comes', () => {
	const piece = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 30 }),
		fc.constantFrom(
			'\x1b[',
			'\x1b',
			'31',
			'm',
			';',
			'\r',
			'\n',
			'\b',
			'\x1b[2K',
			'\x1b[0K',
			'\x1b]0;',
			'\x07',
			'😀',
			'K'
		),
		fc.constantFrom('word '.repeat(300), 'x'.repeat(1500), 'line\n'.repeat(2000))
	);
	const chunks = fc.array(fc.tuple(fc.constantFrom<Stream>('stdout', 'stderr'), piece), { maxLength: 12 });

	test('it never throws, and no piece makes a difference', () => {
		fc.assert(
			fc.property(chunks, fc.integer({ min: 1, max: 7 }), (whole, size) => {
				const pieces = whole.flatMap(([stream, text]): Chunk[] => {
					const cut: Chunk[] = [];
					for (let index = 0; index < text.length; index += size) cut.push([stream, text.slice(index, index + size)]);
					return cut;
				});
				expect(screenOf(pieces)).toEqual(screenOf(whole));
			}),
			{ numRuns: 60 }
		);
	});

	test('to look at it in between changes nothing, and closed blocks stay as they are', () => {
		fc.assert(
			fc.property(chunks, (whole) => {
				const screen = new AnsiScreen();
				const seen = new Map<number, Block>();
				for (const [stream, text] of whole) {
					screen.write(stream, text);
					for (const block of screen.blocks()) {
						if (!block.isClosed) continue;
						expect(seen.get(block.id) ?? block).toBe(block);
						seen.set(block.id, block);
					}
				}
				expect(screen.blocks()).toEqual(screenOf(whole));
			}),
			{ numRuns: 60 }
		);
	});

	test('plain text is shown whole, in blocks that stay small', () => {
		const text = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join('') + 'x'.repeat(50_000);
		const blocks = screenOf([['stdout', text]]);
		expect(textOf(blocks)).toBe(text);
		expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThan(9_100);
		expect(blocks.every(({ runs }) => runs.length === 1)).toBe(true);
	});

	test('a line that is written over without end does not grow', () => {
		const screen = new AnsiScreen();
		for (let count = 0; count < 50_000; count++) screen.write('stderr', `\r${count % 100} % ${'#'.repeat(count % 60)}`);
		expect(screen.blocks()).toHaveLength(1);
		expect(textOf(screen.blocks()).length).toBeLessThan(100);
	});
});
