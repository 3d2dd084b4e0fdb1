import { test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import '../../../app.css';
import Gallery from './TmpGallery.svelte';
import { RECORDED_RUN } from '../../../../tests/support/recorded-run.ts';
import { emptyAnswer, foldEvent } from '../../shared/message.ts';

const E = '\u001b[';
const execution = (more = {}) => ({
	skill: 'count-words',
	script: 'scripts/count.py',
	args: ['data/report final.csv', '--format=json'],
	sandbox: 'bubblewrap',
	output: [] as any[],
	files: [] as any[],
	...more
});
let n = 0;
const part = (more: any): any => ({
	type: 'tool',
	id: `c${n++}`,
	name: 'use_skill',
	arguments: '{"skill":"count-words","script":"scripts/count.py"}',
	status: 'done',
	...more
});
const colors = [
	{
		stream: 'stdout',
		text:
			`${E}1m== Build ==${E}0m\n` +
			['30', '31', '32', '33', '34', '35', '36', '37'].map((c) => `${E}${c}mcolor ${c}${E}0m`).join(' ') +
			'\n' +
			['41', '42', '43', '44', '45', '46', '47', '100'].map((c) => `${E}${c}m ground ${c} ${E}0m`).join(' ') +
			`\n${E}7m inverse ${E}0m ${E}31;7m red inverse ${E}0m ${E}2mdim${E}0m ${E}4munderline${E}0m ${E}3mitalic${E}0m ${E}9mstruck${E}0m\n`
	},
	{ stream: 'stderr', text: 'warning: a field is deprecated\n' },
	{
		stream: 'stdout',
		text: `${E}38;5;208morange 208${E}0m ${E}38;2;90;200;250mtruecolor${E}0m\n10 %\r60 %\r100 % ${E}32m✔${E}0m done\nname exe\u202Efdp\n`
	}
];
const long = {
	stream: 'stdout',
	text: Array.from({ length: 3000 }, (_, i) => `line ${i} of a long result\n`).join('')
};
const steps = [
	part({ status: 'preparing', arguments: '', name: 'load_skill' }),
	part({
		status: 'preparing',
		name: 'file_write',
		arguments:
			'{"path":"report.md","content":"# Quarterly report\\n\\nRevenue rose by 12 % in the third quarter, mostly because of'
	}),
	part({
		status: 'waiting',
		execution: undefined,
		approval: {
			interruptId: 'i',
			skill: 'deploy',
			script: 'scripts/deploy.sh',
			args: ['--to', 'production', 'my site', '--force'],
			reason: '“deploy” wants to run scripts/deploy.sh: it has not been run before.',
			digest: 'd'
		}
	}),
	part({
		status: 'waiting',
		execution: undefined,
		approval: {
			interruptId: 'i2',
			skill: 'other',
			script: 'x.sh',
			args: [],
			reason: '“other” wants to run x.sh.',
			digest: 'd',
			trust: 'untrusted'
		}
	}),
	part({
		status: 'running',
		execution: execution({
			output: [{ stream: 'stdout', text: 'Reading data/report final.csv\nParsed 12,000 rows\nCounting words…\n' }]
		})
	}),
	part({ status: 'running', name: 'http_request', arguments: '{"url":"https://example.org/feed.json"}' }),
	part({
		name: 'load_skill',
		arguments: '{"skill":"pdf-tools"}',
		loaded: {
			skill: 'pdf-tools',
			description: 'Fills, merges and reads PDF files. Use it for every PDF.',
			path: '/home/me/skills/pdf-tools/SKILL.md',
			tokens: 2310
		}
	}),
	part({ name: 'read_skill_file', arguments: '{"skill":"pdf-tools","path":"REFERENCE.md"}', result: 'text' }),
	part({ execution: execution({ exitCode: 0, durationMs: 3210, output: colors, executionId: 'e' }) }),
	part({
		name: 'use_skill',
		status: 'failed',
		execution: execution({
			exitCode: 1,
			durationMs: 842,
			output: [
				{ stream: 'stdout', text: 'Reading…\n' },
				{
					stream: 'stderr',
					text: 'Traceback (most recent call last):\n  File "count.py", line 3\nKeyError: \'words\'\n'
				}
			],
			error: 'ExecutionFailed',
			message: 'The script ended with exit code 1.'
		}),
		result: '{}'
	}),
	part({
		status: 'failed',
		execution: execution({
			exitCode: null,
			durationMs: 30000,
			truncated: true,
			output: [long],
			error: 'ExecutionTimeout',
			message: 'Ended after 30 s.',
			refused: ['evil.example:443']
		})
	}),
	part({
		status: 'failed',
		approval: {
			interruptId: 'i',
			skill: 'deploy',
			script: 'scripts/deploy.sh',
			args: [],
			reason: '',
			digest: 'd',
			decision: { choice: 'deny', reason: 'not on a Friday' }
		},
		result: 'Denied'
	}),
	part({
		status: 'cancelled',
		execution: execution({ exitCode: null, output: [{ stream: 'stdout', text: 'working\n' }] })
	}),
	part({ status: 'interrupted' }),
	part({
		name: 'list_things',
		arguments:
			'{"limit":20,"filter":{"tag":["a","b"]},"query":"a very long query ' + 'that goes on and on '.repeat(120) + '"}',
		result: '{"things":[1,2,{"a":"b"}],"next":null}'
	})
];
const fold = (events: any[]) => events.reduce(foldEvent, emptyAnswer('a', 'r', new Date().toISOString()));
const actions = {
	isLocked: false,
	edit: async () => true,
	retry: () => {},
	retryWith: () => {},
	continue: () => {},
	fork: () => {},
	remove: () => {},
	show: async () => true,
	decide: async () => {},
	mayFocus: () => false,
	ask: () => {},
	switchModel: () => {},
	isEditing: false,
	setEditing: () => {}
};
const models = [
	{ id: 'a/b', name: 'Model B' },
	{ id: 'c/d', name: 'Model D' }
];
const error = (code: string, message: string) => ({
	...fold([...RECORDED_RUN.slice(0, 10), { type: 'RUN_ERROR', code, message }])
});
const base = { conversationId: 'c', model: 'test/model', actions, models };
const context = { limit: 10000, system: 500, catalog: 1500, skills: 0, tools: 1000, results: 2000, messages: 1500 };
const answers = [
	{
		...base,
		message: { ...fold(RECORDED_RUN), context },
		alternatives: ['z', 'a', 'q'],
		totals: { inputTokens: 4321, outputTokens: 765, cost: 0.5 }
	},
	{ ...base, message: fold(RECORDED_RUN.slice(0, 6)) },
	{
		...base,
		message: error(
			'rate_limited',
			'openrouter.ai takes no more requests for x/y now (429). It said: "Rate limit exceeded: free-models-per-min". It asks to wait for 45 seconds. Try again after that, or choose another model.'
		)
	},
	{ ...base, message: error('unauthorized', 'openrouter.ai did not accept the API key (401). Check it.') },
	{
		...base,
		message: error(
			'insufficient_credits',
			'The account at openrouter.ai has no credits left for x/y (402). Add credits, or choose a free model.'
		)
	},
	{
		...base,
		message: error(
			'context_length_exceeded',
			'The conversation is longer than x/y can read (400). Start a new conversation, or choose a model with a larger context.'
		)
	},
	{ ...base, message: error('interrupted', 'the connection to the model was lost') },
	{ ...base, message: fold([]) },
	{ ...base, message: { ...fold([]), retry: { attempt: 2, delayMs: 8000, message: 'openrouter.ai is busy.' } } }
];
for (const theme of ['light', 'dark'])
	for (const [width, height] of [
		[1280, 3800],
		[390, 4600]
	] as const)
		test(`${theme} ${width}`, async () => {
			document.documentElement.dataset.theme = theme;
			await page.viewport(width, height);
			document.documentElement.style.height = document.body.style.height = 'auto';
			document.body.style.overflow = document.documentElement.style.overflow = 'visible';
			for (const [from, to] of [
				[0, 6],
				[6, 10],
				[10, 15]
			] as const) {
				const one = await render(Gallery, { steps: steps.slice(from, to), answers: [] });
				await new Promise((r) => setTimeout(r, 700));
				for (const index of [6, 8, 14])
					(one.getByTestId('step-toggle').elements()[index - from] as HTMLElement)?.click();
				await new Promise((r) => setTimeout(r, 500));
				await page.screenshot({
					element: one.getByTestId('gallery'),
					path: `/work/main/node_modules/.shots/steps${from}-${theme}-${width}.png`
				});
				await one.unmount();
			}
			const two = await render(Gallery, { steps: [], answers });
			await new Promise((r) => setTimeout(r, 700));
			(two.getByTestId('figures-toggle').elements()[0] as HTMLElement)?.click();
			await new Promise((r) => setTimeout(r, 600));
			await page.screenshot({
				element: two.getByTestId('gallery'),
				path: `/work/main/node_modules/.shots/answers-${theme}-${width}.png`
			});
			await two.unmount();
		}, 60000);
void vi;
