// The skills in Chat Completions, with the `openai` client:
// `npm run build:lib && OPENAI_API_KEY=… OPENAI_MODEL=… node examples/chat-completions.mjs "question"`.
import OpenAI from 'openai';
import { createSkillsProvider, runGateway } from 'openrouter-skills';

const { OPENAI_BASE_URL, OPENAI_MODEL = 'gpt-5' } = process.env;
const client = new OpenAI({ baseURL: OPENAI_BASE_URL });
const skills = await createSkillsProvider('./skills');

const body = {
	model: OPENAI_MODEL,
	messages: [
		{ role: 'system', content: 'You are a helpful assistant.' },
		{ role: 'user', content: process.argv[2] ?? 'How many words are in: one two three four five' }
	]
};
const send = (request, options) => client.chat.completions.create(request, options);
const { response } = await runGateway(send, body, { skills, format: 'chat' });

console.log(response.choices[0].message.content);
await skills.close();
