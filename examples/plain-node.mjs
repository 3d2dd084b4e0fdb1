// The library in a plain Node program, without the app: `npm run example`.
import { createSkillsProvider } from 'openrouter-skills';

const skills = await createSkillsProvider('./skills');
console.log(skills.systemPrompt);
console.log('\nTools:', skills.tools.map((tool) => tool.name).join(', '));

const instructions = await skills.handleToolCall('load_skill', { skill: 'count-words' });
console.log('\nload_skill →', String(instructions).split('\n')[0]);

const result = await skills.handleToolCall('count_words', { text: 'the quick brown fox' });
console.log('count_words →', JSON.stringify(result));
