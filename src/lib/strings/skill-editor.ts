/** What is said where skills are written: the editor of a skill's files, and making a new one. */
export const skillEditorText = {
	title: (name: string, app: string) => `Edit ${name} · ${app}`,
	edit: (name: string) => `Edit ${name}`,
	backToTheSkill: 'Back to the skill',
	files: 'Files',
	showFiles: 'Files',
	newFile: 'New file',
	newFilePath: 'Path of the new file',
	newFileHint: 'Inside the skill’s folder, such as references/rules.md',
	badPath: 'That is no path that works on every system.',
	taken: 'There is a file of that name.',
	create: 'Create',
	cancel: 'Cancel',
	remove: (path: string) => `Remove ${path}`,
	removeFile: 'Remove this file',
	askRemove: (path: string) => `Remove ${path}?`,
	removeMeaning: 'The file goes for good.',
	save: 'Save',
	saving: 'Saving…',
	saveTitle: 'Save (Ctrl+S)',
	saved: 'Saved.',
	unsaved: 'Not saved yet: kept in this browser.',
	restored: 'What you typed before and did not save is here again.',
	revert: 'Take it back',
	loading: 'Reading the file…',
	readOnly: 'This server may not write this file: it can be read here, not changed.',
	installed: (place: string) =>
		`This copy was installed from ${place}. What you change stays until it is updated or installed anew; then your version is kept, and you can go back to it. Its scripts ask again until you trust the changed files.`,
	text: (path: string) => `Text of ${path}`,
	tabHint: 'Tab indents. Press Escape, then Tab, to leave the text.',
	tokens: (tokens: string) => `about ${tokens} tokens of instructions`,
	lines: (lines: string) => `${lines} lines`,
	tryAgain: 'Try again'
};

export const editorProblemsText = {
	problems: 'Problems',
	checking: 'Checking…',
	none: 'Nothing is wrong: it keeps to all rules of the standard.',
	count: (errors: number, warnings: number) =>
		`${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
	line: (line: number) => `Line ${line}`,
	error: 'Error',
	warning: 'Warning',
	fix: 'Fix',
	fixIt: (what: string) => `Fix: ${what}`,
	write: (words: string) => `Write: ${words}`,
	wholeFile: 'The file'
};

export const editorConflictText = {
	heading: 'Somebody else has changed this file',
	gone: 'Somebody else has removed this file',
	explanation: 'Nothing was written over. Look at both, and choose.',
	mine: 'Mine',
	theirs: 'Theirs',
	keepMine: 'Keep mine',
	takeTheirs: 'Take theirs'
};

export const leaveDialogText = {
	title: 'Leave without saving?',
	description: 'What you typed stays in this browser, and is here when you come back.',
	stay: 'Stay',
	leave: 'Leave'
};

export const newSkillText = {
	title: 'New skill',
	backToTheSkills: 'Back to the skills',
	intro:
		'A skill is a folder with a SKILL.md: what it is for, and what to do. It is made in your folder of skills and can be used at once.',
	namePlaceholder: 'invoice-reader',
	nameHint: 'Lower-case letters, digits and single hyphens, 64 at most.',
	nameTaken: 'There is a skill of this name already.',
	nameWrong: 'Only lower-case letters, digits and single hyphens between them.',
	nameGood: 'A good name.',
	suggestion: (name: string) => `Use ${name}`,
	description: 'Description',
	descriptionPlaceholder:
		'Reads invoices in PDF files and lists their sums. Use when somebody asks about invoices or bills.',
	characters: (count: number, most: number) => `${count} of ${most} characters`,
	tooLong: 'It is too long: the model reads at most 1,024 characters.',
	tooShort: 'Say more: this is all that the model goes by when it chooses a skill.',
	sayWhen: 'Say when to use it, such as “Use when somebody asks about…”.',
	good: 'It says what and when.',
	template: 'What it begins with',
	instructions: 'Instructions',
	instructionsMeaning: 'A text that the model reads and follows.',
	script: 'Instructions and a script',
	scriptMeaning: 'The text, and a small program that it tells the model to run.',
	tools: 'A tool',
	toolsMeaning: 'A function with a schema of its input that the model calls directly.',
	preview: 'What is made',
	create: 'Make the skill',
	creating: 'Making it…'
};
