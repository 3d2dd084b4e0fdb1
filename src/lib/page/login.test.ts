import { expect, test } from 'vitest';
import { addressAfterLogin } from './request.ts';

const HERE = 'http://127.0.0.1:3000';

test('E19: the login leads to nothing but a path of this server', () => {
	for (const next of [
		null,
		'',
		'c/1',
		'https://evil.example',
		'//evil.example',
		'///evil.example',
		'/\\evil.example',
		'\\\\evil.example',
		'/\t/evil.example',
		'/\n/evil.example',
		'\t//evil.example',
		' //evil.example',
		'/c/\0',
		'/\u0085/evil.example',
		'javascript:alert(1)',
		'data:text/html,x',
		'http://127.0.0.1:3000@evil.example',
		'/login',
		'/login?next=/login'
	]) {
		expect(addressAfterLogin(next, HERE), String(next)).toBe(`${HERE}/`);
	}
	expect(addressAfterLogin('/x/..//evil.example', HERE)).toBe(`${HERE}//evil.example`);
});

test('E19: the login leads back to where one was', () => {
	for (const next of ['/', '/c/1', '/skills?page=2', '/c/1?x=a%2F%2Fb#end', '/c/ü']) {
		expect(addressAfterLogin(next, HERE)).toBe(new URL(next, HERE).href);
	}
});
