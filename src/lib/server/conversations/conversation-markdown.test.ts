import { expect, test } from 'vitest';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import { fullAnswer } from '../store/contract/fixtures.suite.ts';
import { markdownOf } from './conversation-file.ts';

const answer = (change: Partial<Message>): Message => ({
	...emptyAnswer('m', 'r', '2026-01-01T00:00:00.000Z'),
	status: 'complete',
	...change
});

test('a question is who, what was said, and the files by name', () => {
	const question = answer({ role: 'user', parts: [{ type: 'text', id: 't', text: ' Why? \n' }], files: ['in/a.pdf'] });
	expect(markdownOf(question)).toBe('## You\n\nWhy?\n\nFiles: `in/a.pdf`\n');
});

test('an answer has its steps as a list, with status and exit code, and no reasoning', () => {
	const step = fullAnswer('m').parts[2]!;
	const run = { ...step, loaded: undefined } as typeof step;
	if (run.type !== 'tool') throw new Error('fixture');
	const parts = [{ type: 'reasoning' as const, id: 'x', text: 'secret thought', done: true }, step, run];
	expect(markdownOf(answer({ parts }))).toBe(
		'## Assistant\n\n- Loaded the skill `pdf` (done)\n  Files: `out/a.pdf`\n\n  ```\n  ok\n  ```\n\n' +
			'- Ran `scripts/fill.py --all` of the skill `pdf` (done)\n  Files: `out/a.pdf`\n\n  ```\n  ok\n  ```\n'
	);
	run.execution!.exitCode = 3;
	expect(markdownOf(answer({ parts: [run] }))).toContain('(done, exit code 3)');
});

test('an answer has the numbers of its sources, and their list; an imported one that leads nowhere good is left out', () => {
	const place = { title: 'A', start: 0, end: 4 };
	const citations = [
		{ url: 'https://a.example/x', ...place },
		{ url: 'javascript:alert(1)', ...place },
		{ url: 'https://b.example/', ...place, end: 99 }
	];
	const parts = [{ type: 'text' as const, id: 't', text: 'One. Two.', citations }];
	expect(markdownOf(answer({ parts }))).toBe('## Assistant\n\nOne.[1] Two.\n\n1. A <https://a.example/x>\n');
});

test('a result that has fences is in a longer one, and a name with backticks in more of them', () => {
	const result = 'before\n`````\n```\n# no heading';
	const parts = [{ type: 'tool' as const, id: 't', name: 'a`b\n# c', arguments: '', status: 'done' as const, result }];
	const text = markdownOf(answer({ parts }));
	expect(text).toContain('- Called ``a`b # c`` (done)');
	expect(text).toContain('  ``````\n  before\n  `````\n  ```\n  # no heading\n  ``````\n');
});

test.each([
	[{ status: 'cancelled' }, 'You stopped this reply'],
	[{ status: 'interrupted' }, 'was interrupted'],
	[{ status: 'failed', error: { code: 'x', message: 'No\nroute.' } }, 'ended early: No route.'],
	[{ status: 'waiting' }, 'is waiting for approval'],
	[{ status: 'running' }, 'is still being written']
] satisfies [Partial<Message>, string][])('an answer says how it ended: %o', (change, words) => {
	expect(markdownOf(answer(change))).toContain(words);
});
