/** The registry API from outside: the document's own example, uploads with curl, and a server killed during an install. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { zipOf } from '../support/zip-writer.ts';
import { expect, test as base } from './app.ts';

const run = promisify(execFile);
const TOKEN = 'a-token-for-the-management-of-skills';
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

/** As in the OmniRoute document, except for the host. */
const EXAMPLE = String.raw`curl -s -w '\n%{http_code}' -X POST HOST/api/skills/install \
  -H "Authorization: Bearer $OMNIROUTE_MGMT_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{
    "name": "reverse-text",
    "version": "1.0.0",
    "description": "Reverses a string",
    "schema": {
      "input":  { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
      "output": { "type": "object", "properties": { "reversed": { "type": "string" } } }
    },
    "handlerCode": "echo-handler",
    "apiKeyId": "your-api-key-id"
  }'`;

const test = base.extend<object, { folder: string }>({
	folder: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const folder = await mkdtemp(join(tmpdir(), 'registry-api-'));
			const handlers = "export default { 'echo-handler': ({ text }, { apiKeyId }) => ({ text, apiKeyId }) };";
			await writeFile(join(folder, 'handlers.mjs'), handlers);
			await use(folder);
			await rm(folder, { recursive: true, force: true });
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ folder }, use) => {
		await use({ env: { ADMIN_TOKEN: TOKEN, SKILLS_HANDLERS: join(folder, 'handlers.mjs') } });
	}
});

async function curl(command: string): Promise<{ status: number; body: Record<string, unknown> }> {
	const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, OMNIROUTE_MGMT_TOKEN: TOKEN } });
	const [body = '', status = ''] = [
		stdout.slice(0, stdout.lastIndexOf('\n')),
		stdout.slice(stdout.lastIndexOf('\n') + 1)
	];
	return { status: Number(status), body: JSON.parse(body) as Record<string, unknown> };
}

test('E5, D37, A41: the document’s curl example works as it stands, and what it installs runs for its key alone', async ({
	app,
	request
}) => {
	const example = EXAMPLE.replace('HOST', app.url);
	const first = await curl(example);
	expect(first).toMatchObject({ status: 201, body: { name: 'reverse-text', version: '1.0.0' } });
	expect(await curl(example)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });

	const execute = async (apiKeyId?: string) => {
		const data = {
			skillName: 'reverse-text',
			tool: 'reverse_text',
			input: { text: 'abc' },
			...(apiKeyId && { apiKeyId })
		};
		const response = await request.post(`${app.url}/api/skills/executions`, { headers, data });
		return { status: response.status(), body: (await response.json()) as Record<string, unknown> };
	};
	const [installed] = first.body.installed as { skillId: string }[];
	const skill = `${app.url}/api/skills/${installed?.skillId}`;
	expect((await execute('your-api-key-id')).status).toBe(409);
	await request.put(skill, { headers, data: { mode: 'on' } });
	expect((await execute('your-api-key-id')).status).toBe(403);
	const { digest } = (await (await request.get(skill, { headers })).json()) as { digest: string };
	await request.put(skill, { headers, data: { trust: { digest, isTrusted: true } } });

	expect(await execute('your-api-key-id')).toMatchObject({
		status: 201,
		body: { result: { success: true, value: { text: 'abc', apiKeyId: 'your-api-key-id' } } }
	});
	expect((await execute('another-key')).status).toBe(404);
	expect((await execute()).status).toBe(404);
	const history = await request.get(`${app.url}/api/skills/executions?apiKeyId=your-api-key-id`, { headers });
	expect(await history.json()).toMatchObject({ total: 1, data: [{ status: 'success', tool: 'reverse_text' }] });
});

test('E20: a zip as it is and a folder as a form are staged by curl, and nothing of another site is', async ({
	app,
	folder
}) => {
	const files = {
		'demo/SKILL.md': '---\nname: demo\ndescription: Demo.\n---\nRun it.\n',
		'demo/scripts/a b.sh': 'echo 1\n'
	};
	await writeFile(join(folder, 'demo.zip'), zipOf(Object.entries(files).map(([name, content]) => ({ name, content }))));
	for (const [path, text] of Object.entries(files)) {
		await mkdir(dirname(join(folder, path)), { recursive: true });
		await writeFile(join(folder, path), text);
	}
	const staged = `${app.url}/api/skills/install/staged`;
	const auth = `-s -w '\\n%{http_code}' -H "Authorization: Bearer $OMNIROUTE_MGMT_TOKEN"`;
	const zip = `curl ${auth} -H 'content-type: application/zip' --data-binary @'${folder}/demo.zip' ${staged}`;
	const form = [
		`curl ${auth}`,
		...Object.keys(files).map((path) => `-F 'files=@"${folder}/${path}";filename="${path}"'`),
		staged
	].join(' ');
	for (const command of [zip, form]) {
		const { status, body } = await curl(command);
		const [skill] = (body.skills ?? []) as { name: string; files: { path: string }[] }[];
		expect([status, skill?.name, skill?.files.map(({ path }) => path).sort()]).toEqual([
			201,
			'demo',
			['SKILL.md', 'scripts/a b.sh']
		]);
	}
	for (const command of [zip, form]) {
		expect((await curl(`${command} -H 'origin: https://elsewhere.example'`)).status).toBe(403);
	}
});

test('E20, E28: a server that is killed while it installs and removes has whole skills when it is back, or none', async ({
	app,
	request
}) => {
	test.slow();
	const zipOfVersion = (version: string) =>
		zipOf([
			{
				name: 'many/SKILL.md',
				content: `---\nname: many\ndescription: Many files.\nversion: ${version}\n---\nUse it.\n`
			},
			...Array.from({ length: 150 }, (_, index) => ({ name: `many/f${index}.txt`, content: `${version} ${index}\n` }))
		]);
	const install = async (version: string): Promise<void> => {
		const staged = await request.post(`${app.url}/api/skills/install/staged`, {
			headers: { ...headers, 'content-type': 'application/zip' },
			data: zipOfVersion(version)
		});
		const { id } = (await staged.json()) as { id: string };
		await request.post(`${app.url}/api/skills/install/staged/${id}`, {
			headers,
			data: { enabled: true, conflict: 'overwrite' }
		});
	};
	for (let round = 1; round <= 6; round += 1) {
		// Kills the server at a different point each round: after as many responses as the round's number.
		let answers = 0;
		const killed = new AbortController();
		const work = (async () => {
			while (!killed.signal.aborted) {
				await install(`1.0.${answers % 4}`);
				answers += 1;
				if (answers % 3 === 0) await request.delete(`${app.url}/api/skills/many`, { headers });
			}
		})().catch(() => undefined);
		await expect.poll(() => answers).toBeGreaterThanOrEqual(round % 3);
		const restarted = app.restart({ signal: 'SIGKILL' });
		killed.abort();
		await Promise.all([restarted, work]);

		const found = (await (await request.get(`${app.url}/api/skills?source=installed`, { headers })).json()) as {
			data: { name: string; status: string; version: string; provider: string }[];
		};
		const folders = await readdir(join(app.dataDir, 'skills')).catch(() => []);
		expect(folders.sort()).toEqual(found.data.map(({ name, version }) => `${name}@${version}`).sort());
		for (const { version, status, provider } of found.data) {
			expect([status, provider]).toEqual(['ready', 'zip']);
			const dir = join(app.dataDir, 'skills', `many@${version}`);
			expect(await readdir(dir)).toHaveLength(151);
			expect(await readFile(join(dir, 'f149.txt'), 'utf8')).toBe(`${version} 149\n`);
		}
		expect(await readdir(join(app.dataDir, 'staging')).catch(() => [])).toEqual([]);
	}
});
