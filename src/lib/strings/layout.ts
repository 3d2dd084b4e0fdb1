/** The frame around all pages: headers, errors, what is said when a page cannot be shown. */
export const layoutText = {
	menuOf: 'More about this conversation',
	contextOf: (figures: string) => `Context: ${figures}`,
	contextTitle: 'What the model was sent, in tokens of its context',
	contextShare: (percent: number) => `${percent} % of the context is used`,
	cost: (cost: string) => `Cost of the conversation: ${cost}`,

	deleteCancel: 'Cancel',
	deleteConfirm: 'Delete',

	notFound: 'There is no such page.',
	notFoundHint: 'The address may be wrong, or what was here has been deleted.',
	failed: 'Something went wrong.',
	failedHint: 'Load the page again. If that does not help, the log of the server says more.',
	offline: 'The page could not be loaded.',
	offlineHint: 'Check that the server is still running, then try again.',
	reload: 'Load again',
	newChat: 'New chat',
	conversation: 'Conversation',
	partMissing: 'A part of the page could not be loaded.',
	back: 'Back'
};
