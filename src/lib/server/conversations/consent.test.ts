import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { call, calls, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import type { Approval, Message, ToolPart } from '../../shared/message.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import { checkMayDecide, decide as decideAbout } from './consent.ts';
import { readConversation } from './conversations.ts';
import type { Asker, BuiltinTools } from '../turns/toolbox.ts';

const MANAGER: Asker = { apiKeyId: null, scopes: [] };
let rig: RunRig;
afterEach(() => rig.close());

async function start(script: Reply[]): Promise<void> {
	rig = await createRunRig(script, { approvals: 'ask' });
}
const say = (word: string) => call('use_skill', { skill: 'demo', script: 'say.sh', args: [word] });
const toolsOf = (message: Message) => message.parts.filter((part): part is ToolPart => part.type === 'tool');
const sent = (request: number) => JSON.stringify(rig.server.requests[request]?.body.input);
const files = async () => (await rig.workspaces.list('c')).map(({ path }) => path);
async function newest(): Promise<Message> {
	return (await readConversation(rig, 'c')).messages.at(-1)!;
}
async function questions(): Promise<Approval[]> {
	return toolsOf(await newest()).flatMap(({ status, approval }) =>
		status === 'waiting' && approval ? [approval] : []
	);
}
const answer = (interruptId: string, decision: ApprovalDecision) =>
	decideAbout(rig, { by: MANAGER, conversationId: 'c', interruptId, decision });
async function decide(choice: 'once' | 'script' | 'skill' | 'deny', reason?: string): Promise<string | null> {
	const [question] = await questions();
	if (!question) throw new Error('nothing is asked');
	const runId = await answer(question.interruptId, { choice, ...(reason ? { reason } : {}) });
	if (runId) await rig.events(runId);
	return runId;
}

describe('C16: a script that somebody must allow', () => {
	test('ends the run with a question, as AG-UI says, and nothing has run', async () => {
		await start([say('a'), text('Said.')]);
		const { list, runId } = await rig.run('go');
		const [question] = await questions();
		expect(list.at(-1)).toMatchObject({
			type: 'RUN_FINISHED',
			outcome: {
				type: 'interrupt',
				interrupts: [{ id: question?.interruptId, reason: 'tool_approval', metadata: { skill: 'demo', args: ['a'] } }]
			}
		});
		expect(question).toMatchObject({ skill: 'demo', script: 'say.sh', args: ['a'] });
		expect(await newest()).toMatchObject({ status: 'waiting' });
		expect(await rig.runner.get(runId)).toMatchObject({ state: 'waiting' });
		expect(await files()).toEqual([]);
	});

	test('runs once it is allowed, in the same answer, and the next call of it asks again', async () => {
		await start([say('a'), say('b'), text('Said.')]);
		await rig.run('go');
		const { id } = await newest();
		await decide('once');
		expect(await files()).toEqual(['made-a.txt']);
		expect(await newest()).toMatchObject({ id, status: 'waiting' });
		expect(await questions()).toMatchObject([{ args: ['b'] }]);
		await decide('once');
		expect(await newest()).toMatchObject({ id, status: 'complete' });
		expect(toolsOf(await newest()).map(({ status, approval }) => [status, approval?.decision?.choice])).toEqual([
			['done', 'once'],
			['done', 'once']
		]);
		expect(sent(2)).toContain('said: b');
	});

	test('that is denied does not run; the model reads the reason and goes on', async () => {
		await start([say('a'), text('Then not.')]);
		await rig.run('go');
		await decide('deny', 'Not today.');
		expect(await files()).toEqual([]);
		expect(sent(1)).toContain('ApprovalDenied');
		expect(sent(1)).toContain('Not today.');
		expect(await newest()).toMatchObject({ status: 'complete' });
	});

	test('E12: that is denied is among the executions as an error of its own type, and is no use of the skill', async () => {
		await start([say('a'), text('Then not.')]);
		await rig.run('go');
		await decide('deny', 'Not today.');
		const { data } = await rig.store.skillExecutions.list({}, { page: 1, limit: 10 });
		expect(data).toMatchObject([
			{
				skillId: 'skills/demo',
				script: 'say.sh',
				argv: ['a'],
				status: 'error',
				errorType: 'ApprovalDenied',
				exitCode: null
			}
		]);
		expect(data[0]).toMatchObject({ conversationId: 'c', errorMessage: expect.stringContaining('Not today.') });
		expect(await rig.store.skillExecutions.usage()).toEqual(new Map());
	});

	test.each([
		['script', ['wait-for-nothing'], 1],
		['skill', [], 0]
	] as const)(
		'that is allowed for good (%s) asks no more, until a file of the skill changes',
		async (choice, _others, asked) => {
			await start([
				say('a'),
				say('b'),
				call('use_skill', { skill: 'demo', script: 'fail.sh', args: [] }),
				text('Said.'),
				say('c'),
				text('Again.')
			]);
			await rig.run('go');
			await decide(choice);
			expect(await files()).toEqual(['made-a.txt', 'made-b.txt']);
			expect(await questions()).toHaveLength(asked);
			if (asked > 0) await decide('once');
			await writeFile(join(rig.root, 'skills/demo/scripts/say.sh'), 'echo other > other.txt\n');
			await rig.run('and again');
			expect(await questions()).toMatchObject([{ script: 'say.sh', args: ['c'] }]);
			expect(await files()).toEqual(['made-a.txt', 'made-b.txt']);
		}
	);

	test('a built-in skill, which is asked about each time, is allowed once only: what would last is refused', async () => {
		const asking = { interruptId: 'i', skill: 'http_request', script: 'http_request', args: ['{}'], digest: 'd' };
		rig = await createRunRig([call('http_request', {}), text('Asked.')], {
			approvals: 'ask',
			builtins: () => ({
				tools: () => [],
				has: (name) => name === 'http_request',
				lane: () => null,
				approval: (_name, _args, earlier) => (earlier?.decision ? null : { ...asking, reason: 'It asks.' }),
				call: async () => ({ ok: true, output: 'It was called.' })
			})
		});
		await rig.run('go');
		for (const choice of ['script', 'skill'] as const) {
			await expect(decide(choice)).rejects.toMatchObject({
				code: 'invalid_input',
				message: '“http_request” always asks, so you can only allow it once.'
			});
		}
		expect(await rig.store.approvals.isGranted({ ...asking, script: '' })).toBe(false);
		await decide('once');
		expect(sent(1)).toContain('It was called.');
	});

	test('whose files changed while it waited asks again, and says why', async () => {
		await start([say('a'), text('Said.')]);
		await rig.run('go');
		await writeFile(join(rig.root, 'skills/demo/scripts/say.sh'), 'rm -rf ~\n');
		await decide('once');
		expect(await files()).toEqual([]);
		expect(await questions()).toMatchObject([{ reason: 'The files of “demo” changed after you allowed this.' }]);
	});

	test('of several calls, those that need no consent run at once; the answer goes on when all are decided', async () => {
		const use = (word: string) => ({ name: 'use_skill', args: { skill: 'demo', script: 'say.sh', args: [word] } });
		await start([calls([{ name: 'load_skill', args: { skill: 'demo' } }, use('a'), use('b')]), text('Both.')]);
		await rig.run('go');
		expect(toolsOf(await newest()).map(({ status }) => status)).toEqual(['done', 'waiting', 'waiting']);
		expect(await decide('once')).toBe(null);
		const [first, second] = await questions();
		// The first decision is already visible in the chat, though the answer still waits for the second.
		expect([first?.decision, second?.decision]).toEqual([{ choice: 'once' }, undefined]);
		const runId = await answer(second!.interruptId, { choice: 'deny' });
		await rig.events(runId!);
		expect(await files()).toEqual(['made-a.txt']);
		const input = rig.server.requests[1]?.body.input as { type: string; call_id?: string }[];
		const called = input.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id);
		const answered = input.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id);
		expect(answered.toSorted()).toEqual(called.toSorted());
	});

	test('the first answer wins, and the script runs once, however many answer at the same time', async () => {
		await start([say('a'), text('Said.')]);
		await rig.run('go');
		const [question] = await questions();
		const decisions = await Promise.allSettled(
			(['once', 'deny', 'once', 'deny'] as const).map((choice) => answer(question!.interruptId, { choice }))
		);
		const runs = new Set(decisions.flatMap((each) => (each.status === 'fulfilled' && each.value ? [each.value] : [])));
		expect(runs.size).toBe(1);
		// Nobody who said no is told that it went well.
		for (const each of decisions.filter((_, index) => index % 2 === 1)) {
			expect(each).toMatchObject({
				status: 'rejected',
				reason: { code: expect.stringMatching(/^(conflict|not_found)$/) }
			});
		}
		await rig.events([...runs][0]!);
		expect(toolsOf(await newest())[0]?.approval?.decision).toEqual({ choice: 'once' });
		expect(await files()).toEqual(['made-a.txt']);
		await expect(answer(question!.interruptId, { choice: 'deny' })).rejects.toMatchObject({
			code: 'not_found'
		});
	});

	test('a question that nobody asked is not found; one that was decided is not decided again, and open pages hear of it', async () => {
		const use = (word: string) => ({ name: 'use_skill', args: { skill: 'demo', script: 'say.sh', args: [word] } });
		await start([calls([use('a'), use('b')]), text('Both.')]);
		await rig.run('go');
		await expect(answer('nobody asked', { choice: 'once' })).rejects.toMatchObject({ code: 'not_found' });
		const [first] = await questions();
		const changed = rig.changes.follow('c', new AbortController().signal);
		const next = changed.next();
		expect(await answer(first!.interruptId, { choice: 'once' })).toBeNull();
		expect(await next).toEqual({ done: false, value: undefined });
		await changed.return(undefined);
		await expect(answer(first!.interruptId, { choice: 'deny' })).rejects.toMatchObject({ code: 'conflict' });
		expect((await questions()).map(({ decision }) => decision?.choice)).toEqual(['once', undefined]);
	});

	test('is asked about still after a restart, and can be answered then', async () => {
		await start([say('a'), text('Said.')]);
		await rig.run('go');
		await rig.runner.close();
		const next = rig.createRunner();
		await next.recover();
		const [question] = await questions();
		const runId = await decideAbout(
			{ ...rig, runner: next },
			{ by: MANAGER, conversationId: 'c', interruptId: question!.interruptId, decision: { choice: 'once' } }
		);
		await rig.events(runId!, 0, next);
		expect(await files()).toEqual(['made-a.txt']);
		await next.close();
	});

	test('is not run when something else is said instead; the model knows that it was not', async () => {
		await start([say('a'), text('Something else.')]);
		await rig.run('go');
		const [question] = await questions();
		await rig.run('never mind');
		const { messages } = await readConversation(rig, 'c');
		expect(messages[1]).toMatchObject({ status: 'cancelled' });
		expect(toolsOf(messages[1]!)).toMatchObject([{ status: 'cancelled' }]);
		expect(await files()).toEqual([]);
		const input = rig.server.requests[1]?.body.input as { type: string }[];
		expect(input.map(({ type }) => type)).toContain('function_call_output');
		await expect(answer(question!.interruptId, { choice: 'once' })).rejects.toMatchObject({
			code: 'not_found'
		});
	});

	test('a call that is none asks nothing: unknown tools and broken arguments are answered at once', async () => {
		await start([[call('ghost'), call('use_skill', '{"skill":')], text('Sorry.')]);
		await rig.run('go');
		expect(await newest()).toMatchObject({ status: 'complete' });
		expect(await questions()).toEqual([]);
	});

	test('the grant is for these very files: another skill of the same name is asked about', async () => {
		await start([say('a'), text('Said.'), say('b'), text('Said.')]);
		await rig.run('go');
		await decide('skill');
		const skill = join(rig.root, 'skills/demo/SKILL.md');
		await writeFile(skill, `${await readFile(skill, 'utf8')}\nMore.`);
		await rig.run('again');
		expect(await questions()).toHaveLength(1);
	});
});

describe('C16: who may decide', () => {
	const key: Asker = { apiKeyId: 'k', scopes: ['execute'] };
	const approver: Asker = { apiKeyId: 'k', scopes: ['execute', 'approve'] };
	const may = (by: Asker, choice: ApprovalDecision['choice']) => () => checkMayDecide(by, { choice });

	test('whoever manages the server decides anything; every key may let go of its call', () => {
		for (const choice of ['once', 'script', 'skill', 'deny'] as const) expect(may(MANAGER, choice)).not.toThrow();
		for (const by of [key, approver]) expect(may(by, 'deny')).not.toThrow();
	});

	test('a key allows nothing to itself, unless it was made for that, and then once only', () => {
		const forbidden = expect.objectContaining({ code: 'forbidden' }) as Error;
		for (const choice of ['once', 'script', 'skill'] as const) expect(may(key, choice)).toThrow(forbidden);
		expect(may(approver, 'once')).not.toThrow();
		for (const choice of ['script', 'skill'] as const) expect(may(approver, choice)).toThrow(forbidden);
	});

	test('what a key may not decide is not decided: nothing runs, and the question stays', async () => {
		await start([say('a'), text('Said.')]);
		await rig.run('go', { apiKeyId: 'k' });
		const [question] = await questions();
		const asked = { conversationId: 'c', interruptId: question!.interruptId };
		const starts = vi.spyOn(rig.runner, 'start');
		for (const [by, choice] of [
			[key, 'once'],
			[approver, 'script']
		] as const) {
			await expect(decideAbout(rig, { ...asked, by, decision: { choice } })).rejects.toMatchObject({
				code: 'forbidden'
			});
		}
		expect(await files()).toEqual([]);
		expect(await questions()).toHaveLength(1);
		const runId = await decideAbout(rig, { ...asked, by: approver, decision: { choice: 'once' }, runId: 'mine' });
		expect(runId).toBe('mine');
		// The answer continues with the key's skills and no others.
		expect(starts).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ kind: 'resume', apiKeyId: 'k' }));
		await rig.events('mine');
		expect(await files()).toEqual(['made-a.txt']);
	});
});

describe('E30: a skill that nobody has trusted', () => {
	const untrusted = (script: Reply[], options: Partial<RigOptions> = {}) =>
		createRunRig(script, { approvals: 'auto', trustLocal: 'ask', ...options }).then((made) => (rig = made));
	const demo = () => rig.skills.registry.snapshot().skills[0]!;
	const trustDemo = async () => rig.trust.trust(demo(), (await rig.trust.review(demo())).digest, '2026-01-01');

	test('is loaded like any other, and asks before each run, though scripts run unasked otherwise', async () => {
		await untrusted([call('load_skill', { skill: 'demo' }), say('a'), say('b'), text('Said.')]);
		await rig.run('go');
		const [question] = await questions();
		expect(toolsOf(await newest()).map(({ status }) => status)).toEqual(['done', 'waiting']);
		expect(question).toMatchObject({
			trust: 'untrusted',
			skillId: 'skills/demo',
			reason: '“demo” wants to run say.sh. This skill isn’t trusted.'
		});
		await decide('once');
		expect(await files()).toEqual(['made-a.txt']);
		expect(await questions()).toMatchObject([{ args: ['b'], trust: 'untrusted' }]);
	});

	test('runs from the files that were looked at: what is swapped between the check and the start does not run', async () => {
		const script = () => join(rig.root, 'skills/demo/scripts/say.sh');
		let isSwapping = true;
		// Called after the trust check and before the call is made.
		const missingVariables = async () => {
			if (isSwapping) await writeFile(script(), 'echo swapped > swapped.txt\n');
			return [];
		};
		await untrusted([say('a'), text('No.'), say('b'), text('Yes.'), say('c'), text('Yes.')], { missingVariables });
		const trusted = await readFile(script(), 'utf8');
		await trustDemo();
		await rig.run('before there is a copy');
		expect(await files()).toEqual([]);
		expect(sent(1)).toContain('NotTrusted');
		isSwapping = false;
		await writeFile(script(), trusted);
		await rig.run('makes the copy');
		isSwapping = true;
		await rig.run('runs from it');
		expect(await readFile(script(), 'utf8')).toContain('swapped');
		expect(await files()).toEqual(['made-b.txt', 'made-c.txt']);
	});

	test('runs unasked once it is trusted, and asks again when a file of it changed, a hidden one too', async () => {
		await untrusted([say('a'), text('Said.'), say('b'), text('No.'), say('c'), text('Yes.')]);
		await trustDemo();
		await rig.run('go');
		expect(await files()).toEqual(['made-a.txt']);
		await writeFile(join(rig.root, 'skills/demo/.hidden'), 'x');
		await rig.run('again');
		expect(await questions()).toMatchObject([
			{ trust: 'changed', reason: '“demo” wants to run say.sh. The skill’s files changed since you trusted it.' }
		]);
		await decide('deny');
		expect(await files()).toEqual(['made-a.txt']);
		await trustDemo();
		await rig.run('and again');
		expect(await questions()).toEqual([]);
	});

	test.each(['script', 'skill'] as const)(
		'cannot be allowed for good (%s): nothing is decided, nothing runs',
		async (choice) => {
			await untrusted([say('a'), text('Said.')]);
			await rig.run('go');
			const [question] = await questions();
			await expect(answer(question!.interruptId, { choice })).rejects.toMatchObject({ code: 'invalid_input' });
			expect(await questions()).toHaveLength(1);
			expect(await files()).toEqual([]);
			await decide('once');
			expect(await files()).toEqual(['made-a.txt']);
		}
	);

	test('is not run by what was allowed for good while it was trusted', async () => {
		await untrusted([say('a'), text('Said.'), say('b'), text('Said.')], { approvals: 'ask' });
		await trustDemo();
		await rig.run('go');
		await decide('skill');
		expect(await files()).toEqual(['made-a.txt']);
		await rig.trust.revoke(demo());
		await rig.run('again');
		expect(await questions()).toMatchObject([{ trust: 'untrusted' }]);
	});

	test('is not run by an answer that was given to other files', async () => {
		await untrusted([say('a'), text('Said.')]);
		await rig.run('go');
		await writeFile(join(rig.root, 'skills/demo/.env'), 'x');
		await decide('once');
		expect(await files()).toEqual([]);
		expect(await questions()).toMatchObject([{ reason: 'The files of “demo” changed after you allowed this.' }]);
	});
});

describe('A14: allowed-tools', () => {
	const wishing = (wish: string) => ({
		'demo/SKILL.md': `---\nname: demo\ndescription: Says.\nallowed-tools: ${wish}\n---\nText.`,
		'demo/scripts/say.sh': 'echo made > "made-$1.txt"\n'
	});
	const wish = (given: string, options: Partial<RigOptions> = {}) =>
		createRunRig([say('a'), text('Said.')], { approvals: 'ask', skills: wishing(given), ...options }).then(
			(made) => (rig = made)
		);

	test('of a trusted skill cover what they name, where people are asked', async () => {
		await wish('Bash(scripts/say.sh:*)');
		await rig.run('go');
		expect(await questions()).toEqual([]);
		expect(await files()).toEqual(['made-a.txt']);
	});

	test('cover nothing else', async () => {
		await wish('Bash(scripts/other.sh:*)');
		await rig.run('go');
		expect(await questions()).toHaveLength(1);
	});

	test('of an untrusted skill cover nothing', async () => {
		await wish('Bash use_skill', { trustLocal: 'ask' });
		await rig.run('go');
		expect(await questions()).toMatchObject([{ trust: 'untrusted' }]);
		expect(await files()).toEqual([]);
	});
});

describe('F3: a trusted skill that lacks variables which it declares', () => {
	test('asks, says which, and runs without them when somebody allows it', async () => {
		rig = await createRunRig([say('a'), text('Said.')], { missingVariables: async () => ['A_TOKEN', 'B_TOKEN'] });
		await rig.run('go');
		const [question] = await questions();
		expect(question).toMatchObject({ missing: ['A_TOKEN', 'B_TOKEN'], skillId: 'skills/demo' });
		expect(question).not.toHaveProperty('trust');
		expect(question?.reason).toBe('“demo” wants to run say.sh, but A_TOKEN, B_TOKEN are not set.');
		await decide('once');
		expect(await files()).toEqual(['made-a.txt']);
	});
});

describe('F4: a skill that the agent asks for', () => {
	const install = { stagedId: 's', version: '1.0.0', description: '', from: 'x', why: '', files: 1, scripts: 0 };
	const question = { skill: 'new-one', script: 'install', args: ['x'], reason: 'May it?', digest: 'd' };
	/** Asks once, then writes the skill to the library, as an installation does. */
	const requests = (): BuiltinTools => ({
		tools: () => [{ type: 'function', name: 'request_skill', description: '', parameters: { type: 'object' } }],
		has: (name) => name === 'request_skill',
		lane: () => null,
		approval: (_name, _args, earlier) =>
			earlier ? null : { ...question, interruptId: 'i', install: { ...install, findings: [], needs: [] } },
		async call() {
			const folder = join(rig.root, 'skills', 'new-one');
			await mkdir(folder);
			await writeFile(join(folder, 'SKILL.md'), '---\nname: new-one\ndescription: Is new.\n---\nBrand new.\n');
			await rig.skills.reload();
			return { ok: true, output: '{"ok":true}', changesLibrary: true };
		}
	});
	const request = () => call('request_skill', { id: 'x' });

	test('is loaded in the same answer; it’s installed neither for good nor by a key', async () => {
		rig = await createRunRig([request(), call('load_skill', { skill: 'new-one' }), text('Done.')], {
			builtins: requests
		});
		await rig.run('go');
		const ask = (by: Asker, choice: ApprovalDecision['choice']) =>
			decideAbout(rig, { by, conversationId: 'c', interruptId: 'i', decision: { choice } });
		await expect(ask(MANAGER, 'skill')).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(ask({ apiKeyId: 'k', scopes: ['approve'] }, 'once')).rejects.toMatchObject({ code: 'forbidden' });
		await decide('once');
		expect(await newest()).toMatchObject({ status: 'complete' });
		expect(sent(2)).toContain('Brand new.');
		await expect(ask(MANAGER, 'once')).rejects.toMatchObject({ code: 'not_found' });
	});

	test('D25: a new tool is allowed once, by nobody but a person, and a “no” is no execution', async () => {
		const texts = { tool: 'new_one', description: 'x', parameters: '{}', code: 'x' };
		const define = { ...texts, isKept: false, replaces: false, changes: [], findings: [] };
		rig = await createRunRig([call('define_tool', { name: 'new_one' }), text('Then not.')], {
			builtins: () => ({
				...requests(),
				has: (name) => name === 'define_tool',
				approval: (_name, _args, earlier) => (earlier ? null : { ...question, interruptId: 'i', define })
			})
		});
		await rig.run('go');
		const ask = (by: Asker, choice: ApprovalDecision['choice'], isProgram = false) =>
			decideAbout(rig, { by, conversationId: 'c', interruptId: 'i', decision: { choice }, resumed: { isProgram } });
		await expect(ask(MANAGER, 'script')).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(ask({ apiKeyId: 'k', scopes: ['approve'] }, 'once')).rejects.toMatchObject({ code: 'forbidden' });
		await expect(ask(MANAGER, 'once', true)).rejects.toMatchObject({ code: 'forbidden' });
		await decide('deny');
		expect(sent(1)).toContain('ApprovalDenied');
		expect((await rig.store.skillExecutions.list({}, { page: 1, limit: 10 })).data).toEqual([]);
	});

	test('that isn’t wanted is no execution of a skill', async () => {
		rig = await createRunRig([request(), text('Then not.')], { builtins: requests });
		await rig.run('go');
		await decide('deny');
		expect(sent(1)).toContain('ApprovalDenied');
		expect((await rig.store.skillExecutions.list({}, { page: 1, limit: 10 })).data).toEqual([]);
		expect(await newest()).toMatchObject({ status: 'complete' });
	});
});
