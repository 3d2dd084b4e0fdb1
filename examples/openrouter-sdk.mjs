// The skills with the OpenRouter SDK: `npm run build:lib && OPENROUTER_API_KEY=… node examples/openrouter-sdk.mjs "question"`.
import { OpenRouter } from '@openrouter/sdk';
import { createSkillsProvider } from 'openrouter-skills';

const { OPENROUTER_API_KEY, OPENROUTER_BASE_URL, OPENROUTER_MODEL } = process.env;
const skills = await createSkillsProvider('./skills');
const openrouter = new OpenRouter({
	apiKey: OPENROUTER_API_KEY,
	...(OPENROUTER_BASE_URL ? { serverURL: OPENROUTER_BASE_URL } : {})
});

const result = openrouter.callModel({
	model: OPENROUTER_MODEL ?? 'openrouter/auto',
	input: process.argv[2] ?? 'How many words are in: the quick brown fox',
	instructions: `You are a helpful assistant.\n\n${skills.systemPrompt}`,
	tools: [...skills.sdkTools],
	maxToolRounds: 10
});

console.log(await result.getText());
await skills.close();
