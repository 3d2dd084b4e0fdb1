import { beforeEach, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import ChatPage from '../../../../tests/support/ChatPage.svelte';
import { createFakeAccount } from '../../../../tests/support/fake-account.ts';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeConversations } from '../../../../tests/support/fake-conversations.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import { sampleList, sampleSummary } from '../../../../tests/support/sample-skills.ts';
import '../../../app.css';
import { ChatApp } from '../../chat/app.svelte.ts';
import { ChatSession } from '../../chat/session.svelte.ts';
import { startWith } from '../../chat/start-with.ts';
import type { Health } from '../../shared/api.ts';
import type { RunEvent } from '../../shared/events.ts';

const skills = [
	sampleSummary({ id: 'data-analysis', name: 'data-analysis', description: 'Analyses tables. More.' }),
	sampleSummary({ id: 'count-words', name: 'count-words', description: 'Counts the words of a text.' }),
	sampleSummary({ id: 'weather', name: 'weather', description: 'Tells the weather of a place.' }),
	sampleSummary({ id: 'deploy', name: 'deploy', description: 'Puts a site on the web.' }),
	sampleSummary({ id: 'quiet', name: 'quiet', mode: 'off' })
];
let client: FakeClient;
let app: ChatApp;
let session: ChatSession;
let went: string[];

beforeEach(async () => {
	localStorage.clear();
	sessionStorage.clear();
	went = [];
	client = createFakeClient();
	client.listSkills = async (number, limit) => sampleList(skills, { page: number, limit });
	const go = (path: string): void => void went.push(path);
	app = new ChatApp(client, createFakeAccount(), { conversations: createFakeConversations(), go });
	await app.library.refresh();
	session = new ChatSession('c', client, app.conversations, createFakeServices());
	app.health = health(false);
});

function health(offline: boolean): Health {
	return {
		...{ status: 'ok', version: '1', database: 'sqlite', login: false, skills: { ready: 4, broken: 0 } },
		model: { id: 'test/model', offline, baseUrl: null },
		sandbox: {
			...{ name: 'process', running: 0 },
			isolation: { files: true, network: true, processes: true, limits: true }
		}
	};
}

const setup = async () => {
	const screen = await render(ChatPage, { app, session });
	return { screen, input: screen.getByTestId('composer-input') };
};

async function command(written: string): Promise<void> {
	await page.getByTestId('composer-input').fill(written);
	await userEvent.keyboard('{Enter}');
}


const SIZES = [[390, 844], [1280, 800]] as const;
for (const theme of ['light', 'dark']) for (const [width, height] of SIZES) test(`shots ${theme} ${width}`, async () => {
	await page.viewport(width, height);
	document.documentElement.dataset.theme = theme;
	const shot = (name: string) => page.screenshot({ path: `/work/main/test-results/c-${name}-${theme}-${width}.png` });
	const { screen, input } = await setup();
	await shot('empty');
	app.health = health(true);
	await expect.element(screen.getByTestId('key-card')).toBeVisible();
	await shot('offline');
	app.health = health(false);
	await input.fill('please use $');
	await expect.element(screen.getByTestId('completions')).toBeVisible();
	await shot('names');
	await userEvent.keyboard('{ArrowDown}{Enter}');
	await session.skills.pinByName('data-analysis', { description: 'x', tokens: 1234 });
	session.draft.mention('out/a-table-with-a-rather-long-name-that-goes-on.csv', 123456);
	const png = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), (character) => character.charCodeAt(0));
	session.draft.attach([{ path: 'dot.png', file: new File([png], 'dot.png', { type: 'image/png' }) }], []);
	session.draft.attach([{ path: 'Pasted text.txt', file: new File(['x'], 'Pasted text.txt') }], [], 'x');
	client.uploads[0]?.progress(0.4);
	client.uploads[1]?.finish();
	await input.fill('please look at this, a text that is long enough to take two lines or so on a phone, maybe three');
	await shot('full');
	for (const attachment of session.draft.attachments) session.draft.remove(attachment);
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByTestId('stop')).toBeVisible();
	session.queue.items = [{ id: '1', text: 'and then?', files: [], createdAt: '' }, { id: '2', text: 'Something long that has to be told in more than one line on a small screen, and in one on a large one', files: ['a'], createdAt: '' }];
	await input.fill('next');
	await shot('running');
	await input.fill('/');
	await shot('commands');
	await input.fill('');
	await screen.getByTestId('add').click();
	await shot('menu');
});
