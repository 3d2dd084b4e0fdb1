import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { ApiError } from '../request.ts';
import type { RunOffer } from '../../shared/api.ts';
import type { OfferedSkill } from '../../shared/events.ts';
import WhySkills from './WhySkills.svelte';

const offered = (name: string, more: Partial<OfferedSkill> = {}): OfferedSkill => ({
	...{ name, description: `About ${name}.`, told: 'full', tokens: 20, points: 0, signals: [] },
	...more
});
const PDF = offered('fill-pdf', {
	points: 7.128,
	tokens: 30,
	signals: [
		{ signal: 'name', words: ['fill', 'pdf'], points: 4.5 },
		{ signal: 'whole name', words: ['fill', 'pdf'], points: 2 },
		{ signal: 'description', words: ['form'], points: 0.628 }
	]
});
const OFFER: RunOffer = {
	isBuiltIn: false,
	offer: {
		skills: [
			offered('tides', { always: 'pinned', tokens: 400 }),
			PDF,
			offered('csv', { told: 'name', tokens: 2 }),
			offered('zebra', { told: 'omitted', tokens: 0 })
		],
		total: 303,
		tokens: 2400
	},
	loaded: ['fill-pdf', 'far'],
	ran: [
		{ skill: 'fill-pdf', script: 'scripts/fill.py', status: 'success' },
		{ skill: 'fill-pdf', script: 'scripts/check.py', status: 'error' }
	]
};

async function setup(offer: RunOffer) {
	const client = { getOffer: vi.fn(async (_runId: string, _signal: AbortSignal) => offer) };
	return { client, screen: await render(WhySkills, { runId: 'r1', client }) };
}
type Screen = Awaited<ReturnType<typeof setup>>['screen'];
const names = (screen: Screen) =>
	screen
		.getByTestId('why-row')
		.elements()
		.map((row) => (row as HTMLElement).dataset.name);

test('F2: each offered skill says how it was told, what it took, and where its points come from', async () => {
	const { client, screen } = await setup(OFFER);
	await expect
		.element(screen.getByTestId('why-summary'))
		.toHaveTextContent('303 skills available; listing them took about 2.4k tokens. Showing the best 4.');
	expect(client.getOffer).toHaveBeenCalledExactlyOnceWith('r1', expect.any(AbortSignal));
	await expect
		.element(screen.getByTestId('why-points'))
		.toMatchTextContent(/^How well a skill’s words match your question/);
	expect(names(screen)).toEqual(['tides', 'fill-pdf', 'csv']);
	const [tides, pdf, csv] = [0, 1, 2].map((index) => screen.getByTestId('why-row').nth(index));
	await expect.element(tides!).toMatchTextContent(/tides\s*pinned\s*full description · 400 tokens/);
	await expect.element(tides!).toMatchTextContent(/0%\s*no matching words/);
	await expect
		.element(pdf!)
		.toMatchTextContent(/100%\s*name: fill, pdf \(63%\) · full name: fill, pdf \(28%\) · description: form \(9%\)/);
	await expect
		.element(pdf!)
		.toMatchTextContent(
			/loaded\s*full description · 30 tokens\s*scripts\/fill\.py\s*ran\s*scripts\/check\.py\s*failed/
		);
	await expect.element(csv!).toMatchTextContent(/name only · 2 tokens/);
	await expect.element(pdf!.getByRole('link')).toHaveAttribute('href', '/skills/fill-pdf');
});

test('F2: one can look at those that were loaded, and those that the model was not told of, by keyboard as well', async () => {
	const { screen } = await setup(OFFER);
	await expect.element(screen.getByTestId('why-summary')).toBeVisible();
	await screen.getByText(/^\s*Loaded\s*\d/).click();
	expect(names(screen)).toEqual(['fill-pdf', 'far']);
	await expect.element(screen.getByTestId('why-row').nth(1)).toMatchTextContent(/not in this list/);
	await userEvent.keyboard('{ArrowRight}');
	await expect.element(screen.getByRole('radio', { name: /Left out\s*1/ })).toBeChecked();
	expect(names(screen)).toEqual(['zebra']);
	await expect.element(screen.getByTestId('why-row')).toMatchTextContent(/left out: no room/);
});

test('F2: what there is not is said in a sentence', async () => {
	const { screen } = await setup({
		...OFFER,
		offer: { ...OFFER.offer!, skills: [offered('tides')], total: 1 },
		loaded: [],
		ran: []
	});
	await expect
		.element(screen.getByTestId('why-points'))
		.toHaveTextContent('No words in your question match these skills.');
	await screen.getByText(/^\s*Loaded\s*\d/).click();
	await expect.element(screen.getByTestId('why-empty')).toHaveTextContent('No skill was loaded or run.');
	await screen.getByText(/^\s*Left out\s*\d/).click();
	await expect.element(screen.getByTestId('why-empty')).toHaveTextContent('No skills were left out.');
	await screen.unmount();

	const old = (await setup({ ...OFFER, offer: null, loaded: [], ran: [] })).screen;
	await expect.element(old.getByTestId('why-summary')).toMatchTextContent(/^No skill details were saved/);
	await expect.element(old.getByRole('radio')).not.toBeInTheDocument();
	await old.unmount();

	const none = (await setup({ isBuiltIn: true, offer: { skills: [], total: 0, tokens: 0 }, loaded: [], ran: [] }))
		.screen;
	await expect.element(none.getByTestId('why-summary')).toHaveTextContent('No skills were available.');
	await expect.element(none.getByTestId('why-built-in')).toMatchTextContent(/Demo mode/);
});

test('F2: it says that it reads, that it could not, and tries again', async () => {
	const { promise, reject } = Promise.withResolvers<RunOffer>();
	const client = { getOffer: vi.fn((_runId: string, _signal: AbortSignal) => promise) };
	const screen = await render(WhySkills, { runId: 'r1', client });
	await expect.element(screen.getByRole('status')).toHaveTextContent('Loading skill details…');
	reject(new ApiError('not_found', 'There is no such run.'));
	await expect.element(screen.getByTestId('why-error')).toMatchTextContent(/There is no such run/);
	client.getOffer.mockResolvedValueOnce(OFFER);
	await screen.getByRole('button', { name: 'Try again' }).click();
	await expect.element(screen.getByTestId('why-summary')).toBeVisible();
	await screen.rerender({ runId: 'r2' });
	expect(client.getOffer).toHaveBeenLastCalledWith('r2', expect.any(AbortSignal));
	expect(client.getOffer.mock.calls[1]![1].aborted).toBe(true);
});

test('F2: a foreign name stays in its row, and hides nothing', async () => {
	await page.viewport(390, 800);
	const name = `${String.fromCodePoint(0x202e)}${'long-name'.repeat(20)}`;
	const { screen } = await setup({ ...OFFER, offer: { skills: [{ ...PDF, name }], total: 1, tokens: 9 } });
	const row = screen.getByTestId('why-row');
	await expect.element(row).toBeVisible();
	expect(row.element().textContent).not.toContain(String.fromCodePoint(0x202e));
	expect(row.element().scrollWidth).toBeLessThanOrEqual(row.element().clientWidth);
	await page.viewport(1280, 800);
});
