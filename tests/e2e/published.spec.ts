/** One app serves published skills, and another one installs them from it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InstallOutcome } from '../../src/lib/shared/install.ts';
import { publishCommand } from '../../src/lib/server/cli/publish.ts';
import { runCli } from '../../src/lib/server/skills/cli/run-cli.ts';
import { startApp } from '../support/app-process.ts';
import { expect, test } from './app.ts';

test('F8, E27: what one app publishes, another one installs; strangers see that and nothing else', async ({ app }) => {
	const site = await mkdtemp(join(tmpdir(), 'published-'));
	const { exitCode, stdout } = await runCli(['publish', 'skills/count-words', '--out', site], {
		publish: publishCommand
	});
	expect({ exitCode, stdout }).toMatchObject({
		exitCode: 0,
		stdout: expect.stringContaining('count-words') as unknown
	});
	const publisher = await startApp({
		env: { ADMIN_TOKEN: 'the-token-of-this-test-0123456789', SKILLS_PUBLISHED: site }
	});
	try {
		const at = (path: string) => fetch(`${publisher.url}/.well-known/agent-skills/${path}`);
		expect((await at('index.json')).headers.get('content-type')).toBe('application/json');
		const zip = Buffer.from(await (await at('count-words.zip')).arrayBuffer());
		expect(zip).toEqual(await readFile(join(site, '.well-known/agent-skills/count-words.zip')));
		for (const path of ['other.zip', '..%2f..%2fetc%2fpasswd', '']) expect((await at(path)).status).toBe(404);
		expect((await fetch(`${publisher.url}/api/skills`)).status).toBe(401);
		expect((await fetch(`${app.url}/.well-known/agent-skills/index.json`)).status).toBe(404);

		await app.restart({ env: { SKILLS_INSTALL_HOSTS: new URL(publisher.url).host } });
		const answer = await fetch(`${app.url}/api/skills/install`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ source: { type: 'well-known', url: publisher.url } })
		});
		expect(answer.status).toBe(201);
		const { installed } = (await answer.json()) as InstallOutcome;
		const index = (await (await at('index.json')).json()) as { skills: { digest: string }[] };
		expect(installed.map(({ name, origin }) => [name, origin.revision])).toEqual([
			['count-words', index.skills[0]?.digest]
		]);
	} finally {
		await publisher.stop();
		await rm(site, { recursive: true });
	}
});
