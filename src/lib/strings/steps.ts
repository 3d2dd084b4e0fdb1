/** Words of the timeline: steps, their terminals, and the questions whether something may run. */

export type Tense = 'now' | 'past' | 'plain';
type Tensed = Record<Tense, string>;

/** `{}` is what it is done to. */
const said = (now: string, past: string, plain: string): Tensed => ({ now, past, plain });

/** By the tool's name; of `browser` by its action. */
const labels: Record<string, Tensed> = {
	load_skill: said('Loading skill {}', 'Loaded skill {}', 'Load skill {}'),
	read_skill_file: said('Reading {}', 'Read {}', 'Read {}'),
	search_skills: said('Searching skills for {}', 'Searched skills for {}', 'Search skills for {}'),
	list_skills: said('Listing the skills', 'Listed the skills', 'List the skills'),
	file_read: said('Reading {}', 'Read {}', 'Read {}'),
	file_write: said('Writing {}', 'Wrote {}', 'Write {}'),
	http_request: said('Asking {}', 'Asked {}', 'Ask {}'),
	web_search: said('Searching the web for {}', 'Searched the web for {}', 'Search the web for {}'),
	eval_code: said('Running {}', 'Ran {}', 'Run {}'),
	execute_command: said('Running {}', 'Ran {}', 'Run {}'),
	browser_open: said('Opening {}', 'Opened {}', 'Open {}'),
	browser_text: said('Reading the page {}', 'Read the page {}', 'Read the page {}'),
	browser_click: said('Clicking {}', 'Clicked {}', 'Click {}'),
	browser_type: said('Typing into {}', 'Typed into {}', 'Type into {}'),
	browser_screenshot: said('Taking the screenshot {}', 'Took the screenshot {}', 'Take the screenshot {}'),
	browser_close: said('Closing the page', 'Closed the page', 'Close the page')
};

export const stepsText = {
	labels,
	run: said('Running {}', 'Ran {}', 'Run {}'),
	aScript: 'a script',
	theBrowser: 'the browser',
	/** A tool of an MCP server. */
	ofServer: (tool: string, server: string) => `${tool} of ${server}`,
	filesOf: (skill: string) => `the files of ${skill}`,
	code: (language: string) => (language === '' ? 'code' : `${language} code`),
	quoted: (words: string) => `“${words}”`,
	status: {
		preparing: 'Preparing',
		waiting: 'Needs approval',
		handed: 'Waits for the program that asked',
		running: 'Running',
		done: 'Done',
		failed: 'Failed',
		denied: 'Denied',
		cancelled: 'Stopped',
		interrupted: 'Interrupted'
	},
	interruptedHint: 'The answer broke off while this was under way. Continue does not run it again.',
	stillWriting: 'The model is still writing this call.',
	arguments: 'Arguments',
	rawJson: 'Raw JSON',
	asLines: 'As lines',
	result: 'Result',
	showAll: (size: string) => `Show all (${size})`,
	left: (size: string) => `… ${size} not shown`,
	soFar: (size: string) => `${size} so far`,
	loadedTokens: (count: string) => `about ${count} tokens of instructions`,
	loadedBy: 'chosen by the model',
	viewSkill: 'View SKILL.md',
	// The line that steps are folded to.
	usedSkills: (count: number) => `Used ${count === 1 ? '1 skill' : `${count} skills`}`,
	stepCount: (count: number) => (count === 1 ? '1 step' : `${count} steps`),
	failedCount: (count: number) => `${count} failed`,
	showMoreSteps: (count: number) => `Show ${count} more steps`,
	// What can be done about a failure.
	askToFix: 'Ask the model to fix it',
	fixRequest: (label: string, problem: string) => `“${label}” failed: ${problem}\n\nPlease fix it and try again.`,
	runYourself: 'Run it yourself'
};

export const terminalText = {
	/** The folder that scripts start in. */
	folder: 'workspace',
	output: (script: string) => `Output of ${script}`,
	copyCommand: 'Copy command',
	copyOutput: 'Copy output',
	empty: 'No output.',
	emptyYet: 'No output yet.',
	exit: (code: number) => `exit ${code}`,
	noExitCode: 'ended without an exit code',
	killedByTimeout: (duration: string) => `killed: ${duration} timeout`,
	truncated: 'Output truncated',
	truncatedTitle: 'It wrote more than is kept.',
	sandbox: 'Where it ran',
	hidden: (size: string) => `… ${size} not shown`,
	showAll: (size: string) => `Show all (${size})`,
	toEnd: 'To the end',
	refused: (hosts: string) => `Refused connections: ${hosts}.`,
	reach: (skill: string) => `What ${skill} may reach`
};

export const approvalText = {
	title: 'May this run?',
	fromSkill: 'From the skill',
	builtinSkill: 'Part of this server:',
	mcpServer: 'Of the MCP server',
	undecided: 'Nobody decided; it was not run.',
	elsewhere: 'Answered elsewhere, in another tab say.',
	othersWait: '– waiting for the other decisions.',
	changed: 'Somebody trusted this skill, and its files are others now.',
	untrusted: 'Nobody has trusted this skill, so it can be allowed once only.',
	lookAtChanges: 'Look at the changes and trust it',
	lookAtIt: 'Look at it and trust it',
	stored: 'Stored. The script is given it when you allow the call.',
	more: 'More ways to allow it',
	choices: {
		once: ['Allow once', 'Only this call'],
		script: ['Always for this script', 'As long as the files of the skill stay the same'],
		skill: ['Always for this skill', 'Every script, as long as the files of the skill stay the same']
	} as const,
	alwaysForTool: 'Always for this tool',
	reasonPlaceholder: 'Reason, if you deny it (the model reads it)',
	reasonLabel: 'Reason to deny it; the model reads it',
	deny: 'Deny',
	showScript: 'Show the script',
	loading: 'Loading…',
	notShown: 'Its text cannot be shown here;',
	lookAtSkill: 'look at the skill',
	allowed: {
		once: 'Allowed once',
		script: 'Allowed, always for this script',
		skill: 'Allowed, always for this skill'
	},
	allowedTool: 'Allowed, always for this tool',
	denied: 'Denied',
	deniedBecause: (reason: string) => `Denied: ${reason}`,
	network: (hosts: string) => `It may reach ${hosts}.`
};
