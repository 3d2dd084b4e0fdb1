/** How much of each request a server's prompt cache can reuse: its longest common prefix with the request before. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../src/lib/server/app.ts';
import { loadConfig } from '../src/lib/server/config.ts';
import { call, dynamic, type Reply, startModelServer, text } from '../tests/support/model-server.ts';
import type { Row } from './measure.ts';
import { noise } from './ranking-questions.ts';

/** A request, and how much of the one before it begins with. */
export interface SentRequest {
	/** From 1. */
	turn: number;
	/** Of its instructions, tools and input, in this order, as JSON. */
	characters: number;
	/** Of the request before, from 0 to 1; null for the first. */
	share: number | null;
	/** What it ends with. */
	about: string;
	/** Of the request before's instructions and tools, which come first. */
	fixedShare: number | null;
	/** Whether a summary stands for the messages that the request before had. */
	isCompacted: boolean;
}

const SKILL_COUNT = 1000;
/** So small that the conversation is compacted once. */
const CONTEXT_TOKENS = 14_000;
export const GOAL = 0.95;

interface Turn {
	asks: string;
	/** Added to the working directory before it. */
	file?: string;
	replies: Reply[];
}

const answer = (about: string) => text(`${about}. ${'The answer goes on with what was found and why. '.repeat(80)}`);
const load = (skill: string) => call('load_skill', { skill });
const run = (name: string) => call('use_skill', { skill: 'writer', script: 'write.sh', args: [name] });
const others = noise(SKILL_COUNT - 1);
const [invoices = '', calendar = ''] = [others[17]?.name, others[400]?.name];

/** Ten turns with new files, loaded skills and questions about different things. */
const TURNS: Turn[] = [
	{ asks: 'Hello, what can you do with spreadsheets?', replies: [answer('Spreadsheets')] },
	{ asks: 'Look at this table', file: 'sales.csv', replies: [answer('The table')] },
	{ asks: 'Write a report about it', replies: [load('writer'), run('report.txt'), answer('Done')] },
	{ asks: 'Fetch https://example.com and search the web', replies: [answer('The page')] },
	{ asks: 'Now the invoices', file: 'invoices.csv', replies: [load(invoices), answer('Invoices')] },
	{ asks: 'What was the total?', replies: [answer('The total')] },
	{ asks: 'And a second report', replies: [run('second.txt'), answer('The second report')] },
	{ asks: 'What about my calendar?', file: 'calendar.ics', replies: [answer('The calendar')] },
	{ asks: 'Use the other skill', replies: [load(calendar), answer('The other')] },
	{ asks: 'Thanks, sum it up', file: 'notes.md', replies: [answer('All in all')] }
];

/** Plays the conversation against a scripted model, which gets everything that a real one would get. */
export async function playConversation(): Promise<SentRequest[]> {
	const root = await mkdtemp(join(tmpdir(), 'prompt-cache-'));
	const replies: Reply[] = [];
	// A summary is asked for when it is needed, not when the script says so.
	const reply = dynamic((body) =>
		isSummary(body) ? text('Reports were written about the sales.') : (replies.shift() ?? text('Nothing more.'))
	);
	const server = await startModelServer(Array.from({ length: 100 }, () => reply));
	const skill = (name: string, description: string, body: string) =>
		writeSkill(join(root, 'skills', name), `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`);
	await skill('writer', 'Writes reports.', `Run write.sh. ${'Be brief. '.repeat(200)}`);
	await writeFile(join(root, 'skills/writer/write.sh'), 'echo report > "$1"; seq 300\n');
	for (const { name, description } of others) await skill(name, JSON.stringify(description), 'Do it. '.repeat(100));
	const app = await createApp(
		loadConfig({
			DATA_DIR: join(root, 'data'),
			SKILLS_DIRS: join(root, 'skills'),
			SKILLS_SANDBOX: 'process',
			SKILLS_APPROVAL: 'auto',
			CHAT_TITLES: 'false',
			OPENROUTER_API_KEY: 'key-of-the-scripted-model',
			OPENROUTER_BASE_URL: server.url,
			OPENROUTER_MODEL: 'test/model',
			AGENT_CONTEXT_TOKENS: String(CONTEXT_TOKENS)
		})
	);
	const sent: SentRequest[] = [];
	let before: Body | null = null;
	const take = (turn: number) => {
		for (const { body } of server.requests.splice(0) as { body: unknown }[] as { body: Body }[]) {
			const characters = textOf(body).length;
			const share = before && shareOf(textOf(before), textOf(body));
			const fixedShare = before && shareOf(fixedOf(before), fixedOf(body));
			const isCompacted = before !== null && isSummary(before);
			sent.push({ turn, characters, share, fixedShare, about: aboutOf(body), isCompacted });
			before = body;
		}
	};
	try {
		for (const [index, { asks, file, replies: script }] of TURNS.entries()) {
			if (file !== undefined) await app.workspaces.write('c', file, new Blob([`one,two\n${index},2\n`]).stream());
			replies.push(...script);
			const runId = `run-${index}`;
			const message = { id: `question-${index}`, text: asks, files: file === undefined ? [] : [file] };
			await app.runner.start({ kind: 'ask', runId, conversationId: 'c', message, tools: [] });
			for await (const _events of (await app.runner.follow(runId, 0, new AbortController().signal)) ?? []);
			take(index + 1);
		}
		return sent;
	} finally {
		await app.close();
		await server.close();
		await rm(root, { recursive: true, force: true });
	}
}

interface Body extends Record<string, unknown> {
	instructions: string;
	tools?: unknown[];
	input: Record<string, unknown>[];
}

function fixedOf({ instructions, tools }: Body): string {
	return `${JSON.stringify(instructions)}\n${JSON.stringify(tools)}\n`;
}

function textOf(body: Body): string {
	return fixedOf(body) + JSON.stringify(body.input);
}

function isSummary({ input }: Record<string, unknown>): boolean {
	return JSON.stringify((input as unknown[]).at(-1)).includes('Summarise the conversation above');
}

function aboutOf(body: Body): string {
	if (isSummary(body)) return 'the summary is asked for';
	return body.input.at(-1)?.type === 'function_call_output' ? 'a result' : 'a question';
}

function percent(share: number): string {
	return `${(share * 100).toFixed(1)} %`;
}

async function writeSkill(folder: string, content: string): Promise<void> {
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, 'SKILL.md'), content);
}

/** How much of `before` stands at the beginning of `after`. */
function shareOf(before: string, after: string): number {
	let length = 0;
	while (length < before.length && before[length] === after[length]) length += 1;
	return length / before.length;
}

export async function benchPromptCache(): Promise<Row[]> {
	const sent = await playConversation();
	return sent.flatMap(({ turn, about, characters, share, fixedShare, isCompacted }) => {
		if (share === null || fixedShare === null) return [];
		const name = `ten turns among ${SKILL_COUNT} skills, turn ${turn}: ${about}, ${characters} characters`;
		// The messages are gone, which is what a compaction is for.
		const kept = isCompacted ? fixedShare : share;
		return {
			name: isCompacted ? `${name}, a summary stands for the messages (${percent(share)} in all)` : name,
			value: `${percent(kept)} of ${isCompacted ? 'the instructions and tools' : 'the request'} before`,
			floorName: 'the goal',
			floor: percent(isCompacted ? 1 : GOAL),
			ratio: kept / (isCompacted ? 1 : GOAL)
		};
	});
}
