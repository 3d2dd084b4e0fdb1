/** Words around messages: what can be done with them, how they end, what one waits for. */

export const messagesText = {
	yourMessage: 'Your message',
	answer: 'Answer',
	attachedFiles: 'Attached files',
	edited: 'Your message, edited',
	send: 'Send',
	staysBeside: 'The message as it was stays, with all that followed it.',
	copyMessage: 'Copy message',
	copyAnswer: 'Copy answer',
	editLabel: 'Edit this message',
	edit: 'Edit',
	deleteMessageLabel: 'Delete this message',
	deleteAnswerLabel: 'Delete this answer',
	delete: 'Delete',
	retryLabel: 'Retry: another answer',
	retryTitle: 'Another answer',
	retryWith: 'Another answer by another model',
	retryWithTitle: 'Retry with another model',
	modelSearch: 'Find a model',
	readingModels: 'Reading the models…',
	noModels: 'No model is called that.',
	forkLabel: 'Continue from this answer in a new chat',
	forkTitle: 'Continue in a new chat',
	why: 'Why these skills?',
	whyFailed: 'It could not be loaded.',
	figures: 'Figures of this answer',
	previous: (noun: string) => `Previous ${noun}`,
	next: (noun: string) => `Next ${noun}`,
	versionsOf: (noun: string) => `Versions of this ${noun}`,
	version: (index: number, count: number) => `Version ${index} of ${count}`,
	nouns: { message: 'message', answer: 'answer' },
	deleteMessageTitle: 'Delete this message?',
	deleteAnswerTitle: 'Delete this answer?',
	deleteLast: 'Files that scripts made stay. This cannot be undone.',
	deleteWithRest: 'Everything that follows it goes as well; files that scripts made stay. This cannot be undone.',
	beingWritten: 'An answer is being written.'
};

export const usageText = {
	tokens: (input: string, output: string) => `${input} in · ${output} out`,
	cached: (count: string) => `${count} cached`,
	reasoning: (count: string) => `${count} reasoning`,
	rows: {
		model: 'Model',
		input: 'Tokens in',
		cached: 'of them cached',
		output: 'Tokens out',
		reasoning: 'of them reasoning',
		cost: 'Cost',
		scripts: 'Running scripts',
		firstText: 'First text after',
		time: 'In all'
	},
	reading: 'Reading…'
};

export const contextText = {
	parts: {
		messages: 'Messages',
		skills: 'Instructions of skills',
		results: 'Results of tools',
		catalog: 'List of skills',
		tools: 'Tools',
		system: 'System prompt'
	},
	of: (tokens: string, limit: string) => `${tokens} / ${limit}`,
	tokens: (tokens: string) => `${tokens} tokens`,
	label: (figures: string) => `Context: ${figures}`,
	title: 'What the model was sent, in tokens of its context',
	byPart: 'Context by part, in estimated tokens',
	sum: 'Context, estimated',
	share: (percent: number) => ` (${percent} %)`,
	totals: 'All answers shown here',
	input: 'Conversation, in',
	output: 'Conversation, out',
	cost: 'Cost'
};

export const reasoningText = {
	thinking: 'Thinking…',
	thought: 'Thought',
	thoughtFor: (duration: string) => `Thought for ${duration}`,
	region: 'Reasoning',
	seconds: (seconds: number) => `${seconds} s`
};

export const compactionText = {
	summarised: 'Earlier messages were summarised for the model',
	leftOut: 'Old results were left out for the model',
	messages: (count: number) => `${count} messages are a summary now`,
	results: (count: number) => `${count} results left out`,
	tokens: (before: string, after: string) => `about ${before} tokens before, ${after} after`,
	still: (facts: string) => `${facts}. You still see all of it.`
};

export const waitingText = {
	waiting: 'Waiting for the answer',
	still: (model: string) => `Still waiting for ${model}…`,
	slow: (model: string) => `${model} may be slow right now. You can stop it.`,
	retrying: (duration: string, attempt: number) => `Trying again in ${duration} (attempt ${attempt}).`,
	retryingNow: (attempt: number) => `Trying again now (attempt ${attempt}).`
};

export const endText = {
	failed: 'The answer failed.',
	limits: {
		steps: 'This answer ended at the limit of steps that one answer may take.',
		length: 'This answer ended at the limit of what the model writes at once.',
		cost: 'This answer ended at the limit of what one answer may cost.',
		time: 'This answer ended at the limit of time that one answer may take.'
	},
	interrupted: 'Interrupted',
	because: (reason: string) => `– ${reason}`,
	stopped: 'Stopped',
	continue: 'Continue',
	retry: 'Retry',
	retryIn: (duration: string) => `Retry in ${duration}`,
	openSettings: 'Open settings',
	addCredits: 'Add credits',
	switchModel: 'Switch model',
	newChat: 'New chat',
	details: 'Details',
	said: 'The server said',
	code: 'Code'
};

export const connectionText = {
	reconnecting: 'Reconnecting… The answer goes on without this page.',
	loadingConversation: 'Loading the conversation',
	missing: 'This conversation does not exist, or was deleted.',
	newChat: 'New chat',
	tryAgain: 'Try again'
};

export const statusText = {
	reconnecting: 'Reconnecting.',
	sending: 'Sending.',
	writing: 'The answer is being written.',
	thinking: 'Thinking.',
	endings: {
		running: '',
		waiting: '',
		complete: 'The answer is complete.',
		cancelled: 'Stopped.',
		interrupted: 'The answer was interrupted.',
		failed: 'The answer failed.'
	},
	question: (reasons: string) => `The answer waits for your approval. ${reasons}`
};
