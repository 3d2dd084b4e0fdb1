import { describe, expect, test } from 'vitest';
import { checkDoor } from './doors.ts';

function knock(method: string, path: string, headers: Record<string, string>): string {
	try {
		checkDoor({ method, path, headers: new Headers({ host: '127.0.0.1:3000', ...headers }) });
		return 'open';
	} catch (error) {
		return (error as { code: string }).code;
	}
}

describe('the door', () => {
	test('opens for loopback hosts only', () => {
		for (const host of ['localhost', 'localhost:3000', '127.0.0.1:3000', '127.8.0.1', '[::1]:3000']) {
			expect(knock('GET', '/', { host }), host).toBe('open');
		}
		for (const host of [
			'',
			'evil.example',
			'localhost.evil.example',
			'127.0.0.1.evil.example',
			'10.0.0.1',
			'0.0.0.0'
		]) {
			expect(knock('GET', '/', { host }), host).toBe('forbidden');
		}
	});

	test('opens for the own origin and none other, not even another port', () => {
		expect(knock('GET', '/api/health', { origin: 'http://127.0.0.1:3000' })).toBe('open');
		for (const origin of ['http://evil.example', 'http://127.0.0.1:4000', 'http://localhost:3000', 'null']) {
			expect(knock('GET', '/api/health', { origin }), origin).toBe('forbidden');
		}
	});

	test('keeps the API shut to another site that sends no origin; a link to a page works', () => {
		expect(knock('GET', '/api/health', { 'sec-fetch-site': 'cross-site' })).toBe('forbidden');
		expect(knock('GET', '/', { 'sec-fetch-site': 'cross-site' })).toBe('open');
	});

	test('takes writes as JSON only, because a form of another site cannot send that', () => {
		for (const type of ['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json']) {
			expect(knock('POST', '/api/chat', { 'content-type': type }), type).toBe('open');
		}
		for (const type of ['', 'text/plain', 'application/jsonp', 'text/plain; application/json']) {
			expect(knock('POST', '/api/chat', { 'content-type': type }), type).toBe('unsupported_media_type');
		}
	});

	test('takes a file of any type where files are put, and nowhere else', () => {
		expect(knock('PUT', '/api/conversations/c1/files/a/b.csv', { 'content-type': 'text/csv' })).toBe('open');
		expect(knock('PUT', '/api/conversations/c1/files/', {})).toBe('unsupported_media_type');
		expect(knock('POST', '/api/conversations/c1/files/a.csv', {})).toBe('unsupported_media_type');
	});
});
