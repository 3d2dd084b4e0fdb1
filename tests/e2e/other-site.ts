/** A foreign web page: a real server on another port, and everything its script tries against the app. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OtherSite {
	port: number;
	close: () => Promise<void>;
}

/** Serves one empty page at every path, on all addresses of this machine. */
export async function startOtherSite(): Promise<OtherSite> {
	const server = createServer((_request, response) => {
		response.writeHead(200, { 'content-type': 'text/html' });
		response.end('<!doctype html><title>Another site</title><body>Win a prize</body>');
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		port: (server.address() as AddressInfo).port,
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		}
	};
}

export interface Target {
	/** Origin of the app. */
	app: string;
	conversationId: string;
	/** A run it tries to start. */
	chat: unknown;
}

/**
 * Runs in the page. Tries to read from the app, write to it and run code in it, and reports each result: `read: …`
 * (it got something), or how it failed. Must not use anything defined outside the function.
 */
export async function attack({ app, conversationId, chat }: Target): Promise<Record<string, string>> {
	const conversation = `${app}/api/conversations/${conversationId}`;
	const body = JSON.stringify(chat);
	const told = async (response: Promise<Response>): Promise<string> => {
		try {
			const answer = await response;
			if (answer.type === 'opaque') return 'opaque';
			return `read: ${answer.status} ${await answer.text()}`;
		} catch {
			return 'failed';
		}
	};
	const loads = (tag: string, attributes: Record<string, string>): Promise<string> =>
		new Promise((resolve) => {
			const element = Object.assign(document.createElement(tag), attributes);
			element.onload = () => resolve('read: loaded');
			element.onerror = () => resolve('failed');
			document.body.append(element);
		});
	const connects = (source: EventSource | WebSocket): Promise<string> =>
		new Promise((resolve) => {
			source.onopen = () => resolve('read: open');
			source.onmessage = () => resolve('read: message');
			source.onerror = () => resolve('failed');
		});
	/** Submits a form into a frame, so the page stays, and waits until the app answers or the browser refuses to show it. */
	const submits = (method: string, action: string, enctype: string, fields: Record<string, string>): Promise<string> =>
		new Promise((resolve) => {
			const name = `frame-${Math.random()}`;
			const frame = Object.assign(document.createElement('iframe'), { name });
			const form = Object.assign(document.createElement('form'), { method, action, enctype, target: name });
			for (const [key, value] of Object.entries(fields)) {
				form.append(Object.assign(document.createElement('input'), { name: key, value }));
			}
			document.body.append(frame, form);
			frame.onload = () => {
				try {
					resolve(`read: ${frame.contentDocument?.body.textContent ?? 'nothing'}`.replace(/^read: nothing$/, 'failed'));
				} catch {
					resolve('failed');
				}
			};
			form.submit();
		});
	const frames = (src: string): Promise<string> =>
		new Promise((resolve) => {
			const frame = Object.assign(document.createElement('iframe'), { src });
			frame.onload = () => resolve(frame.contentDocument ? 'read: document' : 'failed');
			frame.onerror = () => resolve('failed');
			document.body.append(frame);
		});
	const text = { 'content-type': 'text/plain' };
	const json = { 'content-type': 'application/json' };

	return {
		get: await told(fetch(`${app}/api/conversations`)),
		getWithCookies: await told(fetch(`${app}/api/conversations`, { credentials: 'include' })),
		getOpaque: await told(fetch(`${app}/api/conversations`, { mode: 'no-cors' })),
		getFile: await told(fetch(`${conversation}/files/picture.png`, { mode: 'no-cors' })),
		getPage: await told(fetch(`${app}/`)),
		postText: await told(fetch(`${app}/api/chat`, { method: 'POST', headers: text, body })),
		postTextOpaque: await told(fetch(`${app}/api/chat`, { method: 'POST', mode: 'no-cors', headers: text, body })),
		postBlob: await told(fetch(`${app}/api/chat`, { method: 'POST', mode: 'no-cors', body: new Blob([body]) })),
		postJson: await told(fetch(`${app}/api/chat`, { method: 'POST', headers: json, body })),
		putFile: await told(fetch(`${conversation}/files/planted.txt`, { method: 'PUT', body: 'planted' })),
		logIn: await told(fetch(`${app}/api/session`, { method: 'POST', headers: json, body: '{"token":"guess"}' })),
		beacon: String(navigator.sendBeacon(`${app}/api/chat`, new Blob([body], { type: 'text/plain' }))) && 'sent',
		formText: await submits('post', `${app}/api/chat`, 'text/plain', { [body.slice(0, -1)]: '"}' }),
		formFields: await submits('post', `${app}/api/chat`, 'application/x-www-form-urlencoded', { threadId: 'x' }),
		formFile: await submits('post', `${conversation}/files/planted.txt`, 'multipart/form-data', { file: 'planted' }),
		formGet: await submits('get', `${app}/api/conversations`, 'application/x-www-form-urlencoded', { page: '1' }),
		image: await loads('img', { src: `${conversation}/files/picture.png` }),
		script: await loads('script', { src: `${conversation}/files/script.js` }),
		module: await loads('script', { src: `${conversation}/files/script.js`, type: 'module' }),
		json: await loads('script', { src: `${app}/api/conversations` }),
		style: await loads('link', { href: `${app}/api/conversations`, rel: 'stylesheet' }),
		events: await connects(new EventSource(`${app}/api/skills/events`)),
		eventsWithCookies: await connects(new EventSource(`${app}/api/skills/events`, { withCredentials: true })),
		socket: await connects(new WebSocket(`${app.replace('http', 'ws')}/api/skills/events`)),
		framePage: await frames(`${app}/`),
		frameApi: await frames(`${app}/api/conversations`),
		rename: await told(fetch(conversation, { method: 'PATCH', headers: json, body: '{"title":"taken over"}' })),
		remove: await told(fetch(conversation, { method: 'DELETE' }))
	};
}
