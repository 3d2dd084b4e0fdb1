import axe from 'axe-core';
import { afterEach, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import '../../../app.css';
import Parts from './Parts.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';

/** CSS pixels. */
const EDGE = 16;

afterEach(() => {
	localStorage.clear();
	delete document.documentElement.dataset.theme;
});

for (const theme of ['light', 'dark'] as const) {
	for (const width of [1280, 390]) {
		test(`UI 10.4: every part is accessible, fits and shows something, ${theme}, ${width} pixels wide`, async () => {
			await page.viewport(width, 844);
			localStorage.setItem('theme', theme);
			const screen = await render(Parts);
			await expect.element(screen.getByTestId('parts')).toBeVisible();
			const root = screen.getByTestId('parts').element();
			expect(document.documentElement.dataset.theme).toBe(theme);
			const sections = [...root.querySelectorAll('[data-testid=part-section]')];
			expect(sections.length).toBeGreaterThan(10);
			// Colors are read from the styles, which a test server delivers a little later.
			expect(root.querySelectorAll('[data-testid=part-colors] li').length).toBeGreaterThan(20);
			expect(root.querySelectorAll('[data-testid=step]')).toHaveLength(8);
			for (const section of sections) {
				const box = section.getBoundingClientRect();
				expect(box.height, section.id).toBeGreaterThan(40);
				// Buttons and tabs may extend into the page's margin.
				expect(section.scrollWidth, section.id).toBeLessThanOrEqual(section.clientWidth + EDGE);
			}
			expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width);
			await eventually(async () => {
				const { violations } = await axe.run(root);
				expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`)).toEqual([]);
			});
			// For people to look at: pixels differ a little between browser versions.
			await page.viewport(width, 12_000);
			await page.screenshot({ element: root, path: `../../../../test-results/parts/${theme}-${width}.png` });
		});
	}
}
