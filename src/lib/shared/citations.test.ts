import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, BlockStream } from '../page/markdown/block-stream.ts';
import { annotationOf, citedText, numberLink, readCitation, Sources } from './citations.ts';
import { isObject } from './json.ts';
import type { Citation, Part, TextPart } from './message-schema.ts';

const cite = (end: number, url = 'https://a.example/x', title = 'A'): Citation => ({ url, title, start: 0, end });
const textPart = (text: string, ...citations: Citation[]): TextPart => ({ type: 'text', id: 't', text, citations });
const marked = (text: string, ...ends: number[]): string => {
	const part = textPart(text, ...ends.map((end) => cite(end)));
	return new Sources([part]).mark(part, ({ number }) => `⟦${number}⟧`);
};

test.each([
	[{ type: 'url_citation', url: 'javascript:alert(1)', start_index: 0, end_index: 1 }],
	[{ type: 'url_citation', url: 'java\nscript:alert(1)', start_index: 0, end_index: 1 }],
	[{ type: 'url_citation', url: 'data:text/html,x', start_index: 0, end_index: 1 }],
	[{ type: 'url_citation', url: '/relative', start_index: 0, end_index: 1 }],
	[{ type: 'url_citation', url: `https://a.example/${'x'.repeat(5000)}`, start_index: 0, end_index: 1 }],
	[{ type: 'url_citation', url: 'https://a.example', start_index: 3, end_index: 1 }],
	[{ type: 'url_citation', url: 'https://a.example', start_index: -1, end_index: 1 }],
	[{ type: 'url_citation', url: 'https://a.example', start_index: 0, end_index: 1e300 }],
	[{ type: 'url_citation', url: 'https://a.example' }],
	[{ type: 'url_citation', url: ['https://a.example'], start_index: 0, end_index: 1 }],
	[{ type: 'file_citation', index: 2 }],
	[{ type: 'container_file_citation', file_id: 'x', start_index: 0, end_index: 1 }],
	['https://a.example'],
	[null]
])('a citation that can’t be used is dropped: %j', (annotation) => {
	expect(readCitation(annotation)).toBeNull();
});

test('citations of pages and files are read, and written in the same shape', () => {
	const page = {
		type: 'url_citation',
		url: 'https://a.example',
		title: 'A',
		start_index: 1,
		end_index: 4,
		content: 'w'
	};
	const file = { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 7 };
	for (const each of [page, file]) expect(annotationOf(readCitation(each)!)).toEqual(each);
	const { type, ...nested } = page;
	expect(readCitation({ type, [type]: nested })).toEqual(readCitation(page));
});

test('sources have one number each, in the order of the text; duplicates, overlaps and places past the end do no harm', () => {
	const first = textPart('One. Two.', cite(9, 'https://b.example/', 'B'), cite(4), cite(4), cite(10), cite(9));
	const second = textPart('Three.', { ...cite(6, 'https://b.example/'), start: 3 }, cite(6, 'javascript:x'));
	const file: Citation = { title: 'notes.pdf', fileId: 'f', start: 6, end: 6 };
	second.citations?.push(file);
	const sources = new Sources([first, second]);
	expect(sources.list).toEqual([
		{ number: 1, title: 'A', url: 'https://a.example/x', host: 'a.example' },
		{ number: 2, title: 'B', url: 'https://b.example/', host: 'b.example' },
		{ number: 3, title: 'notes.pdf', url: null, host: null }
	]);
	const parts: Part[] = [first, second];
	expect(citedText({ parts })).toBe(
		'One.[1] Two.[2][1]\n\nThree.[2][3]\n\n1. A <https://a.example/x>\n2. B <https://b.example/>\n3. notes.pdf'
	);
});

test.each([
	['never in a word', 'A word here', 4, 'A word⟦1⟧ here'],
	['never in a character', 'A 😀 here', 3, 'A 😀⟦1⟧ here'],
	['before a line break', 'One.\n- two', 5, 'One.⟦1⟧\n- two'],
	['not before a list item', '- two', 2, '- two'],
	['in a cell', '| a | b |\n| - | - |', 9, '| a | b⟦1⟧ |\n| - | - |'],
	['not in the line below the head of a table', '| a |\n| - |', 9, '| a |\n| - |'],
	['not in code', 'a\n```\ncode here\n```\nb', 10, 'a\n```\ncode here\n```\nb'],
	['after code in a line', 'a `b c` d', 5, 'a `b c`⟦1⟧ d'],
	['after a link', 'a ([b](https://b.example)) c', 12, 'a ([b](https://b.example)⟦1⟧) c'],
	['not in an address', 'https://b.example/x y', 12, 'https://b.example/x y'],
	['not in a formula', '$$x+y$$ is', 3, '$$x+y$$ is'],
	['within bold text', '**bold.** so', 7, '**bold.⟦1⟧** so'],
	['not where a mark would end', 'un**like**ly', 8, 'un**like**ly']
])('the number stands %s', (_where, text, at, expected) => {
	expect(marked(text, at)).toBe(expected);
});

test('no text is broken by its numbers, wherever they are wanted', () => {
	const piece = fc.constantFrom(
		...[
			'word',
			' ',
			' ',
			'. ',
			'!',
			'\n',
			'\n\n',
			'- ',
			'1. ',
			'# ',
			'> ',
			'**',
			'*',
			'_',
			'`',
			'```\n',
			'| a | b |\n| - | - |\n'
		],
		...[
			'[link](https://l.example/a)',
			'https://u.example/b ',
			'<b>',
			'&amp;',
			'\\',
			'$x^2$',
			'    ',
			'😀',
			'[',
			']',
			'(',
			')',
			'~~',
			'|',
			'1'
		]
	);
	const run = fc.tuple(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(120), { minLength: 1, maxLength: 4 }));
	let placed = 0;
	fc.assert(
		fc.property(run, ([pieces, ends]) => {
			const text = pieces.join('');
			const part = textPart(text, ...ends.map((end) => cite(end, 'https://cite.example/')));
			const numbered = new Sources([part]).mark(part, numberLink);
			const shown = withoutNumbers(new BlockStream().update(text, false, numbered));
			placed += shown.numbers > 0 ? 1 : 0;
			expect(shown.nodes).toEqual(withoutNumbers(new BlockStream().update(text, false)).nodes);
		}),
		{ numRuns: 3000 }
	);
	expect(placed).toBeGreaterThan(100);
});

test('an answer as models write them shows all its numbers: in prose, lists, tables, and after links', () => {
	const text =
		'High tide in **Dover** is at 12:10, see [the table](https://t.example/a?b=1). Don’t swim!\n\n- Spring tides are `higher`\n  1. Neap tides are lower\n\n| Place | Time |\n| - | - |\n| Dover | 12:10 |\n\n> Quoted.\n\n```js\nlet code = 1;\n```\n\n### The end';
	const words = [
		'12:10',
		'the table](https://t.example/a?b=1)',
		'swim!',
		'`higher`',
		'lower',
		'| Dover | 12:10 |',
		'Quoted.',
		'The end'
	];
	const ends = words.map((word) => text.indexOf(word) + word.length);
	const part = textPart(text, ...ends.map((end) => cite(end, 'https://cite.example/')), cite(text.indexOf('code =')));
	const numbered = new Sources([part]).mark(part, numberLink);
	expect(withoutNumbers(new BlockStream().update(text, false, numbered)).numbers).toBe(words.length);
});

/** The blocks without their citation numbers, and how many there were. */
function withoutNumbers(blocks: readonly Block[]): { nodes: unknown; numbers: number } {
	let numbers = 0;
	const read = (node: unknown): unknown => {
		if (Array.isArray(node)) {
			return node.map(read).reduce((list: unknown[], each) => {
				const last = list.at(-1);
				if (each === '') return list;
				return typeof last === 'string' && typeof each === 'string'
					? [...list.slice(0, -1), last + each]
					: [...list, each];
			}, []);
		}
		if (!isObject(node)) return node;
		if (node.href === 'https://cite.example/') {
			numbers += 1;
			return '';
		}
		if (node.type === 'text') return node.text;
		return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, read(value)]));
	};
	return { nodes: read(blocks.map(({ node }) => node)), numbers };
}
