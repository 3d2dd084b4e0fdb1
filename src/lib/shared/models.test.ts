import { expect, test } from 'vitest';
import { modelBaseUrl } from './models.ts';

test('the address of a model’s server is kept without the slashes at its end', () => {
	expect(modelBaseUrl.parse('http://127.0.0.1:8000/v1//')).toBe('http://127.0.0.1:8000/v1');
});

test.each(['…', '', 'javascript:alert(1)', 'http://', 'http://a:b@127.0.0.1/', 'http://127.0.0.1/?a=b', 7])(
	'F9: what is no such address is refused, not failed over: %s',
	(value) => {
		expect(modelBaseUrl.safeParse(value).success).toBe(false);
	}
);
