import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { sampleConversation } from '../../../../tests/support/fake-conversations.ts';
import '../../../app.css';
import type { ConversationActions } from '../sidebar/conversation-actions.ts';
import { emptyAnswer, type Execution, type ToolPart } from '../../shared/message.ts';
import FileCard from '../files/FileCard.svelte';
import UserMessage from '../messages/UserMessage.svelte';
import ConversationRow from '../sidebar/ConversationRow.svelte';
import Step from '../steps/Step.svelte';
import ApprovalCard from '../steps/ApprovalCard.svelte';
import Terminal from '../steps/Terminal.svelte';

const TOWER = `a${'\u0301\u0316'.repeat(30)}`;
const WORDS = `Z${TOWER}b ${'Việt ก็ é'.normalize('NFD')}`;

const execution: Execution = {
	skill: 'sums',
	script: 'add.py',
	args: [],
	sandbox: 'bubblewrap',
	output: [
		{ stream: 'stdout', text: `${WORDS}\n` },
		{ stream: 'stderr', text: WORDS }
	],
	files: []
};
const part: ToolPart = { type: 'tool', id: 'c', name: 'use_skill', arguments: '{}', status: 'done', headline: WORDS };
const message = {
	...emptyAnswer('m', 'r', '2026-01-01T00:00:00Z'),
	role: 'user' as const,
	files: [`${WORDS}.txt`],
	parts: [{ type: 'text' as const, id: 't', text: WORDS }]
};
const approval = { interruptId: 'i', skill: 'sums', script: 'add.py', args: [WORDS], reason: WORDS, digest: 'd' };
const client = { getSkill: vi.fn(), getDefinedTool: vi.fn(), saveSecrets: vi.fn() };
const row = {
	conversation: sampleConversation('c', { title: WORDS }),
	actions: {} as ConversationActions,
	isOpen: false,
	isWaiting: false,
	hasDraft: false,
	isRenaming: false,
	onrename: vi.fn(),
	ondelete: vi.fn()
};

describe('UI 10.15: a letter with a tower of marks is cut to its line, and other letters are as they were', () => {
	test.each([
		['in what a script prints', 2, () => render(Terminal, { execution, status: 'done' })],
		['in the title of a step', 1, () => render(Step, { part, conversationId: 'c' })],
		['in a title in the sidebar', 1, () => render(ConversationRow, row)],
		[
			'in the name of a file',
			1,
			() => render(FileCard, { file: { path: `${WORDS}.txt`, bytes: 1 }, conversationId: 'c', version: 'v' })
		],
		['in what is to be allowed, and why', 2, () => render(ApprovalCard, { approval, isOpen: true, client })],
		['in a message and the name of a file with it', 2, () => render(UserMessage, { message, conversationId: 'c' })]
	])('%s', async (_, count, show) => {
		const { container } = await show();
		const stacked = [...container.querySelectorAll('.stacked')];
		expect(stacked.map(({ textContent }) => textContent)).toEqual(Array.from({ length: count }, () => TOWER));
		for (const each of stacked) {
			const { lineHeight, overflow } = getComputedStyle(each);
			expect(overflow).toBe('clip');
			expect(each.getBoundingClientRect().height).toBeLessThanOrEqual(Number.parseFloat(lineHeight) + 0.5);
		}
		expect(container.textContent).toContain(WORDS);
	});
});
