/** The proposal's own example, run by the real `callModel` of both OpenRouter packages (B17). */
import { join } from 'node:path';
import { OpenRouter as AgentRouter, tool } from '@openrouter/agent';
import * as sdk from '@openrouter/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { z } from 'zod';
import { createSkillsProvider, type SkillsProvider } from '../../src/lib/server/skills/provider.ts';
import type { ModelServer } from '../support/model-server.ts';
import { startOfflineServer } from '../support/offline-server.ts';

const SKILLS = join(import.meta.dirname, '../../skills');
const cwd = emptyFolder();
let server: ModelServer;
let skills: SkillsProvider;
beforeEach(async () => {
	server = await startOfflineServer();
	skills = await createSkillsProvider(SKILLS, { cwd });
});
afterEach(async () => {
	await skills.close();
	await server.close();
});

/** What the two packages share; their types differ. */
interface Caller {
	callModel(request: Record<string, unknown>): { getText(): Promise<string> };
}

/** Names of the called tools, as sent back to the model server with their outputs. */
function calledTools(): unknown[] {
	const input = server.requests.at(-1)?.body.input as { type?: string; name?: string }[];
	return input.filter(({ type }) => type === 'function_call').map(({ name }) => name);
}

test.each([
	['@openrouter/sdk', sdk.OpenRouter],
	['@openrouter/agent', AgentRouter]
])('B17: callModel of %s runs `skills.sdkTools` until there is an answer', async (_name, Router) => {
	const openrouter = new Router({ apiKey: 'any', serverURL: server.url }) as unknown as Caller;
	const request = {
		model: 'built-in/responder',
		input: 'How many words are in: the quick brown fox',
		instructions: `You are a helpful assistant.\n\n${skills.systemPrompt}`,
		tools: [...skills.sdkTools],
		maxToolRounds: 10
	};
	expect(await openrouter.callModel(request).getText()).toMatch(/words\W+4\b/);
	expect(calledTools()).toEqual(['load_skill', 'use_skill']);
	expect(server.violations).toEqual([]);
});

test('B17: a tool made with `tool` of @openrouter/agent works beside `skills.sdkTools`; @openrouter/sdk has no `tool`', async () => {
	expect(sdk).not.toHaveProperty('tool');
	const own = tool({
		name: 'office_hours',
		description: 'Says when the office is open.',
		inputSchema: z.object({ day: z.string() }),
		execute: ({ day }) => ({ day, open: '9–17' })
	});
	const openrouter = new AgentRouter({ apiKey: 'any', serverURL: server.url }) as unknown as Caller;
	const answer = openrouter.callModel({
		model: 'built-in/responder',
		input: 'How many words are in: the quick brown fox',
		instructions: skills.systemPrompt,
		tools: [...skills.sdkTools, own]
	});
	expect(await answer.getText()).toMatch(/words\W+4\b/);
	const { tools } = server.requests.at(-1)?.body as { tools: { name: string }[] };
	expect(tools.map(({ name }) => name)).toEqual(['load_skill', 'use_skill', 'office_hours']);
});
