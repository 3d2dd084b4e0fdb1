import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { call, hang, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import type { RunContext, RunEvent } from '../../shared/events.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import { ASKED } from '../../shared/questions.ts';
import { alwaysStub, unloadedStub } from '../agent/history.ts';
import { isNote } from '../agent/turn-note.ts';
import { listConversationSkills, setConversationSkill } from './conversation-skills.ts';
import { forkConversation } from './conversations.ts';

type Item = Record<string, unknown> & { type: string };

let rig: RunRig;
afterEach(() => rig.close());

const SKILLS = {
	'pdf/SKILL.md': '---\nname: pdf\ndescription: Fills PDF forms.\n---\nAlways whisper.',
	'pdf/tools.json': JSON.stringify([
		{ name: 'fill_pdf', description: 'Fills.', script: 'fill.mjs', parameters: { field: { type: 'string' } } }
	]),
	'pdf/fill.mjs': 'export default ({ field }) => ({ filled: field });',
	'csv/SKILL.md': '---\nname: csv\ndescription: Reads tables.\n---\nMind the commas.'
};

async function start(script: Reply[], options: RigOptions = {}): Promise<void> {
	rig = await createRunRig(script, { skills: SKILLS, ...options });
}
const bodyOf = (request: number) => rig.server.requests[request - 1]!.body;
const prompt = (request: number) => String(bodyOf(request).instructions);
const outputs = (request: number) =>
	(bodyOf(request).input as Item[]).flatMap(({ type, output }) =>
		type === 'function_call_output' ? [String(output)] : []
	);
const toolNames = (request: number) => (bodyOf(request).tools as { name: string }[]).map(({ name }) => name);
const contexts = (list: RunEvent[]) =>
	list.flatMap((event) =>
		event.type === 'CUSTOM' && event.name === 'run.context' ? [event.value] : []
	) as RunContext[];
const set = (name: string, state: 'pinned' | 'loaded' | 'unloaded') => setConversationSkill(rig, 'c', { name, state });
const list = () => listConversationSkills(rig, 'c');
const names = async () => (await list()).data.map(({ name, state }) => `${name} ${state}`);
const load = (skill: string) => call('load_skill', { skill });
const content = (skill: string) => expect.stringMatching(new RegExp(`^<skill_content name="${skill}"`)) as string;

describe('F7: a pinned skill', () => {
	test('is with the model from the first step on, with its tools, and need not be loaded', async () => {
		await start([load('pdf'), call('fill_pdf', { field: 'name' }), text('Done.')]);
		const { list: events } = await rig.run('go', { pins: ['pdf'] });
		const [section] = /<skill_content name="pdf"[^]*<\/skill_content>/.exec(prompt(1))!;
		expect(section).toContain('Always whisper.');
		expect(section).toContain('fill_pdf: Fills.');
		expect(prompt(1).indexOf('## Available Skills')).toBeLessThan(prompt(1).indexOf('<skill_content'));
		expect(prompt(3)).toBe(prompt(1));
		expect(toolNames(1)).toContain('fill_pdf');
		expect(outputs(3)).toEqual([expect.stringContaining('The skill pdf is already loaded'), '{"filled":"name"}']);
		const [first] = contexts(events);
		expect(first!.skills).toBeGreaterThanOrEqual(Math.ceil(section.length / 4));
		const { skills, system, catalog } = first!;
		// Each is rounded up separately.
		expect(Math.abs(skills + system + catalog - prompt(1).length / 4)).toBeLessThan(3);
		rig.server.assertDone();
	});

	test('is there in every answer, also after the beginning of the conversation was summarised', async () => {
		const long = (mark: string) => text(`${mark} ${'word '.repeat(720)}`);
		await start([long('FIRST'), long('SECOND'), text('They talked.'), text('Fine.')], { contextTokens: 4400 });
		await rig.run('question one', { pins: ['pdf'] });
		await rig.run('question two');
		const { list: events } = await rig.run(`question three ${'word '.repeat(560)}`);
		expect(events.some((event) => event.type === 'CUSTOM' && event.name === 'run.compaction')).toBe(true);
		for (const request of [1, 2, 4]) expect(prompt(request)).toContain('Always whisper.');
		rig.server.assertDone();
	});

	test('is left out while it is off, and where it is broken, gone or not allowed, and that is said', async () => {
		await start([text('One.'), text('Two.'), text('Three.'), text('Four.')]);
		await rig.run('one', { pins: ['pdf', 'csv'], policy: { allowed: ['csv'] } });
		expect(prompt(1)).toContain('Mind the commas.');
		expect(prompt(1)).not.toContain('Always whisper.');

		const pdf = rig.skills.registry.snapshot().skills.find(({ name }) => name === 'pdf')!;
		await rig.modes.setMode(pdf, 'off');
		await rig.run('two');
		expect(prompt(2)).not.toContain('Always whisper.');
		expect(JSON.stringify(rig.server.requests[1]!.body.input)).toContain('- pdf is off');
		expect(toolNames(2)).not.toContain('fill_pdf');
		expect((await list()).data).toEqual([
			{
				name: 'csv',
				description: 'Reads tables.',
				state: 'pinned',
				tokens: Math.ceil('Mind the commas.'.length / 4),
				isAvailable: true
			},
			{ name: 'pdf', description: 'Fills PDF forms.', state: 'pinned', tokens: 0, isAvailable: false, why: 'off' }
		]);
		await writeFile(
			join(rig.root, 'skills/csv/SKILL.md'),
			'---\nname: csv\ndescription: Reads tables.\nmetadata:\n  requires: pdf charts notes?\n---\nMind the commas. See the `text-notes` skill.'
		);
		await rig.skills.reload();
		expect((await list()).data.map(({ lacks }) => lacks)).toEqual([['pdf', 'charts'], undefined]);
		await rig.modes.setMode(pdf, 'auto');
		await writeFile(join(rig.root, 'skills/csv/SKILL.md'), '---\nname: csv\n---\nMind the commas.');
		await rm(join(rig.root, 'skills/pdf'), { recursive: true });
		await rig.skills.reload();
		await rig.run('three');
		expect(prompt(3)).not.toMatch(/Mind the commas|Always whisper|always with you/);
		expect((await list()).data.map(({ isAvailable }) => isAvailable)).toEqual([false, false]);
	});

	test('in the Trash is said to be there, as one that a message names; a name that no skill has is told, too', async () => {
		await start([text('One.'), text('Two.')]);
		await rig.run('one', { pins: ['pdf'] });
		await rm(join(rig.root, 'skills/pdf'), { recursive: true });
		await rig.skills.reload();
		const [path, stored] = [join(rig.root, 'skills/pdf'), join(rig.root, 'trash/1')];
		const trashed = { id: '1', skillId: 'skills/pdf', name: 'pdf', version: null, path, stored, installId: null };
		await rig.store.skillTrash.add({ ...trashed, removedAt: new Date().toISOString() });
		expect((await list()).data).toMatchObject([{ name: 'pdf', isAvailable: false, why: 'in the Trash' }]);
		await rig.run('Use csv-tools to read it');
		const told = JSON.stringify(rig.server.requests[1]!.body.input);
		expect(told).toContain('- pdf is in the Trash');
		expect(told).toContain('- csv-tools is not among your skills. Similar: csv');
	});

	test('that would fit and is off is no text for a model, and is kept for Demo mode', async () => {
		await start([text('One.')]);
		const pdf = rig.skills.registry.snapshot().skills.find(({ name }) => name === 'pdf')!;
		await rig.modes.setMode(pdf, 'off');
		await rig.run('Fill in these PDF forms');
		const items = (await rig.store.messages.listForModel('c')).flatMap((each) => each.items ?? []);
		expect(JSON.stringify(rig.server.requests[0]!.body.input)).not.toContain('Fills PDF forms');
		expect(items.filter(isNote).flatMap(({ told }) => told.shelved ?? [])).toEqual([
			{ name: 'pdf', description: 'Fills PDF forms.', why: 'off' }
		]);
	});

	test('is only named where it is longer than a third of what the model takes', async () => {
		const skills = {
			...SKILLS,
			'long/SKILL.md': `---\nname: long\ndescription: Long.\n---\nLONG ${'word '.repeat(2400)}`
		};
		await start([text('Done.')], { skills, contextTokens: 8000 });
		await rig.run('go', { pins: ['long', 'pdf'] });
		expect(prompt(1)).not.toContain('LONG');
		expect(prompt(1)).toContain('Always whisper.');
		expect(prompt(1)).toMatch(/no room .*load_skill .*: long$/m);
	});

	test('F3: comes with the names of the skills that it needs and that can’t be loaded', async () => {
		const body = '---\nname: csv\ndescription: Reads tables.\nmetadata:\n  requires: pdf charts\n---\nMind the commas.';
		await start([text('One.')], { skills: { ...SKILLS, 'csv/SKILL.md': body } });
		await rig.run('one', { pins: ['csv'] });
		expect(prompt(1)).toContain('[This skill names skills that can’t be loaded now: charts (not installed).]');
	});

	test('stands once with the model, whatever was loaded of it before, and that is back when it is unpinned', async () => {
		await start([load('pdf'), text('One.'), text('Two.'), text('Three.')]);
		await rig.run('one');
		await set('pdf', 'pinned');
		await rig.run('two');
		expect(outputs(3)).toEqual([alwaysStub('pdf')]);
		expect(prompt(3)).toContain('Always whisper.');
		await set('pdf', 'loaded');
		await rig.run('three');
		expect(outputs(4)).toEqual([content('pdf')]);
		expect(prompt(4)).not.toContain('Always whisper.');
	});

	test('B6: so is a skill that is on, in every conversation', async () => {
		await start([text('One.')]);
		await rig.modes.setMode(
			rig.skills.registry.snapshot().skills.find(({ name }) => name === 'csv')!,
			'on'
		);
		await rig.run('go', { pins: ['pdf'] });
		expect(prompt(1)).toMatch(/<skill_content name="pdf"[^]*<skill_content name="csv"/);
		expect(await names()).toEqual(['pdf pinned']);
	});
});

describe('F7: a skill that was unloaded', () => {
	test('is not with the model any more, and its tools are not; loaded again it is', async () => {
		await start([load('pdf'), load('csv'), text('One.'), text('Two.'), load('pdf'), text('Three.'), text('Four.')]);
		await rig.run('one');
		expect(await names()).toEqual(['pdf loaded', 'csv loaded']);
		expect((await set('pdf', 'unloaded')).data.map(({ name }) => name)).toEqual(['csv']);
		await rig.run('two');
		expect(outputs(4)).toEqual([unloadedStub('pdf'), content('csv')]);
		expect(toolNames(4)).not.toContain('fill_pdf');

		await rig.run('three');
		expect(outputs(6)).toEqual([unloadedStub('pdf'), content('csv'), content('pdf')]);
		expect(toolNames(6)).toContain('fill_pdf');
		await rig.run('four');
		expect(outputs(7)).toEqual([unloadedStub('pdf'), content('csv'), content('pdf')]);
		expect(await names()).toEqual(['csv loaded', 'pdf loaded']);
		rig.server.assertDone();
	});

	test('stays away from a summary that carries what was loaded', async () => {
		const long = (mark: string) => text(`${mark} ${'word '.repeat(720)}`);
		await start([load('pdf'), load('csv'), long('FIRST'), long('SECOND'), text('They talked.'), text('Fine.')], {
			contextTokens: 4400
		});
		await rig.run('question one');
		await set('pdf', 'unloaded');
		await rig.run('question two');
		await rig.run(`question three ${'word '.repeat(560)}`);
		expect(outputs(6)).toEqual([content('csv')]);
		rig.server.assertDone();
	});

	test('can be had back by taking that back', async () => {
		await start([load('pdf'), text('One.'), text('Two.')]);
		await rig.run('one');
		await set('pdf', 'unloaded');
		expect(await names()).toEqual([]);
		await set('pdf', 'loaded');
		expect(await names()).toEqual(['pdf loaded']);
		await rig.run('two');
		expect(outputs(3)).toEqual([content('pdf')]);
	});
});

describe('F7: the list', () => {
	test('has pinned skills first, each once, of the branch that is shown, and what they take', async () => {
		await start([load('pdf'), load('csv'), load('pdf'), text('One.'), text('Two.')]);
		const { runId } = await rig.run('one');
		await set('csv', 'pinned');
		const { data, tokens } = await list();
		expect(data.map(({ name, state }) => `${name} ${state}`)).toEqual(['csv pinned', 'pdf loaded']);
		expect(tokens).toBe(data.reduce((sum, skill) => sum + skill.tokens, 0));
		expect(data.every((skill) => skill.tokens > 3 && skill.isAvailable)).toBe(true);

		const question = (await rig.answer(runId)).parentId!;
		await rig.runner.start({ kind: 'retry', runId: 'again', conversationId: 'c', questionId: question, tools: [] });
		await rig.events('again');
		expect(await names()).toEqual(['csv pinned']);
	});

	test('knows what an answer under way has loaded; what is unloaded meanwhile counts for the next one', async () => {
		await start([load('pdf'), hang()]);
		const { runId } = await rig.ask('one');
		await rig.server.received(2);
		expect(await names()).toEqual(['pdf loaded']);
		await set('pdf', 'unloaded');
		expect(await names()).toEqual([]);
		await rig.runner.stop(runId);
		expect(await names()).toEqual([]);
	});

	test('F9: lacks what Demo mode loaded to compare it and ran nothing of; a model isn’t given it', async () => {
		const set = { model: BUILT_IN_MODEL };
		const fill = call('fill_pdf', { field: 'name' });
		await start([load('pdf'), load('csv'), text(`Which?\n\n${ASKED}`), fill, text('Done.'), text('Hello.')], { set });
		await rig.run('go');
		expect(await names()).toEqual([]);
		await rig.run('pdf');
		expect(await names()).toEqual(['pdf loaded']);
		expect(outputs(4).slice(0, 2)).toEqual([content('pdf'), content('csv')]);
		set.model = 'test/model';
		await rig.run('now you');
		expect(outputs(6)).toEqual([
			content('pdf'),
			expect.stringContaining('only looked at the skill csv'),
			'{"filled":"name"}'
		]);
		rig.server.assertDone();
	});

	test('is announced to other tabs when it changes', async () => {
		await start([text('One.')]);
		await rig.run('one');
		const changes = rig.changes.follow('c', new AbortController().signal);
		const change = changes.next();
		await set('pdf', 'pinned');
		expect((await change).done).toBe(false);
		await changes.return(undefined);
	});

	test('is refused for a conversation that is not there, and a skill that is not', async () => {
		await start([text('One.')]);
		await expect(list()).rejects.toMatchObject({ code: 'not_found' });
		await expect(set('pdf', 'pinned')).rejects.toMatchObject({ code: 'not_found' });
		await rig.run('one');
		await expect(set('ghost', 'pinned')).rejects.toMatchObject({ code: 'not_found' });
		expect((await set('ghost', 'unloaded')).data).toEqual([]);
		expect((await set('ghost', 'loaded')).data).toEqual([]);
		expect(await rig.store.conversationSkills.list('c')).toEqual([]);
	});

	test('goes along when the conversation is gone on with in a new one', async () => {
		await start([load('csv'), text('One.')]);
		const { runId } = await rig.run('one', { pins: ['pdf'] });
		await set('csv', 'unloaded');
		const fork = await forkConversation(rig, 'c', (await rig.answer(runId)).id);
		expect((await listConversationSkills(rig, fork.id)).data).toEqual((await list()).data);
		expect(await rig.store.conversationSkills.list(fork.id)).toHaveLength(2);
	});

	test('has an end: fifty can be pinned', async () => {
		await start([text('One.')]);
		await rig.run('one', { pins: Array.from({ length: 50 }, (_, index) => `gone-${index}`) });
		await expect(set('pdf', 'pinned')).rejects.toMatchObject({ code: 'conflict' });
		await set('gone-1', 'loaded');
		expect((await set('pdf', 'pinned')).data.map(({ name }) => name)).toContain('pdf');
	});
});
