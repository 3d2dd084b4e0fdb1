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
	orchestra:
		"Member no,Name,Town,Born,Joined,Fee paid (£),Email,Instrument,Role\n101,Siobhan O'Brien,Leeds,14/03/1961,2015-09-01,60,s@example.com,Violin,Chair\n102,Tom Whitfield,Otley,1958-07-22,01/09/2015,60,,Cello,\n103,Ana Lopez,Leeds,3 May 1990,2019-01-15,60,a@example.com,Flute,\n104,Li Wei,Bradford,1995-11-30,2022-10-03,30,,Violin,\n105,Priya Raman,leeds,08/12/1972,2018-04-11,60,p@example.com,Oboe,Secretary\n106,Luc Moreau,Ilkley,,2020-02-20,,l@example.com,Horn,\n107,Tom Barker,Otley,1984-02-29,2021-06-05,60,t@example.com,Trumpet,\n108,Zoe Clarke,Leeds,1997-02-11,2024-01-24,n/a,z@example.com,Clarinet,\n109,Mei Tanaka,Bradford,1999-05-16,2024-02-27,30,m@example.com,Flute,\n110,Rosa Grant,,1975-03-03,2024-09-10,60,,Viola,\n",
	statement:
		'Date,Description,Money out,Money in,Balance\n01/02/2025,RENT,725.00,,515.55\n03/02/2025,TESCO STORES,42.18,,473.37\n28/02/2025,SALARY,,2315.40,2788.77\n15/03/2025,TESCO STORES,49.90,,2738.87\n',
	running:
		'date,route,km,minutes\n2025-01-04,Canal loop,5.2,31:10\n2025-02-02,Long Sunday,14.5,1:29:40\n2025-02-09,Long Sunday,16.0,1:41:15\n2025-03-02,Half marathon,21.1,2:04:51\n',
	staff:
		'name,start_date,hourly_pay,shop,target\nAmy,2021-05-10,13.20,High St,400\nDan,2023-01-09,12.10,Station,250\nJoy,2022-08-22,12.60,High St,300\n',
	repairs:
		'Job no.,Customer,Bike type,Date in,Date out,Parts cost,Hours,Status\n1001,Mrs Shah,Road,12/01/2025,14/01/2025,24.50,1.5,done\n1002,Joe Long,Hybrid,15/01/2025,03/02/2025,12.00,3,Done\n1003,Mrs Shah,Kids,20/01/2025,,18.00,1,waiting\n1004,Ruth Best,Road,02/02/2025,05/02/2025,65.20,2,done\n',
	books:
		'Nr,Title,Author,Pages,Borrowed by,Price\n1,The Old Sea,J. Day,320,Mia,"12,90"\n2,Long Nights,R. Young,210,,"9,90"\n3,Birds,P. Hill,480,,"31,50"\n4,Novel Ideas,R. Young,190,Mia,\n',
	party:
		'Guest,Party of,Table no,Coming?,Diet,Gift\nThe Smiths,4,1,yes,,Toaster\nAnn & Joe,2,1,Yes,vegan,\nUncle Max,1,2,no,,Vase\nMay Long,2,2,yes,Vegan,\nGrace Best,3,3,maybe,nuts,\nBill Price,1,3,,none,Cheque\n',
	hires:
		'Hirer,Bike,Days,Paid (€),Date\nAnn Lund,City,3,45,2025-03-02\nPer Lund,Tandem,1,30,2025-03-05\nMia Holt,City,5,75,2025-04-01\nAnn Lund,Cargo,2,60,2025-04-11\nLeo Brandt,Tandem,8,20,2025-04-20\n',
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
	'what somebody did is no name of theirs, and is added up for each of them': [
		['hires', 'Who paid the most?', '**Ann Lund** has the highest total Paid (€) (105)'],
		['hires', 'Which bike was hired most often?', '**City** and **Tandem** have the highest number of rows (2)'],
		['hires', 'Who hired the Tandem?', 'have Bike “Tandem”: Per Lund and Leo Brandt.']
	],
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
		['shop', 'Which products did not sell in May?', "I can't tell what is or was “not” so."],
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
	'a year is no value of a column of texts, and each cell of a column of dates is read by itself': [
		['orchestra', 'Who joined in 2024?', 'Joined in 2024: Zoe Clarke, Mei Tanaka and Rosa Grant.'],
		['orchestra', 'Who joined in 2015?', "1 date in Joined can't be read: 01/09/2015."],
		['orchestra', 'Who was born in 1990?', 'has Born in 1990: Ana Lopez.'],
		['orchestra', 'Who was born before 1970?', "Born before 1970: Siobhan O'Brien and Tom Whitfield."],
		['orchestra', 'Who is the oldest?', 'The earliest Born is **1958-07-22**: Tom Whitfield.'],
		[
			'orchestra',
			'Who lives in Paris?',
			'**None**: no row has “Paris” in Town. It has Leeds, Otley, Bradford and Ilkley.'
		],
		['flats', 'Who lives in 2024?', '!2024'],
		['repairs', 'How many went out in February?', '**2** of 4 rows have Date out in February']
	],
	'a number that names something is never added up, and is what the rows are called': [
		['orchestra', 'total Member no for Rosa Grant', "“total Member no” can't be worked out"],
		['orchestra', 'average Member no', "“average Member no” can't be worked out"],
		['orchestra', 'Who has member no 105?', 'has Member no 105: Priya Raman.'],
		['repairs', 'Sum of Job no.', "“Sum of Job no” can't be worked out"],
		['repairs', 'Chart jobs by status', '**done** has the highest number of rows (3), **waiting** the lowest (1).'],
		['running', 'average minutes', "“average minutes” can't be worked out"]
	],
	'the words of a column’s name are taken first, with what it has in brackets': [
		['orchestra', 'total fee paid', 'The total Fee paid (£) is **420**.'],
		['orchestra', 'Sum of Fee paid (£) per Town', '**Leeds** has the highest total Fee paid (£) (180)'],
		['orchestra', 'Who has not paid?', 'have no Fee paid (£): Luc Moreau and Zoe Clarke.'],
		['orchestra', 'How many have not paid?', 'have no Fee paid (£) (20 %).'],
		['orchestra', 'Which members have no email address?', 'have no Email: Tom Whitfield, Li Wei and Rosa Grant.'],
		['orchestra', 'Who has a role?', "have a Role: Siobhan O'Brien and Priya Raman."]
	],
	'what is said after by is grouped by, in one spelling, and what has none is told': [
		['orchestra', 'Chart members by role', '8 of 10 members have no Role.'],
		['orchestra', 'members per town', '**Leeds** has the highest number of members (4)'],
		['orchestra', 'How many towns?', 'There are **4** different values of Town: Leeds, Bradford, Otley and Ilkley.']
	],
	'what comes in and what goes out are two columns, if the file has them': [
		['statement', 'How much money came in?', 'The total Money in is **2,315.40**.'],
		['statement', 'What was my income?', 'The total Money in is **2,315.40**.'],
		['statement', 'How much did I spend in February?', 'The total Money out in February is **767.18**'],
		['statement', 'What was my biggest expense?', 'The highest Money out is **725.00**: RENT.']
	],
	'a word of grammar is no part of a cell, unless it is all of it': [
		['running', 'How long did the half marathon take?', '**1** of 4 rows has route “Half marathon”: 2:04:51.'],
		['repairs', 'How long did the job for Ruth Best take?', 'Hours for Customer “Ruth Best” is **2**'],
		['repairs', 'Which job took the longest?', 'The highest Hours is **3**: Joe Long.'],
		['repairs', 'Who is our best customer?', '**Ruth Best** has the highest total Parts cost (65.20)'],
		['repairs', 'How many jobs are done?', '**3** of 4 rows have Status “done” (75 %).'],
		['repairs', 'Which jobs are not done?', 'has Status not “done”: Mrs Shah.']
	],
	'of one row what it has is told, without a total, a share or a chart': [
		['staff', "What is Joy's target?", 'The target of Joy is **300** (1 of 3 rows).'],
		['staff', "What is Amy's hourly pay?", 'The hourly_pay for name “Amy” is **13.20**'],
		['staff', 'Who earns the most?', '!earns'],
		['staff', 'Which staff work at High St?', 'Their total target is **700**.'],
		['orchestra', "What is Zoe's email?", 'The Email of Zoe Clarke is **z@example.com**.'],
		['orchestra', 'What instrument does Zoe play?', 'The Instrument of Zoe Clarke is **Clarinet**.'],
		['orchestra', 'Is Tom a member?', 'have Name “Tom Whitfield” or “Tom Barker”']
	],
	'cells of digits that are no numbers are not added up, and what is done to some rows is read as such': [
		['books', 'Total price', "“Total price” can't be worked out"],
		['books', 'Cheapest book', '!Cheapest'],
		['books', 'Which books are not borrowed?', 'have no Borrowed by: Long Nights and Birds.'],
		['books', 'How many books are borrowed?', '**2** of 4 books have a Borrowed by'],
		['party', 'Who is coming?', 'have Coming? “yes”: The Smiths, Ann & Joe and May Long.'],
		['party', 'Is Bill coming?', 'Coming? is missing for **Bill Price**.'],
		['party', 'Who gave a gift?', 'have a Gift: The Smiths, Uncle Max and Bill Price.'],
		['party', 'How many guests per table?', '!per table'],
		['party', 'chart guests by diet', '**vegan** has the highest number of guests (2)'],
		['repairs', 'What did job 1002 cost?', '**12.00**']
	],
	'a refusal names what the last question has': [
		['staff', 'unicorns\nWho reached their target?', '!reached” in'],
		['orchestra', 'Who is not tall?', '!tall” in']
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
		const offered = [
			...new Set(
				refused
					.map((text) => text.replace(/## Notes[^]*/, ''))
					.join('')
					.match(/(?<=^- ).+$/gm)
			)
		];
		expect(offered.length).toBeGreaterThan(1);
		expect((await answersTo(file, offered)).filter((text) => /can't answer|No row/.test(text))).toEqual([]);
	}
});
