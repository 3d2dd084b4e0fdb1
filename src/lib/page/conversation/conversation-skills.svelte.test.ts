import { describe, expect, test, vi } from 'vitest';
import type { ConversationSkill, ConversationSkillList } from '../../shared/api.ts';
import { ApiError } from '../request.ts';
import { ConversationSkills, type SkillsHost } from './conversation-skills.svelte.ts';

const skill = (name: string, state: ConversationSkill['state'], tokens = 10): ConversationSkill => ({
	...{ name, description: `About ${name}.`, state, tokens, isAvailable: true }
});
const listOf = (...data: ConversationSkill[]): ConversationSkillList => ({
	data,
	tokens: data.reduce((sum, { tokens }) => sum + tokens, 0)
});

function setup(phase: SkillsHost['phase'] = 'ready', first: ConversationSkillList = listOf()) {
	const host = { id: 'c', phase, isReadable: true };
	const client = {
		listConversationSkills: vi.fn(async (_id: string, _signal: AbortSignal) => first),
		setConversationSkill: vi.fn(async (_id: string, _name: string, _state: string, _signal: AbortSignal) => first)
	};
	return { host, client, skills: new ConversationSkills(host, client) };
}
const names = (skills: ConversationSkills) => skills.list.map(({ name, state }) => `${name} ${state}`);

describe('F7: the skills of a conversation on its page', () => {
	test('before the first message wait to be sent with it, and cost no request', async () => {
		const { client, skills } = setup('new');
		await skills.pinByName('pdf', { description: 'About pdf.', tokens: 5 });
		await skills.pinByName('csv');
		await skills.pinByName('pdf');
		await skills.refresh();
		expect(skills.pins).toEqual(['pdf', 'csv']);
		expect([skills.tokens, skills.isPending('pdf')]).toEqual([5, true]);
		await skills.unpin('csv');
		await skills.unload('ghost');
		expect(skills.pins).toEqual(['pdf']);
		expect(client.listConversationSkills).not.toHaveBeenCalled();
	});

	test('take no more than a message may carry, and say so', async () => {
		const { skills } = setup('new');
		for (let index = 0; index <= 20; index += 1) await skills.pinByName(`skill-${index}`);
		expect(skills.pins).toHaveLength(20);
		expect(skills.error?.message).toMatch(/up to 20 skills/);
		await skills.unpin('skill-0');
		await skills.pinByName('pdf');
		expect(skills.error).toBe(null);
	});

	test('are the server\u2019s once the message has arrived; one that was chosen meanwhile is pinned then', async () => {
		const { host, client, skills } = setup('new');
		await skills.pinByName('pdf');
		const { pins } = skills;
		await skills.pinByName('csv');
		host.phase = 'ready';
		client.setConversationSkill.mockResolvedValue(listOf(skill('pdf', 'pinned'), skill('csv', 'pinned')));
		client.listConversationSkills.mockResolvedValue(listOf(skill('pdf', 'pinned'), skill('csv', 'pinned')));
		const sent = skills.sent(pins);
		expect(names(skills).toSorted()).toEqual(['csv pinned', 'pdf pinned']);
		await sent;
		expect(skills.pins).toEqual([]);
		expect(client.setConversationSkill).toHaveBeenCalledExactlyOnceWith('c', 'csv', 'pinned', expect.any(AbortSignal));
		expect(names(skills)).toEqual(['pdf pinned', 'csv pinned']);
	});

	test('are shown as they will be while the server is asked, and as they are when it refuses', async () => {
		const before = listOf(skill('csv', 'pinned'), skill('pdf', 'loaded'));
		const { client, skills } = setup('ready', before);
		await skills.refresh();
		const { promise, reject } = Promise.withResolvers<ConversationSkillList>();
		client.setConversationSkill.mockReturnValueOnce(promise);
		const pinning = skills.pin(skill('pdf', 'loaded'));
		expect(names(skills)).toEqual(['csv pinned', 'pdf pinned']);
		reject(new ApiError('conflict', 'Too many.'));
		await pinning;
		expect(names(skills)).toEqual(['csv pinned', 'pdf loaded']);
		expect(skills.error?.message).toBe('Too many.');

		client.setConversationSkill.mockResolvedValueOnce(listOf(skill('csv', 'loaded'), skill('pdf', 'loaded')));
		await skills.unpin('csv');
		expect(client.setConversationSkill).toHaveBeenLastCalledWith('c', 'csv', 'loaded', expect.any(AbortSignal));
		expect(names(skills)).toEqual(['csv loaded', 'pdf loaded']);
		expect(skills.error).toBe(null);
	});

	test('of two changes at once show what the last answer says, and no read that is older', async () => {
		const { client, skills } = setup('ready', listOf(skill('pdf', 'loaded'), skill('csv', 'loaded')));
		await skills.refresh();
		const read = Promise.withResolvers<ConversationSkillList>();
		client.listConversationSkills.mockReturnValueOnce(read.promise);
		const reading = skills.refresh();
		const [first, second] = [
			Promise.withResolvers<ConversationSkillList>(),
			Promise.withResolvers<ConversationSkillList>()
		];
		client.setConversationSkill.mockReturnValueOnce(first.promise).mockReturnValueOnce(second.promise);
		const changes = [skills.unload('pdf'), skills.unload('csv')];
		first.resolve(listOf(skill('csv', 'loaded')));
		read.resolve(listOf(skill('pdf', 'loaded'), skill('csv', 'loaded')));
		await Promise.all([changes[0], reading]);
		expect(names(skills)).toEqual([]);
		second.resolve(listOf());
		await changes[1];
		expect(names(skills)).toEqual([]);
	});

	test('stay as they were where they cannot be read, and are left alone after the end', async () => {
		const { client, skills } = setup('ready', listOf(skill('pdf', 'loaded')));
		await skills.refresh();
		client.listConversationSkills.mockRejectedValueOnce(new ApiError('unreachable', 'No.'));
		await skills.refresh();
		expect(names(skills)).toEqual(['pdf loaded']);
		expect(skills.error).toBe(null);
		client.setConversationSkill.mockImplementationOnce(async (_id, _name, _state, signal) => {
			skills.dispose();
			throw signal.reason;
		});
		await skills.unload('pdf');
		expect(skills.error).toBe(null);
		await skills.refresh();
		expect(client.listConversationSkills).toHaveBeenCalledTimes(2);
	});
});
