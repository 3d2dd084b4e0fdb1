import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import '../../../app.css';
import { ApiError } from '../request.ts';
import type { SkillDetail } from '../../shared/skills.ts';
import type { Approval } from '../../shared/message.ts';
import ApprovalCard from './ApprovalCard.svelte';

const approval: Approval = {
	interruptId: 'i1',
	skill: 'demo',
	script: 'x.sh',
	args: [],
	reason: '“demo” wants to run x.sh.',
	digest: 'd'
};
const NEEDS = { binaries: [], packages: [], hosts: [], variables: [], skills: [] };

async function setup(more: Partial<Approval> = {}, files: SkillDetail['files'] = []) {
	const client = {
		getSkill: vi.fn(async (_id: string) => ({ files }) as SkillDetail),
		getDefinedTool: vi.fn(async (_id: string, _tool: string) => ({ code: 'return <i>1</i>;' })),
		saveSecrets: vi.fn(async (_id: string, _secrets: Record<string, string | null>) => NEEDS)
	};
	const asked = { ...approval, ...more };
	const screen = await render(ApprovalCard, { approval: asked, isOpen: true, conversationId: 'c', client });
	return { screen, client };
}

const install: NonNullable<Approval['install']> = {
	stagedId: 's1',
	version: '1.2.0',
	description: 'Draws charts.\u202e <b>bold</b>',
	from: 'github.com/acme/tools, listed by skills.sh',
	url: 'javascript:alert(1)',
	why: 'To draw\nyour sales.',
	files: 2,
	scripts: 1,
	findings: [{ severity: 'info', message: 'Uses the network', file: 'x.sh', line: 1 }],
	needs: [
		{ kind: 'package', name: 'python-docx' },
		{ kind: 'host', name: 'api.example.org' }
	]
};

describe('F4: the card of a skill that the agent asks for', () => {
	test('says what it is, where it’s from and what was found, as text; it’s installed or not, and nothing else', async () => {
		const ondecide = vi.fn(async () => undefined);
		const reason = `The agent asks to install the skill “charts” from ${install.from}.`;
		const asked = { ...approval, skill: 'charts', script: 'install', reason, install };
		const screen = await render(ApprovalCard, { approval: asked, isOpen: true, ondecide });
		const card = screen.getByTestId('approval');
		await expect.element(card).toMatchTextContent(/Install this skill\?.*charts.*version 1\.2\.0/s);
		await expect.element(screen.getByTestId('requested-skill')).toMatchTextContent(/⟨U\+202E⟩ <b>bold<\/b>/);
		expect(screen.getByTestId('requested-from').element().querySelector('a')).toBeNull();
		await expect.element(screen.getByTestId('requested-review')).toMatchTextContent(/No serious risks found/);
		await expect.element(screen.getByTestId('requested-needs')).toMatchTextContent(/python-docx\s*\(package\)\s*$/);
		await expect.element(screen.getByTestId('review-requested')).toHaveAttribute('href', '/skills/install/s1');
		await expect.element(screen.getByTestId('approval-why')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('give-reason')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('approve-more')).not.toBeInTheDocument();
		await screen.getByRole('button', { name: 'Not now' }).click();
		expect(ondecide).toHaveBeenCalledExactlyOnceWith('i1', { choice: 'deny' });
		await expect.element(screen.getByTestId('approval-decision')).toMatchTextContent(/^\s*Not now/);
	});

	test('with risks lists them, and its button doesn’t stand out', async () => {
		const risk = { severity: 'danger' as const, message: 'Runs what it downloads', file: 'x.sh', line: 3 };
		const { screen } = await setup({ install: { ...install, findings: Array(7).fill(risk) } });
		await expect.element(screen.getByTestId('requested-review')).toMatchTextContent(/7 risks.*x\.sh:3.*and 2 more/s);
		await expect.element(screen.getByRole('button', { name: 'Install' })).not.toHaveClass('primary');
	});
});

describe('E30: the card of a call that has to be allowed', () => {
	test('of a trusted skill offers to allow it for good', async () => {
		const { screen } = await setup();
		await screen.getByTestId('approve-more').click();
		await expect.element(screen.getByTestId('approve-skill')).toBeVisible();
		await expect.element(screen.getByTestId('approval-why')).not.toBeInTheDocument();
	});

	test.each([
		['untrusted', 'This skill isn’t trusted.', 'trust it', 'Review and trust'],
		['changed', 'The skill’s files changed since you trusted it.', 'trust it again', 'Review changes']
	] as const)('of one that is %s offers once or not, and the way to its page', async (trust, words, until, link) => {
		const { screen } = await setup({ trust, skillId: 'skills-2/demo', reason: `${approval.reason} ${words}` });
		await expect
			.element(screen.getByTestId('approval-why'))
			.toMatchTextContent(
				new RegExp(`^\\s*${words} Its scripts ask before each run until you ${until}\\.\\s*${link}\\s*$`)
			);
		await expect.element(screen.getByRole('link', { name: link })).toHaveAttribute('href', '/skills/skills-2/demo');
		await expect.element(screen.getByTestId('approve-once')).toBeVisible();
		const change = screen.getByRole('link', { name: 'Trust this change' });
		if (trust === 'changed') await expect.element(change).toHaveAttribute('href', '/skills/skills-2/demo');
		else await expect.element(change).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('deny')).toBeVisible();
		await expect.element(screen.getByTestId('approve-more')).not.toBeInTheDocument();
	});

	test('says what keeps the script from running without being asked about', async () => {
		const { screen } = await setup({ reason: '“demo” wants to run x.sh, but A_TOKEN is not set.' });
		await expect.element(screen.getByTestId('approval-why')).toHaveTextContent('A_TOKEN is not set.');
	});

	test.each([
		['no host', { hosts: [], readsServer: false }, 'No network'],
		['two hosts', { hosts: ['a.example', '*.b.example'], readsServer: false }, 'Can reach a.example, *.b.example'],
		[
			'anything, on a server without isolation',
			{ hosts: null, readsServer: true },
			'Can use the whole network · Can read everything the server can read'
		]
	])('says that the script can reach %s', async (_what, reach, words) => {
		const { screen } = await setup({ reach });
		await expect.element(screen.getByTestId('approval-reach')).toHaveTextContent(words);
	});

	test('of an MCP server says all that the server says', async () => {
		const { screen } = await setup({ skill: 'mcp/sums', script: 'add', reason: '“add” of “sums” asks first.' });
		await expect.element(screen.getByTestId('approval-why')).toHaveTextContent('“add” of “sums” asks first.');
	});

	test('E36: of an MCP server shows the arguments as a list, whole and as text, not as a command', async () => {
		const args = [JSON.stringify({ city: 'Graz‮', days: 3, note: '"quoted" <b>bold</b>' })];
		const { screen } = await setup({ skill: 'mcp/weather', script: 'forecast', args });
		const call = screen.getByTestId('approval-call');
		await expect.element(call).toMatchTextContent(/forecast.*city\s*Graz⟨U\+202E⟩.*days\s*3.*"quoted" <b>bold<\/b>/s);
		await expect.element(screen.getByTestId('approval-command')).not.toBeInTheDocument();
		await screen.getByRole('button', { name: 'Raw JSON' }).click();
		await expect.element(call).toMatchTextContent(/"days":3/);
	});

	test('denies at once, or with a reason that is asked for then', async () => {
		const ondecide = vi.fn(async () => {});
		const screen = await render(ApprovalCard, { approval, isOpen: true, ondecide });
		await expect.element(screen.getByTestId('deny-reason')).not.toBeInTheDocument();
		await screen.getByTestId('give-reason').click();
		await expect.element(screen.getByTestId('deny-reason')).toHaveFocus();
		await userEvent.keyboard('no');
		await screen.getByTestId('cancel-reason').click();
		await expect.element(screen.getByTestId('deny-reason')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('give-reason')).toHaveFocus();
		expect(ondecide).not.toHaveBeenCalled();
		await screen.getByTestId('give-reason').click();
		await userEvent.keyboard('not here{Enter}');
		expect(ondecide).toHaveBeenCalledExactlyOnceWith('i1', { choice: 'deny', reason: 'not here' });
		await screen.unmount();
		const other = await render(ApprovalCard, { approval, isOpen: true, ondecide });
		await other.getByTestId('deny').click();
		expect(ondecide).toHaveBeenLastCalledWith('i1', { choice: 'deny' });
	});

	test('brings its buttons into sight, but not while something else is read', async () => {
		const frame = document.createElement('div');
		frame.style.cssText = 'height: 20rem; overflow-y: auto; display: flex; flex-direction: column';
		const before = frame.appendChild(document.createElement('div'));
		const place = frame.appendChild(document.createElement('div'));
		before.style.cssText = 'flex: none; height: 15rem';
		document.body.append(frame);
		const args = ['a word '.repeat(40)];
		const screen = await render(
			ApprovalCard,
			{ approval: { ...approval, args }, isOpen: true },
			{ baseElement: place }
		);
		const bottomOf = (element: Element) => element.getBoundingClientRect().bottom;
		await expect.poll(() => bottomOf(screen.getByTestId('deny').element())).toBeLessThanOrEqual(bottomOf(frame));
		await screen.unmount();
		frame.scrollTop = 0;
		before.style.height = '200vh';
		await render(ApprovalCard, { approval: { ...approval, args }, isOpen: true }, { baseElement: place });
		for (let frames = 0; frames < 4; frames++) await new Promise((painted) => requestAnimationFrame(painted));
		expect(frame.scrollTop).toBe(0);
		frame.remove();
	});

	test('of a built-in skill offers once only, as it is asked about each time; of a skill that is called like one all', async () => {
		const { screen } = await setup({ skill: 'browser', script: 'browser' });
		await expect.element(screen.getByTestId('approve-once')).toBeVisible();
		await expect.element(screen.getByTestId('approve-more')).not.toBeInTheDocument();
		await screen.unmount();
		const other = await setup({ skill: 'browser', script: 'scripts/x.sh' });
		await expect.element(other.screen.getByText('Show script')).toBeVisible();
		await other.screen.getByTestId('approve-more').click();
		await expect.element(other.screen.getByTestId('approve-skill')).toBeVisible();
	});

	test('of an MCP server speaks of a tool, not of a script', async () => {
		const { screen } = await setup({ skill: 'mcp/sums', script: 'add' });
		await expect.element(screen.getByText('Show script')).not.toBeInTheDocument();
		await screen.getByTestId('approve-more').click();
		await expect.element(screen.getByTestId('approve-skill')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('approve-script')).toHaveTextContent('Always allow this tool');
		await screen.getByTestId('approve-script').click();
		await expect.element(screen.getByTestId('approval-decision')).toMatchTextContent(/^Always allowed for this tool/);
	});

	test('shows the text of the script when it is asked for, and asks the server only then', async () => {
		const { screen, client } = await setup({ skillId: 'skills/demo' }, [
			{ path: 'x.sh.txt', bytes: 1, text: 'not this' },
			{ path: 'scripts/x.sh', bytes: 9, text: '<i>echo</i> hi' }
		]);
		expect(client.getSkill).not.toHaveBeenCalled();
		await screen.getByText('Show script').click();
		await expect.element(screen.getByTestId('script-text')).toHaveTextContent('<i>echo</i> hi');
		expect(client.getSkill).toHaveBeenCalledExactlyOnceWith('skills/demo');
	});

	test('shows the unsaved text that would run, not the saved one', async () => {
		const files = [{ path: 'scripts/say.sh', bytes: 4, text: 'echo saved' }];
		const client = {
			getSkill: vi.fn(async (_id: string) => ({ files }) as SkillDetail),
			...{ getDefinedTool: vi.fn(), saveSecrets: vi.fn() }
		};
		const unsaved = [{ path: 'scripts/say.sh', text: 'echo typed' }];
		const asked = { ...approval, skillId: 'skills/demo', script: 'scripts/say.sh' };
		const screen = await render(ApprovalCard, { approval: asked, isOpen: true, isAlone: true, unsaved, client });
		await screen.getByText('Show script').click();
		await expect
			.element(screen.getByTestId('approval-script'))
			.toMatchTextContent(/say\.sh, unsaved text\s+echo typed/);
	});

	test('of a tool that was defined in the chat shows its script, which no skill of that name has', async () => {
		const { screen, client } = await setup({ skillId: 'chat.a1/demo', script: 'count' });
		await screen.getByText('Show script').click();
		await expect.element(screen.getByTestId('script-text')).toHaveTextContent('return <i>1</i>;');
		expect(client.getDefinedTool).toHaveBeenCalledExactlyOnceWith('c', 'count');
		expect(client.getSkill).not.toHaveBeenCalled();
	});

	test('says when the script cannot be shown, and why', async () => {
		const { screen } = await setup({}, [{ path: 'x.sh', bytes: 9, text: null }]);
		await screen.getByText('Show script').click();
		await expect.element(screen.getByText(/Can’t show this script here/)).toBeVisible();
		const { screen: second, client } = await setup();
		client.getSkill.mockRejectedValue(new ApiError('not_found', 'There is no skill “demo”.'));
		await second.getByText('Show script').last().click();
		await expect.element(second.getByText('There is no skill “demo”.')).toBeVisible();
	});
});

describe('D25: the card of a tool that the agent wants to define', () => {
	const define: NonNullable<Approval['define']> = {
		tool: 'count_rows',
		description: 'Counts <b>rows</b>.\u202e',
		parameters: '{\n  "text": {}\n}',
		code: 'return "\u202e<script>";',
		isKept: false,
		replaces: false,
		changes: [],
		findings: []
	};
	const asked = (more: Partial<typeof define> = {}) =>
		setup({
			script: 'define_tool',
			reason: `The agent wants to ${more.replaces ? 'replace' : 'define'} the tool “count_rows”.`,
			define: { ...define, ...more }
		});

	test('shows its whole code with what is hidden in it, and is allowed once or not at all', async () => {
		const { screen } = await asked();
		await expect.element(screen.getByText('Allow this new tool?')).toBeVisible();
		await expect.element(screen.getByTestId('new-tool-code')).toMatchTextContent(/⟨U\+202E⟩<script>/);
		await expect.element(screen.getByTestId('new-tool')).toMatchTextContent(/Counts <b>rows<\/b>\./);
		await expect.element(screen.getByTestId('new-tool-review')).toHaveTextContent('No risks found');
		await expect.element(screen.getByTestId('approve-more')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('approval-script')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('approval-why')).not.toBeInTheDocument();
		await screen.getByTestId('approve-once').click();
		await expect.element(screen.getByTestId('approval-decision')).toMatchTextContent(/^You allowed this tool/);
	});

	test('says what changes, what is risky and that it is for every chat', async () => {
		const { screen } = await asked({
			isKept: true,
			replaces: true,
			changes: [
				{ path: 'scripts/count_rows.js', diff: '--- a\n+++ a\n@@ -1 +1 @@\n-return 1;\n+return 2;\n' },
				{ path: 'tools.json', diff: '' }
			],
			findings: [{ severity: 'danger', message: 'Runs what it downloads', file: 'a.js', line: 1 }]
		});
		await expect.element(screen.getByText('Replace this tool?')).toBeVisible();
		await expect.element(screen.getByTestId('approve-once')).toHaveTextContent('Allow and keep as a skill');
		await expect.element(screen.getByTestId('new-tool-review')).toHaveTextContent('1 risk: runs what it downloads');
		await screen.getByText('What changes').click();
		await expect.element(screen.getByText('+return 2;')).toBeVisible();
		await expect.element(screen.getByText('--- a')).not.toBeInTheDocument();
		await expect.element(screen.getByText('Too long to compare.')).toBeVisible();
	});
});

test('F3: the card asks for variables that are missing, and stores them for this skill', async () => {
	const { screen, client } = await setup({ missing: ['A_TOKEN'], skillId: 'skills/demo' });
	await screen.getByLabelText('A_TOKEN', { exact: true }).fill('secret');
	await screen.getByRole('button', { name: /store|save/i }).click();
	expect(client.saveSecrets).toHaveBeenCalledExactlyOnceWith('skills/demo', { A_TOKEN: 'secret' });
	await expect.element(screen.getByText(/Saved\. The script gets it/)).toBeVisible();
});

test('F14: by keyboard the other ways to allow it are in a menu, and Escape leaves it as it was', async () => {
	const ondecide = vi.fn(async () => {});
	const screen = await render(ApprovalCard, { approval, isOpen: true, ondecide });
	(screen.getByTestId('approve-more').element() as HTMLElement).focus();
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByTestId('approve-script')).toHaveFocus();
	await userEvent.keyboard('{Escape}');
	await expect.element(screen.getByTestId('approve-script')).not.toBeInTheDocument();
	expect(ondecide).not.toHaveBeenCalled();
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByTestId('approve-script')).toHaveFocus();
	await userEvent.keyboard('{ArrowDown}{Enter}');
	expect(ondecide).toHaveBeenCalledExactlyOnceWith('i1', { choice: 'skill' });
});

test('F14: a question that somebody else answers says so', async () => {
	const screen = await render(ApprovalCard, { approval, isOpen: true });
	await expect.element(screen.getByTestId('approval')).toBeVisible();
	await screen.rerender({ approval: { ...approval, decision: { choice: 'once' } }, isOpen: false });
	await expect
		.element(screen.getByTestId('approval-decision'))
		.toMatchTextContent(/Allowed once.*Answered in another tab/);
});

test('a question that was answered before the page was opened is only told', async () => {
	const screen = await render(ApprovalCard, { approval: { ...approval, decision: { choice: 'once' } }, isOpen: false });
	await expect.element(screen.getByTestId('approval-decision')).toHaveTextContent('Allowed once');
	await expect.element(screen.getByText(/elsewhere/)).not.toBeInTheDocument();
});

test('the command of a built-in skill is shown as it would be typed', async () => {
	const builtin = { skill: 'execute_command', script: 'execute_command', args: ['{"command":"rm -rf build\u202e"}'] };
	const screen = await render(ApprovalCard, { approval: { ...approval, ...builtin }, isOpen: true });
	await expect.element(screen.getByTestId('approval-command')).toHaveTextContent('$ rm -rf build⟨U+202E⟩');
	await expect.element(screen.getByTestId('approval-script')).not.toBeInTheDocument();
});
