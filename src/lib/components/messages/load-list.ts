/** Loads all that messages are made of: a task for the code, one for the parser, so that neither adds to the one that paints. */
import type { Component, ComponentProps } from 'svelte';
import type MessageList from './MessageList.svelte';

export async function loadMessageList(): Promise<Component<ComponentProps<typeof MessageList>>> {
	const [{ default: List }, { warmUpParser }] = await Promise.all([
		import('./MessageList.svelte'),
		import('../../chat/markdown/warm-up.ts')
	]);
	await nextTask();
	warmUpParser();
	await nextTask();
	return List;
}

function nextTask(): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve));
}
