// The skills in Anthropic Messages, with the `@anthropic-ai/sdk` client:
// `npm run build:lib && ANTHROPIC_API_KEY=… ANTHROPIC_MODEL=… node examples/anthropic.mjs "question"`.
import Anthropic from '@anthropic-ai/sdk';
import { createSkillsProvider, runGateway } from 'openrouter-skills';

const { ANTHROPIC_BASE_URL, ANTHROPIC_MODEL = 'claude-sonnet-4-5' } = process.env;
const client = new Anthropic({ baseURL: ANTHROPIC_BASE_URL });
const skills = await createSkillsProvider('./skills');

const body = {
	model: ANTHROPIC_MODEL,
	max_tokens: 4096,
	system: 'You are a helpful assistant.',
	messages: [{ role: 'user', content: process.argv[2] ?? 'How many words are in: one two three four five' }]
};
const send = (request, options) => client.messages.create(request, options);
const { response } = await runGateway(send, body, { skills, format: 'anthropic' });

console.log(response.content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
await skills.close();
