/** Programs that people have, set up as the page Other programs says: each counts words with a skill. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type ConnectClient, snippetsOf } from '../../src/lib/page/connect/connect-snippets.ts';
import { call, dynamic, type ModelServer, startModelServer, text } from '../support/model-server.ts';
import { report, type ReportRow } from '../support/protocol-report.ts';
import { COUNT_WORDS, FIVE_WORDS, WORDS } from '../support/tasks.ts';
import { startVendorModel } from '../support/vendor-model.ts';
import type { Vendor } from '../support/vendor-servers.ts';
import { expect, test } from './app.ts';

const run = promisify(execFile);
/** `.ci/run` installs them. */
const folder = join(import.meta.dirname, '../../.ci/programs');
const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
	dependencies: Record<string, string>;
};
const bin = join(folder, 'node_modules/.bin');

test.skip(!existsSync(bin), 'The programs are not installed: npm install --prefix .ci/programs');

/** For the table of docs/protocols.md. */
const rows: ReportRow[] = [];
test.afterAll(() => (rows.length > 0 ? report('programs', rows) : undefined));

/** A person's computer: a home, a project, and the programs. */
interface Computer {
	home: string;
	project: string;
	/** Runs a command line in the project. */
	sh(command: string, env?: Record<string, string>): Promise<string>;
}

const SKILL_CALL = { skill: 'count-words', script: 'scripts/count.mjs', args: [WORDS] };

/** The app's model: runs the skill once and repeats its result. It has more to answer: some programs ask for a title. */
const upstream = dynamic(({ input, tools }) => {
	const results = (input as { type: string; output?: string }[]).flatMap(({ output }) => output ?? []);
	if (results.length > 0) return text(...results);
	const hasSkills = (tools as { name: string }[] | undefined)?.some(({ name }) => name === 'use_skill');
	return hasSkills ? call('use_skill', SKILL_CALL) : text('OK');
});

const it = test.extend<{ computer: Computer }, { model: ModelServer }>({
	model: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const model = await startModelServer(Array.from({ length: 100 }, () => upstream));
			await use(model);
			await model.close();
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ model }, use) => {
		await use({
			env: { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a-key', OPENROUTER_MODEL: 'test/model' }
		});
	},
	// Playwright reads a fixture's dependencies from this pattern: none.
	// eslint-disable-next-line no-empty-pattern
	async computer({}, use) {
		const home = await mkdtemp(join(tmpdir(), 'openrouter-skills-home-'));
		const project = join(home, 'project');
		await mkdir(project);
		const path = [bin, join(process.execPath, '..'), process.env.PATH].join(delimiter);
		await use({
			home,
			project,
			async sh(command, env = {}) {
				const running = run('sh', ['-c', command], {
					cwd: project,
					env: { PATH: path, HOME: home, ...env },
					timeout: 90_000
				});
				running.child.stdin?.end();
				const { stdout } = await running;
				return stdout;
			}
		});
		await rm(home, { recursive: true, force: true });
	}
});

function copied(client: ConnectClient, id: string, origin: string): string {
	const place = { origin, key: 'not-needed', model: 'openrouter/auto' };
	return snippetsOf(client, place).find((snippet) => snippet.id === id)?.text ?? '';
}

/** Says which package, and how it was used. */
function prove(name: string, way: string, shown: string): void {
	expect(shown).toMatch(FIVE_WORDS);
	rows.push({ Program: `${name} ${dependencies[name]}`, Way: way, [COUNT_WORDS]: '5 words' });
}

const CALL = {
	tool: 'skills_execute',
	args: { skillName: 'count-words', script: 'scripts/count.mjs', args: [WORDS] }
};

/** Its own model, which calls a tool of the skills. */
async function withModel<Value>(vendor: Vendor, use: (url: string) => Promise<Value>): Promise<Value> {
	const model = await startVendorModel(vendor, CALL);
	try {
		return await use(model.url);
	} finally {
		await model.close();
	}
}

const TOOLS = 'skills as its tools (MCP)';
const MODEL = 'agent as its model';

it('F12, E16: Claude Code – the skills are its tools', async ({ app, computer }) => {
	await computer.sh(copied('claude-code', 'claude-code', app.url));
	const shown = await withModel('anthropic', (url) =>
		computer.sh(`claude -p "${COUNT_WORDS}" --allowedTools mcp__skills__skills_execute`, {
			ANTHROPIC_BASE_URL: url,
			ANTHROPIC_API_KEY: 'played',
			CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
			// Otherwise its model has to look for the tool first.
			ENABLE_TOOL_SEARCH: 'false'
		})
	);
	prove('@anthropic-ai/claude-code', TOOLS, shown);
});

it('F12, E16: Gemini CLI – the skills are its tools', async ({ app, computer }) => {
	// Before the command, which adds its server to the same file.
	await mkdir(join(computer.home, '.gemini'), { recursive: true });
	const auth = { security: { auth: { selectedType: 'gemini-api-key' } } };
	await writeFile(join(computer.home, '.gemini/settings.json'), JSON.stringify(auth));
	await computer.sh(copied('gemini', 'gemini', app.url));
	const shown = await withModel('gemini', (url) =>
		computer.sh(`gemini -m gemini-2.5-flash --approval-mode yolo -p "${COUNT_WORDS}"`, {
			GOOGLE_GEMINI_BASE_URL: url,
			GEMINI_API_KEY: 'played',
			GEMINI_CLI_TRUST_WORKSPACE: 'true'
		})
	);
	prove('@google/gemini-cli', TOOLS, shown);
});

it('F12, E16: Codex – the skills are its tools', async ({ app, computer }) => {
	const config = join(computer.home, '.codex');
	await mkdir(config);
	const shown = await withModel('responses', async (url) => {
		const provider = `name = "played"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "PLAYED_KEY"`;
		const text = `model = "played"\nmodel_provider = "played"\n[model_providers.played]\n${provider}\n`;
		await writeFile(join(config, 'config.toml'), `${text}\n${copied('codex', 'codex', app.url)}`);
		return computer.sh(`codex exec --skip-git-repo-check --yolo "${COUNT_WORDS}"`, { PLAYED_KEY: 'played' });
	});
	prove('@openai/codex', TOOLS, shown);
});

it('F12: Codex – the agent is its model', async ({ app, computer }) => {
	const config = join(computer.home, '.codex');
	await mkdir(config);
	await writeFile(join(config, 'config.toml'), copied('codex', 'model', app.url));
	prove(
		'@openai/codex',
		`${MODEL} (Responses API)`,
		await computer.sh(`codex exec --skip-git-repo-check "${COUNT_WORDS}"`)
	);
});

it('F12, E16: Qwen Code – the skills are its tools', async ({ app, computer }) => {
	await computer.sh(copied('qwen', 'qwen', app.url));
	await mkdir(join(computer.project, '.qwen'));
	// Otherwise its model has to look for the tool first.
	await writeFile(join(computer.project, '.qwen/settings.json'), '{"tools":{"toolSearch":{"enabled":false}}}');
	const shown = await withModel('chat', (url) =>
		computer.sh(`qwen --approval-mode yolo -p "${COUNT_WORDS}"`, {
			OPENAI_BASE_URL: `${url}/v1`,
			OPENAI_API_KEY: 'played',
			OPENAI_MODEL: 'played'
		})
	);
	prove('@qwen-code/qwen-code', TOOLS, shown);
});

it('F12: Qwen Code – the agent is its model', async ({ app, computer }) => {
	const shown = await computer.sh(`${copied('qwen', 'model', app.url)}\nqwen -p "${COUNT_WORDS}"`);
	prove('@qwen-code/qwen-code', `${MODEL} (Chat Completions)`, shown);
});

it('F12, E16: opencode – the skills are its tools', async ({ app, computer }) => {
	const shown = await withModel('chat', async (url) => {
		const played = { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: 'played' } };
		const config = {
			model: 'played/played',
			provider: { played: { ...played, models: { played: { name: 'Played' } } } },
			...(JSON.parse(copied('opencode', 'opencode', app.url)) as object)
		};
		await writeFile(join(computer.project, 'opencode.json'), JSON.stringify(config));
		return computer.sh(`opencode run "${COUNT_WORDS}"`);
	});
	prove('opencode-ai', TOOLS, shown);
});

it('F12: opencode – the agent is its model', async ({ app, computer }) => {
	await writeFile(join(computer.project, 'opencode.json'), copied('opencode', 'model', app.url));
	prove('opencode-ai', `${MODEL} (Chat Completions)`, await computer.sh(`opencode run "${COUNT_WORDS}"`));
});

for (const [client, name, way] of [
	['agents', '@openai/agents', 'Responses API'],
	['langchain', '@langchain/openai', 'Chat Completions']
] as const) {
	it(`F12: ${name} – the code asks the agent`, async ({ app, computer }) => {
		// Its imports are looked for beside it.
		const program = join(folder, `node_modules/.${client}.mjs`);
		await writeFile(program, copied(client, 'js', app.url).replace(/Count the words of “.*”/, COUNT_WORDS));
		prove(name, way, await computer.sh(`node ${program}`));
	});
}
