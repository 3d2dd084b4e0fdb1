/** What is said of versions, updates, removal and the trash. */
export const skillRemovalText = {
	isInTheTrash: (name: string | number) => `${name} is in the trash, until`,
	restoring: 'Restoring…',
	undo: 'Undo',
	trash: 'Trash',
	allSkills: 'All skills',
	itGoesIntoThe:
		'It goes into the trash, from which it can be restored for some time. Executions so far stay written down.',
	removing: 'Removing…',
	remove: (name: string | number) => `Remove ${name}`
};

export const skillVersionsText = {
	tryAgain: 'Try again',
	readingTheVersions: 'Reading the versions…',
	inUse: 'In use',
	chosen: 'Chosen',
	kept: 'Kept',
	off: 'Off',
	stayWith: 'Stay with',
	use: 'Use',
	version: (value: string | number, version: string | number) => `${value} version ${version}`,
	stayWithThis: 'Stay with this',
	bringBack: 'Bring back',
	useThis: 'Use this',
	installed: 'Installed',
	ofTheKey: (owner: string | number) => `, of the key ${owner}`,
	itLiesInA: 'It lies in a folder of skills and was not installed here.',
	useTheNewest: 'Use the newest',
	goingBack: 'Going back…',
	rollBack: 'Roll back',
	checkForAnUpdate: 'Check for an update',
	lookAtTheUpdate: 'Look at the update',
	fetchItAnew: 'Fetch it anew',
	itIsTheNewest: 'It is the newest.',
	allVersionsAreSwitched: 'All versions are switched off.',
	inUseOf: (current: string | number) => `In use: ${current}.`,
	changing: 'Changing…',
	askingWhereItCame: 'Asking where it came from…',
	whereItCameFrom: 'Where it came from cannot be asked.',
	fetchingTheNewest: 'Fetching the newest…'
};

export const trashListText = {
	readingTheTrash: 'Reading the trash…',
	isBack: (name: string | number) => `${name} is back:`,
	lookAtIt: 'look at it',
	theTrashIsEmpty: 'The trash is empty. What you remove stays here for some time.',
	tryAgain: 'Try again',
	version: (version: string | number) => `version ${version}`,
	restoreOf: (name: string | number) => `Restore ${name}`,
	restore: 'Restore',
	deleteForGoodOf: (name: string | number) => `Delete ${name} for good`,
	deleteForGood: 'Delete for good',
	removed: 'Removed',
	keptUntil: ', kept until',
	askDeleteForGood: (name: string | number) => `Delete ${name} for good?`,
	allItsFilesGo: 'All its files go. This cannot be undone.'
};

export const updateListText = {
	checkAgain: 'Check again',
	askingWhereTheSkills: 'Asking where the skills came from…',
	noSkillWasInstalled: 'No skill was installed from a place that can be asked.',
	thereAreNoUpdates: 'There are no updates.',
	updates: (count: string | number) => `Updates: ${count}.`,
	version: (version: string | number) => `version ${version}`,
	fetchTheUpdateOf: (name: string | number) => `Fetch the update of ${name} and look at it`,
	fetching: 'Fetching…',
	lookAtIt: 'Look at it',
	thereIsAnUpdate: 'There is an update',
	notKnown: 'Not known',
	upToDate: 'Up to date'
};

export const trashRouteText = {
	trash: 'Trash',
	backToTheSkills: 'Back to the skills'
};

export const updatesRouteText = {
	updates: 'Updates',
	backToTheSkills: 'Back to the skills'
};
