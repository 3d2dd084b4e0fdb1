import { expect, test } from 'vitest';
import { pageTitle } from './app.svelte.ts';

const quiet = { isWaiting: false, isRunning: false, unreadCount: 0 };

test.each([
	['Plans · OpenRouter Skills', 'Plans', quiet],
	['OpenRouter Skills', '', quiet],
	['… Plans · OpenRouter Skills', 'Plans', { ...quiet, isRunning: true }],
	['(2) Plans · OpenRouter Skills', 'Plans', { ...quiet, isRunning: true, unreadCount: 2 }],
	['(!) Plans · OpenRouter Skills', 'Plans', { isWaiting: true, isRunning: true, unreadCount: 2 }],
	['(1) OpenRouter Skills', '', { ...quiet, unreadCount: 1 }]
])('%s', (title, name, state) => {
	expect(pageTitle(name, state)).toBe(title);
});
