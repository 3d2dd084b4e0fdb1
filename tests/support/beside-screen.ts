/** How far a page is wider than the screen. */
import type { Page } from '@playwright/test';

/** Pixels; the app's frame hides what is wider, so it is asked too. */
export function besideScreen(page: Page): Promise<number> {
	return page.evaluate(() => {
		const boxes = [document.documentElement, ...document.querySelectorAll('[data-testid=frame]')];
		return Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth));
	});
}
