import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import type { DefinedTool as Tool } from '../../shared/install.ts';
import type { ToolPart } from '../../shared/message.ts';
import DefinedTool from './DefinedTool.svelte';

test('D25: the step of a tool that became a skill says so only while that skill is there', async () => {
	const result = JSON.stringify({ skill: 'shout-text' });
	const part: ToolPart = { type: 'tool', id: 't1', name: 'define_tool', arguments: '{}', status: 'done', result };
	const kept: Tool = { name: 'shout_text', skill: 'shout-text', digest: 'd2', isKept: true };
	const listDefinedTools = vi.fn(async (): Promise<Tool[]> => [kept]);
	const client = { listDefinedTools, keepDefinedTool: vi.fn(), restoreSkill: vi.fn() };
	const there = await render(DefinedTool, { part, conversationId: 'c1', client });
	await expect.element(there.getByTestId('defined-tool')).toMatchTextContent(/Kept as the skill shout-text/);
	await there.unmount();
	listDefinedTools.mockResolvedValue([]);
	const gone = await render(DefinedTool, { part, conversationId: 'c1', client });
	await expect.element(gone.getByTestId('defined-tool')).toMatchTextContent(/Its skill was removed/);
});
