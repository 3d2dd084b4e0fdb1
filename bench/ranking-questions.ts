/** Skills, what people ask for, and the noise they are hidden in; all worded for this, with no ranking in mind. */

export interface RankedSkill {
	name: string;
	description: string;
	tags: string[];
	triggers: string[];
}

const skill = (name: string, description: string): RankedSkill => ({ name, description, tags: [], triggers: [] });

export const SKILLS: RankedSkill[] = [
	skill(
		'pdf',
		'Reads, merges, splits, rotates and fills in PDF documents, and pulls text and tables out of them. Use it whenever a .pdf file is mentioned.'
	),
	skill(
		'spreadsheets',
		'Opens, edits and creates Excel workbooks (.xlsx, .csv): formulas, formatting, pivot tables and charts. Use when a spreadsheet is what goes in or comes out.'
	),
	skill('slide-decks', 'Builds and edits PowerPoint presentations (.pptx) with layouts, speaker notes and images.'),
	skill(
		'word-documents',
		'Writes and revises Word documents (.docx) with tracked changes, comments, headings and a table of contents.'
	),
	skill('image-editing', 'Resizes, crops, converts and compresses photos and other pictures: PNG, JPEG, WebP.'),
	skill(
		'audio-transcripts',
		'Turns recordings of speech into text with time codes and speaker labels. For interviews, podcasts and meetings.'
	),
	skill('video-clips', 'Cuts, joins and subtitles videos with ffmpeg and makes GIFs of them.'),
	skill(
		'sql-analyst',
		'Writes and explains SQL queries against Postgres, MySQL and SQLite and finds out why they are slow.'
	),
	skill(
		'frontend-design',
		'Designs web pages and interface components with HTML, CSS and React that look made on purpose.'
	),
	skill('web-testing', 'Drives a browser with Playwright to test a web app, take screenshots and read the console.'),
	skill(
		'git-history',
		'Explains, rewrites and cleans up Git commits: rebase, bisect, squash and recovering lost work.'
	),
	skill('code-review', 'Reviews a change or pull request for bugs, security holes and style, and suggests fixes.'),
	skill('weather', 'Current conditions and the forecast for any city, with rain, wind and temperature.'),
	skill('currency', 'Converts amounts between currencies at the exchange rate of a day.'),
	skill('translator', 'Translates text and documents between languages, keeping tone and markup.'),
	skill('email-drafts', 'Drafts and answers e-mails in the tone asked for, from short notes or a thread.'),
	skill('calendar', 'Finds free times, schedules meetings and sends invitations, across time zones.'),
	skill('recipes', 'Suggests dishes from what is in the kitchen, scales servings and makes shopping lists.'),
	skill('release-notes', 'Writes a changelog or release announcement from merged commits and tickets.'),
	skill('diagrams', 'Draws flowcharts, sequence and architecture diagrams with Mermaid or Graphviz.'),
	skill('brand-guidelines', 'Applies the company’s colours, fonts and logo rules to whatever is being made.'),
	skill('mcp-server', 'Guides the building of MCP servers that offer an external API as tools to a language model.'),
	skill('regex', 'Builds, explains and tests regular expressions.'),
	skill('docker-compose', 'Writes Dockerfiles and compose files and finds out why a container does not start.')
];

/** What was asked, and the skill that a person would reach for. */
export const QUESTIONS: (readonly [question: string, skill: string])[] = [
	['Can you merge these two PDFs into one file?', 'pdf'],
	['pull the tables out of invoice-2024.pdf', 'pdf'],
	['Fill in this pdf form with my address', 'pdf'],
	['Add a pivot table by region to sales.xlsx', 'spreadsheets'],
	['I need an excel sheet that tracks my monthly budget', 'spreadsheets'],
	['why does the formula in cell B7 give #REF?', 'spreadsheets'],
	['make a 10 slide presentation about solar energy', 'slide-decks'],
	['Put speaker notes into my deck', 'slide-decks'],
	['accept all tracked changes in contract.docx', 'word-documents'],
	['Write the report as a Word file with a table of contents', 'word-documents'],
	['shrink these photos so that each is below 200 KB', 'image-editing'],
	['crop logo.png to a square', 'image-editing'],
	['convert the pictures to webp', 'image-editing'],
	['transcribe this interview recording', 'audio-transcripts'],
	['who said what in the meeting? I have an mp3', 'audio-transcripts'],
	['cut the first 30 seconds off the video', 'video-clips'],
	['turn holiday.mp4 into a gif', 'video-clips'],
	['My Postgres query takes 40 seconds, how can I speed it up?', 'sql-analyst'],
	['write sql that lists customers without orders', 'sql-analyst'],
	['design a landing page for a coffee shop', 'frontend-design'],
	['Make this React component look less generic', 'frontend-design'],
	['check in a real browser that the login page works', 'web-testing'],
	['take a screenshot of my web app on a phone', 'web-testing'],
	['I lost a commit after a rebase, how do I get it back?', 'git-history'],
	['squash my last four commits', 'git-history'],
	['please review my pull request', 'code-review'],
	['are there security holes in this change?', 'code-review'],
	['Will it rain in Lisbon tomorrow?', 'weather'],
	['what is the temperature in Oslo right now', 'weather'],
	['How much is 250 dollars in euros?', 'currency'],
	['exchange rate of the yen on 3 May', 'currency'],
	['translate this letter into German', 'translator'],
	['Say this in French but keep it polite', 'translator'],
	['answer the mail from my landlord in a friendly tone', 'email-drafts'],
	['draft an email declining the offer', 'email-drafts'],
	['find a time for a meeting with people in Tokyo and Berlin', 'calendar'],
	['schedule a call with Ana next week', 'calendar'],
	['what can I cook with leeks and two eggs?', 'recipes'],
	['scale this dish to twelve servings', 'recipes'],
	['write the changelog for version 2.4', 'release-notes'],
	['draw a flowchart of our sign-up process', 'diagrams'],
	['sequence diagram of the OAuth handshake', 'diagrams'],
	['use our company colours and fonts in this poster', 'brand-guidelines'],
	['build an MCP server for the GitHub API', 'mcp-server'],
	['a regular expression for Swiss phone numbers', 'regex'],
	['explain what this regex does: ^(?=.*\\d).{8,}$', 'regex'],
	['my container exits right after docker compose up', 'docker-compose'],
	['write a Dockerfile for a Flask app', 'docker-compose']
];

const VERBS = [
	'Checks',
	'Compares',
	'Summarises',
	'Plans',
	'Tracks',
	'Formats',
	'Imports',
	'Exports',
	'Explains',
	'Estimates',
	'Sorts',
	'Cleans up',
	'Writes',
	'Reviews',
	'Archives',
	'Schedules',
	'Monitors',
	'Converts',
	'Finds',
	'Designs',
	'Tests',
	'Answers questions about',
	'Draws up',
	'Updates'
] as const;
const OBJECTS = [
	'tax returns',
	'job applications',
	'sensor readings',
	'Kubernetes manifests',
	'crash logs',
	'house plants',
	'marathon training',
	'chess games',
	'rental contracts',
	'customer surveys',
	'genome sequences',
	'train tickets',
	'bank statements',
	'support tickets',
	'map layers',
	'school timetables',
	'podcast feeds',
	'sheet music',
	'stock portfolios',
	'museum catalogues',
	'Terraform modules',
	'phone bills',
	'bird sightings',
	'crossword puzzles',
	'insurance claims',
	'wedding guests',
	'SSH keys',
	'solar panels',
	'news articles',
	'warehouse stock',
	'product photos',
	'employee handbooks',
	'unit tests',
	'password policies',
	'knitting patterns',
	'football results',
	'blood tests',
	'font files',
	'patent filings',
	'court records',
	'web shop orders',
	'mail lists',
	'video game levels',
	'server certificates',
	'API keys',
	'film scripts',
	'city budgets',
	'flight routes'
] as const;
const WAYS = [
	'from a folder of files',
	'as a table',
	'with a short report',
	'in the style of the house',
	'for a small team',
	'against a checklist',
	'from a web page',
	'by date and region',
	'as Markdown',
	'with charts',
	'across time zones',
	'from an e-mail thread',
	'for the quarterly meeting',
	'with comments',
	'in several languages',
	'before a release',
	'from a database',
	'with reminders',
	'from screenshots',
	'as JSON'
] as const;

/** As many different skills as asked for, none of which is the answer to a question above. */
export function noise(count: number): RankedSkill[] {
	return Array.from({ length: count }, (_, index) => {
		// The lists' lengths share factors; the quotients make each combination come once.
		const verb = VERBS[index % VERBS.length] ?? '';
		const object = OBJECTS[Math.floor(index / VERBS.length) % OBJECTS.length] ?? '';
		const round = Math.floor(index / (VERBS.length * OBJECTS.length));
		const way = WAYS[(round + index) % WAYS.length] ?? '';
		const other = WAYS[(round * 3 + index * 7 + 5) % WAYS.length] ?? '';
		const name = `${object.split(' ').join('-').toLowerCase()}-${verb.split(' ')[0]?.toLowerCase()}-${round}`;
		return skill(name, `${verb} ${object} ${way}. Use when ${object} are mentioned and something is wanted ${other}.`);
	});
}
