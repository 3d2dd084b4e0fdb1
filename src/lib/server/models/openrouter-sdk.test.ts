import { afterEach, expect, test, vi } from 'vitest';
import { startOpenRouter } from '../../../../tests/support/openrouter-server.ts';
import { createModelCatalog } from './catalog.ts';
import { createSignIns } from './keys.ts';

afterEach(() => vi.unstubAllEnvs());

test('SECURITY Outbound requests: the SDK sends no key of the environment to the server that is set', async () => {
	// The SDK uses these by itself if it isn't given any.
	vi.stubEnv('OPENROUTER_API_KEY', 'sk-of-the-environment');
	vi.stubEnv('OPENROUTER_BASE_URL', 'http://127.0.0.1:9/api/v1');
	const server = await startOpenRouter();
	try {
		const url = new URL(`${server.baseUrl}/models`);
		expect((await createModelCatalog({ url, headers: {}, fetch }).list()).models).toHaveLength(1);
		const signIns = createSignIns({ fetch });
		const callback = new URL(await signIns.start(server.baseUrl, new URL('http://127.0.0.1/'))).searchParams.get(
			'callback_url'
		);
		const state = new URL(callback ?? '').searchParams.get('state') ?? '';
		await expect(signIns.complete('code', state)).rejects.toThrow('rejected');
		expect(server.requests.map(({ method, authorization }) => [method, authorization])).toEqual([
			['GET', undefined],
			['POST', undefined]
		]);
	} finally {
		await server.close();
	}
});
