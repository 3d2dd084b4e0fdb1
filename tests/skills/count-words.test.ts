import { writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHandler, runSkill, SKILLS, temporaryFolder } from './run-skill.ts';

const HANDLER = 'count-words/scripts/count_words.js';
const SCRIPT = 'count-words/scripts/count.mjs';

async function count(text: unknown): Promise<Record<string, number>> {
	const { stdout, stderr } = await runHandler(HANDLER, { text, __workDir: '/nowhere' });
	if (stdout === '') throw new Error(stderr);
	return JSON.parse(stdout) as Record<string, number>;
}

describe('count-words', () => {
	it('D15, D16: tools.json declares count_words with one required text', () => {
		const manifest: unknown = JSON.parse(readFileSync(join(SKILLS, 'count-words/tools.json'), 'utf8'));
		expect(manifest).toMatchObject([
			{ name: 'count_words', script: 'scripts/count_words.js', parameters: { text: { type: 'string' } } }
		]);
	});

	it.each([
		['', { words: 0, characters: 0, charactersWithoutSpaces: 0, lines: 0, sentences: 0 }],
		['Hello world. How are you?', { words: 5, characters: 25, charactersWithoutSpaces: 21, lines: 1, sentences: 2 }],
		['one\r\ntwo\n\nthree\n', { words: 3, characters: 15, charactersWithoutSpaces: 11, lines: 4 }],
		["Don't stop the well-known – and old—show!", { words: 7 }],
		['  \t \n ', { words: 0, charactersWithoutSpaces: 0 }],
		['Größe: 3,14 €', { words: 2, characters: 13, charactersWithoutSpaces: 11 }],
		['👩‍👩‍👧 e\u0301', { words: 1, characters: 3, charactersWithoutSpaces: 2 }],
		['私は学生です', { words: 4, characters: 6, sentences: 1 }]
	])('D20: counts %j', async (text, expected) => {
		expect(await count(text)).toMatchObject(expected);
	});

	it('D23: rejects what is not a text', async () => {
		await expect(count(42)).rejects.toThrow('"text" must be a string, not number.');
		await expect(count(undefined)).rejects.toThrow('"text" must be a string, not missing.');
	});

	it('counts a file of the workspace', async () => {
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'note.txt'), 'three little words\n');
		const { stdout, exitCode } = await runSkill(SCRIPT, ['--file', 'note.txt'], { cwd });
		expect(exitCode).toBe(0);
		expect(JSON.parse(stdout)).toMatchObject({ words: 3, characters: 19, lines: 1 });
	});

	it('counts a text given as one argument or as several', async () => {
		expect(JSON.parse((await runSkill(SCRIPT, ['one two'])).stdout)).toMatchObject({ words: 2 });
		expect(JSON.parse((await runSkill(SCRIPT, ['one', 'two'])).stdout)).toMatchObject({ words: 2, characters: 7 });
	});

	it('names a file that is missing or is not text, with code 1', async () => {
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'image.png'), Buffer.from([0x89, 0x50, 0xff, 0xfe]));
		const missing = await runSkill(SCRIPT, ['--file', 'nope.txt'], { cwd });
		expect(missing).toMatchObject({ exitCode: 1, stdout: '' });
		expect(missing.stderr).toContain("Couldn't count the words in nope.txt: file not found.");
		expect(await runSkill(SCRIPT, ['--file', 'image.png'], { cwd })).toMatchObject({ exitCode: 1, stdout: '' });
	});
});

describe('count-words: questions about a text file', () => {
	const trip =
		'# Trip\n\nWe fly to Bergen on 12 June. The hotel is called Fjord Inn.\nDr. Olsen is our guide.\nBudget: 400 for the ferry.\n';
	const OFFERED = 'You can ask for:\n\n- Which dates are in it?\n- How many words does it have?\n';
	const ask = async (question: string, text = trip) => {
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'trip.txt'), text);
		return runSkill('count-words/scripts/quote.mjs', ['trip.txt', '--question', question], { cwd });
	};

	it.each(['Sum up these files', 'sum it up', 'Summarise members.csv and trip.txt'])(
		'sums up nothing: %s',
		async (question) => {
			expect((await ask(question)).stdout).toContain("can't sum up what it says. It begins:");
		}
	);

	it.each([
		['When do we fly to Bergen?', '> Line 3: We fly to Bergen on 12 June.\n\nThis sentence has “fly” and “Bergen”.\n'],
		['Who are our guides?', '> Line 4: Dr. Olsen is our guide.\n\nThis sentence has “guides”.\n'],
		[
			'Paris hotels',
			'> Line 3: The hotel is called Fjord Inn.\n\nThis sentence has “hotels”. No such sentence has “Paris”.\n'
		],
		['Who is the guide?\nand the ferry?', '> Line 5: Budget: 400 for the ferry.\n\nThis sentence has “ferry”.\n'],
		[
			'How many hats were sold in Bergen?',
			`trip.txt can't answer that: no sentence has two of “hats”, “sold” and “Bergen”. This finds words, and doesn't read what is meant.\n\n${OFFERED}`
		],
		[
			'What does it say about Rome?',
			`trip.txt can't answer that: no sentence has “Rome”. This finds words, and doesn't read what is meant.\n\n${OFFERED}`
		],
		[
			'Summarise this',
			`This finds words in trip.txt, and can't sum up what it says. It begins:\n\n> Line 1: # Trip\n>\n> Line 3: We fly to Bergen on 12 June.\n>\n> Line 3: The hotel is called Fjord Inn.\n\n${OFFERED}`
		]
	])('quotes the sentences that have most words of the question: %s', async (question, expected) => {
		expect(await ask(question)).toMatchObject({ stdout: expected, exitCode: 0 });
	});

	it.each([
		['What email address is in it?', '> Line 1: Write to ann@club.example.\n\nThis sentence has an e-mail address.\n'],
		['Which phone number?', '> Line 2: Or call +45 12 34 56 78.\n\nThis sentence has a phone number.\n'],
		['What is the website?', '> Line 3: See https://club.example.\n\nThis sentence has a web address.\n'],
		['What time is the meeting?', '> Line 4: Meeting: 3 May 2026, 19:30.\n\nThis sentence has a time and “meeting”.\n'],
		['Which dates are mentioned?', '> Line 4: Meeting: 3 May 2026, 19:30.\n\nThis sentence has a date.\n'],
		['What amount is in it?', '> Line 5: The hall is 4,500 kr.\n\nThis sentence has an amount.\n']
	])('finds what looks like what is asked for: %s', async (question, expected) => {
		const text =
			'Write to ann@club.example.\nOr call +45 12 34 56 78.\nSee https://club.example.\nMeeting: 3 May 2026, 19:30.\nThe hall is 4,500 kr.\n';
		expect(await ask(question, text)).toMatchObject({ stdout: expected });
	});

	it.each([
		['Who was at the meeting?', '> Line 1: Present: Ann, Bo.\n\nThis sentence says who was there.\n'],
		['Who wasn’t there?', '> Line 2: Apologies: Cy.\n\nThis sentence says who was not there.\n'],
		['What was decided?', '> Line 3: The fee of 20 was approved.\n\nThis sentence says what was decided.\n'],
		[
			'Who owes the fee?',
			'> Line 3: The fee of 20 was approved.\n\nThis sentence has “fee”. No such sentence has “owes”.\n'
		]
	])('minutes say it in other words: %s', async (question, expected) => {
		const text =
			'Present: Ann, Bo.\nApologies: Cy.\nThe fee of 20 was approved.\nThe meeting ends.\nFair\nIt is on 12 July.\nJun pays in June.\n';
		expect(await ask(question, text)).toMatchObject({ stdout: expected });
	});

	it('tells the day of the meeting before that of the next, and says of minutes what they can be asked', async () => {
		const cwd = await temporaryFolder();
		const text =
			'Minutes\nHeld on Tuesday 10 March 2026.\nPresent: Ann.\nA heater was agreed.\nNext meeting: 14 April 2026.\n';
		await writeFile(join(cwd, 'minutes.txt'), text);
		const about = async (question: string) =>
			(await runSkill('count-words/scripts/quote.mjs', ['minutes.txt', '--question', question], { cwd })).stdout;
		for (const question of ['What day was the meeting?', 'Which date was the meeting on?', 'When was the meeting?'])
			expect(await about(question)).toBe(
				'> Line 2: Held on Tuesday 10 March 2026.\n\nThis sentence says when it was.\n'
			);
		const summed = await about('Summarise the minutes in three points');
		expect(summed).toMatch(/^This finds words in minutes\.txt, and can't sum up what it says\. It begins:/);
		expect(summed).toContain('You can ask for:\n\n- Who was there?\n- What was decided?\n- Which dates are in it?\n');
		expect(await about('Which file mentions the heater?')).toContain('> minutes.txt, line 4: A heater was agreed.');
	});

	it('of several files it says which one a sentence is of', async () => {
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'a.txt'), 'The ferry is late.\n');
		await writeFile(join(cwd, 'b.txt'), 'The guide is Olsen.\n');
		const args = ['a.txt', 'b.txt', '--question', 'Who is the guide?'];
		expect(await runSkill('count-words/scripts/quote.mjs', args, { cwd })).toMatchObject({
			stdout: '> b.txt, line 1: The guide is Olsen.\n\nThis sentence has “guide”.\n'
		});
	});

	it('brings the whole list below a heading', async () => {
		const text = 'Action points\n- Tom writes\n- Maria calls.\n\nNext meeting: June\n';
		expect((await ask('the action points', text)).stdout).toContain(
			'> Line 1: Action points\n>\n> Line 2: - Tom writes\n>\n> Line 3: - Maria calls.\n\n'
		);
	});

	const MINUTES =
		'# Club\n\n**Apologies:** Sue\n\n## 1. Water\nWe got a quote of £245 from J. Finch & Son. Ann voted against.\n\n' +
		'## Waiting list\nThere are 14 people on it. No decision; to be discussed.\n\n## Rules\nBonfires: a complaint. Bonfires are banned in summer.\n\n' +
		'## Actions\n| Who | What |\n|---|---|\n| Bo | Order the tap |\n| Cy | Fix the gate |\n\nNext meeting: May\n';

	it.each([
		['How much did Finch ask?', '> Line 6: We got a quote of £245 from J. Finch & Son.\n\n'],
		['Who sent apologies?', '> Line 3: **Apologies:** Sue\n\nThis sentence has'],
		[
			'What are the actions?',
			'> Line 14: ## Actions\n>\n> Line 17: Who: Bo; What: Order the tap\n>\n> Line 18: Who: Cy; What: Fix the gate\n\nWhat'
		],
		[
			'What was decided about the waiting list?',
			'> Line 9: No decision; to be discussed.\n\nThis sentence says what was decided.'
		],
		['What was decided about Rome?', "trip.txt can't answer that: no sentence has"],
		[
			'Are bonfires allowed in June?',
			'> Line 12: Bonfires are banned in summer.\n\nThese 2 sentences have “bonfires”. No such sentence has “allowed” or “June”.'
		],
		['When was June told about bonfires?', "trip.txt can't answer that: no sentence has two of"]
	])(
		'quotes whole sentences, rows with their columns, and what stands under a heading: %s',
		async (question, expected) => {
			expect((await ask(question, MINUTES)).stdout).toContain(expected);
		}
	);

	it('says that it can’t sum up a text, and how it begins', async () => {
		expect((await ask('What does it say?')).stdout).toMatch(
			/^This finds words in trip\.txt, and can't sum up .*It begins:\n\n> Line 1: # Trip\n/
		);
		expect((await ask('anything', '')).stdout).toBe('trip.txt is empty.\n');
	});

	it('shows ten sentences and says how many more there are, and refuses what is no text', async () => {
		expect((await ask('ferry', 'A ferry.\n'.repeat(12))).stdout).toContain('2 more are not shown.');
		expect(await runSkill('count-words/scripts/quote.mjs', ['a.txt', '--question', 'b'])).toMatchObject({
			stderr: "Couldn't read the text: file not found.\n",
			exitCode: 1
		});
		expect(await runSkill('count-words/scripts/quote.mjs', ['a.txt'])).toMatchObject({ exitCode: 2 });
	});
});
