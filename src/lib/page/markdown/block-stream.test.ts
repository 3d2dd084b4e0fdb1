import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockStream, MAX_MARKDOWN, type Block } from './block-stream.ts';
import type { Node } from './convert.ts';

const DOCUMENT = `# Report

Revenue is **up** by 4 % &mdash; see [the table](https://example.com/a?b=1&amp;c=2).

1. First
   - nested \`code\`
   - [x] done

2. Second

   with a paragraph

> A quote
> over lines

| Region | Sum |
| --- | ---: |
| North | 1,200<br>net |

\`\`\`python
print("# no heading")

- no list
\`\`\`

Title
===

<script>alert(1)</script>

---
The end.
`;

describe('a text that grows', () => {
	test('shows the same blocks at its end as the text in one piece, from every cut point', () => {
		const whole = render(DOCUMENT);
		for (let cut = 0; cut <= DOCUMENT.length; cut++) {
			const stream = new BlockStream();
			stream.update(DOCUMENT.slice(0, cut), true);
			expect(nodes(stream.update(DOCUMENT, false))).toEqual(whole);
		}
	});

	test('shows at every step what the text so far shows in one piece', () => {
		const stream = new BlockStream(() => 0);
		for (let end = 1; end <= DOCUMENT.length; end++) {
			const soFar = DOCUMENT.slice(0, end);
			expect(nodes(stream.update(soFar, true))).toEqual(render(soFar));
		}
	});

	test('shows the same at its end whatever is written and wherever it was cut', () => {
		const piece = fc.constantFrom(
			'# ',
			'- ',
			'1. ',
			'> ',
			'```\n',
			'~~~',
			'\n',
			'\n\n',
			'   ',
			'\t',
			'|a|b|\n|-|-|\n',
			'|c|d|\n',
			'|',
			'**',
			'_',
			'`',
			'[x](',
			')',
			'[x]: http://e.org\n',
			'[x]',
			'word ',
			'<b>',
			'</b>',
			'---\n',
			'===\n',
			'&amp;',
			'\\',
			'\r\n',
			'\r',
			'- [ ] ',
			'$$',
			'$x$',
			'\\[',
			'\\]',
			'+ b\n',
			'http://e.org '
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
				const stream = new BlockStream();
				for (let count = 1; count <= pieces.length; count++) stream.update(pieces.slice(0, count).join(''), true);
				expect(nodes(stream.update(pieces.join(''), false))).toEqual(render(pieces.join('')));
			}),
			{ numRuns: 300 }
		);
	});

	test('shows the same at its end where the parser itself thinks again, as of an empty item within a paragraph', () => {
		const text = 'Lazy\n0) \n- -';
		const stream = new BlockStream(() => 0);
		for (let end = 1; end <= text.length; end++) stream.update(text.slice(0, end), true);
		expect(nodes(stream.update(text, false))).toEqual(render(text));
	});

	test('keeps the blocks that can no longer change as the same objects', () => {
		const stream = new BlockStream();
		const text = 'One.\n\nTwo.\n\nThree.\n\nFour';
		const [one, two] = stream.update(text, true);
		const later = stream.update(`${text} and more.\n\nFive.`, true);
		expect(later.slice(0, 2)).toEqual([one, two]);
		expect(later[0]).toBe(one);
		expect(later[1]).toBe(two);
		const last = stream.update(`${text} and more.\n\nFive.`, false);
		expect(last.map((block, index) => block === later[index])).toEqual([true, true, true, true, true]);
	});

	test('a very long paragraph keeps what is settled of it, and shows at every step what the text so far shows', () => {
		const sentence = 'Some **bold** words, a [link](https://example.com/), `code` and *more* of them. ';
		const text = sentence.repeat(120);
		const stream = new BlockStream(() => 0);
		let settled: unknown;
		for (let end = 40; end <= text.length; end += 40) {
			const shown = nodes(stream.update(text.slice(0, end), true));
			expect(shown).toEqual(render(text.slice(0, end)));
			const [first] = shown[0]?.type === 'paragraph' ? shown[0].children : [];
			if (first?.type !== 'piece') continue;
			settled ??= first;
			expect(first).toBe(settled);
		}
		expect(settled).toBeDefined();
		expect(JSON.stringify(render(text))).not.toContain('**');
	});

	test('an open fence is code from its first line on, whatever is in it, and ends where it is closed', () => {
		const text =
			'Before.\n```js\n# no heading\n\n  ``` not yet\n~~~\n\u001b[31mred\n```` \nafter **it**\n\n```\nopen\n\n';
		for (const step of [1, 2, 5]) {
			const stream = new BlockStream(() => 0);
			for (let end = 1; end <= text.length; end += step) {
				const soFar = text.slice(0, end);
				expect(nodes(stream.update(soFar, true))).toEqual(render(soFar));
			}
		}
	});

	test('a table is read row by row, whatever is in them, and ends where anything else begins', () => {
		const rows = '| a\\|b | `c|d` | **x** |\n||\n|\n| <b> | &amp; | [l](http://e.org) | more |\n|---|\n';
		for (const end of [
			'\nAfter *it*.\n',
			'no pipe\n| last |',
			'- list\n',
			'> quote\n',
			' | indented |\n| x',
			'\n| new | table |\n'
		]) {
			const text = `Before\n| A | **B** | C |\n| :-- | - | --: |\n${rows}${end}`;
			for (const step of [1, 2, 7]) {
				const stream = new BlockStream(() => 0);
				for (let to = 1; to <= text.length; to += step) {
					const soFar = text.slice(0, to);
					expect(nodes(stream.update(soFar, true))).toEqual(render(soFar));
				}
				expect(nodes(stream.update(text, false))).toEqual(render(text));
			}
		}
	});

	test('a row of a table that is whole stays the same object while more rows come', () => {
		const stream = new BlockStream(() => 0);
		const head = '| A | B |\n| - | - |\n| 1 | 2 |\n';
		const rowsOf = (text: string) => {
			const node = nodes(stream.update(text, true))[0];
			return node?.type === 'table' ? node.rows : [];
		};
		rowsOf(head);
		const [first] = rowsOf(`${head}| 3`);
		expect(first).toBeDefined();
		const later = rowsOf(`${head}| 3 | 4 |\n| 5`);
		expect(later[0]).toBe(first);
		expect(later).toHaveLength(3);
	});

	test.each([
		['tight', '- one\n- **two**\n  lazy\nline\n- three\n* - [ ] other\n', '- '],
		['loose', '1. one\n\n2. two\n\n   more\n\n10. three\n\n', '7. '],
		['nested', '- a\n  - b\n  - c\n\n    d\n- e\n   - f\n', '- '],
		['of tasks', '- [ ] a\n- [x] b\n- c\n- [ ] d\n', '- [x] '],
		['that gets loose', '+ a\n+ b\n+ c\n\n+ d\n', '+ '],
		['with code', '- a\n\n  ```js\n  - no item\n  ```\n- b\n- c\n', '- ']
	])('a list that is %s is read item by item, and ends where anything else begins', (_name, list, bullet) => {
		for (const end of [
			'After *it*.\n',
			'\nAfter it.\n\n- another\n',
			'---\n',
			'    indented\n',
			'\n\n\n    code\n',
			'# heading\n',
			'[x]: http://e.org\n\n[x]\n',
			'\t- tab\n- \n-\n- y\n'
		]) {
			const text = `Before [x]:\n${list}${Array.from({ length: 5 }, (_, index) => `${bullet}item ${index}\n`).join('')}${end}`;
			for (const step of [1, 2, 7]) {
				const stream = new BlockStream(() => 0);
				for (let to = 1; to <= text.length; to += step) {
					const soFar = text.slice(0, to);
					expect(nodes(stream.update(soFar, true))).toEqual(render(soFar, true));
				}
				expect(nodes(stream.update(text, false))).toEqual(render(text));
			}
		}
	});

	test('an item of a list that is whole stays the same object while more items come', () => {
		const stream = new BlockStream(() => 0);
		const itemsOf = (text: string) => {
			const node = nodes(stream.update(text, true))[0];
			return node?.type === 'list' ? node.items : [];
		};
		const head = '- a\n- b\n- c\n';
		const [first] = itemsOf(head);
		expect(first).toBeDefined();
		const later = itemsOf(`${head}- d\n- e\n- f`);
		expect(later[0]).toBe(first);
		expect(later).toHaveLength(6);
		expect(itemsOf(`${head}- d\n- e\n- f and more`).slice(0, 5)).toEqual(later.slice(0, 5));
	});

	test('resolves a link whose address is defined later, once it is finished', () => {
		const stream = new BlockStream();
		const start = 'See [the site].\n\nMore.\n\nEven more.\n\n';
		stream.update(start, true);
		const blocks = stream.update(`${start}[the site]: https://example.com/\n`, false);
		expect(JSON.stringify(nodes(blocks))).toContain('"href":"https://example.com/"');
	});

	test('resolves a link whose address is defined inside a list, which the lexer does not list as a definition', () => {
		const text = 'See [x] here.\n\nOne.\n\nTwo.\n\n- [x]: http://e.org\n';
		const stream = new BlockStream();
		for (let end = 1; end <= text.length; end++) stream.update(text.slice(0, end), true);
		const blocks = nodes(stream.update(text, false));
		expect(blocks).toEqual(render(text));
		expect(JSON.stringify(blocks)).toContain('"href":"http://e.org/"');
	});

	test('is parsed less often while that is slow, and yet shows every word', () => {
		let now = 0;
		const stream = new BlockStream(() => (now += 20));
		stream.update('**one** ', true);
		const resting = stream.update('**one** **two**', true);
		expect(nodes(resting).at(-1)).toEqual({ type: 'plain', text: '**two**' });
		expect(nodes(stream.update('**one** **two**', false))).toEqual(render('**one** **two**'));
		now += 1000;
		expect(nodes(stream.update('**one** **two** three', true))).toEqual(render('**one** **two** three'));
	});

	test('starts anew when the text is another one', () => {
		const stream = new BlockStream();
		stream.update('# Old\n\ntext\n\nmore', true);
		expect(nodes(stream.update('New', true))).toEqual(render('New'));
	});
});

describe('hostile text', () => {
	test.each([
		['quotes', '>'.repeat(5000)],
		['spaced quotes', '> '.repeat(5000)],
		['lists', '- '.repeat(5000)],
		['numbered lists', '1. '.repeat(3000)],
		['emphasis', '**a '.repeat(4000)],
		['brackets', '['.repeat(20_000)],
		['images', '![a]('.repeat(5000)]
	])('5,000 nested %s are shown, not thrown', (_name, text) => {
		const shown = JSON.stringify(render(`${text}x\n\nafter`));
		expect(shown).toContain('x');
		expect(shown).toContain('after');
	});

	test('text over the size limit is shown as it is', () => {
		const text = `**b** ${'x'.repeat(MAX_MARKDOWN)}`;
		expect(render(text)).toEqual([{ type: 'plain', text }]);
	});

	test.each([
		'javascript:alert(1)',
		'JaVaScRiPt:alert(1)',
		'java\tscript:alert(1)',
		'&#106;avascript:alert(1)',
		'&#x6A;avascript&colon;alert(1)',
		'\u0001javascript:alert(1)',
		'data:text/html,<script>alert(1)</script>',
		'data:image/svg+xml;base64,PHN2Zz4=',
		'vbscript:x',
		'file:///etc/passwd',
		'blob:https://e.org/1',
		'//evil.example',
		'/api/conversations',
		'../x'
	])('an address like %s is no link and no image', (address) => {
		const text = `[click](<${address}>) ![pic](<${address}>)\n\n[ref]\n\n[ref]: <${address}>\n`;
		const shown = JSON.stringify(render(text));
		expect(shown).not.toContain('"type":"link"');
		expect(shown).not.toMatch(/"type":"image","href":"/);
		expect(shown).toContain('click');
	});

	test('control, bidi and tag characters and escape sequences do not come through', () => {
		const shown = JSON.stringify(render('a\u001b[31mred\u001b[0m \u202etxt.exe\u202c `x\u0007y` \u{e0041}z\u0000'));
		expect(shown).not.toMatch(/\\u001b|\\u0007|\u202e|\u202c|\u{e0041}|\\u0000|\[31m/u);
		expect(shown).toContain('red');
	});
});

test('references are decoded in text and addresses, and left alone in code', () => {
	expect(render('a &lt; b &#8364; &unknown; `&amp;`')).toEqual([
		{
			type: 'paragraph',
			children: [
				{ type: 'text', text: 'a < b € &unknown; ' },
				{ type: 'code', text: '&amp;' }
			]
		}
	]);
	expect(JSON.stringify(render('[x](https://e.org/?a=1&amp;b=2)'))).toContain('https://e.org/?a=1&b=2');
});

function render(text: string, isGrowing = false): Node[] {
	return nodes(new BlockStream().update(text, isGrowing));
}

function nodes(blocks: Block[]): Node[] {
	return blocks.map(({ node }) => node);
}
