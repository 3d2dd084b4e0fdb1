/** The box that messages are written in, and the queue above it. */
export const composerText = {
	placeholder: 'Ask anything',
	message: 'Message',
	hint: 'Write / for commands, $ for skills, @ for files.',
	send: 'Send',
	sendTitle: 'Send (Enter)',
	sendAfter: 'Send after the answer',
	sendAfterTitle: 'Send after the answer (Enter)',
	stop: 'Stop',
	stopTitle: 'Stop (Esc)',
	stopping: 'Stopping',
	stopAgain: 'A script is running. Press Esc again to stop.',

	notUploaded: 'You can send this when the upload is finished.',
	uploadFailed: 'Upload the file again, or remove it, to send this.',
	queues: 'Enter puts this in the queue: it is sent after the answer. Ctrl+Enter sends it after this step.',
	queuesOnTouch: 'This goes into the queue: it is sent after the answer.',
	leavesUndone: 'Sending this leaves the call above undone.',

	add: 'Add files or skills',
	attachFiles: 'Attach files',
	addSkill: 'Add a skill…',
	attachments: 'Attachments',
	drop: 'Drop files to attach them',
	uploadAgain: (path: string) => `Upload ${path} again`,
	remove: (path: string) => `Remove ${path}`,
	removed: (name: string) => `Removed ${name}`,
	uploading: (path: string) => `Uploading ${path}`,
	percent: (percent: number) => `${percent} %`,
	uploadError: 'The upload failed.',
	uploadTooLong: 'The upload took too long.',
	tooLarge: 'A file may have at most 200 MB.',
	tooManyFiles: (most: number) => `A message takes at most ${most} files: the others were left out.`,
	pastedName: 'Pasted text.txt',
	pasteAsText: 'Paste as text instead',

	matches: 'Commands, skills and files',
	matchCount: (count: number) => (count === 1 ? '1 match' : `${count} matches`),
	skillOff: 'off',
	skillBroken: 'broken',
	skillPinned: (name: string) => `${name} is pinned`,
	fileAdded: (path: string) => `${path} is attached`,

	queue: 'Messages that wait',
	waiting: (count: number, isRunning: boolean) => {
		const messages = count === 1 ? '1 message waits' : `${count} messages wait`;
		if (isRunning) return `${messages} for the end of the answer.`;
		return `${messages} until you send ${count === 1 ? 'it' : 'them'}.`;
	},
	sendNow: 'Send now',
	sendNowHint: '“Send now” interrupts after this step.',
	sendNowWhileRunning: 'Interrupts after this step: the answer ends there, and this is sent',
	sendNowTitle: 'Sends this',
	waitingMessage: 'Message that waits',
	editWaiting: (start: string) => `Edit the waiting message “${start}”`,
	edit: 'Edit',
	save: 'Save',
	removeWaiting: (start: string) => `Remove the waiting message “${start}”`,
	removeTitle: 'Remove',
	place: (place: number) => `${place}.`,
	fileCount: (count: number) => (count === 1 ? '1 file' : `${count} files`)
};

/** What can be written at the start of a line, after a slash. */
export const commandText = {
	new: 'Begin a new chat',
	model: 'Choose the model that answers',
	skills: 'Look at the skills',
	rename: 'Give this chat another title',
	exportMarkdown: 'Save this chat as Markdown',
	exportJson: 'Save this chat as JSON',
	stop: 'Stop the answer',
	clear: 'Empty the box',
	cleared: 'The draft was removed.',
	help: 'Show all keyboard shortcuts'
};
