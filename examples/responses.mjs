// The skills in the Responses API, with the `openai` client:
// `npm run build:lib && OPENAI_API_KEY=… OPENAI_MODEL=… node examples/responses.mjs "question"`.
import OpenAI from 'openai';
import { createSkillsProvider, runGateway } from 'openrouter-skills';

const { OPENAI_BASE_URL, OPENAI_MODEL = 'gpt-5' } = process.env;
const client = new OpenAI({ baseURL: OPENAI_BASE_URL });
const skills = await createSkillsProvider('./skills');

const body = {
	model: OPENAI_MODEL,
	instructions: 'You are a helpful assistant.',
	input: process.argv[2] ?? 'How many words are in: one two three four five'
};
const send = (request, options) => client.responses.create(request, options);
const { response } = await runGateway(send, body, { skills, format: 'responses' });

console.log(response.output_text);
await skills.close();
