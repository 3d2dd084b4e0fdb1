/** The page's own list of messages, with an answer at its end that grows. */
import { mount } from 'svelte';
import { createClient } from '../src/lib/page/server.ts';
import { MessageEntry } from '../src/lib/page/conversation/message-entry.svelte.ts';
import { ChatSession } from '../src/lib/page/conversation/session.svelte.ts';
import MessageList from '../src/lib/page/messages/MessageList.svelte';
import { emptyAnswer, type Message } from '../src/lib/shared/message.ts';
import type { Show } from './ui-page.svelte.ts';
import { sampleText } from './ui-sample.ts';

const TIME = '2026-01-01T00:00:00.000Z';
const EARLIER_LENGTH = 1200;

export function showThread(earlier: number): Show {
	const session = new ChatSession('bench', createClient(), {
		runStarted: () => undefined,
		runEnded: () => undefined,
		titled: () => undefined
	});
	const answer = new MessageEntry(emptyAnswer('answer', 'run', TIME));
	session.phase = 'ready';
	session.entries = [...Array.from({ length: earlier }, (_, index) => new MessageEntry(said(index))), answer];
	const column = document.body.appendChild(document.createElement('div'));
	column.className = 'flex h-full min-w-0 flex-col';
	mount(MessageList, {
		target: column,
		props: { session, model: 'test/model', onfork: () => undefined, onremove: async () => undefined }
	});
	return (text, isGrowing) => {
		answer.message = {
			...answer.message,
			status: isGrowing ? 'running' : 'complete',
			parts: [{ type: 'text', id: 't', text }]
		};
	};
}

function said(index: number): Message {
	const text = index % 2 === 0 ? `Question ${index}` : sampleText('mixed', EARLIER_LENGTH);
	return {
		...emptyAnswer(`m${index}`, `run${index}`, TIME),
		role: index % 2 === 0 ? 'user' : 'assistant',
		status: 'complete',
		parts: [{ type: 'text', id: 't', text }]
	};
}
