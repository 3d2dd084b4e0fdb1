import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { ApiError } from '../request.ts';
import { ConversationSkills, type SkillsHost } from '../conversation/conversation-skills.svelte.ts';
import type { ConversationSkill, ConversationSkillList } from '../../shared/api.ts';
import SkillChips from './SkillChips.svelte';

const skill = (name: string, more: Partial<ConversationSkill> = {}): ConversationSkill => ({
	...{ name, description: `About ${name}.`, state: 'loaded', tokens: 1240, isAvailable: true },
	...more
});

async function setup(data: ConversationSkill[], { showsTokens = true, phase = 'ready' as SkillsHost['phase'] } = {}) {
	const client = {
		listConversationSkills: vi.fn(async (_id: string, _signal: AbortSignal): Promise<ConversationSkillList> => ({
			data,
			tokens: 0
		})),
		setConversationSkill: vi.fn(async (_id: string, _name: string, _state: string, _signal: AbortSignal) => ({
			data,
			tokens: 0
		}))
	};
	const skills = new ConversationSkills({ id: 'c', phase, isReadable: true }, client);
	await skills.refresh();
	const screen = await render(SkillChips, { skills, showsTokens });
	return { client, skills, screen };
}
const choose = async (screen: Awaited<ReturnType<typeof setup>>['screen'], name: string, item: string) => {
	await screen.getByRole('button', { name: `Options for ${name}` }).click();
	await screen.getByRole('menuitem', { name: item }).click();
};

test('F7: chips say what is pinned and what is loaded, what it costs, and lead to its page', async () => {
	const { screen } = await setup([
		skill('pdf', { state: 'pinned' }),
		skill('csv', { tokens: 90 }),
		skill('gone', { state: 'pinned', tokens: 0, isAvailable: false }),
		skill('torn', { state: 'pinned', tokens: 0, isAvailable: false, why: 'broken: description is missing' }),
		skill('report', { lacks: ['charts', 'pdf-tools'] }),
		skill('old', { state: 'pinned', tokens: 0, isAvailable: false, why: 'in the Trash' })
	]);
	const chips = screen.getByTestId('skill-chip');
	await expect.element(chips.nth(0)).toMatchTextContent(/^\s*Pinned\s*pdf\s*1\.2k tokens\s*$/);
	await expect.element(chips.nth(1)).toMatchTextContent(/^\s*Loaded\s*csv\s*90 tokens\s*$/);
	await expect.element(chips.nth(2)).toMatchTextContent(/gone\s*unavailable/);
	await expect.element(screen.getByTestId('chip-unusable').first()).toHaveTextContent('broken');
	await expect.element(screen.getByTestId('chip-unusable').first()).toHaveAttribute('href', '/skills/torn');
	await expect
		.element(screen.getByTestId('chip-unusable').first())
		.toHaveAttribute('title', 'This skill is broken: description is missing');
	await expect.element(screen.getByTestId('chip-unusable').last()).toHaveTextContent('in the Trash');
	await expect.element(chips.nth(4)).toMatchTextContent(/report\s*needs charts, pdf-tools/);
	await expect.element(screen.getByTestId('chip-lacks')).toHaveAttribute('href', '/skills/report#overview');
	await expect.element(screen.getByTestId('skill-chips-total')).toHaveTextContent('2.6k tokens');
	await expect.element(screen.getByRole('link', { name: 'Open csv' })).toHaveAttribute('href', '/skills/csv');
});

test('UI 10.3: demo mode uses no tokens, and shows none; one skill needs no total', async () => {
	const chip = { name: 'csv', tokens: 90 };
	const demo = await setup([skill('pdf'), skill('csv', chip)], { showsTokens: false });
	await expect.element(demo.screen.getByTestId('skill-chip').nth(1)).toMatchTextContent(/csv\s*$/);
	await expect.element(demo.screen.getByTestId('skill-chips-total')).not.toBeInTheDocument();
	await demo.screen.unmount();
	const one = await setup([skill('csv', chip)]);
	await expect.element(one.screen.getByTestId('skill-chip')).toMatchTextContent(/90 tokens/);
	await expect.element(one.screen.getByTestId('skill-chips-total')).not.toBeInTheDocument();
});

test('F7: a skill is pinned, unpinned and unloaded from its chip; a refusal is said', async () => {
	const { client, screen } = await setup([skill('pdf', { state: 'pinned' }), skill('csv')]);
	await choose(screen, 'csv', 'Pin skill');
	expect(client.setConversationSkill).toHaveBeenLastCalledWith('c', 'csv', 'pinned', expect.any(AbortSignal));
	await choose(screen, 'pdf', 'Unpin skill');
	expect(client.setConversationSkill).toHaveBeenLastCalledWith('c', 'pdf', 'loaded', expect.any(AbortSignal));
	client.setConversationSkill.mockRejectedValueOnce(new ApiError('conflict', 'Not now.'));
	await choose(screen, 'csv', 'Unload skill');
	expect(client.setConversationSkill).toHaveBeenLastCalledWith('c', 'csv', 'unloaded', expect.any(AbortSignal));
	await expect.element(screen.getByRole('alert')).toHaveTextContent('Not now.');
	await expect.element(screen.getByTestId('skill-chip').nth(1)).toHaveAttribute('data-name', 'csv');
});

test('F7: before the first message a chip waits for it, and can be taken back by keyboard', async () => {
	const { skills, screen } = await setup([], { phase: 'new' });
	await expect.element(screen.getByTestId('skill-chips')).not.toBeInTheDocument();
	await skills.pinByName('pdf');
	await expect.element(screen.getByTestId('skill-chip')).toHaveAttribute('data-state', 'pending');
	await expect.element(screen.getByTestId('skill-chips-total')).not.toBeInTheDocument();
	(screen.getByRole('button', { name: 'Options for pdf' }).element() as HTMLElement).focus();
	await userEvent.keyboard('{ArrowDown}');
	await expect.element(screen.getByRole('menuitem')).toHaveFocus();
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByTestId('skill-chips')).not.toBeInTheDocument();
});

test('F7: many chips fold, and no name can forge or break the line', async () => {
	await page.viewport(390, 800);
	const names = Array.from({ length: 20 }, (_, index) => `skill-${index}`);
	const { screen } = await setup([
		skill(`${String.fromCodePoint(0x202e)}${'long-name'.repeat(20)}\u001b[31m`),
		...names.map((name) => skill(name))
	]);
	await expect.element(screen.getByTestId('skill-chip').nth(5)).toBeVisible();
	expect(screen.getByTestId('skill-chip').elements()).toHaveLength(6);
	const list = screen.getByRole('list', { name: 'Skills in this chat' }).element();
	expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
	expect(list.getBoundingClientRect().height).toBeLessThan(64);
	for (const code of [0x202e, 0x1b]) expect(list.textContent).not.toContain(String.fromCodePoint(code));
	for (const button of [...list.querySelectorAll('button, a')].filter((each) => !each.closest('[role=menu]'))) {
		expect(button.getBoundingClientRect().height).toBeGreaterThanOrEqual(44);
	}
	await screen.getByRole('button', { name: '15 more' }).click();
	expect(screen.getByTestId('skill-chip').elements()).toHaveLength(21);
	await screen.getByRole('button', { name: 'Show fewer' }).click();
	expect(screen.getByTestId('skill-chip').elements()).toHaveLength(6);
	await page.viewport(1280, 800);
});
