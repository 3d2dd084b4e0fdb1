import { describe, expect, test } from 'vitest';
import { isAllowedBeforehand } from './approval-policy.ts';

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
