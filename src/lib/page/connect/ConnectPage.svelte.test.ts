import { beforeEach, expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { ApiError } from '../request.ts';
import { CLIENTS, WITHOUT_KEY } from './connect-snippets.ts';
import { Connect } from './connect.svelte.ts';
import type { Client } from '../server.ts';
import type { ApiKey } from '../../shared/settings.ts';
import ConnectPage from './ConnectPage.svelte';

const ORIGIN = 'https://skills.example';
const SECRET = 'ors_abcdef0123456789';

const keyOf = (id: string, more: Partial<ApiKey> = {}): ApiKey => ({
	...{ id, name: `for ${id}`, prefix: 'ors_abcdef', scopes: ['read', 'execute'] },
	...{ createdAt: '2026-11-20T10:00:00.000Z', lastUsedAt: null, revokedAt: null },
	...more
});

/** Stores keys like the server. */
function createFakeKeys(keys: ApiKey[] = []) {
	const known = new Map(keys.map((key) => [key.id, key]));
	return {
		listKeys: vi.fn<Client['listKeys']>(async () => ({ data: [...known.values()].reverse(), latestProgram: null })),
		createKey: vi.fn<Client['createKey']>(async ({ name, scopes = [] }) => {
			const made = keyOf(`key_${known.size + 1}`, { name, scopes });
			known.set(made.id, made);
			return { ...made, key: SECRET };
		}),
		renameKey: vi.fn<Client['renameKey']>(async (id, name) => {
			const renamed = keyOf(id, { ...known.get(id), name });
			known.set(id, renamed);
			return renamed;
		}),
		revokeKey: vi.fn<Client['revokeKey']>(async (id) => {
			const revoked = keyOf(id, { ...known.get(id), revokedAt: '2026-11-21T10:00:00.000Z' });
			known.set(id, revoked);
			return revoked;
		})
	};
}

async function setup(
	given: { keys?: ApiKey[]; needsKey?: boolean | null; hash?: string } = {},
	prepare?: (client: ReturnType<typeof createFakeKeys>) => void
) {
	const { keys = [], needsKey = true, hash = '' } = given;
	const client = createFakeKeys(keys);
	prepare?.(client);
	const onclient = vi.fn();
	const connect = new Connect(client);
	const screen = await render(ConnectPage, {
		...{ connect, origin: ORIGIN, model: 'openrouter/auto', needsKey, hash, onclient }
	});
	const make = async (name: string): Promise<void> => {
		await screen.getByTestId('another-key').click();
		await screen.getByTestId('key-name').fill(name);
		await screen.getByTestId('create-key').click();
		await expect.element(screen.getByTestId('fresh-key')).toBeVisible();
	};
	return { screen, client, connect, onclient, make };
}

// Others ask for a phone’s.
beforeEach(() => page.viewport(1280, 800));

const shownCode = (): string =>
	[...document.querySelectorAll('[data-testid=code-block]')].map((each) => each.textContent).join();

test('F12: each client has its settings, with the address of this server and a place for the key', async () => {
	const { screen, onclient } = await setup();
	for (const client of CLIENTS) {
		await screen.getByTestId(`client-${client}`).click();
		await expect.element(screen.getByTestId(`panel-${client}`)).toBeVisible();
		expect(onclient).toHaveBeenLastCalledWith(client);
		const needsServer = !WITHOUT_KEY.has(client);
		await expect.poll(shownCode).toContain(needsServer ? ORIGIN : 'openrouter-skills');
		if (needsServer) expect(document.body.textContent).toContain('<your key>');
	}
});

test('F12: on a phone, nothing of a command is out of sight, and copying gives the line as it is', async () => {
	await page.viewport(390, 844);
	const { screen } = await setup({ hash: '#qwen' });
	const [command] = screen.getByTestId('code-block').elements();
	const shown = command?.querySelector('pre');
	expect(shown?.textContent).not.toContain('\n');
	expect(shown?.clientHeight).toBeGreaterThan(60);
	for (const pre of document.querySelectorAll('[data-testid=code-block] pre')) {
		expect(pre.scrollWidth).toBeLessThanOrEqual(pre.clientWidth);
	}
});

test('F12: on a phone, programs are a choice, and the settings of the one that is chosen begin in sight', async () => {
	await page.viewport(390, 844);
	const { screen, onclient } = await setup();
	await expect.element(screen.getByTestId('client-cursor')).not.toBeVisible();
	await screen.getByTestId('choose-client').selectOptions('Cursor');
	expect(onclient).toHaveBeenLastCalledWith('cursor');
	await expect.element(screen.getByTestId('choose-client')).toHaveValue('cursor');
	await expect.element(screen.getByRole('heading', { name: 'Cursor', exact: true })).toBeInViewport();
});

test('F12: with the keyboard, the settings of the program are next once it is chosen', async () => {
	const { screen } = await setup();
	(screen.getByTestId('client-codex').element() as HTMLElement).focus();
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByRole('heading', { name: 'Codex', exact: true })).toHaveFocus();
	await userEvent.keyboard('{Tab}');
	await expect.element(screen.getByTestId('create-client-key')).toHaveFocus();
});

test('F12: each program can have a key of its own, also after another one has been made', async () => {
	const { screen, client } = await setup({ hash: '#codex' });
	await screen.getByTestId('create-client-key').click();
	await expect.element(screen.getByText('Key “Codex” created')).toBeVisible();
	await expect.element(screen.getByTestId('create-other-key')).not.toBeInTheDocument();
	await screen.getByTestId('client-curl').click();
	await screen.getByRole('button', { name: 'Create another key for curl' }).click();
	expect(client.createKey).toHaveBeenLastCalledWith({ name: 'curl', scopes: ['read', 'execute'] });
	await expect.element(screen.getByText('Key “curl” created')).toBeVisible();
	await expect.element(screen.getByTestId('fresh-key-title')).toHaveFocus();
});

test('F12: a key is made for the program that is shown, with one click', async () => {
	const { screen, client } = await setup({ hash: '#codex' }, (fake) =>
		fake.createKey.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'))
	);
	await screen.getByTestId('create-client-key').click();
	await expect.element(screen.getByTestId('client-key-error')).toMatchTextContent(/The database is busy/);
	await screen.getByTestId('create-client-key').click();
	expect(client.createKey).toHaveBeenLastCalledWith({ name: 'Codex', scopes: ['read', 'execute'] });
	await expect.poll(shownCode).toContain(`Bearer ${SECRET}`);
	await expect.element(screen.getByText('Key “Codex” created')).toBeVisible();
});

test('F12: the address says which client is shown; any other text means the first', async () => {
	const { screen } = await setup({ hash: '#mcp' });
	await expect.element(screen.getByTestId('snippet-claude-code')).toMatchTextContent(/claude mcp add/);
	const other = await setup({ hash: '#nonsense' });
	await expect.element(other.screen.getByTestId('snippet-claude-code').last()).toBeVisible();
});

test('F12: a new key is shown once and stands in every setting, until it is revoked', async () => {
	const { screen, client, make } = await setup();
	await make('Editor');
	expect(client.createKey).toHaveBeenCalledExactlyOnceWith({ name: 'Editor', scopes: ['read', 'execute'] });
	await expect.element(screen.getByTestId('fresh-key-text')).toHaveTextContent(SECRET);
	await expect.element(screen.getByTestId('fresh-key-title')).toHaveFocus();
	for (const each of ['openai', 'ag-ui', 'cursor', 'a2a', 'curl']) {
		await screen.getByTestId(`client-${each}`).click();
		await expect.poll(shownCode, { message: each }).toContain(SECRET);
	}
	await expect
		.element(screen.getByTestId('key-row'))
		.toMatchTextContent(/Editor.*ors_abcdef….*read, execute.*Never used/);

	await screen.getByRole('button', { name: 'Delete Editor' }).click();
	await expect
		.element(screen.getByRole('dialog'))
		.toMatchTextContent(/lose access at once.*Their chats and files stay/);
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByTestId('revoked-keys')).toMatchTextContent(/1 deleted key/);
	expect(client.revokeKey).toHaveBeenCalledExactlyOnceWith('key_1');
	expect(document.body.innerHTML).not.toContain(SECRET);
	await expect.poll(shownCode).toContain('<your key>');
});

test('F12: a new key is shown where the program that is shown needs none', async () => {
	const { screen, make } = await setup({ hash: '#library' });
	expect(screen.getByTestId('new-key').elements()).toHaveLength(0);
	await make('Editor');
	await expect.element(screen.getByTestId('fresh-key-text')).toHaveTextContent(SECRET);
});

test('F12: a page that is opened again knows no key, however it was made', async () => {
	const { screen, make } = await setup();
	await make('Editor');
	await screen.unmount();
	const again = await setup({ keys: [keyOf('key_1')] });
	await expect.element(again.screen.getByTestId('key-row')).toBeVisible();
	expect(document.body.innerHTML).not.toContain(SECRET);
});

test('F12: a key needs a name and a scope, and has those that were chosen', async () => {
	const { screen, client } = await setup();
	await screen.getByTestId('another-key').click();
	const create = screen.getByTestId('create-key');
	await screen.getByTestId('key-name').fill('   ');
	await expect.element(create).toBeDisabled();
	await screen.getByTestId('key-name').fill(' CI ');
	await screen.getByTestId('scope-execute').click();
	await screen.getByTestId('scope-read').click();
	await expect.element(create).toBeDisabled();
	await screen.getByTestId('scope-write').click();
	await screen.getByTestId('scope-read').click();
	await create.click();
	expect(client.createKey).toHaveBeenCalledExactlyOnceWith({ name: 'CI', scopes: ['read', 'write'] });
	await screen.getByTestId('another-key').click();
	await expect.element(screen.getByTestId('key-name')).toHaveValue('');
});

test('F12: a key that cannot be made, listed or revoked says why, and what was typed stays', async () => {
	const { screen } = await setup({ keys: [keyOf('a')] }, (client) => {
		client.listKeys.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'));
		client.createKey.mockRejectedValueOnce(new ApiError('invalid_input', 'Not this name.'));
		client.revokeKey.mockRejectedValueOnce(new ApiError('not_found', 'There is no such API key.'));
	});
	await expect.element(screen.getByTestId('keys-error')).toMatchTextContent(/The database is busy/);
	await screen.getByRole('button', { name: 'Try again' }).click();
	await expect.element(screen.getByTestId('key-row')).toBeVisible();
	await screen.getByTestId('another-key').click();
	await screen.getByTestId('key-name').fill('Editor');
	await screen.getByTestId('create-key').click();
	await expect.element(screen.getByTestId('key-error')).toMatchTextContent(/Not this name/);
	await expect.element(screen.getByTestId('key-name')).toHaveValue('Editor');
	await screen.getByRole('button', { name: 'Delete for a' }).click();
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByRole('dialog')).toMatchTextContent(/There is no such API key/);
});

test('F12: a key is given another name where it stands; what is refused says why', async () => {
	const { screen, client, make } = await setup();
	await make('Editor');
	client.renameKey.mockRejectedValueOnce(new ApiError('not_found', 'There is no such API key.'));
	await screen.getByRole('button', { name: 'Rename Editor' }).click();
	const field = screen.getByTestId('rename-input');
	await expect.element(field).toHaveFocus();
	await field.fill('Office');
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByRole('alert')).toMatchTextContent(/There is no such API key/);
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByTestId('key-row')).toMatchTextContent(/^Office/);
	await expect.element(screen.getByRole('button', { name: 'Rename Office' })).toHaveFocus();
	await expect.element(screen.getByText('Key “Office” created')).toBeVisible();
	expect(client.renameKey).toHaveBeenLastCalledWith('key_1', 'Office');
});

test('F12: where nobody must log in it says that no key is needed, and what one is good for all the same', async () => {
	const open = await setup({ needsKey: false });
	await expect
		.element(open.screen.getByTestId('key-needed'))
		.toMatchTextContent(/No key needed.*own chats and files, and Runs shows its name/);
	// The copied settings work unchanged.
	expect(document.body.textContent).not.toContain('<your key>');
	await open.screen.unmount();
	const closed = await setup({ needsKey: true });
	await expect
		.element(closed.screen.getByTestId('key-needed'))
		.toMatchTextContent(/^\s*Every program needs an API key/);
});

test('F12: an editor is connected by one click, and its link has a key only once somebody made one', async () => {
	const { screen } = await setup({ hash: '#cursor' });
	await expect.element(screen.getByRole('button', { name: 'Add to Cursor' })).toBeDisabled();
	await screen.getByTestId('create-client-key').click();
	await expect.element(screen.getByTestId('add-with-link')).toMatchTextContent(/The link has your key in it/);
	const cursor = new URL(screen.getByTestId('install-link-cursor').element().getAttribute('href') ?? '');
	expect(`${cursor.protocol}//${cursor.host}${cursor.pathname}`).toBe('cursor://anysphere.cursor-deeplink/mcp/install');
	const server = { url: `${ORIGIN}/mcp`, headers: { Authorization: `Bearer ${SECRET}` } };
	expect(cursor.searchParams.get('name')).toBe('skills');
	expect(JSON.parse(atob(cursor.searchParams.get('config') ?? ''))).toEqual(server);
	await screen.getByTestId('client-vscode').click();
	const link = screen.getByTestId('install-link-vscode').element().getAttribute('href') ?? '';
	expect(link).toMatch(/^vscode:mcp\/install\?/);
	const config: unknown = JSON.parse(decodeURIComponent(link.slice(link.indexOf('?') + 1)));
	expect(config).toEqual({ name: 'skills', type: 'http', ...server });
	await screen.unmount();

	const { screen: open } = await setup({ hash: '#cursor', needsKey: false });
	const plain = new URL(open.getByTestId('install-link-cursor').element().getAttribute('href') ?? '');
	expect(JSON.parse(atob(plain.searchParams.get('config') ?? ''))).toEqual({ url: `${ORIGIN}/mcp` });
	expect(open.getByTestId('add-with-link').element().textContent).not.toContain('key');
});

test('F12: says once a program has connected, by its key', async () => {
	const { screen, client, connect } = await setup({ hash: '#cursor' });
	expect(screen.getByTestId('key-use').elements()).toEqual([]);
	await screen.getByTestId('create-client-key').click();
	await expect.element(screen.getByTestId('key-use')).toHaveTextContent('Not connected yet');
	const [made] = connect.keys.value ?? [];
	const data = [{ ...keyOf('x'), ...made, lastUsedAt: new Date().toISOString() }];
	client.listKeys.mockResolvedValue({ data, latestProgram: null });
	// Nobody reloads the page: it looks by itself.
	await expect
		.poll(() => screen.getByTestId('key-use').element().textContent.trim(), { timeout: 15_000 })
		.toBe('Connected. Last used just now');
	const asked = client.listKeys.mock.calls.length;
	await screen.getByTestId('client-codex').click();
	await screen.getByTestId('client-cursor').click();
	expect(client.listKeys.mock.calls.length).toBe(asked);
});

test('F12: says by its own name which program has connected without a key, also beside a key that was never used', async () => {
	const { screen, client } = await setup({ hash: '#cursor', needsKey: false, keys: [keyOf('k', { name: 'Cursor' })] });
	await expect.element(screen.getByTestId('key-use')).toHaveTextContent('Not connected yet');
	const latestProgram = { name: 'cursor\u202e', connectedAt: new Date().toISOString() };
	client.listKeys.mockResolvedValue({ data: [], latestProgram });
	await expect
		.poll(() => screen.getByTestId('key-use').element().textContent.trim(), { timeout: 15_000 })
		.toBe('“cursor⟨U+202E⟩” connected just now');
	// What doesn't connect over MCP can't be seen.
	await screen.getByTestId('client-curl').click();
	await expect.element(screen.getByTestId('key-use')).not.toBeInTheDocument();
});
