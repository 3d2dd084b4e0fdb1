/** The programs in examples/, unchanged, with the vendors' clients and the installed package (B11, D39). */
import { cp, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { installLibrary, type InstalledLibrary } from '../support/installed-library.ts';
import { startVendorServer, type Vendor } from '../support/vendor-servers.ts';

const ROOT = join(import.meta.dirname, '../..');
// Each test starts programs, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let library: InstalledLibrary;
beforeAll(async () => {
	library = await installLibrary();
}, 180_000);
afterAll(() => library.remove());

const settingsOf = (url: string) => ({
	...{ OPENAI_API_KEY: 'any', OPENAI_BASE_URL: `${url}/v1` },
	...{ ANTHROPIC_API_KEY: 'any', ANTHROPIC_BASE_URL: url },
	...{ GEMINI_API_KEY: 'any', GEMINI_BASE_URL: url }
});

test.each<[Vendor, string, string]>([
	['responses', 'responses.mjs', 'openai'],
	['chat', 'chat-completions.mjs', 'openai'],
	['anthropic', 'anthropic.mjs', '@anthropic-ai/sdk'],
	['gemini', 'gemini.mjs', '@google/genai']
])(
	'B11, B17, D39: %s: examples/%s with %s prints the number that the skill counted',
	async (vendor, example, client) => {
		const program = join(library.dir, example.replace('.mjs', ''));
		const link = join(program, 'node_modules', client);
		await mkdir(dirname(link), { recursive: true });
		await symlink(join(ROOT, 'node_modules', client), link);
		await cp(join(ROOT, 'examples', example), join(program, 'main.mjs'));
		const args = { skill: 'count-words', script: 'scripts/count.mjs', args: ['one two three four five'] };
		const server = await startVendorServer(vendor, [
			{ calls: [{ name: 'load_skill', args: { skill: 'count-words' } }] },
			{ calls: [{ name: 'use_skill', args }] },
			{ text: (results) => `It has ${/\\"words\\":\s*(\d+)/.exec(results.at(-1) ?? '')?.[1]} words.` }
		]);
		try {
			const { stdout } = await library.runCommand('node', [join(program, 'main.mjs')], settingsOf(server.url));
			expect(server.violations).toEqual([]);
			expect(stdout).toBe('It has 5 words.\n');
		} finally {
			await server.close();
		}
	}
);
