import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GO_ON } from '../agent/history.ts';
import { DRAFT_TOOL } from '../../shared/names.ts';
import { ASKED, isAsking, offeredIn, unusableIn } from '../../shared/questions.ts';
import type { FunctionTool, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { knownFrom, noteOf } from '../agent/turn-note.ts';
import { createOfflineModel } from './offline.ts';

interface TestSkill {
	description: string;
	body: string;
	files?: string[];
	tools?: FunctionTool[];
}

interface TestMessage {
	text: string;
	attached?: string[];
}

interface Setting {
	skills?: Record<string, TestSkill>;
	workspace?: string[];
	/** Skills that the messages mean and that can’t be used. */
	unusable?: { name: string; why: string }[];
	/** Others that can’t be used. */
	shelved?: { name: string; why: string; description: string }[];
	tools?: FunctionTool[];
	/** The output of a script or tool. Default: a script that printed `done`. */
	answer?: (name: string, args: Record<string, unknown>) => unknown;
}

interface Talk {
	/** Calls except the loading ones: a script with its arguments, or a tool with its JSON. */
	calls: unknown[];
	loaded: string[];
	texts: string[];
}

const model = createOfflineModel();
const DONE = { ok: true, exitCode: 0, durationMs: 1, stdout: 'done\n', stderr: '', truncated: false, files: [] };

function functionTool(
	name: string,
	description: string,
	properties: Record<string, unknown>,
	required = Object.keys(properties)
): FunctionTool {
	return { type: 'function', name, description, parameters: { type: 'object', properties, required } };
}

function instructionsFor({ skills = {} }: Setting): string {
	const catalog = Object.entries(skills).map(([name, { description }]) => `### ${name}\n${description}\n`);
	return [
		'You are a helpful assistant.\n\n## Available Skills\n\nYou have access to skills.\n\nTo use a skill:\n1. Call load_skill to read its instructions\n',
		...catalog
	].join('\n');
}

function contentOf(name: string, { body, files = [], tools = [] }: TestSkill): string {
	const list = tools.map((tool) => `${tool.name}: ${tool.description}`).join('\n');
	const toolList = tools.length > 0 ? `<skill_tools>\n${list}\n</skill_tools>\n` : '';
	return `<skill_content name="${name}" digest="d">\n${body}\n\n<skill_files dir="/skills/${name}">\n${files.join('\n')}\n</skill_files>\n${toolList}</skill_content>`;
}

async function collect(request: ModelRequest, signal = new AbortController().signal): Promise<ModelEvent[]> {
	const events: ModelEvent[] = [];
	for await (const event of model.stream(request, signal)) events.push(event);
	return events;
}

/** Plays the agent: returns each call's output until the model answers. */
async function talk(setting: Setting, ...messages: (string | TestMessage)[]): Promise<Talk> {
	const { skills = {}, answer = () => DONE } = setting;
	const tools = [
		functionTool('load_skill', 'Load', { skill: {} }),
		functionTool('use_skill', 'Run', { skill: {} }),
		...(setting.tools ?? [])
	];
	const input: ResponseItem[] = [];
	const result: Talk = { calls: [], loaded: [], texts: [] };
	for (const message of messages) {
		const { text, attached = [] } = typeof message === 'string' ? { text: message } : message;
		const content = [{ type: 'input_text', text }];
		if (attached.length > 0)
			content.push({ type: 'input_text', text: `Attached files:\n${attached.map((path) => `- ${path}`).join('\n')}` });
		input.push({ type: 'message', role: 'user', content });
		const files = (setting.workspace ?? []).map((path) => ({ path, bytes: 12 }));
		const { unusable, shelved } = setting;
		const note = noteOf({ date: new Date(), files, skills: [], unusable, shelved }, knownFrom(input));
		if (note) input.push(note);
		for (let step = 0; step < 8 && result.texts.length < messages.indexOf(message) + 1; step += 1) {
			const request: ModelRequest = {
				instructions: instructionsFor(setting),
				input,
				tools,
				toolChoice: 'auto',
				sessionId: 's'
			};
			const [item] = itemsOf(await collect(request));
			input.push(item!);
			if (item!.type === 'message') {
				result.texts.push((item!.content as { text: string }[])[0]!.text);
				continue;
			}
			const args = JSON.parse(String(item!.arguments)) as Record<string, unknown>;
			let output: string;
			if (item!.name === 'load_skill') {
				const name = String(args.skill);
				result.loaded.push(name);
				tools.push(...(skills[name]!.tools ?? []));
				output = contentOf(name, skills[name]!);
			} else {
				result.calls.push(
					item!.name === 'use_skill' ? [args.script, ...(args.args as string[])] : { [String(item!.name)]: args }
				);
				output = JSON.stringify(answer(String(item!.name), args));
			}
			input.push({ type: 'function_call_output', call_id: item!.call_id, output });
		}
	}
	return result;
}

function itemsOf(events: readonly ModelEvent[]): ResponseItem[] {
	const last = events.at(-1);
	if (last?.type !== 'completed') throw new Error(`ended with ${JSON.stringify(last)}`);
	return last.items;
}

function request(overrides: Partial<ModelRequest> = {}): ModelRequest {
	return { instructions: '', input: [], tools: [], toolChoice: 'auto', sessionId: 's', ...overrides };
}

const SKILLS: Record<string, TestSkill> = {
	'count-words': {
		description:
			'Count the words, characters and lines of a text or a text file. Use when the user asks how many words something has.',
		body: '# Count\n\nCall the tool `count_words`.\n\n```\nscripts/count.py "TEXT"\n```\n\nA file:\n\n```\nscripts/count.py --file FILE\n```\n',
		files: ['scripts/count.py', 'tools.json'],
		tools: [
			functionTool('count_words', 'Count the words of a text', {
				text: { type: 'string', description: 'The whole text' }
			})
		]
	},
	'data-analysis': {
		description: 'Summarise a CSV file: totals and averages, such as revenue by region or sales per month.',
		body: 'Group by a column:\n\n```\nscripts/analyze_csv.mjs FILE [--group-by COLUMN]\n```\n\n| `--measure NAME` | `sum`, `mean` or `count` |\n',
		files: ['scripts/analyze_csv.mjs']
	},
	weather: {
		description: 'The weather and the forecast for any city, with rain and temperature.',
		body: 'Get it:\n\n```\nscripts/weather.mjs CITY [--days NUMBER] [--units UNITS]\n```\n\n- `--units` is `metric` or `imperial`.\n',
		files: ['scripts/weather.mjs']
	},
	slugify: {
		description: 'Turn a text into a URL slug.',
		body: '```bash\nnode scripts/slugify.mjs "Some Title"\n```',
		files: ['scripts/slugify.mjs']
	},
	'image-tool': {
		description: 'Resize, rotate and convert pictures.',
		body: '```text\nusage: python scripts/image_tool.py resize --input PATH --width W --height H [--output PATH]\n       python scripts/image_tool.py rotate --input PATH --degrees N\n```',
		files: ['scripts/image_tool.py']
	},
	currency: {
		description: 'Exchange amounts of money between currencies.',
		body: '## Usage\n\n    $ ./convert.sh <amount> <from> <to>   # convert an amount\n',
		files: ['convert.sh']
	},
	'json-tools': {
		description: 'Pretty print and validate JSON files.',
		body: '- Pretty print: `scripts/pretty.js FILE [--indent N]`\n- Validate: `scripts/validate.js FILE`\n',
		files: ['scripts/pretty.js', 'scripts/validate.js']
	},
	'word-frequency': {
		description: 'List the most frequent words of a text file.',
		body: '```sh\npython scripts/freq.py notes.txt --top 10\n```',
		files: ['scripts/freq.py']
	},
	dice: { description: 'Roll dice.', body: '```\nuv run scripts/roll.py 2d6\n```', files: ['scripts/roll.py'] },
	'unit-tests': {
		description: 'Run the unit tests of a project.',
		body: '```\nbash {baseDir}/scripts/run-tests.sh [DIRECTORY] [--verbose]\n```',
		files: ['scripts/run-tests.sh']
	},
	'password-generator': {
		description: 'Generate random passwords.',
		body: '```\nscripts/gen.py [--length N] [--symbols] \\\n  [--count N]\n```',
		files: ['scripts/gen.py']
	},
	translate: {
		description: 'Translate a text into another language.',
		body: '```\nscripts/translate.py "TEXT" --to LANGUAGE\n```',
		files: ['scripts/translate.py']
	},
	calculator: {
		description: 'Calculate arithmetic expressions.',
		body: '```\nscripts/calc.py "EXPRESSION"\n```',
		files: ['scripts/calc.py']
	},
	'csv-to-json': {
		description: 'Convert CSV files to JSON.',
		body: '```\npython scripts/csv_to_json.py input.csv output.json\n```',
		files: ['scripts/csv_to_json.py']
	},
	'site-check': {
		description: 'Check whether a website is up.',
		body: '```\nscripts/check.mjs URL [--timeout SECONDS]\n```',
		files: ['scripts/check.mjs']
	},
	todo: {
		description: 'Manage a to-do list: add, complete and list tasks.',
		body: '```\n# Add a task\ntodo.py add "Buy milk" [--due DATE]\n# List all tasks\ntodo.py list\n# Complete a task\ntodo.py done ID\n```',
		files: ['todo.py']
	},
	compare: {
		description: 'Compare two files and show the differences.',
		body: '```\n./scripts/diff.py FILE_A FILE_B\n```',
		files: ['scripts/diff.py']
	},
	hasher: {
		description: 'Compute checksums of files.',
		body: '```\nscripts/hash.py FILE [--algorithm md5|sha1|sha256]\n```',
		files: ['scripts/hash.py']
	},
	mailer: {
		description: 'Send e-mails.',
		body: '```\nnode send.js --to EMAIL --subject "SUBJECT" --body "BODY"\n```',
		files: ['send.js']
	},
	'pdf-merge': {
		description: 'Merge PDF files into one.',
		body: '```\npython scripts/merge.py OUTPUT INPUT...\n```',
		files: ['scripts/merge.py']
	},
	echo: {
		description: 'Echo JSON messages.',
		body: '```\nnode echo.js \'{"text": "TEXT", "count": N}\'\n```',
		files: ['echo.js']
	},
	copy: {
		description: 'Ship a build folder to a target folder and verify it.',
		body: 'Ship:\n\n```\nscripts/ship.sh SOURCE TARGET [--clean]\n```\n\nVerify a folder:\n\n```\nscripts/verify.mjs TARGET\n```',
		files: ['scripts/ship.sh', 'scripts/verify.mjs']
	},
	chat: {
		description: 'Post messages to a chat server and list its channels.',
		body: 'List the channels:\n\n```\nchat.mjs channels list\n```\n\nSend a message:\n\n```\nchat.mjs send "Your message" --channel=CHANNEL_ID\n```',
		files: ['chat.mjs']
	}
};

describe('F9: a skill that it has never seen is run as its instructions document', () => {
	test.each<[skill: string, message: string, ...call: string[]]>([
		['data-analysis', 'summarise sales.csv by region', 'scripts/analyze_csv.mjs', 'sales.csv', '--group-by', 'region'],
		['data-analysis', 'Summarize sales.csv, please', 'scripts/analyze_csv.mjs', 'sales.csv'],
		[
			'data-analysis',
			'mean per product in sales.csv',
			'scripts/analyze_csv.mjs',
			'sales.csv',
			'--group-by',
			'product',
			'--measure',
			'mean'
		],
		['weather', 'weather in New York', 'scripts/weather.mjs', 'New York'],
		['weather', 'weather in berlin', 'scripts/weather.mjs', 'berlin'],
		[
			'weather',
			'5 day forecast for Paris, Texas in imperial units',
			'scripts/weather.mjs',
			'Paris, Texas',
			'--days',
			'5',
			'--units',
			'imperial'
		],
		['weather', 'Weather for Rio de Janeiro, --days 2', 'scripts/weather.mjs', 'Rio de Janeiro', '--days', '2'],
		['count-words', 'count the words in notes.txt', 'scripts/count.py', '--file', 'notes.txt'],
		['slugify', 'make a slug from "My First Post"', 'scripts/slugify.mjs', 'My First Post'],
		[
			'image-tool',
			'resize cat.png to 300x200',
			'scripts/image_tool.py',
			'resize',
			'--input',
			'cat.png',
			'--width',
			'300',
			'--height',
			'200'
		],
		[
			'image-tool',
			'rotate cat.png by 90 degrees',
			'scripts/image_tool.py',
			'rotate',
			'--input',
			'cat.png',
			'--degrees',
			'90'
		],
		['currency', 'exchange 20 USD to EUR', 'convert.sh', '20', 'USD', 'EUR'],
		['currency', 'Exchange 1,500 dollars into euros', 'convert.sh', '1500', 'dollars', 'euros'],
		['json-tools', 'pretty print data.json with indent 4', 'scripts/pretty.js', 'data.json', '--indent', '4'],
		['json-tools', 'validate data.json', 'scripts/validate.js', 'data.json'],
		['word-frequency', 'top 5 most frequent words in notes.txt', 'scripts/freq.py', 'notes.txt', '--top', '5'],
		['dice', 'roll 3d8', 'scripts/roll.py', '3d8'],
		['unit-tests', 'run the unit tests', 'scripts/run-tests.sh'],
		[
			'unit-tests',
			'run the unit tests in packages/core, verbose',
			'scripts/run-tests.sh',
			'packages/core',
			'--verbose'
		],
		[
			'password-generator',
			'generate 3 passwords of length 20 with symbols',
			'scripts/gen.py',
			'--length',
			'20',
			'--symbols',
			'--count',
			'3'
		],
		['translate', 'translate "good morning" to French', 'scripts/translate.py', 'good morning', '--to', 'French'],
		['csv-to-json', 'convert sales.csv to out/all.json', 'scripts/csv_to_json.py', 'sales.csv', 'out/all.json'],
		['site-check', 'check the website https://example.org/a?b=c', 'scripts/check.mjs', 'https://example.org/a?b=c'],
		['todo', 'add "Call mum" to my to-do list, due 2025-05-01', 'todo.py', 'add', 'Call mum', '--due', '2025-05-01'],
		['todo', 'todo: list my tasks', 'todo.py', 'list'],
		['todo', 'mark task 3 as done in my todo list', 'todo.py', 'done', '3'],
		['compare', 'compare a.txt and b.txt', 'scripts/diff.py', 'a.txt', 'b.txt'],
		['hasher', 'sha256 checksum of notes.txt', 'scripts/hash.py', 'notes.txt', '--algorithm', 'sha256'],
		[
			'mailer',
			'send an e-mail to bob@example.com with subject "Hi" and body "See you"',
			'send.js',
			'--to',
			'bob@example.com',
			'--subject',
			'Hi',
			'--body',
			'See you'
		],
		['pdf-merge', 'merge a.pdf and b.pdf into all.pdf', 'scripts/merge.py', 'all.pdf', 'a.pdf', 'b.pdf'],
		['echo', 'echo json "he said 5\' 2\\"" count 3', 'echo.js', '{"text": "he said 5\' 2\\\\", "count": 3}'],
		['copy', 'ship dist to out', 'scripts/ship.sh', 'dist', 'out'],
		['copy', 'ship the folder ./build to /srv/www, clean', 'scripts/ship.sh', './build', '/srv/www', '--clean'],
		['chat', 'list the channels of the chat server', 'chat.mjs', 'channels', 'list'],
		['chat', 'send "Hello team" to #general in the chat', 'chat.mjs', 'send', 'Hello team', '--channel=#general']
	])('%s: %s', async (skill, message, ...call) => {
		const setting = {
			skills: { [skill]: SKILLS[skill]! },
			workspace: ['sales.csv', 'notes.txt', 'data.json', 'cat.png']
		};
		const { loaded, calls } = await talk(setting, message);
		expect({ loaded, calls }).toEqual({ loaded: [skill], calls: [call] });
	});

	// Each of these used to run with a guess.
	test.each([
		['data-analysis', 'mean price per product in sales.csv', '“price”'],
		['weather', "What's the weather in New York tomorrow?", '“tomorrow”'],
		['slugify', 'slugify Hello World', 'What text should I use?'],
		['dice', 'roll the dice', 'What value should I use?'],
		['translate', 'Translate hello world into German', 'What text should I use?'],
		['calculator', 'calculate 2 + 3 * 4', 'What text should I use for **expression**?'],
		['csv-to-json', 'convert sales.csv to json', 'What should I call the new file?'],
		['copy', 'verify the folder out', 'To verify a folder, I need the **target**.'],
		['chat', 'Post the message hello to the dev channel of our chat', '“hello dev”'],
		['weather', 'weather in Paris, 20 % cheaper', '“20 %”'],
		['weather', 'weather in Paris without rain', '“without”'],
		['weather', 'weather in Rome for 5 friends', '“5”'],
		['weather', 'weather in Rome with other units', '“units”'],
		['dice', 'roll 3d8: the red ones', '“the red ones”'],
		['currency', 'exchange 20 USD to EUR and GBP', '“GBP”'],
		['data-analysis', 'summarise sales.csv by region and month', '“month”'],
		['csv-to-json', 'convert out.json to sales.csv', '?'],
		['unit-tests', 'run the unit tests on Windows', '“Windows”'],
		['todo', 'list my overdue tasks in todo', '“overdue”'],
		['password-generator', 'generate a password without symbols', '“without”'],
		['hasher', 'md5 checksum of a.txt and b.txt', '“b.txt”'],
		['chat', 'Send the message "Hello team" to #general in our chat on Discord', '“Discord”']
	])('%s: %s – it asks in plain words, and runs nothing', async (skill, message, question) => {
		const { calls, texts } = await talk({ skills: { [skill]: SKILLS[skill]! }, workspace: ['sales.csv'] }, message);
		expect(calls).toEqual([]);
		expect(texts[0]).toContain(question);
		expect(texts[0]).toMatch(/[?.]\n\n[^]*\*No script has run for this yet\./);
		expect(texts[0]).not.toMatch(/scripts\/|\[--/);
	});

	test('the next message answers what was asked, and the slot is filled with it', async () => {
		const answered = async (skill: string, ...messages: string[]) =>
			(await talk({ skills: { [skill]: SKILLS[skill]! } }, ...messages)).calls;
		expect(await answered('slugify', 'slugify it', 'Hello World')).toEqual([['scripts/slugify.mjs', 'Hello World']]);
		expect(await answered('calculator', 'calculate 2 + 3', '2 + 3 * 4')).toEqual([['scripts/calc.py', '2 + 3 * 4']]);
		expect(await answered('weather', 'how is the weather?', 'in Rome', 'thanks')).toEqual([
			['scripts/weather.mjs', 'Rome']
		]);
		expect(await answered('weather', 'weather in Rome, 5', 'days')).toEqual([
			['scripts/weather.mjs', 'Rome', '--days', '5']
		]);
		expect(await answered('weather', 'weather in Rome tomorrow', 'ignore it')).toEqual([
			['scripts/weather.mjs', 'Rome']
		]);
	});

	test('of several numbers it asks for which, where one is taken, and then runs', async () => {
		const skills = {
			'roman-numbers': {
				description: 'Turns a number into a Roman numeral. Use when someone asks for Roman numerals.',
				body: 'Run `node scripts/run.mjs NUMBER`.',
				files: ['scripts/run.mjs']
			}
		};
		const { texts, calls } = await talk({ skills }, 'convert 49 and 51 to roman numerals', '51');
		expect(texts[0]).toMatch(/Which .*: `49` or `51`\?/);
		expect(calls).toEqual([['scripts/run.mjs', '51']]);
		const written = await talk({ skills }, 'write 3999 as a roman numeral please');
		expect(written.calls).toEqual([['scripts/run.mjs', '3999']]);
	});

	test('a script that the instructions name and the skill lacks is told by its name', async () => {
		const greeter = {
			description: 'Greets somebody.',
			body: 'Run `scripts/old.mjs NAME`.',
			files: ['scripts/new.mjs']
		};
		const { texts, calls } = await talk({ skills: { greeter } }, 'use the greeter for Anna');
		expect(texts[0]).toContain(
			'The instructions of **greeter** name `scripts/old.mjs`, but the skill has no such file.'
		);
		expect(calls).toEqual([]);
	});

	test('a number is taken for a number, also where it looks like a year or like inches; an answer stands for what was said before', async () => {
		const skills: Record<string, TestSkill> = {
			'prime-factors': {
				description: 'Splits a number into its prime factors.',
				body: 'Run `scripts/factors.mjs <number>`.',
				files: ['scripts/factors.mjs']
			},
			'dice-roller': {
				description: 'Rolls dice and adds them up.',
				body: 'Run `scripts/roll.mjs <count> <sides>`.',
				files: ['scripts/roll.mjs']
			},
			marbles: {
				description: 'Draws marbles out of bags.',
				body: 'Run `scripts/draw.mjs <count> <bags>`.',
				files: ['scripts/draw.mjs']
			}
		};
		const called = async (...messages: string[]) => (await talk({ skills }, ...messages)).calls;
		const factors = [['scripts/factors.mjs', '1980']];
		expect(await called('prime factors of 1980')).toEqual(factors);
		expect(await called('split 1980 in prime factors')).toEqual(factors);
		expect(await called('run scripts/factors.mjs 1980')).toEqual(factors);
		expect(await called('prime factors', '1980')).toEqual(factors);
		expect(await called('roll 3 dice', '3')).toEqual([]);
		expect(await called('roll 3 dice', '3', '6')).toEqual([['scripts/roll.mjs', '3', '6']]);
		expect(await called('draw 4 marbles', '4')).toEqual([['scripts/draw.mjs', '4', '4']]);
	});

	test.each(['Run `scripts/greet.py`.', '```\npython3 scripts/greet.py\n```'])(
		'a command that says nothing of arguments is given one by whoever says so: %s',
		async (body) => {
			const greet = { description: 'Greets somebody by name.', body, files: ['scripts/greet.py'] };
			const after = async (reply: string) => (await talk({ skills: { greet } }, 'greet Ada Lovelace', reply)).calls;
			expect(await after('It is the first argument')).toEqual([['scripts/greet.py', 'Ada Lovelace']]);
			expect(await after('pass it as an argument')).toEqual([['scripts/greet.py', 'Ada Lovelace']]);
			expect(await after('It is the second argument')).toEqual([]);
			expect(await after('ignore it')).toEqual([['scripts/greet.py']]);
		}
	);

	test('what it cannot take as an answer it says once, with what to do', async () => {
		const skills = { weather: SKILLS.weather! };
		const { calls, texts } = await talk({ skills }, 'how is the weather?', 'not so fast', 'fix my sink');
		expect(calls).toEqual([]);
		expect(texts[1]).toMatch(/can’t use this as an answer[^]*everything in one message[^]*connect a model in/);
		expect(texts[1]).not.toContain('No skill clearly fits');
		expect(texts[2]).toContain('No skill clearly fits');
	});

	test.each(['never mind', 'No, never mind.', 'no', 'cancel', 'Stop!', 'forget it, please', 'no thanks'])(
		'F9: a question can be left: %s',
		async (reply) => {
			const skills = { weather: SKILLS.weather!, slugify: SKILLS.slugify! };
			const { calls, texts } = await talk({ skills }, 'how is the weather?', reply, 'Rome');
			expect(calls).toEqual([]);
			expect(texts[0]).toContain('**city**');
			expect(texts[1]).toBe('OK, never mind.');
			expect(texts[2]).toContain('No skill clearly fits');
		}
	);

	test('F9: what it asks for says for which job, and what the skill says of it', async () => {
		const body =
			'Create a folder for notes:\n\n```\nscripts/make.mjs NAME\n```\n\n- `NAME`: lower-case letters, such as `diary`. It is also the title.\n';
		const notes = { description: 'Create a folder for notes.', body, files: ['scripts/make.mjs'] };
		const { calls, texts } = await talk({ skills: { notes } }, 'Create a folder for my notes, please', 'diary');
		expect(texts[0]).toMatch(
			/^To create a folder for notes, I need the \*\*name\*\*: lower-case letters, such as `diary`\.\n/
		);
		expect(calls).toEqual([['scripts/make.mjs', 'diary']]);
	});

	const BUNDLED = Object.fromEntries(
		readdirSync('skills').map((name): [string, TestSkill] => {
			const [, head = '', body = ''] = readFileSync(`skills/${name}/SKILL.md`, 'utf8').split(/^---$/m);
			const files = readdirSync(`skills/${name}`, { recursive: true }).map(String);
			return [name, { description: /^description: (.+)$/m.exec(head)?.[1] ?? '', body, files }];
		})
	);
	test.each(
		[
			'Write me a poem about the sea|Please book a table for two tonight|Explain photosynthesis|How do I install a skill?',
			'Can you draw a cat?|Who won the world cup in 1998?|What is the capital of France?|Give me a recipe for pancakes',
			'Tell me about black holes|Order a pizza for dinner|Translate good morning to Spanish|Remind me to call mum at six',
			'Play some jazz|Draft an email to my landlord|Write a cover letter for a job as a nurse|Is it safe to eat raw eggs?',
			'What should I pack for Mars?|How tall is Mount Everest?|Turn off the kitchen lights|Suggest a name for my cat',
			'Help me plan a trip to Japan|Fix my sink|What is the meaning of life?|Find me a flight to Lisbon',
			'Draw a map of Europe|Read my mind|Split the atom|Join a gym near me|Send flowers to my wife|Publish my novel',
			'Rotate my tyres|List the planets of the solar system|Check my homework|Fill my glass|Review this restaurant',
			'What are the rules of chess?|Create a logo for my bakery|Turn lead into gold|Extract a tooth|Merge two companies',
			'Why is my page slow?|Which members joined in 2021|Sing me a song|Recommend a good book|How do I learn to swim?'
		].flatMap((row) => row.split('|'))
	)('F9: what is the job of no skill is asked nothing: %s', async (text) => {
		const { calls, texts } = await talk({ skills: BUNDLED }, text);
		expect(calls).toEqual([]);
		expect(texts[0]).toMatch(
			/^No skill clearly fits your message\.|^Demo mode can’t .*: it only runs the scripts of skills\./
		);
	});

	test.each([
		['Can you write a letter to my landlord?', 'write letters'],
		['Make a short story of this', 'make stories'],
		['tell me a joke', 'write jokes'],
		['Draft a short reply', 'draft replies'],
		['Translate this into French', 'translate'],
		['Book a table for two', 'book anything'],
		['please predict the sales', 'predict']
	])('F9: what no script does is refused by its name, with nothing read: %s', async (text, what) => {
		const { texts, calls, loaded } = await talk({ skills: BUNDLED }, text);
		expect(texts[0]).toContain(`Demo mode can’t ${what}: it only runs the scripts of skills. You can ask for:`);
		expect(texts[0]).toContain('connect a model in **Settings**');
		expect([calls, loaded]).toEqual([[], []]);
	});

	test('F9: a wish for a translation is for the skill that translates', async () => {
		const translate = {
			description: 'Translate a text.',
			body: '```\nscripts/t.mjs "TEXT"\n```',
			files: ['scripts/t.mjs']
		};
		const { calls } = await talk({ skills: { translate } }, 'Translate this: good day');
		expect(calls).toEqual([['scripts/t.mjs', 'good day']]);
	});

	test.each(['good morning', 'Hi there!', 'Who are you?', 'Good evening, how are you?'])(
		'F9: %s is a greeting',
		async (text) => {
			const { texts, loaded } = await talk({ skills: BUNDLED }, text, { text, attached: ['mine.csv'] });
			expect(loaded).toEqual([]);
			expect(texts[0]).toMatch(/^Hello\./);
			expect(texts[1]).toMatch(/^Hello\. Ask about `mine\.csv`\./);
			expect(offeredIn(texts[1]!).answers).toEqual(['What can I ask about mine.csv?', 'What can you do?']);
		}
	);

	test.each([
		'Create a new skill',
		'Deploy the build',
		'What’s the weather?',
		'What should I wear tomorrow?',
		'Read this web page',
		'Count the words'
	])('F9: what is the job of a skill is asked for what it lacks: %s', async (text) => {
		const { texts } = await talk({ skills: BUNDLED }, text);
		expect(texts[0]).toContain('No script has run for this yet.');
	});

	test.each(['When’s the next meeting'])('F9: a file that none reads is no reason to ask: %s', async (text) => {
		const { calls, texts } = await talk({ skills: BUNDLED }, { text, attached: ['notes.txt'] });
		expect(calls).toEqual([]);
		expect(texts[0]).not.toMatch(/I need|should I|Which of these/);
	});

	test.each([
		'List everything over £70',
		'What is Joy’s target?',
		'Who reached their target?',
		'Change the category of Dishoom to food'
	])('F9: after a question about a file no skill of others is loaded by one word: %s', async (text) => {
		const file = { text: 'How much did I spend in May?', attached: ['bank.csv'] };
		const { loaded, calls } = await talk({ skills: BUNDLED }, file, text);
		expect(loaded).toEqual(['data-analysis']);
		expect(calls.every((call) => String(call).startsWith('scripts/analyze_csv.mjs'))).toBe(true);
		expect((await talk({ skills: BUNDLED }, file, 'How is the weather in Oslo?')).loaded).toContain('weather');
	});

	test('F9: “their” of who is asked for goes on with no question before; files that are named are asked alone, and once', async () => {
		const refusal = { ...DONE, stdout: "sales.csv can't answer that: I find nothing for “new” in it.\n" };
		const setting = { skills: BUNDLED, answer: () => refusal };
		const file = { text: 'What is new in March?', attached: ['sales.csv', 'old.csv', 'staff.csv'] };
		const { calls } = await talk(setting, file, 'Who reached their target?', 'Compare sales.csv with old.csv');
		const asked = (question: string, ...files: string[]) => [
			'scripts/analyze_csv.mjs',
			...files,
			'--question',
			question
		];
		expect(calls).toEqual([
			asked('What is new in March?', ...file.attached),
			asked('Who reached their target?', ...file.attached),
			asked('Compare sales.csv with old.csv', 'sales.csv', 'old.csv')
		]);
	});

	test('F9: of the skills that speak of a file only that is loaded which is about it, unless a word calls for another', async () => {
		const file = { text: 'Is Ben a member?', attached: ['members.csv'] };
		expect((await talk({ skills: BUNDLED }, file)).loaded).toEqual(['data-analysis']);
		const workbook = { text: 'Make a workbook of this', attached: ['members.csv'] };
		expect((await talk({ skills: BUNDLED }, workbook)).loaded).toContain('spreadsheets');
	});

	test('F9: of a skill that was meant and can’t be used it says why, though another one would run; not of one that another answers', async () => {
		const unusable = [{ name: 'word-tally', why: 'broken: description is missing' }];
		const { calls, texts } = await talk({ skills: BUNDLED, unusable }, 'Use word-tally to count the words in "a b c"');
		expect(calls).toEqual([]);
		expect(texts[0]).toBe('**word-tally** is broken: description is missing.\n\nFix it in **Skills**, then ask again.');
		const pinned = await talk({ skills: BUNDLED, unusable }, 'Count the words in "a b c"', 'Rotate my tyres');
		expect(pinned.calls).toHaveLength(1);
		expect(pinned.texts[1]).toContain('**word-tally** is broken');
		const off = await talk({ skills: BUNDLED, unusable: [{ name: 'word-tally', why: 'off' }] }, 'Use word tally');
		expect(off.texts[0]).toContain('**word-tally** is off.\n\nTurn it on in **Skills**');
		const trashed = await talk({ unusable: [{ name: 'old', why: 'in the Trash' }] }, 'Use old for "a b"');
		const both = ['off', 'in the Trash', 'off'].map((why, at) => ({ name: `s-${at}`, why }));
		expect((await talk({ unusable: both }, 'Use s-0, s-1 and s-2')).texts[0]).toMatch(
			/^\*\*s-0.*off\.\n\n\*\*s-2.*off\.\n\nTurn it on .*\n\n\*\*s-1.*Trash\.\n\nRestore it .*$/
		);
		expect(trashed.texts[0]).toBe('**old** is in the Trash.\n\nRestore it in **Skills**, then ask again.');
	});

	test('F9: of a name that no skill has it says so, with similar ones, and where skills come from', async () => {
		const unusable = [{ name: 'word-taly', why: 'not among your skills. Similar: word-tally' }];
		const { calls, texts } = await talk({ skills: BUNDLED, unusable }, 'Use word-taly to count the words in "a b c"');
		expect(calls).toEqual([]);
		expect(texts[0]).toMatch(
			/^\*\*word-taly\*\* is not among your skills\. Similar: word-tally\.\n\nTo install a skill, /
		);
		expect(unusableIn(texts[0]!)).toEqual([{ name: 'word-taly', isUnknown: true, similar: ['word-tally'] }]);
	});

	test('F9: catalogs are searched only where somebody asks to find or install a skill', async () => {
		const search = functionTool('search_skill_catalogs', 'Search public catalogs for skills that aren’t installed.', {
			query: { type: 'string' }
		});
		const setting = { skills: BUNDLED, tools: [search] };
		const ran = async (text: string) => (await talk(setting, text)).calls;
		expect(await ran('Use the public catalogs search for "apples"')).toEqual([]);
		expect(await ran('Search the catalogs for skills about "QR codes"')).toEqual([
			{ search_skill_catalogs: { query: 'QR codes' } }
		]);
	});

	test('F9: where nothing fits it names the skill that would, if it were not off or broken; no other', async () => {
		const tide = { name: 'tide', why: 'off', description: 'Tells the tide times of harbours: high water, low water.' };
		const torn = { name: 'torn', why: 'broken: its body is missing', description: 'Bakes sourdough bread.' };
		const setting = { skills: BUNDLED, shelved: [torn, tide] };
		const { texts, loaded } = await talk(setting, 'When is high water in the harbour?', 'Sourdough bread, please');
		expect(texts[0]).toMatch(
			/^\*\*tide\*\* would fit, but it’s off\. Turn it on in \*\*Skills\*\*, then ask again\.\n\nNo skill/
		);
		expect(texts[1]).toMatch(/^\*\*torn\*\* would fit, but it’s broken: its body is missing\. Fix it/);
		expect(texts.flatMap((text) => unusableIn(text).map(({ name }) => name))).toEqual(['tide', 'torn']);
		expect(loaded).toEqual([]);
		const other = await talk(setting, 'Rotate my tyres');
		expect(other.texts[0]).toMatch(/^No skill clearly fits/);
		const fits = await talk(setting, 'Count the words in "high water"');
		expect(fits.texts[0]).not.toContain('tide');
	});

	test('F9: what has the same long answer as the message before is not told all of it again, unless that was asked again', async () => {
		const stdout = `The total is 17.\n\nYou can ask for:\n\n- average amount\n\n${'Rows and rows. '.repeat(20)}`;
		const setting = { skills: BUNDLED, answer: () => ({ ...DONE, stdout }) };
		const file = { text: 'Summarise this', attached: ['members.csv'] };
		const { texts } = await talk(setting, file, 'What are these?', 'Summarise this');
		expect(texts[0]).toContain('The total is 17.');
		expect(texts[1]).toBe(
			'The answer is the one above. Demo mode can’t say more about it.\n\nYou can ask for:\n\n- average amount\n\nFor real answers, connect a model in **Settings**.'
		);
		expect(texts[2]).toBe(texts[0]);
		expect((await talk(setting, file, 'Summarise this')).texts[1]).toContain('The total is 17.');
		const drawn = await talk(
			setting,
			{ text: 'Draw a line chart per town', attached: ['members.csv'] },
			'make it a line chart'
		);
		expect(drawn.texts[1]).toBe(drawn.texts[0]);
		const short = { skills: BUNDLED, answer: () => ({ ...DONE, stdout: '3 rows.' }) };
		expect((await talk(short, file, 'What are these?')).texts).toEqual(['3 rows.', '3 rows.']);
	});

	test.each([
		['turn count-words off', 'To turn it off, open **count-words**'],
		['Please disable the pdf skill', 'To turn it off, open **pdf**'],
		['switch on weather.', 'To turn it on, open **weather**'],
		['delete count-words', 'To delete it, open **count-words**']
	])('F9: what is wanted of skills themselves runs none: %s', async (text, said) => {
		const { calls, loaded, texts } = await talk({ skills: BUNDLED }, text);
		expect([calls, loaded]).toEqual([[], []]);
		expect(texts[0]).toContain(said);
	});

	test('F9: a greeting runs nothing, with a file either', async () => {
		const first = await talk({ skills: BUNDLED }, { text: 'hello', attached: ['members.csv'] });
		expect(first).toMatchObject({ calls: [], loaded: [] });
		expect(first.texts[0]).toMatch(/^Hello\. Ask about `members\.csv`\.\n\nYou can ask for:\n\n- /);
		const file = { text: 'How many are from Leeds?', attached: ['members.csv'] };
		expect((await talk({ skills: BUNDLED }, file, 'Hi!')).calls).toHaveLength(1);
	});

	test.each([
		'their names?',
		'Which ones?',
		'which are they',
		'How many are there?',
		'What percentage is that?',
		'How much was that in total?',
		'the total?',
		'When was that?',
		'Who there has a licence?'
	])('F9: what is asked about those that were found goes on with the question: %s', async (text) => {
		const file = { text: 'How many are from Leeds?', attached: ['members.csv'] };
		const { calls } = await talk({ skills: BUNDLED }, file, text);
		expect([calls.at(-1)].flat().at(-1)).toBe(`How many are from Leeds?\n${text}`);
	});

	test('F9: thanks are no answer to what was asked, and mail is nothing that it sends', async () => {
		const file = { text: 'Email Jack to say hello', attached: ['members.csv'] };
		expect((await talk({ skills: BUNDLED }, file)).texts[0]).toMatch(/^Demo mode can’t send emails: /);
		const { texts } = await talk({ skills: BUNDLED }, 'Count the words', 'Thanks!', 'thx bye');
		expect(isAsking(texts[0]!)).toBe(true);
		expect(texts.slice(1)).toEqual(['You’re welcome.', 'You’re welcome.']);
	});

	test.each([
		['Delete club.csv', 'change or delete files (you can delete one in **Files**)'],
		['Remove the row of Anna', 'change or delete files (you can delete one in **Files**)'],
		['Please set the fee of Anna to 100', 'change or delete files (you can delete one in **Files**)'],
		['Email the reminder to all', 'send emails'],
		['Send Anna a reminder', 'send reminders']
	])('F9: a file isn’t changed, and nobody is written to, which is said by name: %s', async (text, what) => {
		const { texts, calls } = await talk({ skills: BUNDLED }, { text, attached: ['club.csv'] });
		expect(texts[0]).toContain(`Demo mode can’t ${what}: it only runs the scripts of skills. You can ask for:`);
		expect(calls).toEqual([]);
	});

	test('F9: what sounds like a question about a table says that a file can be attached', async () => {
		const { texts } = await talk({ skills: BUNDLED }, 'How many members are older than 50?', 'Why is the sky blue?');
		expect(texts[0]).toContain('If it’s about a file of yours, attach that and ask again.');
		expect(texts[1]).not.toContain('attach');
	});

	test('F9: which of the files has something is asked of each, and each is told by its name', async () => {
		const answer = (_: string, { script }: Record<string, unknown>) => ({
			...DONE,
			stdout: `${String(script)} has it.\n`
		});
		const asked = { text: 'Which of my files mentions York?', attached: ['members.csv', 'notes.txt', 'bank.csv'] };
		const { calls, texts } = await talk({ skills: BUNDLED, answer }, asked);
		expect(calls.map((call) => [call].flat().slice(1))).toEqual([
			['members.csv', 'bank.csv', '--question', asked.text],
			['notes.txt', '--question', asked.text]
		]);
		expect(texts[0]).toMatch(/^\*\*members\.csv, bank\.csv\*\*:\n[^]*\n\*\*notes\.txt\*\*:\n/);
	});

	test('F9: a file that is called so is summed up, in three points, too', async () => {
		const text = 'Summarise the minutes in three points';
		const { calls } = await talk({ skills: BUNDLED }, { text, attached: ['members.csv', 'minutes.txt'] });
		expect(calls).toEqual([['scripts/quote.mjs', 'minutes.txt', '--question', text]]);
	});

	test.each(['How many members are there?', 'What is this?'])(
		'F9: … but no question of its own does: %s',
		async (text) => {
			const file = { text: 'How many are from Leeds?', attached: ['members.csv'] };
			const { calls } = await talk({ skills: BUNDLED }, file, text);
			expect([calls.at(-1)].flat().at(-1)).not.toContain('\n');
		}
	);

	test('F9: what brings only a time is no job for what needs a file or an address', async () => {
		const { texts } = await talk({ skills: BUNDLED }, 'Book me a table for two at 8pm');
		expect(texts[0]).toContain('Demo mode can’t book anything');
	});

	test('F9: what it lacks is asked for in words, not as a usage line has it', async () => {
		const tide = { description: 'Tells the next high tide.', body: '```\ntide.mjs HH:MM\n```', files: ['tide.mjs'] };
		const { texts } = await talk({ skills: { tide } }, 'Whitby tide at 10:00');
		expect(texts[0]).toContain('Say what it is (**time**), or reply “ignore it”.');
	});

	test.each(['When is the next meeting?', 'find the phone number', 'Is breakfast included?', 'Summarise these notes'])(
		'F9: a question about a text is for the script that reads such: %s',
		async (text) => {
			const { calls } = await talk({ skills: BUNDLED }, { text, attached: ['notes.txt'] });
			expect(calls).toEqual([['scripts/quote.mjs', 'notes.txt', '--question', text]]);
		}
	);

	test('F9: a later question about a text is for that script, too', async () => {
		const file = { text: 'When is the next meeting?', attached: ['notes.txt'] };
		const { calls } = await talk({ skills: BUNDLED }, file, 'Who books the tent?', 'How many words?');
		expect(calls.slice(1)).toEqual([
			['scripts/quote.mjs', 'notes.txt', '--question', 'Who books the tent?'],
			['scripts/count.mjs', '--file', 'notes.txt']
		]);
	});

	test('F9: how long a text is, is counted', async () => {
		const { calls } = await talk(
			{ skills: BUNDLED },
			{ text: 'How many sentences are there?', attached: ['notes.txt'] }
		);
		expect(calls).toEqual([['scripts/count.mjs', '--file', 'notes.txt']]);
	});

	test('F9: a verb alone loads nothing, and which skills there are is told', async () => {
		expect((await talk({ skills: BUNDLED }, 'Write me a poem about the sea')).loaded).toEqual([]);
		expect((await talk({ skills: BUNDLED }, 'Split the atom')).loaded).toEqual([]);
		const all = await talk({ skills: BUNDLED }, 'Which skills do you have?');
		expect(offeredIn(all.texts[0]!).answers).toEqual(Object.keys(BUNDLED));
		const one = await talk({ skills: BUNDLED }, 'What can the deploy skill do?');
		expect(offeredIn(one.texts[0]!).answers).toEqual(['deploy']);
	});

	test('F9: of several files that came along it names each, and offers each', async () => {
		const table = {
			description: 'Summarise a CSV file.',
			body: '```\nscripts/sum.mjs FILE\n```',
			files: ['scripts/sum.mjs']
		};
		const both = { text: 'Who is the oldest member?', attached: ['members.csv', 'spend.csv'] };
		const { calls, texts } = await talk({ skills: { table } }, both, 'Summarise spend.csv');
		expect(offeredIn(texts[0]!).answers).toEqual(['Summarise members.csv', 'Summarise spend.csv']);
		expect(texts[0]).toContain('With `members.csv, spend.csv`');
		expect(calls).toEqual([['scripts/sum.mjs', 'spend.csv']]);
	});

	test('F9: a question with a verb of its own is no answer, and is answered for itself', async () => {
		const skills = { slugify: SKILLS.slugify!, weather: SKILLS.weather! };
		const { calls, texts } = await talk({ skills }, 'make a slug', 'Who owes the fee?');
		expect(calls).toEqual([]);
		expect(texts[1]).toContain('No skill clearly fits');
	});

	test('F9: what follows on a script with “and” is for it with what is new, or for none', async () => {
		const tides = {
			description: 'Tells when the next tide is.',
			body: 'The next tide after a time:\n\n```\nscripts/next.mjs HH:MM\n```\n\nAll: `scripts/all.mjs`\n',
			files: ['scripts/next.mjs', 'scripts/all.mjs', 'scripts/broken.mjs']
		};
		const setting = { skills: { tides, weather: SKILLS.weather! } };
		const start = 'next tide after 18:00?';
		const next = ['scripts/next.mjs', '18:00'];
		const { calls } = await talk(setting, start, 'And after 22:30?', 'and after 6:15?');
		expect(calls).toEqual([next, ['scripts/next.mjs', '22:30'], ['scripts/next.mjs', '06:15']]);
		const other = await talk(setting, start, 'and the weather and forecast in Rome?');
		expect(other.calls).toEqual([next, ['scripts/weather.mjs', 'Rome']]);
		for (const text of ['and what do you think?', 'and tomorrow?', 'And a poem?']) {
			const { calls, texts } = await talk(setting, start, text);
			expect(calls, text).toEqual([next]);
			expect(texts[1], text).toContain('No skill clearly fits');
		}
	});

	test('what is no answer is a request of its own', async () => {
		const skills = { slugify: SKILLS.slugify!, weather: SKILLS.weather! };
		const { calls } = await talk({ skills }, 'make a slug', 'What is the weather and forecast in Rome?');
		expect(calls).toEqual([['scripts/weather.mjs', 'Rome']]);
	});

	test('a skill that says whether something is so answers yes-or-no questions', async () => {
		const leap = {
			description: 'Says whether a year is a leap year. Use when someone asks about leap years.',
			body: '```\nnode scripts/run.mjs NUMBER\n```',
			files: ['scripts/run.mjs']
		};
		const setting = { skills: { 'leap-years': leap } };
		for (const said of ['Is 2028 a leap year?', 'was 2028 a leap year'])
			expect((await talk(setting, said)).calls).toEqual([['scripts/run.mjs', '2028']]);
		const other = { ...leap, description: 'Prints the calendar of a year, leap years too.' };
		expect((await talk({ skills: { 'leap-years': other } }, 'Is 2028 a leap year?')).calls).toEqual([]);
	});

	test('of two commands or skills that fit alike it asks which, and takes the number or a word for it', async () => {
		const lamp = (name: string) => ({
			description: `Switch a lamp of the ${name}.`,
			body: '```\nlamp.py on ROOM\nlamp.py off ROOM\n```',
			files: ['lamp.py']
		});
		const commands = await talk({ skills: { lamps: lamp('house') } }, 'switch a lamp in the Kitchen', 'off');
		expect(commands.texts[0]).toMatch(/Which of these[^]*1\. Lamp on with room\n2\. Lamp off with room/);
		expect(commands.calls).toEqual([['lamp.py', 'off', 'Kitchen']]);
		const skills = { 'lamps-a': lamp('house'), 'lamps-b': lamp('house') };
		const both = await talk({ skills }, 'switch on a lamp in the Kitchen', '2');
		expect(both.texts[0]).toContain('Which skill should I use?');
		expect(both.calls).toEqual([['lamp.py', 'on', 'Kitchen']]);
		expect(both.loaded).toEqual(['lamps-a', 'lamps-b']);
		const named = await talk({ skills }, 'use lamps-b to switch on a lamp in the Kitchen');
		expect(named.calls).toEqual([['lamp.py', 'on', 'Kitchen']]);
		expect(named.loaded).toEqual(['lamps-b']);
	});

	const lampsOf = (name: string): TestSkill => ({
		description: 'Switch a lamp of the house on or off.',
		body: `\`\`\`\n${name}/lamp.py on ROOM\n${name}/lamp.py off ROOM\n\`\`\``,
		files: [`${name}/lamp.py`]
	});
	const lamps = { 'hall-lamps': lampsOf('hall'), 'room-lamps': lampsOf('room'), weather: SKILLS.weather! };
	const SWITCH = 'switch on a lamp in the Kitchen';

	test.each([
		'2',
		'2.',
		'number 2',
		'second',
		'the second one',
		'room-lamps',
		'use room-lamps',
		'room',
		'the Room lamps'
	])('F9: asked for a skill, “%s” names it', async (answer) => {
		const { calls, texts } = await talk({ skills: lamps }, SWITCH, answer);
		expect(offeredIn(texts[0]!).answers).toEqual(['hall-lamps', 'room-lamps']);
		expect(calls).toEqual([['room/lamp.py', 'on', 'Kitchen']]);
	});

	test('F9: a rewording of a wish that fits two skills isn’t asked about again: it says which was used, and the other can be named', async () => {
		const again = 'please switch on the lamp in the Kitchen';
		const { calls, texts } = await talk({ skills: lamps }, SWITCH, again, `${again}!`, 'room-lamps');
		expect(calls).toEqual([
			['hall/lamp.py', 'on', 'Kitchen'],
			['hall/lamp.py', 'on', 'Kitchen'],
			['room/lamp.py', 'on', 'Kitchen']
		]);
		expect(texts[1]).toMatch(
			/done[^]*I used \*\*hall-lamps\*\*: it fits best\. To use another skill, reply “room-lamps”\.$/
		);
		expect(offeredIn(texts[1]!).answers).toEqual(['room-lamps']);
		expect(texts[3]).not.toContain('I used');
		const named = await talk({ skills: lamps }, SWITCH, 'switch off a lamp in the Hall with room-lamps');
		expect(named.calls).toEqual([['room/lamp.py', 'off', 'Hall']]);
	});

	test('F9: what is a new wish is one, also after a question for the skill', async () => {
		const { calls } = await talk({ skills: lamps }, SWITCH, 'How is the weather in Rome?');
		expect(calls).toEqual([['scripts/weather.mjs', 'Rome']]);
	});

	test('F9: of two skills that fit alike, the one whose command speaks of the attached file is used without a question', async () => {
		const adding = (what: string, script: string): TestSkill => ({
			description: 'Adds up spreadsheets by a column. Reads CSV files and workbooks (.xlsx).',
			body: `Add up ${what}:\n\n\`\`\`\n${script} FILE [--by COLUMN]\n\`\`\`\n\nWrite one as CSV, or as xlsx:\n\n\`\`\`\n${script} export FILE\n\`\`\``,
			files: [script]
		});
		const skills = { books: adding('a workbook (.xlsx)', 'books.mjs'), tables: adding('a CSV file', 'tables.mjs') };
		const used = async (...attached: string[]) =>
			(await talk({ skills }, { text: 'add up this spreadsheet by region', attached })).calls;
		expect(await used('mine.csv')).toEqual([['tables.mjs', 'mine.csv', '--by', 'region']]);
		expect(await used('mine.xlsx')).toEqual([['books.mjs', 'mine.xlsx', '--by', 'region']]);
		expect(await used('mine.tsv')).toEqual([]);
	});

	test('the words of a file’s name stand for the file', async () => {
		const { calls } = await talk(
			{ skills: SKILLS },
			{ text: 'summarise my expenses', attached: ['expenses-2026.csv'] }
		);
		expect(calls).toEqual([['scripts/analyze_csv.mjs', 'expenses-2026.csv']]);
	});

	test('F9: each choice that a question for the command offers is an answer as it is shown', async () => {
		const [question] = (await talk({ skills: { lamps: lampsOf('a') } }, 'switch a lamp in the Kitchen')).texts;
		const { before, answers, after } = offeredIn(question!);
		expect(after).toBe('');
		expect(answers).toEqual(['Lamp on with room', 'Lamp off with room']);
		expect(`${before}\n\n1. Lamp on with room\n2. Lamp off with room\n\nReply with its number.\n\n${ASKED}`).toBe(
			question
		);
		for (const answer of answers) {
			const { calls } = await talk({ skills: { lamps: lampsOf('a') } }, 'switch a lamp in the Kitchen', answer);
			expect(calls).toEqual([['a/lamp.py', answer.split(' ')[1], 'Kitchen']]);
		}
		const [left] = (await talk({ skills: { weather: SKILLS.weather! } }, 'weather in Rome tomorrow')).texts;
		expect(offeredIn(left!)).toEqual({ before: left, answers: ['ignore it'], about: [''], after: '' });
	});

	test('among many skills the one that fits is loaded', async () => {
		const chosen = async (message: string) =>
			(await talk({ skills: SKILLS, workspace: ['sales.csv'] }, message)).loaded;
		expect(await chosen('How many words are in: the weather in New York')).toEqual(['count-words']);
		expect(await chosen('weather in New York')).toEqual(['weather']);
		expect(await chosen('summarise sales.csv by region')).toEqual(['data-analysis']);
		expect(await chosen('roll 3d8')).toEqual(['dice']);
		expect(await chosen('generate a password')).toEqual(['password-generator']);
	});
});

describe('F9: arguments of tools', () => {
	test('the text after the colon reaches a tool unchanged', async () => {
		const { calls, loaded } = await talk({ skills: SKILLS }, 'How many words are in: the quick brown fox');
		expect(loaded).toEqual(['count-words']);
		expect(calls).toEqual([{ count_words: { text: 'the quick brown fox' } }]);
	});

	test('so do line breaks, inner quotation marks and colons', async () => {
		const { calls } = await talk({ skills: SKILLS }, 'Count the words:\n\n"Yes": she said.\n\n  – No.');
		expect(calls).toEqual([{ count_words: { text: '"Yes": she said.\n\n  – No.' } }]);
	});

	test('a tool is called where a script would be given the same, without a question', async () => {
		const { calls } = await talk({ skills: SKILLS }, 'Count the characters of "lighthouse keeper"');
		expect(calls).toEqual([{ count_words: { text: 'lighthouse keeper' } }]);
	});

	test("the caller's own function is called, with arguments by its schema", async () => {
		const units = { type: 'string', enum: ['metric', 'imperial'] };
		const properties = { city: { type: 'string', description: 'City name' }, days: { type: 'integer' }, units };
		const tools = [functionTool('get_weather', 'Get the current weather for a city', properties, ['city'])];
		expect((await talk({ tools }, 'What is the weather in Lima?')).calls).toEqual([{ get_weather: { city: 'Lima' } }]);
		const more = await talk({ tools }, 'weather in São Paulo for 5 days in imperial units');
		expect(more.calls).toEqual([{ get_weather: { city: 'São Paulo', days: 5, units: 'imperial' } }]);
		expect((await talk({ tools, skills: SKILLS }, 'weather in Lima')).calls).toEqual([
			{ get_weather: { city: 'Lima' } }
		]);
	});

	test('numbers, lists, choices and switches get their types', async () => {
		const temperature = { type: 'string', enum: ['celsius', 'fahrenheit'] };
		const tools = [
			functionTool('convert_temperature', 'Convert a temperature', {
				value: { type: 'number' },
				from: temperature,
				to: temperature
			}),
			functionTool(
				'mean_of',
				'Mean of some numbers',
				{ numbers: { type: 'array', items: { type: 'number' } }, rounded: { type: 'boolean' } },
				['numbers']
			)
		];
		expect((await talk({ tools }, 'convert a temperature of 30.5 celsius to fahrenheit')).calls).toEqual([
			{ convert_temperature: { value: 30.5, from: 'celsius', to: 'fahrenheit' } }
		]);
		expect((await talk({ tools }, 'rounded mean of the numbers 3, 5 and 10')).calls).toEqual([
			{ mean_of: { numbers: [3, 5, 10], rounded: true } }
		]);
	});
});

describe('F9: skills with tools', () => {
	test('D27: the server\u2019s built-in tools are called only by a message that names one', async () => {
		const tools = [
			functionTool('file_read', 'Read a file of the working directory.', { path: { type: 'string' } }),
			functionTool('mine', 'Read a picture of the museum.', { path: { type: 'string' } })
		];
		const plain = await talk({ tools }, 'Read the file "notes.txt" of the working directory.');
		expect(plain.calls).toEqual([]);
		const named = await talk({ tools }, 'Read the file "notes.txt" with file_read.');
		expect(named.calls).toHaveLength(1);
		expect(JSON.stringify(named.calls)).toContain('notes.txt');
	});
	const count = (description: string) => [functionTool('count', description, { text: { type: 'string' } })];
	const answerOf = (skills: Record<string, TestSkill>, name: string, tools: FunctionTool[]) =>
		collect(
			request({
				instructions: instructionsFor({ skills }),
				tools,
				input: [
					{ type: 'function_call', call_id: 'c1', name: 'load_skill', arguments: '{"skill":"letters"}' },
					{ type: 'function_call_output', call_id: 'c1', output: contentOf('letters', skills.letters!) },
					{ type: 'function_call', call_id: 'c2', name: 'load_skill', arguments: '{"skill":"words"}' },
					{ type: 'function_call_output', call_id: 'c2', output: contentOf('words', skills.words!) },
					{ type: 'message', role: 'user', content: `count the ${name}: a b` }
				]
			})
		);

	test('D17: of two tools with one name the one of the fitting skill is called', async () => {
		const skills = {
			letters: { description: 'Count letters.', body: '', tools: count('Count letters') },
			words: { description: 'Count words.', body: '', tools: count('Count words') }
		};
		const tools = [...count('Count words'), { ...count('Count letters')[0]!, name: 'letters__count' }];
		expect(itemsOf(await answerOf(skills, 'letters', tools))[0]).toMatchObject({
			name: 'letters__count',
			arguments: '{"text":"a b"}'
		});
		expect(itemsOf(await answerOf(skills, 'words', tools))[0]).toMatchObject({
			name: 'count',
			arguments: '{"text":"a b"}'
		});
	});

	test('F7: a pinned skill is followed without loading it', async () => {
		const instructions = `${instructionsFor({ skills: SKILLS })}\n\n${contentOf('count-words', SKILLS['count-words']!)}`;
		const input: ResponseItem[] = [{ type: 'message', role: 'user', content: 'count the words: a b c' }];
		const tools = [functionTool('load_skill', 'Load', { skill: {} }), functionTool('use_skill', 'Run', { skill: {} })];
		const [item] = itemsOf(await collect(request({ instructions, input, tools })));
		expect(item).toMatchObject({
			name: 'use_skill',
			arguments: '{"skill":"count-words","script":"scripts/count.py","args":["a b c"]}'
		});
	});

	test('F7: what fits no skill is for the only pinned one, which does not ask the same again', async () => {
		const shout = {
			description: 'Capital letters.',
			body: '```\nscripts/shout.py "TEXT"\n```',
			files: ['scripts/shout.py']
		};
		const instructions = `${instructionsFor({ skills: { ...SKILLS, shout } })}\n\n${contentOf('shout', shout)}`;
		const tools = [functionTool('load_skill', 'Load', { skill: {} }), functionTool('use_skill', 'Run', { skill: {} })];
		const user = (content: string): ResponseItem => ({ type: 'message', role: 'user', content });
		const answerTo = async (...input: ResponseItem[]) =>
			itemsOf(await collect(request({ instructions, input, tools })))[0]!;
		expect(JSON.parse(String((await answerTo(user('grüezi mitenand'))).arguments))).toMatchObject({
			args: ['grüezi mitenand']
		});
		expect(JSON.parse(String((await answerTo(user('hello'))).arguments))).toMatchObject({ args: ['hello'] });
		for (const text of ['shout hello world', 'Please shout: hello world'])
			expect(JSON.parse(String((await answerTo(user(text))).arguments))).toMatchObject({ args: ['hello world'] });
		const asked = await answerTo(user('please'));
		expect(JSON.stringify(asked)).toMatch(/What text should I use\?.*No script has run for this yet/);
		const again = await answerTo(user('please'), asked, user('not so fast'));
		expect(JSON.stringify(again)).toContain('can’t use this as an answer');
	});

	test('what only another tool can tell, such as an id, nobody is asked for', async () => {
		const find = functionTool('find_trip', 'Find a trip', { city: { type: 'string', description: 'Where to' } });
		const id = { type: 'string', description: 'The id from find_trip' };
		const tools = [find, functionTool('book_trip', 'Book a trip that find_trip found', { id })];
		const { texts, calls } = await talk({ tools }, 'Book a trip');
		expect(calls).toEqual([]);
		expect(texts[0]).not.toContain('**id**');
		const alone = [functionTool('book_trip', 'Book a trip', { id: { type: 'string', description: 'Which' } })];
		expect((await talk({ tools: alone }, 'Book a trip')).texts[0]).toContain('**id**');
	});

	test('of a chat that has only begun no skill is made', async () => {
		const tools = [functionTool(DRAFT_TOOL, 'Make a draft of a skill from this chat', {})];
		const { calls } = await talk({ tools }, 'make me a skill');
		expect(calls).toEqual([]);
		expect((await talk({ tools }, 'Hello', 'Make a draft of a skill from this chat')).calls).toEqual([
			{ [DRAFT_TOOL]: {} }
		]);
	});

	test('F7: of two skills that do the same the pinned one is meant', async () => {
		const tally = { ...SKILLS['count-words']!, description: 'Counts the words of a text.', tools: [] };
		const instructions = `${instructionsFor({ skills: { ...SKILLS, tally } })}\n\n${contentOf('tally', tally)}`;
		const input: ResponseItem[] = [{ type: 'message', role: 'user', content: 'count the words: a b c' }];
		const tools = [functionTool('load_skill', 'Load', { skill: {} }), functionTool('use_skill', 'Run', { skill: {} })];
		const [item] = itemsOf(await collect(request({ instructions, input, tools })));
		expect(JSON.parse(String(item?.arguments))).toMatchObject({ skill: 'tally', args: ['a b c'] });
	});

	test('D18: a tool that answers with the instructions is called once', async () => {
		const stub = { description: 'Brew tea.', body: '# Tea', tools: [functionTool('brew_tea', 'Brew tea', {})] };
		const input: ResponseItem[] = [
			{ type: 'message', role: 'user', content: 'brew tea' },
			{ type: 'function_call', call_id: 'c1', name: 'load_skill', arguments: '{"skill":"tea"}' },
			{ type: 'function_call_output', call_id: 'c1', output: contentOf('tea', stub) },
			{ type: 'function_call', call_id: 'c2', name: 'brew_tea', arguments: '{}' },
			{ type: 'function_call_output', call_id: 'c2', output: contentOf('tea', stub) }
		];
		const [item] = itemsOf(
			await collect(request({ instructions: instructionsFor({ skills: { tea: stub } }), input, tools: stub.tools }))
		);
		expect(item).toMatchObject({ type: 'message' });
	});
});

test.each([
	['Run scripts/greet.sh', 'Do greet7', 'scripts/greet.sh'],
	['Run scripts/greet.sh with the file of names.', 'greet names.csv', 'scripts/greet.sh', 'names.csv'],
	['Run `scripts/greet.sh` on each attached file.', 'Run scripts/greet.sh names.csv', 'scripts/greet.sh', 'names.csv'],
	['To greet, run scripts/greet.sh NAME and say what it prints.', 'greet Anna', 'scripts/greet.sh', 'Anna']
])(
	'F9: a command without code marks is one, too, and the name of its skill asks for nothing: %s',
	async (body, says, ...call) => {
		const greet7 = { description: 'Greets somebody.', body: `# Greet\n\n${body}\n`, files: ['scripts/greet.sh'] };
		const { calls, texts } = await talk({ skills: { greet7 } }, says);
		expect(calls).toEqual([call]);
		const talked = await talk(
			{ skills: { greet7: { ...greet7, body: '# Greet\n\nscripts/greet.sh is old.\n' } } },
			says
		);
		expect(talked.calls).toEqual([]);
		expect([texts[0], talked.texts[0]]).toEqual([
			expect.stringContaining('done'),
			expect.stringContaining('name no command')
		]);
	}
);

test.each(['What is the share price of ACME?', 'python3 scripts/price.py ACME', 'share price of "ACME"'])(
	'F9: a symbol may be a word: %s',
	async (says) => {
		const stock = {
			description: 'Looks up the share price of a company by its symbol.',
			body: '# Price\n\nRun `python3 scripts/price.py SYMBOL` and report the result.\n',
			files: ['scripts/price.py']
		};
		expect((await talk({ skills: { stock } }, says)).calls).toEqual([['scripts/price.py', 'ACME']]);
	}
);

describe('F9: files', () => {
	const skills = { 'data-analysis': SKILLS['data-analysis']! };

	test('an attached file is the one that is meant, whatever else is there', async () => {
		const setting = { skills, workspace: ['a.csv', 'b.csv', 'mine.csv'] };
		const { calls } = await talk(setting, { text: 'summarise this by region', attached: ['mine.csv'] });
		expect(calls).toEqual([['scripts/analyze_csv.mjs', 'mine.csv', '--group-by', 'region']]);
	});

	test('an attached file that nothing takes is asked about', async () => {
		const both = { skills: { ...skills, dice: SKILLS.dice! } };
		for (const text of ['roll 3d8', 'summarise sales.csv by region']) {
			const { calls, texts } = await talk(both, { text, attached: ['mine.csv'] });
			expect(calls).toEqual([]);
			expect(texts[0]).toContain('With `mine.csv` it can do this');
		}
	});

	test('of a PDF or a picture it says that only a model can look into it, and asks nothing of its words', async () => {
		for (const [text, file] of [
			['What is the total due?', 'invoice.pdf'],
			['What is the total of this invoice?', 'invoice.pdf'],
			['summarise this by region', 'invoice.pdf'],
			['What is in this picture?', 'cat.png']
		] as const) {
			const { calls, texts } = await talk({ skills }, { text, attached: [file] });
			expect(calls).toEqual([]);
			expect(texts[0]).toContain(`can’t look into \`${file}\``);
			expect(texts[0]).not.toContain('What should I do with');
		}
	});

	test('of several attached files the one that the skill speaks of is meant', async () => {
		const attached = ['invoice.pdf', 'mine.csv', 'cat.png'];
		const { calls } = await talk({ skills }, { text: 'summarise this by region', attached });
		expect(calls).toEqual([['scripts/analyze_csv.mjs', 'mine.csv', '--group-by', 'region']]);
	});

	test('a file that answers a question goes to the command that was asked about, whatever other skills take such files', async () => {
		const log = {
			description: 'Summarises a log of temperatures.',
			body: '# Log\n\n`python3 scripts/log.py FILE`\n\nFILE is a CSV file.\n',
			files: ['scripts/log.py']
		};
		const answers = { text: 'Use revenue-2026.csv', attached: ['revenue-2026.csv'] };
		const { calls } = await talk({ skills: { ...skills, log } }, 'summarise my temperatures', answers);
		expect(calls).toEqual([['scripts/log.py', 'revenue-2026.csv']]);
	});

	test('a follow-up question goes on with the same skill and file', async () => {
		const { calls, loaded } = await talk(
			{ skills, workspace: ['sales.csv', 'other.csv'] },
			'summarise sales.csv by region',
			'and by product?'
		);
		expect(loaded).toEqual(['data-analysis']);
		expect(calls[1]).toEqual(['scripts/analyze_csv.mjs', 'sales.csv', '--group-by', 'product']);
	});

	test.each([
		...[
			'Summarise this file and draw a bar chart of revenue by month',
			'bar chart of the mean price per product',
			'average revenue per quarter'
		].map((text) => [text, '--question', text]),
		['Summarise this file'],
		['Give me an overview of this file']
	])(
		'F9: the bundled data analysis is asked in plain words, beside another skill that reads such files: %s',
		async (text, ...options) => {
			const read = (name: string, file: string): TestSkill => {
				const skill = readFileSync(`skills/${name}/SKILL.md`, 'utf8');
				const [, description = '', body = ''] = /^description: (.*)$[^]*?^---$([^]*)/m.exec(skill) ?? [];
				return { description, body, files: [file] };
			};
			const bundled = {
				'data-analysis': read('data-analysis', 'scripts/analyze_csv.mjs'),
				spreadsheets: read('spreadsheets', 'scripts/spreadsheet.mjs')
			};
			const { calls } = await talk({ skills: bundled }, { text, attached: ['shop.csv'] });
			expect(calls).toEqual([['scripts/analyze_csv.mjs', 'shop.csv', ...options]]);
		}
	);

	test.each([
		'how many unit tests do we have',
		'How many tests are there?',
		'what is the number of unit tests',
		'do we have unit tests?',
		'are there any tests for the parser'
	])('F9: what runs something is no answer to a question for a number: %s', async (text) => {
		const tests: TestSkill = {
			description:
				'Runs the unit tests of this project and reports which fail. Use when the user asks to test something.',
			body: '# Tests\n\n```\nscripts/run_tests.sh [--watch]\n```\n',
			files: ['scripts/run_tests.sh']
		};
		const asked = await talk({ skills: { tests } }, text);
		expect(asked.calls).toEqual([]);
		expect(asked.texts[0]).toContain('No script has run for this yet.');
		expect((await talk({ skills: { tests } }, text, 'ignore it')).calls).toEqual([['scripts/run_tests.sh']]);
		expect((await talk({ skills: { tests } }, 'run the unit tests')).calls).toEqual([['scripts/run_tests.sh']]);
		const counted = { ...tests, description: `${tests.description} Counts them, too.` };
		expect((await talk({ skills: { tests: counted } }, 'how many unit tests do we have')).calls).toHaveLength(1);
	});

	const books = {
		description: 'Summarises and converts workbooks (.xlsx). Turns CSV into one.',
		body: [
			'Describe a workbook (its sheets):\n\n```\nbook.mjs info FILE\n```',
			'Show the cells of a sheet:\n\n```\nbook.mjs show FILE [--sheet NAME]\n```',
			'Add up by a column:\n\n```\nbook.mjs summary FILE --group-by COLUMN\n```'
		].join('\n\n'),
		files: ['book.mjs']
	};

	test.each([
		['Describe this file', 'mine.csv', ['scripts/analyze_csv.mjs', 'mine.csv']],
		['What is in this file?', 'mine.csv', ['scripts/analyze_csv.mjs', 'mine.csv']],
		['Give me an overview of this spreadsheet', 'mine.xlsx', ['book.mjs', 'info', 'mine.xlsx']],
		['Explain this file', 'mine.xlsx', ['book.mjs', 'info', 'mine.xlsx']]
	])('F9: “%s” with %s runs the command that tells what is in such a file', async (text, file, call) => {
		expect((await talk({ skills: { ...skills, books } }, { text, attached: [file] })).calls).toEqual([call]);
	});

	test.each(['Describe this file', 'What does this file say?'])(
		'F9: “%s” goes to no skill that speaks of other files: only a model can do it',
		async (text) => {
			const { calls, loaded, texts } = await talk({ skills: { ...skills, books } }, { text, attached: ['notes.txt'] });
			expect({ calls, loaded }).toEqual({ calls: [], loaded: [] });
			expect(texts[0]).toContain('can’t look into `notes.txt`');
		}
	);

	test('F9: a skill that speaks of a log, which any file may hold, takes a CSV file beside those that name CSV', async () => {
		const tides = {
			description: 'Add up the tides of a harbour log.',
			body: 'Add up the tides:\n\n```\nadd.sh FILE\n```',
			files: ['add.sh']
		};
		const message = { text: 'add up the tides', attached: ['mine.csv'] };
		expect((await talk({ skills: { ...skills, tides, books } }, message)).calls).toEqual([['add.sh', 'mine.csv']]);
	});

	test('F9: a question for the command says what each does, and a choice runs it with the file, whatever words led there', async () => {
		const message = { text: 'Munch this file', attached: ['mine.xlsx'] };
		const [question] = (await talk({ skills: { books } }, message)).texts;
		const { answers } = offeredIn(question!);
		expect(answers).toEqual(['Summarise mine.xlsx', 'Show the cells of a sheet']);
		for (const [index, call] of [
			['book.mjs', 'info', 'mine.xlsx'],
			['book.mjs', 'show', 'mine.xlsx']
		].entries())
			expect((await talk({ skills: { books } }, message, answers[index]!)).calls).toEqual([call]);
		// What is asked for with nothing but a word for it is looked at; nothing is asked.
		const summary = { text: 'summary of this file', attached: ['mine.xlsx'] };
		expect((await talk({ skills: { books } }, summary)).calls).toEqual([['book.mjs', 'info', 'mine.xlsx']]);
		const adding = await talk({ skills: { books } }, { text: 'add up', attached: ['mine.xlsx'] });
		expect(adding.texts[0]).toContain('To add up by a column, I need the **group by** column.');
	});

	const pages: TestSkill = {
		description: 'Reads pages of the web, and lists what they link to, most of all how much and which.',
		body: 'Read a page:\n\n```\npage.mjs read URL\n```\n\nList the links:\n\n```\npage.mjs links URL\n```',
		files: ['page.mjs']
	};
	const tables: TestSkill = {
		...SKILLS['data-analysis']!,
		body: '```\nscripts/analyze_csv.mjs FILE [--group-by COLUMN] [--value COLUMN] [--period NAME]\n```\n\n- `--period` is `day` or `month`.\n- `--measure NAME`: `sum` or `mean`\n'
	};
	const around = { skills: { tables, books, pages } };

	test.each([
		'Where does most of my money go?',
		'How much did I spend on food?',
		'Which category costs the most?',
		'Which links did I pay for the most?',
		'Why is rent so high?'
	])(
		'F9: it asks about no odd word of a question about a file: it offers what can be done with it: %s',
		async (text) => {
			const attached = { text, attached: ['mine.csv'] };
			const asked = await talk(around, attached);
			expect(asked.calls).toEqual([]);
			const { before, answers } = offeredIn(asked.texts[0]!);
			expect(before).toBe('Demo mode can’t answer this without a model. With `mine.csv` it can do this:');
			expect(answers).toEqual(['Summarise mine.csv']);
			const done = [['scripts/analyze_csv.mjs', 'mine.csv']];
			expect((await talk(around, attached, answers[0]!)).calls).toEqual(done);
			expect((await talk(around, attached, text, '1')).calls).toEqual(done);
			// The same of a file that an earlier message brought.
			const later = await talk(around, { text: 'Summarise this file', attached: ['mine.csv'] }, text);
			expect(later.calls).toEqual(done);
			expect(later.texts[1]).toBe(asked.texts[0]);
		}
	);

	const sheet: TestSkill = {
		description:
			'A summary of a CSV file, such as which category costs most, or how much somebody could spend on food.',
		body:
			'```\nsum.mjs FILE [--question TEXT] [--group-by COLUMN]\n```\n\n' +
			'- `--group-by`: a line for each value, and which has most, least, is highest or lowest\n- `--question`: answers it about a CSV file\n',
		files: ['sum.mjs']
	};

	test.each([
		'Which category costs the most?',
		'How much did I spend on food?',
		'average “unit price” for food',
		'Who joined last?',
		'not paid?',
		'purchases over 200 in February',
		'total amount per category in mine.csv'
	])('F9: “%s” goes to the script that reads questions about its file, in the person’s words', async (text) => {
		const asked = ['sum.mjs', 'mine.csv', '--question', text];
		const file = { text: 'Summarise this file', attached: ['mine.csv'] };
		expect((await talk({ skills: { sheet } }, { text, attached: ['mine.csv'] })).calls).toEqual([asked]);
		// About the file that an earlier message brought, as far as the script has printed what is asked about.
		const stdout = 'category, costs, amount, unit, price, joined, paid, February: food, rent';
		const setting: Setting = { skills: { sheet, pages }, answer: () => ({ ok: true, stdout }) };
		const later = await talk(setting, file, text);
		expect(later.calls).toEqual([['sum.mjs', 'mine.csv'], asked]);
		expect(later.loaded).toEqual(['sheet']);
	});

	test('F9: of several files the one that is called by its name, or that the skill speaks of, is asked about', async () => {
		const stdout = 'towns, food, rent, Leeds';
		const setting: Setting = { skills: { sheet }, answer: () => ({ ok: true, stdout }) };
		const both = { text: 'How many members live in Leeds?', attached: ['members.csv', 'trip.txt'] };
		expect((await talk(setting, both)).calls).toEqual([['sum.mjs', 'members.csv', '--question', both.text]]);
		const tables = { text: 'How many members are there?', attached: ['members.csv', 'spending.csv'] };
		const later = await talk(setting, tables, 'How much is my spending on food?', 'How many live in Leeds?');
		expect(later.calls.map((call) => (Array.isArray(call) ? call[1] : null))).not.toContain(undefined);
		expect(later.calls.at(-1)).toEqual(['sum.mjs', 'spending.csv', '--question', 'How much is my spending on food?']);
	});

	const quoting: TestSkill = {
		description: 'Finds what a text file (.txt, .md) says about something.',
		body: 'Answer a question about a text file:\n\n```\nquote.mjs FILE... --question TEXT\n```',
		files: ['quote.mjs']
	};
	const several: TestSkill = { ...sheet, body: sheet.body.replace('FILE [', 'FILE... [') };
	const refusing = (...files: string[]) => ({
		answer: (_: string, { args }: Record<string, unknown>) => {
			const file = files.find((name) => (args as string[]).includes(name));
			return { ok: true, stdout: file ? `${file} can't answer that: I find nothing.` : 'The answer.' };
		}
	});

	test('F9: of several files a table is asked first, and a text where that refuses; one that isn’t needed is not', async () => {
		const both = { text: 'When is the next meeting?', attached: ['club.csv', 'notes.txt'] };
		const skills = { sheet: several, quoting };
		const asked = await talk({ skills, ...refusing('club.csv') }, both, 'and the one after?');
		const thread = `${both.text}\nand the one after?`;
		expect(asked.calls).toEqual([
			['sum.mjs', 'club.csv', '--question', both.text],
			['quote.mjs', 'notes.txt', '--question', both.text],
			['sum.mjs', 'club.csv', '--question', thread],
			['quote.mjs', 'notes.txt', '--question', thread]
		]);
		expect(asked.texts[0]).toBe('The answer.');
		const first = await talk({ skills, ...refusing() }, both, 'Who joined since 2020?');
		expect(first.calls.map((call) => (call as string[])[0])).toEqual(['sum.mjs', 'sum.mjs']);
		expect(first.loaded).toEqual(['sheet']);
		const none = await talk({ skills, ...refusing('club.csv', 'notes.txt') }, both);
		expect(none.texts[0]).toMatch(/^notes\.txt can't answer that.*\n\nclub\.csv can't answer that/);
	});

	test('F9: a script that takes several files is given all of its kind; of one that takes one it asks which', async () => {
		const attached = ['club.csv', 'spent.csv', 'notes.txt'];
		const message = { text: 'Which town has most?', attached };
		const all = await talk({ skills: { sheet: several, quoting } }, message, 'Who is in spent.csv?');
		expect(all.calls).toEqual([
			['sum.mjs', 'club.csv', 'spent.csv', '--question', message.text],
			['sum.mjs', 'spent.csv', '--question', 'Who is in spent.csv?']
		]);
		const one = await talk({ skills: { sheet, quoting } }, message, '2', 'and in Leeds?');
		expect(one.texts[0]).toMatch(/^Which file do you mean\?/);
		expect(offeredIn(one.texts[0]!).answers).toEqual(['club.csv', 'spent.csv']);
		expect(one.calls).toEqual([
			['sum.mjs', 'spent.csv', '--question', message.text],
			['sum.mjs', 'spent.csv', '--question', `${message.text}\nand in Leeds?`]
		]);
	});

	test('F9: several files are summed up one after the other, and what can be done with each is told', async () => {
		const files = { text: 'Summarise these files', attached: ['club.csv', 'spent.csv'] };
		const setting: Setting = { skills: { sheet, weather: SKILLS.weather! } };
		const { calls, texts } = await talk(setting, files, 'What can you do with these files?');
		expect(calls).toEqual([
			['sum.mjs', 'club.csv'],
			['sum.mjs', 'spent.csv']
		]);
		expect(offeredIn(texts[1]!).answers).toEqual(['Summarise club.csv', 'Summarise spent.csv']);
		const other = await talk(setting, files, 'What is the weather in Oslo?');
		expect(other.calls.at(-1)).not.toContain('--question');
	});

	test('F9: a question is kept by what goes on with it, past thanks and in a long chat', async () => {
		const setting: Setting = { skills: { sheet }, answer: () => ({ ok: true, stdout: 'food, Aldi, March' }) };
		const before = Array.from({ length: 12 }, (_, at) => `How much is food over ${at}?`);
		const said = ['How much did I spend on food?', 'and in March?', 'thanks', 'only at Aldi', 'in May?'];
		const { calls } = await talk(setting, { text: 'Which food?', attached: ['mine.csv'] }, ...before, ...said);
		const thread = said.filter((text) => text !== 'thanks').join('\n');
		expect(calls.at(-1)).toEqual(['sum.mjs', 'mine.csv', '--question', thread]);
	});

	test('F9: a choice is its number or its words, no question that shares a small word with it', async () => {
		const asking: TestSkill = { ...sheet, body: sheet.body.replace('FILE [', 'FILE [--questions] [') };
		const file = { text: 'munch it '.repeat(70), attached: ['mine.csv'] };
		const { calls } = await talk({ skills: { asking } }, file, 'What is the total?');
		expect(calls).toEqual([['sum.mjs', 'mine.csv', '--question', 'What is the total?']]);
	});

	test('F9: after a list a new sentence is new: a question with words of a choice, or a wish of its own', async () => {
		const stdout = 'You can ask for:\n\n- which Town has the highest Hours?\n- average Fee per Town';
		const setting: Setting = { skills: { sheet }, answer: () => ({ ok: true, stdout }) };
		const before = [{ text: 'Summarise this file', attached: ['mine.csv'] }, 'munch it '.repeat(70)];
		const asked = await talk(setting, ...before, 'Who has the most hours?');
		expect(offeredIn(asked.texts[1]!).answers).toContain('which Town has the highest Hours?');
		expect(asked.calls.at(-1)).toEqual(['sum.mjs', 'mine.csv', '--question', 'Who has the most hours?']);
		const chosen = await talk(setting, ...before, 'Which town has the highest hours');
		expect(chosen.calls.at(-1)).toEqual(['sum.mjs', 'mine.csv', '--question', 'which Town has the highest Hours?']);
		const wish = await talk(setting, ...before, 'Add a column revenue = Quantity * Unit price');
		expect(wish.texts.at(-1)).not.toContain('can’t use this as an answer');
	});

	test.each([
		'Hi, what are these?',
		'What are these files about?',
		'What are these three files about?',
		'Sum up all three files'
	])(
		'F9: %s is told of each file, of all of a kind at once, and a text is given to no script of tables',
		async (text) => {
			const attached = ['club.csv', 'spent.csv', 'notes.txt'];
			const skills = { sheet: several, quoting };
			const { calls } = await talk({ skills }, { text, attached });
			expect(calls).toEqual([
				['sum.mjs', 'club.csv', 'spent.csv', '--question', text.replace('Hi, ', '')],
				['quote.mjs', 'notes.txt', '--question', text.replace('Hi, ', '')]
			]);
			const whole = await talk({ skills: { sheet: several } }, { text: 'Summarise the tables', attached });
			expect(whole.calls.flat()).not.toContain('notes.txt');
		}
	);

	test('F9: “… only” goes on with what was asked', async () => {
		const setting: Setting = { skills: { sheet }, answer: () => ({ ok: true, stdout: 'fee, town, car' }) };
		const first = { text: 'What is the total fee by town?', attached: ['mine.csv'] };
		const { calls } = await talk(setting, first, 'for people with a car only');
		expect(calls.at(-1)).toEqual(['sum.mjs', 'mine.csv', '--question', `${first.text}\nfor people with a car only`]);
	});

	test('F9: “make it …”, “sort them”, “as a pie” and what is said of “them” go on with what was asked', async () => {
		const setting: Setting = { skills: { sheet }, answer: () => ({ ok: true, stdout: 'food' }) };
		const first = { text: 'Draw the total per month', attached: ['mine.csv'] };
		for (const text of [
			'Make it by town instead',
			'Sort them by fee',
			'as a pie',
			'per town?',
			'how old are they?',
			'which is the biggest?'
		])
			expect((await talk(setting, first, text)).calls.at(-1)).toEqual([
				'sum.mjs',
				'mine.csv',
				'--question',
				`${first.text}\n${text}`
			]);
		expect((await talk(setting, first, 'Make a poem of it')).calls).toHaveLength(1);
	});

	test('F9: a place that a follow-up may name is no reason to run another script; without a file it asks for one', async () => {
		const skills = { sheet, weather: SKILLS.weather! };
		const setting: Setting = { skills, answer: () => ({ ok: true, stdout: 'April' }) };
		const first = { text: 'What is the weather in Paris?', attached: [] };
		const asked = { text: 'How much did we take in April?', attached: ['mine.csv'] };
		const { calls } = await talk(setting, first, asked, 'And in May?');
		expect(calls.at(-1)).toEqual(['sum.mjs', 'mine.csv', '--question', `${asked.text}\nAnd in May?`]);
		const none = await talk(setting, 'What can you do with this?');
		expect(none.texts[0]).toContain('Which file do you mean? Attach it and send it.');
		const all = { text: 'Give me a summary of the two files', attached: ['mine.csv', 'other.csv'] };
		expect((await talk(setting, all)).calls).toHaveLength(2);
	});

	test('F9: of a text that nothing sums up, the script that answers questions is asked; what is refused offers the file’s questions', async () => {
		const setting: Setting = { skills: { quoting }, answer: () => ({ ok: true, stdout: 'It begins: …' }) };
		for (const text of ['Summarise this', 'What can you do with this?', 'What can I ask about trip.txt?'])
			expect((await talk(setting, { text, attached: ['trip.txt'] })).calls).toHaveLength(1);
		const { texts, loaded } = await talk(setting, { text: 'Write me a poem', attached: ['trip.txt'] });
		expect(loaded).toEqual([]);
		expect(texts[0]).toContain('Demo mode can’t write poems: it only runs the scripts of skills.');
		expect(offeredIn(texts[0]!).answers).toEqual(['What can I ask about trip.txt?']);
	});

	test.each([
		'book titles by author',
		'tell me the mail of Anna',
		'give me our email costs',
		'write the reply count per class',
		'send me the letter'
	])('F9: what a file can have is no wish for a text: %s', async (text) => {
		const { texts } = await talk({ skills: { sheet } }, { text, attached: ['mine.csv'] });
		expect(texts[0] ?? '').not.toContain('it only runs the scripts of skills');
	});

	test('F9: an answer has a text, also where nothing that a script offers can be asked', async () => {
		const stdout = 'You can ask for:\n\n- a poem';
		const grouping = { ...sheet, body: '```\nsum.mjs FILE [--group-by COLUMN]\n```' };
		const setting: Setting = { skills: { grouping }, answer: () => ({ ok: true, stdout }) };
		const { texts } = await talk(setting, { text: 'Summarise this file', attached: ['mine.csv'] });
		expect(texts[0]).toBe(stdout);
	});

	test('F9: a wish that no file answers is refused plainly, and loads nothing; a chart is none', async () => {
		const skills = { sheet, quoting };
		for (const text of ['Write me a poem', 'Sort the members by age and save it as a file']) {
			const { calls, loaded, texts } = await talk({ skills }, { text, attached: ['mine.csv'] });
			expect({ calls, loaded }).toEqual({ calls: [], loaded: [] });
			expect(texts[0]).toMatch(/^No skill clearly fits|^Demo mode can’t write poems/);
		}
		const chart = { text: 'Make a pie chart of the towns', attached: ['mine.csv'] };
		expect((await talk({ skills }, chart)).calls).toEqual([['sum.mjs', 'mine.csv', '--question', chart.text]]);
	});

	test('F9: a message with its text and its place is sent there; what lacks is asked for', async () => {
		const chat: TestSkill = {
			description: 'Post messages to a channel of Chirp, and create channels.',
			body: 'Send a message:\n\n```\nchirp.mjs send "Your message" --channel=CHANNEL_ID\n```\n\nCreate a channel:\n\n```\nchirp.mjs channels create NAME\n```\n\nA name works, too (`--channel=#dev`).',
			files: ['chirp.mjs']
		};
		const setting: Setting = { skills: { chirp: chat } };
		for (const text of [
			'Post "Moved to 19:30" in the Chirp channel general',
			'Post "Moved to 19:30" to the channel general'
		])
			expect((await talk(setting, text)).calls).toEqual([['chirp.mjs', 'send', 'Moved to 19:30', '--channel=general']]);
		const { calls, texts } = await talk(setting, 'Send "hello" to our Chirp');
		expect(calls).toEqual([]);
		expect(texts[0]).toContain('I need the **channel**');
		expect((await talk(setting, 'Send hello to our Chirp')).texts[0]).toContain('I need');
	});

	test('F9: a short name, and a total for another one, are questions', async () => {
		const setting: Setting = { skills: { sheet }, answer: () => ({ ok: true, stdout: 'shops' }) };
		const { calls } = await talk(setting, { text: 'total for AH', attached: ['mine.csv'] }, 'total for Lidl');
		expect(calls.map((call) => (Array.isArray(call) ? call.at(-1) : null))).toEqual(['total for AH', 'total for Lidl']);
	});

	test('F9: what goes on with a question is given with it; a wish to change the file and one about something else are not', async () => {
		const stdout = 'food, rent, January, March';
		const setting: Setting = { skills: { sheet }, answer: () => ({ ok: true, stdout }) };
		const start = { text: 'How much did I spend on food?', attached: ['mine.csv'] };
		const thread = [start.text, 'and in March?', 'what about rent', 'how many of them were over 20?'];
		const { calls } = await talk(setting, start, ...thread.slice(1));
		expect(calls).toEqual(
			thread.map((_, at) => ['sum.mjs', 'mine.csv', '--question', thread.slice(0, at + 1).join('\n')])
		);
		for (const text of ['delete the rows with rent', 'Please convert this to French', 'write a poem about rent']) {
			expect((await talk(setting, { text, attached: ['mine.csv'] })).calls).toEqual([]);
			expect((await talk(setting, start, text)).calls).toHaveLength(1);
		}
		expect((await talk(setting, start, 'explain photosynthesis')).calls).toHaveLength(1);
		// A limit, too, asks for something.
		const limited = (await talk(setting, start, 'purchases over 200')).calls;
		expect(limited[1]).toEqual(['sum.mjs', 'mine.csv', '--question', 'purchases over 200']);
		const pasted = `How much is it?\n${'1,2,3\n'.repeat(200)}`;
		expect((await talk(setting, { text: pasted, attached: ['mine.csv'] })).calls).toEqual([]);
	});

	test('F9: of the questions that a script offers at its end, those that would run are offered', async () => {
		const stdout = '## Sums\n\nYou can ask for:\n\n- amount by category\n- a poem about amounts';
		const grouping = { ...sheet, body: '```\nsum.mjs FILE [--group-by COLUMN] [--value COLUMN]\n```' };
		const setting: Setting = { skills: { grouping }, answer: () => ({ ok: true, stdout }) };
		const file = { text: 'Summarise this file', attached: ['mine.csv'] };
		const { texts } = await talk(setting, file);
		expect(offeredIn(texts[0]!)).toMatchObject({
			before: '## Sums\n\nYou can ask for:',
			answers: ['amount by category']
		});
		const { calls } = await talk(setting, file, 'amount by category');
		expect(calls).toHaveLength(2);
		const none: Setting = {
			...setting,
			answer: () => ({ ok: true, stdout: 'Done.\n\nYou can ask for:\n\n- a poem\n\n## All' })
		};
		expect((await talk(none, file)).texts).toEqual(['Done.\n\n## All']);
	});

	test('F9: to “What can you do?” it says what it is and which skills there are, and with a file what it can do with it', async () => {
		const skills = { sheet, weather: SKILLS.weather! };
		const { texts } = await talk({ skills }, 'What can you do?', 'weather');
		expect(texts[0]).not.toContain('No skill');
		expect(offeredIn(texts[0]!)).toMatchObject({ answers: ['sheet', 'weather'] });
		expect(offeredIn(texts[0]!).about[1]).toBe(
			' – The weather and the forecast for any city, with rain and temperature.'
		);
		expect(texts[1]).toContain('**city**');
		for (const text of ['What can you do?', 'what can you do with this file?']) {
			const about = await talk({ skills }, { text, attached: ['mine.csv'] }, '1');
			expect(about.texts[0]).toMatch(/^Demo mode: no AI model is connected. .* With `mine.csv` it can do this:/);
			expect(offeredIn(about.texts[0]!).answers).toEqual(['Summarise mine.csv']);
			expect(about.calls).toEqual([['sum.mjs', 'mine.csv']]);
		}
	});

	test('F9: a script that says what can be asked about a file is run for that, and its questions are offered from then on', async () => {
		const asking: TestSkill = { ...sheet, body: sheet.body.replace('FILE [', 'FILE [--questions] [') };
		const stdout = 'You can ask for:\n\n- average amount per category\n- total amount for food';
		const setting: Setting = { skills: { asking }, answer: () => ({ ok: true, stdout }) };
		const file = { text: 'What can you do?', attached: ['mine.csv'] };
		const help = await talk(setting, file, 'Why is rent so high?', 'sing a song', '3');
		expect(help.calls).toEqual([
			['sum.mjs', 'mine.csv', '--questions'],
			['sum.mjs', 'mine.csv', '--question', 'Why is rent so high?'],
			['sum.mjs', 'mine.csv', '--question', 'total amount for food']
		]);
		expect(help.texts[0]).toMatch(/^Demo mode: no AI model is connected\./);
		const offered = ['average amount per category', 'total amount for food'];
		expect(offeredIn(help.texts[0]!).answers).toEqual(offered);
		expect(offeredIn(help.texts[2]!).answers).toEqual(['Summarise mine.csv', ...offered]);
		// Before anything ran for it, the file's questions are one click away.
		const why = await talk(setting, { ...file, text: 'munch it '.repeat(70) }, 'What can I ask about mine.csv?');
		expect(offeredIn(why.texts[0]!).answers).toEqual(['Summarise mine.csv', 'What can I ask about mine.csv?']);
		expect(why.calls).toEqual([['sum.mjs', 'mine.csv', '--questions']]);
	});

	test('F9: of a file that no skill speaks of, none is loaded to look into it; of another its skill’s work is offered', async () => {
		const count: TestSkill = {
			description: 'Count the words of a text or a text file (.txt, .md).',
			body: 'Count the words in a file:\n\n```\ncount.mjs --file FILE\n```',
			files: ['count.mjs']
		};
		const ship: TestSkill = {
			description: 'Copies a build with a checksum for every file.',
			body: '```\nship.sh SOURCE TARGET\n```',
			files: ['ship.sh']
		};
		for (const text of ['Summarise this file', 'What is in this file?']) {
			const blob = await talk({ skills: { count, ship } }, { text, attached: ['blob.bin'] });
			expect(blob.loaded).toEqual([]);
			expect(blob.texts[0]).toContain('can’t look into `blob.bin`');
		}
		for (const text of ['Summarise this file', 'What can you do with this file?']) {
			const { texts, calls, loaded } = await talk(
				{ skills: { count, ship } },
				{ text, attached: ['notes.txt'] },
				'Count the words in a file'
			);
			expect(offeredIn(texts[0]!).answers).toEqual(['Count the words in a file']);
			expect(loaded).toEqual(['count']);
			expect(calls).toEqual([['count.mjs', '--file', 'notes.txt']]);
		}
	});

	test('F9: a question about ideas loads no skill that reads files, unless there is one', async () => {
		const text = 'What is the difference between the mean and the median?';
		const reads: TestSkill = { ...sheet, description: `${sheet.description} Finds the mean and the median.` };
		expect((await talk({ skills: { reads } }, text)).loaded).toEqual([]);
		expect((await talk({ skills: { reads } }, { text, attached: ['mine.csv'] })).loaded).toEqual(['reads']);
	});

	test('F9: “per month” is asked about where nothing is grouped by it, though the skill speaks of months', async () => {
		const counter: TestSkill = {
			description: 'Counts the words of a text file, for a report once a month.',
			body: 'Count the words:\n\n```\ncount.mjs FILE\n```',
			files: ['count.mjs']
		};
		const message = { text: 'count the words per month', attached: ['mine.txt'] };
		const { calls } = await talk({ skills: { counter } }, message);
		expect(calls).toEqual([]);
	});

	test('F9: what is about something else than the file of an earlier message is asked about for itself', async () => {
		const both = { skills: { ...around.skills, weather: SKILLS.weather! } };
		const { texts } = await talk(both, { text: 'Summarise this file', attached: ['mine.csv'] }, 'how is the weather?');
		expect(texts[1]).toContain('I need the **city**.');
	});

	test('F9: a file of an earlier message is not for a skill that speaks of others', async () => {
		const both = { skills: { ...around.skills, 'count-words': SKILLS['count-words']! } };
		const first = { text: 'Count the words of this file', attached: ['notes.txt'] };
		const { calls } = await talk({ ...both, workspace: ['notes.txt'] }, first, 'Total revenue by month');
		expect(calls).toHaveLength(1);
		expect(JSON.stringify(calls)).not.toContain('analyze_csv');
	});

	test('F9: what somebody does is no column: “How much did I spend per month?”', async () => {
		const { calls } = await talk(around, { text: 'How much did I spend per month?', attached: ['spend.csv'] });
		expect(calls).toEqual([['scripts/analyze_csv.mjs', 'spend.csv', '--group-by', 'month']]);
	});

	test('F9: a script that is named is no text for the command that asked for one', async () => {
		const notes = {
			description: 'Keeps notes.',
			body: 'Run `scripts/note.mjs TEXT` to keep one. `scripts/all.mjs` lists all notes.',
			files: ['scripts/note.mjs', 'scripts/all.mjs']
		};
		const { calls, texts } = await talk({ skills: { notes } }, 'keep a note', 'run scripts/all.mjs');
		expect(texts[0]).toContain('What text should I use');
		expect(calls).toEqual([['scripts/all.mjs']]);
	});

	test('F9: a script that is named word for word runs, also while a question is open; the words about a script count for it', async () => {
		const tides = {
			description: 'Tells when the next tide is.',
			body: 'Run `scripts/tide.mjs HH:MM` with the time to start from. `scripts/day.mjs` lists all tides of the day.',
			files: ['scripts/tide.mjs', 'scripts/day.mjs']
		};
		const setting = { skills: { tides, ...around.skills } };
		const day = [['scripts/day.mjs']];
		expect((await talk(setting, 'list all tides of the day')).calls).toEqual(day);
		for (const named of ['run scripts/day.mjs', 'day.mjs', 'node scripts/day.mjs']) {
			const { calls, texts } = await talk(setting, 'When is the next tide?', named);
			expect(texts[0]).toContain('What time should I use?');
			expect(calls).toEqual(day);
		}
	});

	test('F9: a wish for a file that isn’t there asks for it before any skill is loaded, and is done once it is attached', async () => {
		const tools = [functionTool('save_as_skill', 'Makes a draft of a skill of this chat.', { name: {} })];
		const setting = { skills: { ...skills, books }, tools };
		const file = { text: 'here it is', attached: ['mine.csv'] };
		const { calls, loaded, texts } = await talk(setting, 'Summarise this file', file);
		expect(texts[0]).toMatch(/^Which file do you mean\? Attach it/);
		expect(loaded).toEqual(['data-analysis']);
		expect(calls).toEqual([['scripts/analyze_csv.mjs', 'mine.csv']]);
		expect((await talk(setting, 'Create a skill that reads documents')).texts[0]).not.toContain('Which file');
	});

	test.each(['scripts/tide.mjs HH:MM', 'scripts/tide.mjs 08:00'])(
		'F9: with `%s`, the only time that is said is used',
		async (line) => {
			const tides = {
				description: 'Tells the next high tide after a time of day.',
				body: `\`\`\`\n${line}\n\`\`\``,
				files: ['scripts/tide.mjs']
			};
			const said = async (text: string) => (await talk({ skills: { tides } }, text)).calls;
			expect(await said('When is the tide after 10:00?')).toEqual([['scripts/tide.mjs', '10:00']]);
			for (const text of ['When is the tide?', 'tide before 10:00', 'tide between 8:00 and 9:00'])
				expect(await said(text)).toEqual([]);
			expect((await talk({ skills: { tides } }, 'When is the tide?')).texts[0]).toMatch(
				/^What time should I use\? Type it like 14:30\.\n\n\*No script/
			);
		}
	);

	test('without any file it says what to do', async () => {
		const { calls, texts } = await talk({ skills }, 'summarise a csv by region');
		expect(calls).toEqual([]);
		expect(texts[0]).toContain('Which file should I use?');
	});
});

describe('F9: several steps', () => {
	const skills = { copy: SKILLS.copy! };

	test('of a message that asks for two commands none runs by chance: it asks', async () => {
		const { calls, texts } = await talk({ skills }, 'ship dist to out and verify it');
		expect(calls).toEqual([]);
		expect(texts[0]).toContain('No script has run for this yet');
	});

	test('after a failure nothing more runs, and the reason is told', async () => {
		const answer = () => ({
			...DONE,
			ok: false,
			exitCode: 2,
			stdout: '',
			stderr: 'refused: top-level folder\n',
			hint: 'Name another target.'
		});
		const { calls, texts } = await talk({ skills, answer }, 'ship dist to out');
		expect(calls).toHaveLength(1);
		expect(texts[0]).toContain('`scripts/ship.sh` failed.');
		expect(texts[0]).toContain('refused: top-level folder');
		expect(texts[0]).toContain('Name another target.');
	});

	test('what was not allowed did not run, and is not said to have', async () => {
		const answer = () => ({
			ok: false,
			error: 'ApprovalDenied',
			message: 'The user didn’t allow this call.',
			hint: 'Ask.'
		});
		const { texts } = await talk({ skills, answer }, 'ship dist to out');
		expect(texts[0]).toBe('You didn’t allow `scripts/ship.sh`, so it didn’t run. Ask again to run it.');
	});

	test('a question about a state does not change it', async () => {
		expect((await talk({ skills }, 'verify that the shipped folder "out" is complete')).calls).toEqual([
			['scripts/verify.mjs', 'out']
		]);
		expect((await talk({ skills }, 'ship dist')).calls).toEqual([]);
	});
});

describe('F9: it says what it is', () => {
	test.each(['hello', 'Paint the fence', 'What can you do?', 'what is the capital of France?', '', '???'])(
		'%j gets the list of skills',
		async (message) => {
			const { calls, texts } = await talk({ skills: SKILLS }, message);
			expect(calls).toEqual([]);
			const listed = /^(Hello\.\n\n)?Demo mode: no AI model is connected\.[^]*\n- \*\*dice\*\* – Roll dice\./;
			const refused =
				/^No skill clearly fits your message\. .* needs a model\. You can ask for:\n\n- What can you do\?\n/;
			expect(texts[0]).toMatch(/^(hello|What can)/.test(message) ? listed : refused);
		}
	);

	test.each(['thanks!', 'Thank you very much', 'great, thanks', 'cool'])('thanks need no skill: %s', async (text) => {
		expect((await talk({ skills: SKILLS }, text)).texts).toEqual(['You’re welcome.']);
	});

	test('a greeting is a text where one was asked for; thanks are thanks', async () => {
		const skills = { slugify: SKILLS.slugify! };
		const greeted = await talk({ skills }, 'slugify', 'hello');
		expect(greeted.calls).toEqual([['scripts/slugify.mjs', 'hello']]);
		expect(greeted.texts[1]).not.toContain('Demo mode');
		expect((await talk({ skills }, 'slugify', 'thank you')).texts[1]).toBe('You’re welcome.');
	});

	test('without a skill it answers nothing, and says so', async () => {
		expect((await talk({}, 'hello')).texts[0]).toContain('Without a skill it can’t answer this.');
	});

	test('an answer has no signature, and no line that repeats the step above it', async () => {
		const { texts } = await talk({ skills: { dice: SKILLS.dice! } }, 'roll 3d8');
		expect(texts[0]).toBe('done');
	});

	test('a skill of instructions alone is outlined, with the way to a model', async () => {
		const review = {
			description: 'Review code.',
			body: '# Code review\n\n## Findings\n\n```\n# no heading\n```\n\n### Style\n'
		};
		const { texts, calls } = await talk({ skills: { 'code-review': review } }, 'Please review this code: let a = 1');
		expect(calls).toEqual([]);
		expect(texts[0]).toContain('- Findings\n  - Style');
		expect(texts[0]).not.toContain('no heading');
		expect(texts[0]).toContain('connect a model in **Settings**');
	});
});

describe('F9: it behaves as any model does', () => {
	const rolled = [
		{ type: 'message', role: 'user', content: 'roll 3d8' },
		{ type: 'function_call', call_id: 'c1', name: 'load_skill', arguments: '{"skill":"dice"}' },
		{ type: 'function_call_output', call_id: 'c1', output: contentOf('dice', SKILLS.dice!) }
	];
	const use = functionTool('use_skill', 'Run', {});

	test('a call is announced, told and completed, the same for the same request', async () => {
		const asked = request({ input: rolled, tools: [use] });
		const events = await collect(asked);
		expect(events.map(({ type }) => type)).toEqual(['call.started', 'call.delta', 'call.done', 'completed']);
		expect(itemsOf(events)[0]).toMatchObject({ type: 'function_call', name: 'use_skill', status: 'completed' });
		expect(await collect(asked)).toEqual(events);
	});

	test('the text of the deltas is the text of the item, and usage is estimated', async () => {
		const events = await collect(request({ input: [{ type: 'message', role: 'user', content: 'hello' }] }));
		const text = events.flatMap((event) => (event.type === 'text.delta' ? event.delta : [])).join('');
		expect(itemsOf(events)[0]).toMatchObject({
			role: 'assistant',
			content: [{ type: 'output_text', text, annotations: [] }]
		});
		expect(events.at(-1)).toMatchObject({ usage: { outputTokens: Math.ceil(text.length / 4) } });
	});

	test('with tool choice none it calls nothing', async () => {
		const [item] = itemsOf(await collect(request({ input: rolled, tools: [use], toolChoice: 'none' })));
		expect(item).toMatchObject({ type: 'message' });
	});

	test('a call without its output yet, and reasoning, are passed over', async () => {
		const input = [
			...rolled,
			{ type: 'reasoning', summary: [] },
			{ type: 'function_call', call_id: 'c9', name: 'x', arguments: '{' }
		];
		const [item] = itemsOf(await collect(request({ input, tools: [use] })));
		expect(item).toMatchObject({ name: 'use_skill' });
	});

	test('an abort ends it with one failed event', async () => {
		const controller = new AbortController();
		controller.abort();
		const events = await collect(request(), controller.signal);
		expect(events).toEqual([
			{ type: 'failed', error: { code: 'aborted', message: expect.any(String) as string }, items: [] }
		]);
	});

	const ends = (events: readonly ModelEvent[]) =>
		events.filter(({ type }) => type === 'completed' || type === 'failed').length;
	const fragments = fc.array(
		fc.constantFrom(
			...[
				'`',
				'```\n',
				'\n',
				' ',
				'[',
				']',
				'<',
				'>',
				'{',
				'}',
				'"',
				"'",
				':',
				'|',
				'\\',
				'--',
				'=',
				'FILE',
				'to',
				'a.csv',
				'5',
				'x.py',
				'run ',
				'# ',
				'    ',
				'…',
				'é'
			]
		),
		{ maxLength: 120 }
	);
	const mess = fc.oneof(
		fc.string({ maxLength: 80, unit: 'grapheme' }),
		fragments.map((parts) => parts.join(''))
	);

	test('any instructions, skill and message end in exactly one terminal event', async () => {
		const property = fc.asyncProperty(mess, mess, mess, async (instructions, body, message) => {
			const content = contentOf('run', {
				description: '',
				body: `${body}\n\`\`\`\nx.py ${body}\n\`\`\``,
				files: ['x.py', body]
			});
			const input = [
				{ type: 'message', role: 'user', content: `run x ${message}` },
				{ type: 'function_call', call_id: 'c1', name: 'load_skill', arguments: '{"skill":"run"}' },
				{ type: 'function_call_output', call_id: 'c1', output: content }
			];
			const tools = [
				use,
				functionTool(message, body, { [message]: { type: 'string' }, file: { type: 'number', description: body } })
			];
			const events = await collect(request({ instructions: `## Available Skills\n${instructions}`, input, tools }));
			expect(ends(events)).toBe(1);
			expect(events.at(-1)?.type).toBe('completed');
		});
		await fc.assert(property, { numRuns: 150 });
	});

	test('any items and outputs do as well', async () => {
		const item = fc.record({
			type: fc.constantFrom('message', 'function_call', 'function_call_output', 'reasoning'),
			role: fc.constantFrom('user', 'assistant', undefined),
			call_id: fc.constantFrom('a', 'b', undefined),
			name: fc.constantFrom('use_skill', 'load_skill', 'other', undefined),
			arguments: fc.oneof(mess, fc.json()),
			output: fc.oneof(mess, fc.json(), fc.anything()),
			content: fc.oneof(mess, fc.anything())
		});
		const property = fc.asyncProperty(fc.array(item, { maxLength: 8 }), async (input) => {
			const events = await collect(
				request({ input: JSON.parse(JSON.stringify(input)) as ResponseItem[], tools: [use] })
			);
			expect(ends(events)).toBe(1);
		});
		await fc.assert(property, { numRuns: 200 });
	});

	test.each(['[', '`', '"', "'", ' ', 'A_', '<a', '{a', 'a-', '1,', '? ', '--a ', '(', 'to the ', '\\\n', '#', '*'])(
		'instructions and messages of %j a hundred thousand times over are read to their end',
		async (piece) => {
			const long = piece.repeat(100_000);
			const content = contentOf('run', {
				description: '',
				body: `\`\`\`\nx.py ${long}\n\`\`\`\n${long}`,
				files: ['x.py']
			});
			const input = [
				{ type: 'message', role: 'user', content: `run ${long}` },
				{ type: 'function_call', call_id: 'c1', name: 'load_skill', arguments: '{"skill":"run"}' },
				{ type: 'function_call_output', call_id: 'c1', output: content }
			];
			expect(ends(await collect(request({ instructions: long, input, tools: [use] })))).toBe(1);
		}
	);
});

test.each(['what', 'which skills', 'no'])('a message of %j and marks without end is read once', async (words) => {
	const content = `${words} ${'?'.repeat(500_000)}\nx`;
	const input: ResponseItem[] = [
		{ type: 'message', role: 'user', content: 'count' },
		{ type: 'message', role: 'assistant', content: ASKED },
		{ type: 'message', role: 'user', content }
	];
	expect(itemsOf(await collect(request({ input })))[0]).toMatchObject({ type: 'message' });
});

test('F9: asked to go on with an answer that was stopped, it takes up the question again, and the call that was stopped', async () => {
	const stopped = { ok: false, error: 'Cancelled', message: 'The run was stopped.' };
	const answers = [stopped, DONE];
	const [part] = GO_ON.content as { text: string }[];
	const { calls, loaded, texts } = await talk(
		{ skills: SKILLS, answer: () => answers.shift() },
		'What is the weather in Lisbon?',
		part!.text
	);
	expect(calls).toEqual([
		['scripts/weather.mjs', 'Lisbon'],
		['scripts/weather.mjs', 'Lisbon']
	]);
	expect(loaded).toEqual(['weather']);
	expect(texts[1]).toContain('done');
});
