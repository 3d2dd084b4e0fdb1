import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { ApiError } from '../request.ts';
import type { McpServer, McpServerStatus } from '../../shared/mcp-servers.ts';
import type { McpServersClient } from './mcp-servers.svelte.ts';
import McpServersSection from './McpServersSection.svelte';

const CONNECTED: McpServerStatus = {
	...{ state: 'connected', software: 'fixture 1.2.3', error: null, note: null },
	tools: [{ name: 'mcp__demo__add', tool: 'add', description: 'Adds two numbers.' }]
};
const NOT_REVOKED = 'id.example.org didn’t revoke the access (status 503). Remove it in your account there.';
const server = (more: Partial<McpServer> = {}): McpServer => ({
	...{ name: 'demo', isEnabled: true, approval: 'ask', updatedAt: '2026-01-01T00:00:00Z', status: CONNECTED },
	...{ transport: { type: 'stdio', command: 'npx', args: ['-y', 'demo'], env: ['TOKEN'] }, signIn: 'none' },
	...more
});

async function setup(...servers: McpServer[]) {
	const client = {
		listMcpServers: vi.fn(async () => servers),
		// The page polls every few seconds, so the fake keeps changes.
		putMcpServer: vi.fn(async (name: string) => {
			const put = server({ name, status: { ...CONNECTED, state: 'connecting', tools: [] } });
			servers = [...servers.filter((each) => each.name !== name), put];
			return put;
		}),
		removeMcpServer: vi.fn(async (): Promise<{ notRevoked: string | null }> => ({ notRevoked: null })),
		reconnectMcpServer: vi.fn(async () => servers[0]!),
		startMcpSignIn: vi.fn<McpServersClient['startMcpSignIn']>(async () => {
			throw new ApiError('unavailable', 'Couldn’t sign in: it has no page.');
		}),
		searchMcpRegistry: vi.fn<McpServersClient['searchMcpRegistry']>(async () => ({ data: [], hasMore: false })),
		endMcpSignIn: vi.fn(async () => ({ ...server({ signIn: 'wanted' }), notRevoked: NOT_REVOKED }))
	};
	return { client, screen: await render(McpServersSection, { client }) };
}

test('E36: each server shows how it stands, its tools, and what is wrong', async () => {
	const status = { ...CONNECTED, state: 'waiting', tools: [], software: null, error: 'There is no program “npx”.' };
	const { screen } = await setup(
		server(),
		server({ name: 'down', status: status as McpServerStatus, approval: 'auto' })
	);
	const rows = screen.getByTestId('mcp-server');
	await expect.element(rows.nth(0)).toMatchTextContent(/demo.*Connected.*1 tool.*Asks first.*fixture 1\.2\.3/s);
	await expect
		.element(rows.nth(1))
		.toMatchTextContent(/down.*Not connected.*There is no program.*Runs without asking/s);
	await screen.getByTestId('mcp-tools').click();
	await expect.element(screen.getByText('Adds two numbers.')).toBeVisible();
});

test('E36: a program is added with its arguments and a variable that is not shown again', async () => {
	const { screen, client } = await setup();
	await expect.element(screen.getByTestId('mcp-none')).toBeVisible();
	await screen.getByTestId('mcp-add').click();
	await screen.getByTestId('mcp-name').fill('Not A Name');
	await screen.getByTestId('mcp-command').fill('npx');
	await expect.element(screen.getByTestId('mcp-save')).toBeDisabled();
	await screen.getByTestId('mcp-name').fill('files');
	await screen.getByTestId('mcp-args').fill('-y\n@x/files');
	await screen.getByTestId('mcp-add-value').click();
	await screen.getByTestId('mcp-value-name').fill('TOKEN');
	await screen.getByTestId('mcp-value').fill('very-secret');
	await screen.getByTestId('mcp-save').click();
	expect(client.putMcpServer).toHaveBeenCalledExactlyOnceWith('files', {
		transport: { type: 'stdio', command: 'npx', args: ['-y', '@x/files'], env: { TOKEN: 'very-secret' } },
		...{ isEnabled: true, approval: 'ask' }
	});
	await expect.element(screen.getByTestId('mcp-server')).toMatchTextContent(/files.*Connecting/s);
	expect(document.body.innerHTML).not.toContain('very-secret');
});

test('E36: a change keeps what is stored; one that is refused stays typed and says why', async () => {
	const { screen, client } = await setup(
		server({ transport: { type: 'http', url: 'https://example.org/mcp', headers: ['Authorization'] } })
	);
	await screen.getByTestId('mcp-edit').click();
	await screen.getByTestId('mcp-url').fill('https://example.org/other');
	await screen.getByTestId('mcp-asks').click();
	client.putMcpServer.mockRejectedValueOnce(new ApiError('invalid_input', 'Too odd.'));
	await screen.getByTestId('mcp-save').click();
	await expect.element(screen.getByTestId('mcp-error')).toMatchTextContent(/Too odd/);
	await expect.element(screen.getByTestId('mcp-url')).toHaveValue('https://example.org/other');
	await screen.getByTestId('mcp-save').click();
	expect(client.putMcpServer).toHaveBeenLastCalledWith('demo', {
		transport: { type: 'http', url: 'https://example.org/other', headers: { Authorization: null } },
		...{ isEnabled: true, approval: 'auto' }
	});
	await expect.element(screen.getByTestId('mcp-form')).not.toBeInTheDocument();
});

test('E36: a server is switched off, tried again, and removed when that is confirmed', async () => {
	const { screen, client } = await setup(server());
	await screen.getByTestId('mcp-reconnect').click();
	expect(client.reconnectMcpServer).toHaveBeenCalledWith('demo');
	client.putMcpServer.mockRejectedValueOnce(new ApiError('unavailable', 'Not now.'));
	await screen.getByTestId('mcp-enabled').click();
	expect(client.putMcpServer).toHaveBeenLastCalledWith('demo', expect.objectContaining({ isEnabled: false }));
	await expect.element(screen.getByTestId('mcp-enabled')).toBeChecked();
	client.removeMcpServer.mockResolvedValueOnce({ notRevoked: NOT_REVOKED });
	await screen.getByTestId('mcp-remove').click();
	expect(client.removeMcpServer).not.toHaveBeenCalled();
	await screen.getByTestId('confirm-delete').click();
	expect(client.removeMcpServer).toHaveBeenCalledWith('demo');
	await expect.element(screen.getByTestId('mcp-none')).toBeVisible();
	await expect.element(screen.getByTestId('mcp-not-revoked')).toMatchTextContent(NOT_REVOKED);
});

test('E36: pasted configuration adds its servers; what is none says so', async () => {
	const { screen, client } = await setup();
	await screen.getByTestId('mcp-paste').click();
	await screen.getByTestId('mcp-json').fill('{"a": 1}');
	await screen.getByTestId('mcp-json-add').click();
	await expect.element(screen.getByTestId('mcp-json-error')).toMatchTextContent(/needs a “command”/);
	await screen.getByTestId('mcp-json').fill('{"mcpServers": {"Web": {"url": "https://example.org/mcp"}}}');
	await screen.getByTestId('mcp-json-add').click();
	expect(client.putMcpServer).toHaveBeenCalledExactlyOnceWith('web', expect.objectContaining({ approval: 'ask' }));
	await expect.element(screen.getByTestId('mcp-json')).not.toBeInTheDocument();
});

test('E36: on a phone nothing is wider than the page', async () => {
	await page.viewport(390, 800);
	const { screen } = await setup(
		server({ transport: { type: 'http', url: `https://${'a'.repeat(300)}.org/`, headers: ['A'] } })
	);
	await screen.getByTestId('mcp-edit').click();
	await expect.element(screen.getByTestId('mcp-form')).toBeVisible();
	expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
	await page.viewport(1280, 800);
});

test('E36: a server that refuses access can be signed in to, and signed out of; a failure says why', async () => {
	const waiting: McpServerStatus = {
		...CONNECTED,
		...{ state: 'waiting', tools: [], error: 'It refused access (status 401).' }
	};
	const { screen, client } = await setup(
		server({ name: 'office', signIn: 'wanted', status: waiting }),
		server({ name: 'wiki', signIn: 'done' })
	);
	await screen.getByRole('button', { name: 'Sign in to office' }).click();
	expect(client.startMcpSignIn).toHaveBeenCalledExactlyOnceWith('office', `${location.origin}/settings/mcp/office`);
	await expect.element(screen.getByTestId('mcp-error')).toMatchTextContent(/it has no page/);
	await expect.element(screen.getByTestId('mcp-signed-in')).toBeVisible();
	await screen.getByRole('button', { name: 'Sign out of wiki' }).click();
	expect(client.endMcpSignIn).toHaveBeenCalledExactlyOnceWith('wiki');
	const note = screen.getByTestId('mcp-not-revoked');
	await expect.element(note).toMatchTextContent(`You’re signed out here. ${NOT_REVOKED}`);
	await note.getByRole('button', { name: 'Dismiss' }).click();
	await expect.element(note).not.toBeInTheDocument();
});

test('E36: a server is found in the registry, and fills the form with what it needs', async () => {
	const { screen, client } = await setup();
	await screen.getByTestId('mcp-search').click();
	await expect.element(screen.getByTestId('mcp-query')).toHaveFocus();
	await screen.getByTestId('mcp-query').fill(' mail ');
	await screen.getByTestId('mcp-find').click();
	await expect.element(screen.getByTestId('mcp-found-count')).toMatchTextContent(/No server found/);
	expect(client.searchMcpRegistry).toHaveBeenCalledExactlyOnceWith('mail');

	const way = {
		type: 'stdio' as const,
		command: 'npx',
		args: ['-y', '@x/mail@1.0.0', '<folder>'],
		env: [{ name: 'MAIL_KEY', about: 'From mail.test/keys.' }]
	};
	const entry = {
		...{ name: 'io.github.x/mail', title: null, description: 'Reads mail.', version: '1.0.0', ways: [way] },
		...{ page: 'https://github.com/x/mail', isDeprecated: false }
	};
	const old = { ...entry, name: 'x/none', isDeprecated: true, ways: [] };
	client.searchMcpRegistry.mockResolvedValueOnce({ data: [entry, old], hasMore: true });
	await screen.getByTestId('mcp-find').click();
	await expect.element(screen.getByTestId('mcp-found-count')).toMatchTextContent(/The first 2 servers/);
	await expect
		.element(screen.getByRole('link', { name: 'github.com/x/mail' }).first())
		.toHaveAttribute('rel', 'noopener noreferrer external');
	await expect.element(screen.getByText('Deprecated')).toBeVisible();
	await expect.element(screen.getByTestId('mcp-found')).toMatchTextContent(/Reads mail.*can’t be added from here/s);
	await screen.getByTestId('mcp-use').click();
	await expect.element(screen.getByTestId('mcp-name')).toHaveValue('mail');
	await expect.element(screen.getByTestId('mcp-command')).toHaveValue('npx');
	await expect.element(screen.getByTestId('mcp-args')).toHaveValue('-y\n@x/mail@1.0.0\n<folder>');
	await expect.element(screen.getByTestId('mcp-value-name')).toHaveValue('MAIL_KEY');
	await expect.element(screen.getByTestId('mcp-value-about')).toHaveTextContent('From mail.test/keys.');
	await expect.element(screen.getByRole('heading', { name: 'New server' })).toHaveFocus();
	await screen.getByTestId('mcp-save').click();
	expect(client.putMcpServer).not.toHaveBeenCalled();
	await screen.getByTestId('mcp-value').fill('k');
	await screen.getByTestId('mcp-save').click();
	expect(client.putMcpServer).toHaveBeenCalledOnce();
	await expect.element(screen.getByRole('heading', { name: 'mail' })).toHaveFocus();
});

test('E36: a registry that is down is said where it was asked, what it found before goes, and servers can be used meanwhile', async () => {
	const { screen, client } = await setup(server());
	await screen.getByTestId('mcp-search').click();
	await screen.getByTestId('mcp-query').fill('mail');
	await screen.getByTestId('mcp-find').click();
	await expect.element(screen.getByTestId('mcp-found-count')).toMatchTextContent(/No server found/);
	const held = Promise.withResolvers<never>();
	client.searchMcpRegistry.mockReturnValueOnce(held.promise);
	await screen.getByTestId('mcp-find').click();
	await expect.element(screen.getByTestId('mcp-find')).toHaveTextContent('Searching…');
	await expect.element(screen.getByTestId('mcp-reconnect')).toBeEnabled();
	held.reject(new ApiError('unavailable', 'Couldn’t search for MCP servers.'));
	await expect.element(screen.getByTestId('mcp-search-error')).toMatchTextContent(/Couldn’t search/);
	await expect.element(screen.getByTestId('mcp-found-count')).toHaveTextContent('');
	const field = screen.getByTestId('mcp-query').element();
	const note = screen.getByTestId('mcp-search-error').element();
	expect(field.compareDocumentPosition(note)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
});

test('E36: whoever uses the keyboard is where something happened: in the new form, at the saved server, at what adds one', async () => {
	const { screen, client } = await setup(server(), server({ name: 'wiki', signIn: 'done' }));
	await screen.getByTestId('mcp-add').click();
	await expect.element(screen.getByTestId('mcp-name')).toHaveFocus();
	await screen.getByRole('button', { name: 'Cancel' }).click();
	await expect.element(screen.getByTestId('mcp-add')).toHaveFocus();
	await screen.getByRole('button', { name: 'Edit wiki' }).click();
	client.putMcpServer.mockRejectedValueOnce(new ApiError('invalid_input', 'Too odd.'));
	await screen.getByTestId('mcp-save').click();
	await expect.element(screen.getByTestId('mcp-form').getByTestId('mcp-error')).toMatchTextContent(/Too odd/);
	await screen.getByTestId('mcp-save').click();
	await expect.element(screen.getByRole('heading', { name: 'wiki' })).toHaveFocus();
	await screen.getByTestId('mcp-paste').click();
	await expect.element(screen.getByTestId('mcp-json')).toHaveFocus();
});
