import { afterEach, describe, expect, test } from 'vitest';
import { call, hang, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { MAX_OFFERED, type SkillOffer } from '../../shared/events.ts';
import { readRunOffer } from './conversation-skills.ts';

let rig: RunRig;
afterEach(() => rig.close());

const SKILLS = {
	'fill-pdf/SKILL.md': '---\nname: fill-pdf\ndescription: Fills the fields of a form.\ntags: [forms]\n---\nFill.',
	'tides/SKILL.md': '---\nname: tides\ndescription: When the sea comes in.\n---\nLook.',
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo said\n',
	'demo/scripts/fail.sh': 'exit 3\n',
	'demo/scripts/wait.sh': 'echo waiting; exec sleep 600\n'
};
const use = (script: string) => call('use_skill', { skill: 'demo', script });

async function start(script: Reply[], options: RigOptions = {}): Promise<void> {
	rig = await createRunRig(script, { skills: SKILLS, ...options });
}
const read = (runId: string) => readRunOffer(rig.runner, runId, new AbortController().signal);
const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0);

describe('F2: why a run offered what it did', () => {
	test('says of each skill how it was told, what it took, and which words its points come from', async () => {
		await start([text('Done.')]);
		const { runId, list } = await rig.run('Fill this PDF form', { pins: ['tides'] });
		const { offer, ...rest } = await read(runId);
		expect(rest).toEqual({ isBuiltIn: false, loaded: [], ran: [] });
		expect(offer).toEqual(
			list.flatMap((event) => (event.type === 'CUSTOM' && event.name === 'skill.catalog' ? [event.value] : []))[0]
		);
		expect(offer!.total).toBe(3);
		expect(offer!.skills.map(({ name, told, always }) => [name, told, always])).toEqual([
			['tides', 'full', 'pinned'],
			['fill-pdf', 'full', undefined],
			['demo', 'full', undefined]
		]);
		const [tides, form, demo] = offer!.skills;
		expect(form!.signals.map(({ signal, words }) => `${signal}: ${words.join(' ')}`)).toEqual([
			'name: fill pdf',
			'whole name: fill pdf',
			'tag: form',
			'description: fill form'
		]);
		expect(sum(form!.signals.map(({ points }) => points))).toBeCloseTo(form!.points, 9);
		expect([tides!.points, demo!.points]).toEqual([0, 0]);
		// A pinned skill's instructions are sent too.
		expect(tides!.tokens).toBeGreaterThan(form!.tokens + 20);
		expect(sum(offer!.skills.map(({ tokens }) => tokens))).toBeLessThan(offer!.tokens);
	});

	test('F7: a skill that the message names and that can’t be used is told with why; of others not a word', async () => {
		const torn = { 'torn-page/SKILL.md': '---\nname: torn-page\n---\nDo it.' };
		await start([text('One.'), text('Two.')], { skills: { ...SKILLS, ...torn } });
		await rig.run('How are you?');
		await rig.run('Use torn page for 09:00');
		const [first, second] = rig.server.requests.map(({ body }) => JSON.stringify(body.input));
		expect(first).not.toContain('torn');
		expect(second).toContain('- torn-page is broken: its description is missing');
	});

	/** More skills than the instructions describe. */
	const MANY = Object.fromEntries(
		Array.from({ length: 300 }, (_, index) => [
			`skill-${index}/SKILL.md`,
			`---\nname: skill-${index}\ndescription: Does the thing ${index} for people who need it done.\n---\nDo.`
		])
	);

	test('B8: of very many skills, the settings say how many are described for a message: the best', async () => {
		await start([text('Done.'), text('Done.')], { skills: { ...SKILLS, ...MANY }, maxSuggested: () => 2 });
		await rig.run('people need the thing done');
		expect(JSON.stringify(rig.server.requests[0]!.body.input).match(/### /g)).toHaveLength(2);
		await rig.run('When is low tide?');
		expect(JSON.stringify(rig.server.requests[1]!.body.input)).toContain('### tides');
	});

	test('of very many skills keeps the best fifty, in their order: those without a word that fits come last, by name', async () => {
		await start([text('Done.')], { skills: { ...SKILLS, ...MANY } });
		const { runId } = await rig.run('When is low tide?');
		const { skills: kept, total } = (await read(runId)).offer!;
		expect([kept.length, total]).toEqual([MAX_OFFERED, 303]);
		expect(kept[0]).toMatchObject({ name: 'tides', told: 'full' });
		expect(kept[0]!.points).toBeGreaterThan(0);
		expect(kept.slice(1).map(({ name, points }) => [name, points])).toEqual(
			kept
				.slice(1)
				.map(({ name }) => [name, 0])
				.sort()
		);
		const { instructions, input } = rig.server.requests[0]!.body;
		const seen = `${String(instructions)}\n${JSON.stringify(input).replaceAll('\\n', '\n')}`;
		for (const { name, told } of kept) expect(seen.includes(`### ${name}\n`)).toBe(told === 'full');
	});

	test('says what was loaded and run, each run of it its own', async () => {
		await start([call('load_skill', { skill: 'demo' }), use('say.sh'), use('fail.sh'), text('Half'), text('Rest.')]);
		const { runId } = await rig.run('go');
		const answer = await rig.answer(runId);
		await rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: answer.id, tools: [] });
		await rig.events('more');
		expect(await read(runId)).toMatchObject({
			loaded: ['demo'],
			ran: [
				{ skill: 'demo', script: 'scripts/say.sh', status: 'success' },
				{ skill: 'demo', script: 'scripts/fail.sh', status: 'error' }
			]
		});
		const { offer, loaded, ran } = await read('more');
		expect(offer!.total).toBe(3);
		expect([loaded, ran]).toEqual([[], []]);
	});

	test('can be asked while the run goes on; what was stopped did not end well', async () => {
		await start([use('wait.sh'), hang()]);
		const { runId } = await rig.ask('go');
		const seen = await rig.runner.follow(runId, 0, new AbortController().signal);
		for await (const batch of seen!) if (batch.some(({ data }) => data.includes('waiting'))) break;
		expect((await read(runId)).offer!.total).toBe(3);
		expect((await read(runId)).ran).toEqual([{ skill: 'demo', script: 'scripts/wait.sh', status: 'running' }]);
		await rig.runner.stop(runId);
		expect((await read(runId)).ran).toMatchObject([{ status: 'error' }]);
	});

	test('is null for a run of an older version, and refused for one that is not there', async () => {
		const old = { skills: [{ name: 'demo', description: 'Says things.' }], tokens: 20 } as unknown as SkillOffer;
		await start([text('Done.')]);
		const { runId } = await rig.run('go');
		const events = JSON.stringify({ type: 'CUSTOM', name: 'skill.catalog', value: old });
		const follow = async () =>
			(async function* () {
				yield [{ seq: 2, data: events }];
			})();
		const { offer } = await readRunOffer(
			{ get: (id) => rig.runner.get(id), live: () => null, follow },
			runId,
			new AbortController().signal
		);
		expect(offer).toBe(null);
		await expect(read('none')).rejects.toMatchObject({ code: 'not_found' });
	});
});
