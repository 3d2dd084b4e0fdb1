/** What is said where a skill is tried: running it by hand, cases, evals. */
export const caseFormText = {
	saveAsACase: 'Save as a case',
	whatItShows: 'What it shows',
	countsTheWordsOf: 'Counts the words of a sentence',
	expectedExitCode: 'Expected exit code',
	any: 'any',
	aNumberFrom0: 'A number from 0 to 255, or nothing for any.',
	whatItPrintsContains: 'What it prints contains each of these lines',
	filesThatItMakes: 'Files that it makes, one a line',
	saving: 'Saving…',
	save: 'Save',
	cancel: 'Cancel'
};

export const evalAnswerText = {
	forYouToJudge: 'For you to judge',
	met: 'Met',
	notMet: 'Not met',
	whatItSaid: 'What it said',
	nothing: 'Nothing.',
	tokens: (tokens: string | number) => `${tokens} tokens`,
	loaded: (value: string | number) => `loaded ${value}`
};

export const evalResultsText = {
	results: 'Results',
	ofAnswers: (value: string | number, done: string | number, total: string | number) =>
		`${value}: ${done} of ${total} answers`,
	cancel: 'Cancel',
	version: (version: string | number) => `version ${version}`,
	answers: 'Answers',
	ofTheExpectationsThat: 'Of the expectations that can be told by a program; the rest are yours to judge.',
	expected: (expected: string | number) => `Expected: ${expected}`,
	notAskedYet: 'Not asked yet.',
	running: 'Running',
	done: 'Done',
	failed: 'Failed',
	cancelled: 'Cancelled'
};

export const runFormText = {
	tool: (name: string) => `${name} (tool)`,
	scriptOrTool: 'Script or tool',
	argumentsOneALine: 'Arguments, one a line',
	whatItTakes: 'What it takes',
	running: 'Running…',
	run: 'Run',
	allowOnce: 'Allow once',
	saveAsACase: 'Save as a case',
	itCanBeEnded: 'It can be ended under',
	executions: 'Executions',
	withExitCode: (exitCode: string | number) => ` with exit code ${exitCode}`,
	ended: (value: string | number) => `Ended${value}.`,
	savedAsACase: 'Saved as a case.',
	whatCameOfIt: 'What came of it',
	thereIsNothingTo: 'There is nothing to run.'
};

export const schemaFormText = {
	needed: 'needed',
	inputAsJson: 'Input, as JSON',
	thenItCanBe: (problem: string | number) => `${problem} Then it can be shown as fields.`,
	asJson: ' as JSON',
	writeItInFields: 'Write it in fields',
	writeItAsJson: 'Write it as JSON'
};

export const skillCasesText = {
	tryAgain: 'Try again',
	allowOnce: 'Allow once',
	readingTheCases: 'Reading the cases…',
	noCasesYetRun:
		'No cases yet. Run something above and save it as a case: then it can be tried again after every change.',
	runAll: 'Run all',
	runningOfDone: (done: string | number, count: string | number) => `Running… ${done} of ${count} done.`,
	ofPassedWhenLast: (passed: string | number, count: string | number) => `${passed} of ${count} passed when last run.`,
	running: 'Running',
	neverRun: 'Never run',
	passed: 'Passed',
	failed: 'Failed',
	runOf: (title: string | number) => `Run ${title}`,
	run: 'Run',
	removeOf: (title: string | number) => `Remove ${title}`,
	remove: 'Remove',
	expects: (value: string | number) => `Expects: ${value}`,
	exitCode: (exitCode: string | number) => `exit code ${exitCode}`,
	prints: (text: string | number) => `prints “${text}”`,
	makes: (path: string | number) => `makes ${path}`
};

export const skillEvalsText = {
	tryAgain: 'Try again',
	readingEvalsEvalsJson: 'Reading evals/evals.json…',
	itHasNoEvals:
		'It has no evals. With prompts in evals/evals.json the model is asked each of them with the skill and without it, to see what the skill is good for.',
	prompts: (count: string | number) => `Prompts (${count})`,
	rounds: 'Rounds',
	run: 'Run',
	asksTheModelTimes: (answers: string | number) => `Asks the model ${answers} times, which costs what its tokens cost.`,
	version: (toLocaleString: string | number, version: string | number) => `${toLocaleString}, version ${version}`
};

export const skillTryOutText = {
	runIt: 'Run it',
	runScript: 'Run a script',
	itCanBeRun: 'It can be run here once its files are trusted.',
	cases: 'Cases'
};

export const toolInputText = {
	noJson: (why: string) => `The input is no JSON: ${why}`,
	noObject: 'The input must be a JSON object, such as {"text": "…"}.',
	isNoJson: (why: string) => `Is no JSON: ${why}`,
	noNumber: 'Must be a number, such as 1.5.',
	noWholeNumber: 'Must be a whole number.',
	neededAndEmpty: 'Needed, and empty.',
	lookAgainAt: (fields: string) => `Look again at ${fields}.`
};
