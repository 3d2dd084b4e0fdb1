/** Third-party clients against the built app: each does both tasks and shows its user the right answers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TaskState, type Task } from '@a2a-js/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { a2aClient, all, filePart, replayed, says, sendTask, textOfArtifact } from '../support/a2a-client.ts';
import { startEditor } from '../support/acp-rig.ts';
import { aguiClient } from '../support/agui-client.ts';
import { CHAT_CLIENTS } from '../support/chat-clients.ts';
import { report, withVersions, type ReportRow } from '../support/protocol-report.ts';
import { RESPONSES_CLIENTS } from '../support/responses-clients.ts';
import { COUNT_WORDS, FIVE_WORDS, missingSums, SALES, SUMMARISE, sumsByRegion, WORDS } from '../support/tasks.ts';
import { expect, test } from './app.ts';

const root = join(import.meta.dirname, '../..');

/** For the table of docs/protocols.md. */
const rows: ReportRow[] = [];
test.afterAll(() => report('clients', rows));

/** The result a client showed its user. */
interface Answers {
	counted: string;
	summary: string;
}

function prove(client: string, protocol: string, { counted, summary }: Answers): void {
	expect(counted).toMatch(FIVE_WORDS);
	expect(missingSums(summary)).toEqual([]);
	rows.push({
		Client: withVersions(client),
		Protocol: protocol,
		[COUNT_WORDS]: '5 words',
		[SUMMARISE]: `the true totals of ${sumsByRegion().size} regions`
	});
}

for (const [name, clientFor] of Object.entries(RESPONSES_CLIENTS)) {
	test(`F12, B17: ${name} – words are counted, and sales.csv is summarised by region`, async ({ app }) => {
		const client = clientFor({ url: `${app.url}/v1`, key: 'none-is-needed' });
		const counted = await client.ask({ text: COUNT_WORDS });
		prove(name, 'Responses API', { counted, summary: await client.stream({ text: SUMMARISE, file: SALES }) });
	});
}

for (const [name, clientFor] of Object.entries(CHAT_CLIENTS)) {
	test(`F12, B17: ${name} – words are counted, and sales.csv is summarised by region`, async ({ app }) => {
		const client = clientFor({ url: `${app.url}/v1`, key: 'none-is-needed' });
		const counted = await client.ask({ text: COUNT_WORDS });
		prove(name, 'Chat Completions', { counted, summary: await client.stream({ text: SUMMARISE, file: SALES }) });
	});
}

test('F13: HttpAgent of AG-UI – words are counted, and sales.csv is summarised by region', async ({ app }) => {
	const counted = await aguiClient(app.url).run(COUNT_WORDS);
	const client = aguiClient(app.url);
	const uploaded = await fetch(`${app.url}/api/conversations/${client.agent.threadId}/files/${SALES.name}`, {
		method: 'PUT',
		headers: { 'content-type': 'text/csv' },
		body: SALES.text
	});
	expect(uploaded.status).toBe(201);
	prove('@ag-ui/client HttpAgent', 'AG-UI 1.0', { counted, summary: await client.run(SUMMARISE) });
});

for (const version of ['2026-07-28', '2025-11-25'] as const) {
	/** Also the name of its workspace. */
	const clientOf = (transport: string): Client => {
		const mode = version === '2026-07-28' ? { pin: version } : 'legacy';
		return new Client({ name: `${transport} ${version}`, version: '1.0.0' }, { versionNegotiation: { mode } });
	};

	test(`E15: MCP ${version} over HTTP – words are counted, and sales.csv is summarised by region`, async ({ app }) => {
		const client = clientOf('http');
		await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.url)));
		expect(client.getNegotiatedProtocolVersion()).toBe(version);
		prove('@modelcontextprotocol/client', `MCP ${version}, HTTP`, await callTools(client));
		await client.close();
	});

	test(`E15: MCP ${version} over stdio – words are counted, and sales.csv is summarised by region`, async ({ app }) => {
		// npm and a Node that compiles TypeScript: takes seconds on a busy machine.
		test.slow();
		// Without its own skills, `npm run mcp` can only forward to the app.
		const noSkills = await mkdtemp(join(tmpdir(), 'no-skills-'));
		const { PATH = '', HOME = '' } = process.env;
		const env = { PATH, HOME, DATA_DIR: app.dataDir, SKILLS_DIRS: noSkills };
		const program = { command: 'npm', args: ['run', '--silent', 'mcp'], cwd: root, stderr: 'ignore' as const };
		const client = clientOf('stdio');
		try {
			await client.connect(new StdioClientTransport({ ...program, env }));
			expect(client.getNegotiatedProtocolVersion()).toBe(version);
			prove('@modelcontextprotocol/client', `MCP ${version}, stdio`, await callTools(client));
		} finally {
			await client.close();
			await rm(noSkills, { recursive: true, force: true });
		}
	});
}

/** The calls a model with these tools would make. */
async function callTools(client: Client): Promise<Answers> {
	const call = async (name: string, args: Record<string, unknown>): Promise<unknown> => {
		const result = await client.callTool({ name, arguments: args });
		expect(result.isError, JSON.stringify(result.content)).toBeFalsy();
		return result.structuredContent;
	};
	const counted = JSON.stringify(await call('count_words', { text: WORDS }));
	const file = { path: SALES.name, content: SALES.text };
	await call('skills_execute', { skillName: 'file_write', input: file });
	const args = [SALES.name, '--group-by', 'region', '--value', 'revenue'];
	const summary = await call('use_skill', { skill: 'data-analysis', script: 'scripts/analyze_csv.mjs', args });
	return { counted, summary: (summary as { stdout: string }).stdout };
}

for (const version of ['1.0', '0.3'] as const) {
	test(`E16: A2A ${version} – words are counted, and sales.csv is summarised by region`, async ({ app }) => {
		const client = await a2aClient(app.url, version);
		const answerOf = (task: Task): string => {
			expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
			return textOfArtifact(task);
		};
		const counted = answerOf(await sendTask(client, says(COUNT_WORDS)));
		const table = filePart(SALES.name, SALES.text);
		const events = await all(client.sendMessageStream(says(SUMMARISE, { parts: [table] })));
		prove('@a2a-js/sdk', `A2A ${version}`, { counted, summary: answerOf(replayed(events)) });
	});
}

test('F12: ACP – words are counted, and sales.csv is summarised by region', async ({ app }) => {
	// A Node that compiles TypeScript: takes seconds on a busy machine.
	test.slow();
	const project = await mkdtemp(join(tmpdir(), 'acp-project-'));
	const { PATH = '', HOME = '' } = process.env;
	// Without its own skills, the command can only forward to the app.
	const env = { PATH, HOME, DATA_DIR: app.dataDir, SKILLS_DIRS: project };
	const editor = await startEditor({ env }, project);
	try {
		await writeFile(join(project, SALES.name), SALES.text);
		const session = await editor.open();
		expect(await editor.ask(session, COUNT_WORDS)).toBe('end_turn');
		const counted = editor.text();
		const link = { name: SALES.name, uri: pathToFileURL(join(project, SALES.name)).href };
		const words = SUMMARISE.split(SALES.name).map((text) => ({ type: 'text' as const, text }));
		await editor.ask(session, [...words.slice(0, 1), { type: 'resource_link', ...link }, ...words.slice(1)]);
		prove('@agentclientprotocol/sdk', 'ACP 1', { counted, summary: editor.text().slice(counted.length) });
	} finally {
		await editor.leave();
		await rm(project, { recursive: true, force: true });
	}
});
