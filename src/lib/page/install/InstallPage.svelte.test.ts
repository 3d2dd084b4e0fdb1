import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeRegistry } from '../../../../tests/support/fake-registry.ts';
import { sampleStaged } from '../../../../tests/support/sample-skills.ts';
import { ApiError, type UploadOptions } from '../request.ts';
import type { ListedFile } from '../../shared/api.ts';
import type { CatalogSkill } from '../../shared/install.ts';
import InstallPage from './InstallPage.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';

async function setup(fromChat?: { id: string; folder: string }) {
	const client = { ...createFakeRegistry(), listFiles: vi.fn(async (): Promise<ListedFile[]> => []) };
	client.stage.mockResolvedValue(sampleStaged({ id: 's7' }));
	const onstaged = vi.fn();
	const screen = await render(InstallPage, { client, onstaged, fromChat });
	const choose = (testid: string, files: File[]) => {
		const input = screen.getByTestId(testid).element() as HTMLInputElement;
		const data = new DataTransfer();
		for (const file of files) data.items.add(file);
		input.files = data.files;
		input.dispatchEvent(new Event('change', { bubbles: true }));
	};
	return { screen, client, onstaged, choose };
}
const fileOf = (name: string, type = ''): File => new File(['x'], name, { type });

describe('E20: uploads', () => {
	test('a folder of a chat is sent as it lies there, without its neighbours; one that is gone says so', async () => {
		const { screen, onstaged } = await setup({ id: 'c1', folder: 'out/haiku' });
		await expect.element(screen.getByTestId('staging-error')).toMatchTextContent(/no longer in the chat/);
		await screen.unmount();
		const listed = (path: string) => ({ path, bytes: 1, modifiedAt: '', versions: [] });
		const client = createFakeRegistry();
		client.stageFolder.mockResolvedValue(sampleStaged({ id: 's9' }));
		const listFiles = async () => ['out/haiku/SKILL.md', 'out/haiku/a b/x.sh', 'out/haiku-2/y'].map(listed);
		const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('x'));
		await render(InstallPage, {
			...{ client: { ...client, listFiles }, onstaged, fromChat: { id: 'c1', folder: 'out/haiku' } }
		});
		await eventually(() => expect(onstaged).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 's9' })));
		expect(client.stageFolder.mock.calls[0]?.[0].map(({ path }) => path)).toEqual(['haiku/SKILL.md', 'haiku/a b/x.sh']);
		expect(fetched.mock.calls.map(([url]) => url)).toContain('/api/conversations/c1/files/out/haiku/a%20b/x.sh');
		fetched.mockRestore();
	});

	test('a zip is sent with its progress, and can be cancelled', async () => {
		const { screen, client, onstaged, choose } = await setup();
		let options: UploadOptions | undefined;
		client.stageZip.mockImplementationOnce(
			(_file, given) =>
				new Promise((_resolve, reject) => {
					options = given;
					given.signal.addEventListener('abort', () => reject(given.signal.reason));
				})
		);
		choose('zip-input', [fileOf('demo.zip')]);
		await expect.element(screen.getByTestId('staging-status')).toMatchTextContent(/Uploading \(0%\)\s*demo\.zip/);
		options?.onprogress(0.5);
		await expect.element(screen.getByRole('progressbar')).toHaveAttribute('value', '50');
		options?.onprogress(1);
		await expect.element(screen.getByTestId('staging-status')).toMatchTextContent(/Checking\s*demo\.zip/);
		await screen.getByTestId('cancel-staging').click();
		await expect.element(screen.getByRole('progressbar')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('staging-error')).not.toBeInTheDocument();
		expect(onstaged).not.toHaveBeenCalled();
	});

	test('a file that is no skill is refused in the words of the server, and the next can be tried', async () => {
		const { screen, client, onstaged, choose } = await setup();
		client.stageZip.mockRejectedValueOnce(
			new ApiError('invalid_input', 'The archive has the entry ../evil.', { hint: 'Pack it anew.' })
		);
		choose('zip-input', [fileOf('bad.zip')]);
		await expect.element(screen.getByTestId('staging-error')).toMatchTextContent(/\.\.\/evil\.\s*Pack it anew\./);
		client.stageZip.mockResolvedValueOnce(sampleStaged({ id: 's8' }));
		choose('zip-input', [fileOf('good.zip')]);
		await eventually(() => expect(onstaged).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 's8' })));
		await expect.element(screen.getByTestId('staging-error')).not.toBeInTheDocument();
	});

	test('a dropped zip is taken as one, loose files as a folder', async () => {
		const { screen, client, onstaged } = await setup();
		client.stageZip.mockResolvedValue(sampleStaged());
		client.stageFolder.mockResolvedValue(sampleStaged());
		const drop = (files: File[]) => {
			const dataTransfer = new DataTransfer();
			for (const file of files) dataTransfer.items.add(file);
			const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
			screen.getByTestId('drop-skill').element().dispatchEvent(event);
			return event;
		};
		expect(drop([fileOf('demo.ZIP')]).defaultPrevented).toBe(true);
		await eventually(() => expect(onstaged).toHaveBeenCalledTimes(1));
		drop([fileOf('SKILL.md'), fileOf('.DS_Store')]);
		await eventually(() => expect(onstaged).toHaveBeenCalledTimes(2));
		expect(client.stageFolder.mock.calls[0]?.[0].map(({ path }) => path)).toEqual(['SKILL.md']);
	});
});

describe('E20: sources that the server fetches', () => {
	test('a repository, with a branch and a folder where given; what was typed stays after a look elsewhere', async () => {
		const { screen, client, onstaged } = await setup();
		await screen.getByTestId('source-github').click();
		await screen.getByLabelText('Repository').fill(' acme/tools ');
		await screen.getByLabelText('Branch, tag or commit').fill('next');
		await screen.getByTestId('source-text').click();
		await expect.element(screen.getByLabelText('Repository')).not.toBeVisible();
		await screen.getByTestId('source-github').click();
		await expect.element(screen.getByLabelText('Repository')).toHaveValue(' acme/tools ');
		await screen.getByTestId('github-form').getByRole('button').click();
		const source = { type: 'github', repository: 'acme/tools', ref: 'next' };
		expect(client.stage).toHaveBeenCalledExactlyOnceWith(source, expect.any(AbortSignal));
		expect(onstaged).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 's7' }));
	});

	test('a site by its address, with the scheme or without', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('source-site').click();
		await screen.getByLabelText('Website address').fill('example.com');
		await screen.getByTestId('site-form').getByRole('button').click();
		expect(client.stage.mock.lastCall?.[0]).toEqual({ type: 'well-known', url: 'https://example.com' });
		await screen.getByLabelText('Website address').fill('http://localhost:8080/x');
		await screen.getByLabelText('Skill name').fill('demo');
		await screen.getByTestId('site-form').getByRole('button').click();
		const url = 'http://localhost:8080/x';
		expect(client.stage.mock.lastCall?.[0]).toEqual({ type: 'well-known', url, name: 'demo' });
	});

	test('the text of a SKILL.md, as it was pasted', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('source-text').click();
		await expect.element(screen.getByTestId('text-form').getByRole('button')).toBeDisabled();
		await screen.getByLabelText('SKILL.md').fill('---\nname: x\n---\n text ');
		await screen.getByTestId('text-form').getByRole('button').click();
		expect(client.stage.mock.lastCall?.[0]).toEqual({ type: 'inline', text: '---\nname: x\n---\n text ' });
	});
});

describe('E23, E26: catalogs', () => {
	const found = (more: Partial<CatalogSkill> = {}): CatalogSkill => ({
		...{ id: 'a', name: 'demo', description: 'Says things.', provider: 'skillssh', author: 'acme' },
		...{ popularity: { count: 1234, unit: 'installs' }, url: 'https://skills.sh/acme/tools/demo' },
		source: { type: 'skillssh', source: 'acme/tools', skillId: 'demo' },
		...more
	});

	test('are searched whichever is active, and what is found is fetched from there', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('source-catalogs').click();
		const skills = [found(), found({ id: 'b', name: 'nowhere', source: null, url: 'javascript:alert(1)' })];
		client.searchCatalog.mockResolvedValueOnce({ skills, total: 2, page: 1, limit: 20 });
		await screen.getByTestId('catalog-query').fill('say');
		await screen.getByTestId('catalog-search').click();
		expect(client.searchCatalog).toHaveBeenLastCalledWith('skillssh', 'say', 1);
		const rows = screen.getByTestId('catalog-skill');
		await expect.element(rows.nth(0)).toMatchTextContent(/1,234 installs/);
		await expect.element(rows.nth(1).getByRole('button')).toBeDisabled();
		expect(rows.nth(1).element().querySelector('a')).toBeNull();
		await rows.nth(0).getByRole('button').click();
		expect(client.stage.mock.lastCall?.[0]).toEqual({ type: 'skillssh', source: 'acme/tools', skillId: 'demo' });
	});

	test('give out pages; another search begins at the first', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('source-catalogs').click();
		await screen.getByLabelText('Catalog').selectOptions('SkillsMP');
		client.searchCatalog.mockImplementation(async (_catalog, _q, page) => ({
			...{ skills: [found()], total: 45, page, limit: 20 }
		}));
		await screen.getByTestId('catalog-query').fill('say');
		await screen.getByTestId('catalog-search').click();
		await screen.getByRole('button', { name: 'Next' }).click();
		expect(client.searchCatalog).toHaveBeenLastCalledWith('skillsmp', 'say', 2);
		await expect.element(screen.getByText('Page 2 of 3')).toBeVisible();
		await screen.getByRole('button', { name: 'Back' }).click();
		expect(client.searchCatalog).toHaveBeenLastCalledWith('skillsmp', 'say', 1);
		await screen.getByTestId('catalog-search').click();
		expect(client.searchCatalog).toHaveBeenLastCalledWith('skillsmp', 'say', 1);
	});

	test('that cannot be searched say why and lead to the settings; one that has nothing says so', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('source-catalogs').click();
		client.searchCatalog.mockRejectedValueOnce(new ApiError('invalid_input', 'SkillsMP needs a key.'));
		await screen.getByTestId('catalog-search').click();
		await expect.element(screen.getByTestId('catalog-error')).toMatchTextContent(/needs a key/);
		await expect.element(screen.getByRole('link', { name: 'Settings' })).toHaveAttribute('href', '/settings');
		await screen.getByTestId('catalog-search').click();
		await expect.element(screen.getByTestId('catalog-status')).toMatchTextContent(/Nothing was found/);
	});
});

test('E20: an address names the source that is shown first', async () => {
	const client = { ...createFakeRegistry(), listFiles: vi.fn() };
	const screen = await render(InstallPage, { client, onstaged: vi.fn(), hash: '#github' });
	await expect.element(screen.getByTestId('source-github')).toHaveAttribute('aria-pressed', 'true');
	await screen.getByTestId('source-text').click();
	await expect.element(screen.getByTestId('source-text')).toHaveAttribute('aria-pressed', 'true');
});
