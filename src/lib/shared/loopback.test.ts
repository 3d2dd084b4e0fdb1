import { expect, test } from 'vitest';
import { isLoopback } from './errors.ts';

test('E19: loopback is 127.0.0.0/8, ::1 and localhost, and nothing that only looks like them', () => {
	for (const host of ['0.0.0.0', '::', '127.0.0.1.evil.example', 'localhost.evil.example', '127.1', '0x7f.0.0.1']) {
		expect(isLoopback(host), host).toBe(false);
	}
	for (const host of [
		'',
		'127.0.0.256',
		'128.0.0.1',
		'10.0.0.1',
		'::ffff:10.0.0.1',
		'127.0.0.1\n',
		'[::1',
		'localhost.'
	]) {
		expect(isLoopback(host), host).toBe(false);
	}
	for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.255.255.254', '::1', '[::1]']) {
		expect(isLoopback(host), host).toBe(true);
	}
});
