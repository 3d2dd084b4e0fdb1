import { expect, test } from 'vitest';
import { pageTitle } from './app.svelte.ts';

const quiet = { isWaiting: false, isRunning: false, unreadCount: 0 };

test.each([
	['Plans · openrouter-skills', 'Plans', quiet],
	['openrouter-skills', '', quiet],
	['… Plans · openrouter-skills', 'Plans', { ...quiet, isRunning: true }],
	['(2) Plans · openrouter-skills', 'Plans', { ...quiet, isRunning: true, unreadCount: 2 }],
	['(!) Plans · openrouter-skills', 'Plans', { isWaiting: true, isRunning: true, unreadCount: 2 }],
	['(1) openrouter-skills', '', { ...quiet, unreadCount: 1 }]
])('%s', (title, name, state) => {
	expect(pageTitle(name, state)).toBe(title);
});
