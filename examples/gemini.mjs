// The skills in Gemini, with the `@google/genai` client:
// `npm run build:lib && GEMINI_API_KEY=… GEMINI_MODEL=… node examples/gemini.mjs "question"`.
import { GoogleGenAI } from '@google/genai';
import { createSkillsProvider, runGateway } from 'openrouter-skills';

const { GEMINI_API_KEY, GEMINI_BASE_URL, GEMINI_MODEL = 'gemini-2.5-flash' } = process.env;
const client = new GoogleGenAI({ apiKey: GEMINI_API_KEY, httpOptions: { baseUrl: GEMINI_BASE_URL } });
const skills = await createSkillsProvider('./skills');

const body = {
	model: GEMINI_MODEL,
	contents: process.argv[2] ?? 'How many words are in: one two three four five',
	config: { systemInstruction: 'You are a helpful assistant.' }
};
const send = (request, { signal }) =>
	client.models.generateContent({ ...request, config: { ...request.config, abortSignal: signal } });
const { response } = await runGateway(send, body, { skills, format: 'gemini' });

console.log(response.text);
await skills.close();
