import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApprovalDecision } from '../../shared/events.ts';
import { emptyAnswer, type Approval, type Message, type ToolPart } from '../../shared/message.ts';
import type { TrustState } from '../../shared/skills.ts';
import type { Skill } from '../skills/types.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createApprovalPolicy, waitingIds, type ApprovalMode, isAllowedBeforehand } from './approval-policy.ts';

let store: Store;
beforeEach(async () => {
	store = await openSqliteStore(':memory:');
});
afterEach(() => store.close());

interface Situation {
	mode?: ApprovalMode;
	state?: TrustState;
	/** The digest of its files; null if its folder is trusted. */
	digest?: string | null;
	problem?: string | null;
	missing?: string[];
	allowedTools?: string;
	script?: string;
	handler?: string;
	earlier?: Approval | null;
}

/** The decision about one script run of `demo`. */
function ask({
	mode = 'ask',
	state = 'trusted',
	digest = 'now',
	problem = null,
	missing = [],
	allowedTools,
	script = 'say.sh',
	handler,
	earlier = null
}: Situation) {
	const skill = {
		source: 'skills',
		name: 'demo',
		files: ['SKILL.md', 'say.sh'],
		tools: [{ name: 'count', handler }],
		allowedTools
	} as unknown as Skill;
	const policy = createApprovalPolicy({
		store,
		mode,
		trust: { judge: async () => ({ state, digest, problem }), digestOf: async () => 'read now' },
		missingVariables: async () => missing,
		reachOf: async () => ({ hosts: ['a.example'], readsServer: false })
	});
	return policy.request({ skill, script, args: ['a'] }, earlier);
}
const answered = (choice: ApprovalDecision['choice'], digest: string): Approval => ({
	...{ interruptId: 'i', skill: 'demo', script: 'say.sh', args: ['a'], reason: '', digest, decision: { choice } }
});

test('C16: a question says what the script can reach; a handler runs in the server, so nothing limits it', async () => {
	const sandboxed = { hosts: ['a.example'], readsServer: false };
	expect(await ask({})).toMatchObject({ question: { reach: sandboxed } });
	expect(await ask({ script: 'count' })).toMatchObject({ question: { reach: sandboxed } });
	expect(await ask({ script: 'count', handler: 'h' })).toMatchObject({
		question: { reach: { hosts: null, readsServer: true } }
	});
});

describe('C16: what runs unasked, with the files that were looked at', () => {
	test.each<[string, Situation, string | null]>([
		['a trusted skill where nobody is asked', { mode: 'auto' }, 'now'],
		['one whose place is trusted, as it lies there', { mode: 'auto', digest: null }, null],
		['a built-in one', { mode: 'auto', state: 'builtin', digest: null }, null],
		['what was allowed a moment ago, of these files', { earlier: answered('once', 'now') }, 'now'],
		['the same of an untrusted skill', { state: 'untrusted', earlier: answered('once', 'now') }, 'now'],
		[
			'the same where the digest is taken only now',
			{ digest: null, earlier: answered('once', 'read now') },
			'read now'
		],
		['what the trusted skill wishes for', { allowedTools: 'Bash(say.sh:*)' }, 'now'],
		['the tool that it wishes for', { script: 'count', allowedTools: 'count' }, 'now']
	])('%s', async (_what, situation, digest) => {
		expect(await ask(situation)).toEqual({ question: null, digest });
	});

	test('what was allowed for good, as long as the files are the same and trusted', async () => {
		await store.approvals.grant({ skill: 'demo', script: 'say.sh', digest: 'now' }, '2026-01-01');
		expect((await ask({})).question).toBeNull();
		expect((await ask({ missing: ['A_KEY'] })).question).toBeNull();
		expect((await ask({ digest: 'other' })).question).not.toBeNull();
		expect((await ask({ state: 'untrusted' })).question).not.toBeNull();
		expect((await ask({ state: 'changed' })).question).not.toBeNull();
	});
});

describe('C16: what somebody is asked about, and why', () => {
	const asks = '“demo” wants to run say.sh';
	test.each<[string, Situation, string]>([
		['a trusted skill where people are asked', {}, `${asks}.`],
		['an untrusted one, whoever is asked', { mode: 'auto', state: 'untrusted' }, `${asks}. This skill isn’t trusted.`],
		[
			'one that cannot be looked at',
			{ mode: 'auto', state: 'untrusted', digest: null, problem: 'It has too many files.' },
			`${asks}. It has too many files.`
		],
		[
			'one that has changed',
			{ mode: 'auto', state: 'changed' },
			`${asks}. The skill’s files changed since you trusted it.`
		],
		['one that lacks a variable', { mode: 'auto', missing: ['A'] }, `${asks}, but A is not set.`],
		['one that lacks two', { mode: 'auto', missing: ['A', 'B'] }, `${asks}, but A, B are not set.`],
		['a wish of a skill that lacks one', { missing: ['A'], allowedTools: 'Bash' }, `${asks}, but A is not set.`],
		[
			'a wish of an untrusted skill',
			{ state: 'untrusted', allowedTools: 'Bash' },
			`${asks}. This skill isn’t trusted.`
		],
		['a wish for another script', { allowedTools: 'Bash(other.sh:*)' }, `${asks}.`],
		['what was denied', { earlier: answered('deny', 'now') }, `${asks}.`],
		[
			'what was asked and not decided',
			{ earlier: { ...answered('once', 'now'), decision: undefined } as never },
			`${asks}.`
		],
		[
			'what was allowed of other files',
			{ earlier: answered('once', 'before') },
			'The files of “demo” changed after you allowed this.'
		]
	])('%s', async (_what, situation, reason) => {
		const { question } = await ask(situation);
		expect(question).toMatchObject({ skill: 'demo', script: 'say.sh', args: ['a'], reason });
	});

	test('a question names the files, and the page of a skill that needs something first; no two have one id', async () => {
		const trusted = await ask({ digest: null });
		expect(trusted).toEqual({
			question: {
				interruptId: expect.any(String),
				skill: 'demo',
				script: 'say.sh',
				args: ['a'],
				reason: expect.any(String),
				digest: 'read now',
				reach: { hosts: ['a.example'], readsServer: false }
			},
			digest: 'read now'
		});
		expect((await ask({})).question?.interruptId).not.toBe(trusted.question?.interruptId);
		expect((await ask({ state: 'changed' })).question).toMatchObject({ trust: 'changed', skillId: 'skills/demo' });
		expect((await ask({ state: 'untrusted' })).question).not.toHaveProperty('missing');
		const lacking = (await ask({ missing: ['A'] })).question;
		expect(lacking).toMatchObject({ missing: ['A'], skillId: 'skills/demo' });
		expect(lacking).not.toHaveProperty('trust');
	});
});

test.each<[TrustState, boolean]>([
	['trusted', true],
	['builtin', true],
	['untrusted', false],
	['changed', false]
])('F4: a skill whose state is %s: trusted, %s', async (state, expected) => {
	const trust = { judge: async () => ({ state, digest: null, problem: null }), digestOf: async () => '' };
	const policy = createApprovalPolicy({ store, mode: 'auto', trust });
	expect(await policy.isTrusted({} as Skill)).toBe(expected);
	const { question } = await policy.request(
		{ skill: { tools: [] as Skill['tools'] } as Skill, script: 'x', args: [] },
		null
	);
	expect(question === null).toBe(expected);
});

test('C16: an answer waits with the calls that are waiting and were asked about, and with no others', () => {
	const tool = (id: string, more: Partial<ToolPart> = {}): ToolPart => {
		return { type: 'tool', id, name: 'use_skill', arguments: '{}', status: 'waiting', ...more };
	};
	const approval = (interruptId: string): Approval => ({ ...answered('once', 'd'), interruptId });
	const answer: Message = {
		...emptyAnswer('m', 'run', '2026-01-01'),
		parts: [
			{ type: 'text', id: 't', text: 'I will.' },
			tool('a', { approval: approval('one') }),
			tool('b', { approval: approval('done'), status: 'done' }),
			tool('c'),
			tool('d', { approval: approval('two') })
		]
	};
	expect(waitingIds(answer)).toEqual(['one', 'two']);
});

const files = [
	'SKILL.md',
	'run.py',
	'scripts/x.sh',
	'scripts/x.py',
	'scripts/y.mjs',
	'scripts/z.ts',
	'both',
	'scripts/run.py'
];
const tools = ['count_words', 'both'];
const isAllowed = (wish: string | undefined, script: string, args: string[] = []) =>
	isAllowedBeforehand(wish, { script, args, tools, files });

describe('A14: allowed-tools that cover a run', () => {
	test.each<[string, string, string[]]>([
		['use_skill', 'scripts/x.sh', ['a']],
		['use_skill', 'count_words', ['{}']],
		['use_skill', 'both', []],
		['Read, Bash', 'scripts/x.sh', []],
		['Bash(*)', 'run.py', ['--all']],
		['bash', 'run.py', []],
		['Bash(scripts/x.sh:*)', 'scripts/x.sh', []],
		['Bash(scripts/x.sh:*)', 'scripts/x.sh', ['a', 'b c']],
		['Bash(scripts/x.sh:*)', './scripts/x.sh', ['a']],
		['Bash(./scripts/x.sh:*)', 'x.sh', []],
		['Bash(scripts/x.sh *)', 'scripts/x.sh', ['a']],
		['Bash(scripts/x.sh)', 'scripts/x.sh', []],
		['Bash(scripts/x.sh status)', 'scripts/x.sh', ['status']],
		['Bash(scripts/x.sh status:*)', 'scripts/x.sh', ['status', '-v']],
		['Bash(python scripts/x.py:*)', 'scripts/x.py', ['a']],
		['Bash(python3 ./scripts/x.py:*)', 'x.py', ['a']],
		['Bash(python:*)', 'run.py', []],
		['Bash(node scripts/y.mjs:*)', 'scripts/y.mjs', []],
		['Bash(bash scripts/x.sh:*)', 'scripts/x.sh', []],
		['use_skill(scripts/x.sh:*)', 'scripts/x.sh', ['a']],
		['Bash(scripts/x.sh:* )', 'scripts/x.sh', ['a']],
		['use_skill(*)', 'count_words', []],
		['Bash(run.py:*)', 'run.py', []],
		['Bash(node scripts/z.ts)', 'z.ts', []],
		['Bash(tsx scripts/z.ts)', 'scripts/z.ts', []],
		['Bash( scripts/x.sh  status )', '././scripts/x.sh', ['status']],
		['Bash(scripts/x.sh --all *)', 'scripts/x.sh', ['--all', 'a']],
		['count_words', 'count_words', ['{"text":"a"}']],
		['Read Bash(git:*), Bash(scripts/x.sh:*) Write', 'scripts/x.sh', []]
	])('%s covers %s %j', (wish, script, args) => {
		expect(isAllowed(wish, script, args)).toBe(true);
	});

	test.each<[string | undefined, string, string[]]>([
		[undefined, 'scripts/x.sh', []],
		['', 'scripts/x.sh', []],
		['*', 'scripts/x.sh', []],
		['Read Write Grep', 'scripts/x.sh', []],
		['Bash()', 'scripts/x.sh', []],
		['Bash(git:*)', 'scripts/x.sh', []],
		['Bash(scripts/x.sh)', 'scripts/x.sh', ['a']],
		['Bash(scripts/x.sh:*)', 'scripts/x.shell', []],
		['Bash(scripts/x.sh:*)', 'scripts/x.py', []],
		['Bash(scripts/x.sh:*)', 'other/x.sh', []],
		['Bash(scripts/x.sh:*)', 'scripts/../scripts/x.sh', []],
		['Bash(scripts/x.sh status:*)', 'scripts/x.sh', ['stat']],
		['Bash(scripts/x.sh status:*)', 'scripts/x.sh', ['status -v']],
		['Bash(scripts/x.sh status:*)', 'scripts/x.sh', ['delete', 'status']],
		['Bash(node scripts/x.py:*)', 'scripts/x.py', []],
		['Bash(python:*)', 'scripts/x.sh', []],
		['Bash(scripts/*.sh:*)', 'scripts/x.sh', []],
		['Bash("scripts/x.sh":*)', 'scripts/x.sh', []],
		['Bash(scripts/x.sh; rm -rf:*)', 'scripts/x.sh', []],
		['Bash(scripts/x.sh:*', 'scripts/x.sh', []],
		['Bash(scripts/x.sh:* status)', 'scripts/x.sh', ['delete']],
		['Bash(* status)', 'scripts/x.sh', ['delete']],
		['Bash(scripts/x.sh $HOME)', 'scripts/x.sh', ['$HOME']],
		['Bash(scripts/x.sh `id`:*)', 'scripts/x.sh', ['`id`']],
		['Bash(scripts/run.py:*)', 'run.py', []],
		['Bash(scripts/x.sh:*)', 'scripts/./x.sh', []],
		['Bash(scripts/x.sh a b)', 'scripts/x.sh', ['a']],
		['BashOutput', 'scripts/x.sh', []],
		['xBash(*)', 'scripts/x.sh', []],
		['Bash', 'count_words', ['{}']],
		['count', 'count_words', []],
		['COUNT_WORDS', 'count_words', []],
		['both', 'both', []],
		['Bash', 'both', []]
	])('%s does not cover %s %j', (wish, script, args) => {
		expect(isAllowed(wish, script, args)).toBe(false);
	});
});
