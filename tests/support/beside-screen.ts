/** Measures horizontal overflow. */
import type { Page } from '@playwright/test';

/** In pixels. The app's frame clips its overflow, so it's measured too. */
export function besideScreen(page: Page): Promise<number> {
	return page.evaluate(() => {
		const boxes = [document.documentElement, ...document.querySelectorAll('[data-testid=frame]')];
		return Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth));
	});
}
