import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from './run-skill.ts';

const SCRIPT = new URL('../../skills/data-analysis/scripts/analyze_csv.mjs', import.meta.url).href;

const FILES = {
	members:
		'Name,Town,Age,Instrument,Phone,Joined,Fee\nAnna Berg,Bergen,34,violin,555 01,2019-03-02,120\nPer Sand,Oslo,45,cello,555 02,2021-08-15,120\nLars Holm,Bergen,62,violin,555 03,2015-01-20,90\nClara Moe,Tromso,28,flute,555 04,2022-05-11,60\nTom Baker,Oslo,51,trumpet,,2018-11-30,120\n',
	shop: 'Date,Product,Quantity,Unit price,Total,Payment\n2025-04-04,Honey,3,6.50,19.50,card\n2025-04-05,Jam,5,4.20,21.00,cash\n2025-04-05,Soap,2,3.80,7.60,card\n2025-05-03,Honey,8,6.50,52.00,card\n2025-05-04,Candle,3,12.00,36.00,cash\n',
	bank: 'Date,Text,Amount,Balance,Category\n2025-03-01,Salary,2800.00,4310.50,Income\n2025-03-02,Rent March,-950.00,3360.50,Housing\n2025-03-08,Cinema,-22.00,3338.50,Leisure\n2025-04-05,Lidl,-70.10,3268.40,Food\n2025-04-12,Concert,-58.00,3210.40,Leisure\n',
	courses:
		'Title,Teacher,Fee,Participants,Start\nPottery,Ruth Hale,85,12,2025-09-01\nYoga,Mia Kern,60,24,2025-09-04\nBread,Paul Baker,95,8,2025-09-06\nChess,Ruth Hale,0,14,2025-09-05\n',
	flats:
		'Address,Tenant,Rooms,Size m2,Rent,Paid\nMill Lane 1,May Jones,3,72,980,yes\nMill Lane 2,Will Brook,2,51,760,no\nOak Street 5,Grace Park,4,95,1240,yes\n',
	football:
		'Date,Home,Away,Spectators\n2025-08-02,Rovers,United,340\n2025-08-03,Town,Rovers,210\n2025-08-09,United,Town,410\n'
};

/** What the script prints for each question: in one process, which reads the script anew for each. */
async function answersTo(file: keyof typeof FILES, questions: readonly string[]): Promise<string[]> {
	const cwd = await temporaryFolder();
	await writeFile(join(cwd, `${file}.csv`), FILES[file]);
	const asking = `for (const [at, question] of ${JSON.stringify(questions)}.entries()) {
		process.argv = ['node', 'script', '${file}.csv', '--question', question];
		await import('${SCRIPT}?' + at);
		console.log('=====');
	}`;
	const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', asking], { cwd, encoding: 'utf8' });
	return stdout.split('=====\n').slice(0, -1);
}

type Case = [keyof typeof FILES, question: string, answer: string];

/** Each answer has the text that is given for it; one that begins with `!` is a refusal of these words. */
const CLAIMS: Record<string, Case[]> = {
	'a name of the file wins over a word of grammar, and a trade over nobody’s name': [
		['members', 'Phone number of Per Sand', 'The Phone of Per Sand is **555 02**.'],
		['members', 'Does Per live in Oslo?', 'Yes: Town is “Oslo” for **Per Sand**.'],
		['members', 'How many bakers are there?', '!bakers'],
		['flats', 'Has Will paid?', 'No: Paid is “no” for **Will Brook**.']
	],
	'yes or no tells that a value isn’t there, where the words point to one column': [
		['members', 'Is there anyone who plays the harp?', 'No: no row has “harp” in Instrument. It has violin, cello'],
		['members', 'Does anyone live in Paris?', 'No: no row has “Paris” in Town.'],
		['members', 'Is there anyone who plays the violin?', 'Yes: **2** of 5 members have Instrument “violin”'],
		['members', 'Does everyone play well?', '!well'],
		['shop', 'Did we sell any tea?', 'No: no row has “tea” in Product.'],
		['shop', 'Did we sell out?', '!sell out'],
		['bank', 'Did I buy any wine?', '!wine']
	],
	'two that are compared are told with yes or no, and refused where it isn’t said by what': [
		['shop', 'Was May better than April?', 'Yes: the Total is **39.90** higher for **May 2025** (88.00)'],
		['shop', 'Is soap cheaper than jam?', 'Yes: the Unit price is **0.40** lower for **Soap**'],
		['members', 'Is Anna older than Tom?', 'No: the Age is **17** lower for **Anna Berg** (34)'],
		['members', 'Are there more members in Oslo than in Bergen?', 'No: the number of members is the same'],
		['courses', 'Do more people go to Yoga than to Chess?', 'Yes: the Participants is **10** higher for **Yoga**'],
		['members', 'Is Oslo bigger than Bergen?', '!bigger'],
		['shop', 'Was 4 May better than 3 May?', 'No: the Total is **16.00** lower for **2025-05-04**'],
		['shop', 'Is card more common than cash?', 'Yes: the number of rows is **1** higher for **card**'],
		['bank', 'Was March better than April?', '!better'],
		['bank', 'Was April cheaper than March?', 'Yes: the total spending is **843.90** lower']
	],
	'what isn’t so, and what is more than somebody’s, is read from the words': [
		['members', 'Who does not live in Bergen?', 'have Town not “Bergen”: Per Sand, Clara Moe and Tom Baker.'],
		['members', 'Who doesn’t play the violin?', 'have Instrument not “violin”: Per Sand, Clara Moe and Tom Baker.'],
		['members', 'Who is younger than Anna?', '**1** of 5 members has Age under 34 (Anna Berg): Clara Moe.'],
		['members', 'Who joined after Per Sand?', 'Joined after 2021-08-15 (Per Sand): Clara Moe.'],
		['flats', 'Who pays more than Will?', 'Rent over 760 (Will Brook): May Jones and Grace Park.'],
		['flats', 'Which flats are bigger than Mill Lane 1?', 'Size m2 over 72 (Mill Lane 1): Grace Park.'],
		['courses', 'Which course has more participants than Pottery?', 'Participants over 12 (Pottery): Yoga and Chess.'],
		['shop', 'What was not paid by card?', 'have Payment not “card”: Jam and Candle.'],
		['shop', 'What costs more than 5?', '**3** of 5 rows have Unit price over 5: Honey and Candle.'],
		['shop', 'Which products did not sell in May?', '!not'],
		['members', 'How many towns have no violinist?', '!no violinist'],
		['members', 'Who lives in the same town as Tom?', '!in the same'],
		['members', 'Who is as old as Anna?', '!as old as'],
		['members', 'Who joined between Lars and Anna?', '!between']
	],
	'days of the week and ranks are read, and so is a number before its column': [
		['shop', 'How much did we take on Saturdays?', 'The Total for Date on Saturday is **80.60** (3 of 5 rows).'],
		['shop', 'Did we sell more on Saturdays than on Sundays?', 'Yes: the Total is **44.60** higher for **Saturday**'],
		['bank', 'What did I spend at the weekend?', 'for Date on Saturday or Sunday is **1,100.10** (4 of 5 rows).'],
		['courses', 'Is there a course on a Sunday?', 'No: no row has Start on Sunday.'],
		['members', 'Who is the second oldest?', 'The second highest Age is **51**: Tom Baker.'],
		['shop', 'Which is the third best product?', '**Jam** has the third highest Total (21.00).'],
		['members', 'Who was the second to join?', '!second'],
		['flats', 'Which flats have 3 rooms?', '**1** of 3 rows has Rooms 3: May Jones.'],
		['members', 'Who is 45?', '**1** of 5 members has Age 45: Per Sand.']
	],
	'somebody who plays something is called by it, and one row is told with all it has': [
		['members', 'How many violinists are there?', '**2** of 5 members have Instrument “violin”'],
		['members', 'Is Per a cellist?', 'Yes: Instrument is “cello” for **Per Sand**.'],
		['members', 'What does Clara play?', 'The Instrument of Clara Moe is **flute**.'],
		['members', 'Tell me about Lars', '**Lars Holm**: Town Bergen, Age 62, Instrument violin, Phone 555 03'],
		[
			'courses',
			'Who teaches chess and when does it start?',
			'**Chess**: Teacher Ruth Hale, Fee 0, Participants 14, Start'
		]
	],
	'a fee beside participants isn’t added up, and what sold best and least is told by one figure': [
		['courses', 'How much money do we make?', '!money'],
		['courses', 'What is the total fee?', 'prices of one are not added up'],
		['courses', 'How much does each course bring in?', '!bring in'],
		['courses', 'Who is the best teacher?', '!best'],
		['shop', 'What is our best selling product?', '**Honey** has the highest total Quantity (11)'],
		['shop', 'What sold least?', '**Soap** has the lowest total Quantity (2)'],
		['shop', 'What is 10 % of the takings?', '!10 %'],
		['bank', 'Spending by category', 'Chart: bank-spending-by-category.svg.']
	],
	'a cell of two columns that have the same ones is refused, unless one is named': [
		['football', 'How many games did Rovers play?', 'not Rovers in Home and Away at once. Ask for one.'],
		['football', 'Total spectators where home is Rovers', 'for Home “Rovers” is **340**']
	]
};

it.each(Object.entries(CLAIMS))('%s', async (_, cases) => {
	for (const file of new Set(cases.map(([name]) => name))) {
		const own = cases.filter(([name]) => name === file);
		const answers = await answersTo(
			file,
			own.map(([, question]) => question)
		);
		for (const [at, [, question, expected]] of own.entries()) {
			const isRefusal = expected.startsWith('!');
			const refused = `${file}.csv can't answer that: I find nothing for “${expected.slice(1)}`;
			expect(`${question} ${answers[at]}`).toContain(isRefusal ? refused : expected);
		}
	}
});

it('what is offered with a refusal or beside a summary is answered, whatever the file', async () => {
	for (const file of Object.keys(FILES) as (keyof typeof FILES)[]) {
		const refused = await answersTo(file, ['unicorns', 'summary', 'unicorns in Oslo', 'unicorns of Ruth Hale']);
		const offered = [...new Set(refused.join('').match(/(?<=^- ).+$/gm))];
		expect(offered.length).toBeGreaterThan(1);
		expect((await answersTo(file, offered)).filter((text) => /can't answer|No row/.test(text))).toEqual([]);
	}
});
