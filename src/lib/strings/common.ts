/** Words that many parts of the page use. Each other part has a file of its own here: to translate the page is to translate this folder. */
export const commonText = {
	appName: 'openrouter-skills',
	title: 'Title',
	name: 'Name',
	rename: 'Rename',
	notices: 'Notices',
	close: 'Close',
	cancel: 'Cancel',
	save: 'Save',
	undo: 'Undo',
	tryAgain: 'Try again',
	loading: 'Loading…',
	copied: 'Copied'
};
