/** What is said while skills are installed. */
export const catalogSourceText = {
	catalog: 'Catalog',
	whatShouldItBe: 'What should it be able to do?',
	search: 'Search',
	searching: 'Searching…',
	nothingWasFoundTry: 'Nothing was found. Try other words, or the other catalog.',
	found: (total: string | number) => `${total} found`,
	settings: 'Settings',
	page: 'Page',
	fetchAndLookAt: (name: string | number) => `Fetch ${name} and look at it`,
	lookAtIt: 'Look at it',
	theCatalogDoesNot: 'The catalog does not say where its files are.',
	pages: 'Pages',
	back: 'Back',
	pageOf: (page: string | number, pages: string | number) => `Page ${page} of ${pages}`,
	next: 'Next',
	skillsmp: 'SkillsMP'
};

export const conflictChoiceText = {
	question: (names: string, count: number) =>
		`${names || 'One of them'} ${count > 1 ? 'are' : 'is'} installed already in this version. What shall become of ${count > 1 ? 'these' : 'this one'}?`,
	replace: 'Replace',
	replaceMeaning: 'the one that is there is kept, and you can go back to it',
	rename: 'Rename',
	renameMeaning: 'this one comes beside it with -2 after its name',
	leaveOut: 'Leave out',
	leaveOutMeaning: 'the one that is there stays as it is'
};

export const fetchFormText = {
	fetchAndLookAt: 'Fetch and look at it'
};

export const githubSourceText = {
	repository: 'Repository',
	ownerRepository: 'owner/repository',
	orTheAddressOf: 'Or the address of a repository, a folder or a SKILL.md on github.com.',
	branchTagOrCommit: 'Branch, tag or commit',
	theDefaultBranch: 'the default branch',
	folder: 'Folder',
	allOfIt: 'all of it'
};

export const installPageText = {
	whateverYouInstallIs:
		'Whatever you install is first fetched and checked, then shown to you: files, scripts, what a search for known tricks found, and what changes. Nothing is placed before you say so.',
	installFrom: 'Install from',
	upload: 'Upload',
	github: 'GitHub',
	catalogs: 'Catalogs',
	webSite: 'Web site',
	text: 'Text',
	fetchingAndChecking: 'Fetching and checking',
	sending: (percent: string | number) => `Sending (${percent} %)`,
	cancel: 'Cancel',
	progress: 'Progress'
};

export const installResultText = {
	result: 'Result',
	nothingWasInstalled: 'Nothing was installed.',
	installedAndSwitched: (isOn: boolean) => `Installed, and switched ${isOn ? 'on' : 'off'}.`,
	version: (version: string | number) => `version ${version}`,
	lookAtItAnd: 'Look at it and trust it',
	lookAtItTrust: 'Look at it, trust it and switch it on',
	leftOut: (value: string | number) => `Left out: ${value}.`,
	installMore: 'Install more',
	allSkills: 'All skills'
};

export const originLineText = {
	from: (value: string | number) => `From ${value}`,
	commit: 'commit'
};

export const reviewPageText = {
	thisIsNoLonger: 'This is no longer here: it was installed or discarded, or has waited too long.',
	nothingOfItWas: 'Nothing of it was placed unless you said so. Fetch it again to install it.',
	installSkills: 'Install skills',
	allSkills: 'All skills',
	tryAgain: 'Try again',
	readingWhatWasFetched: 'Reading what was fetched…',
	ofCanBeInstalled: (ready: number, count: number) =>
		`${ready} of ${count} ${count === 1 ? 'skill' : 'skills'} can be installed. This waits for you until`,
	notes: 'Notes',
	install: 'Install',
	switchItOnAt: 'Switch it on at once',
	elseItLandsSwitched: '– else it lands switched off',
	whoseItIs: 'Whose it is',
	apiKey: 'API key',
	system: 'system',
	theIdOfAn: 'The id of an API key that alone sees it; everybody sees those of system.',
	itsScriptsAskBefore: 'Its scripts ask before each run until you have looked at it and trusted it.',
	installing: 'Installing…',
	installSkillsOf: (count: string | number) => `Install ${count} skills`,
	discard: 'Discard'
};

export const reviewSkillText = {
	install: (name: string | number) => `Install ${name}`,
	version: (version: string | number) => `version ${version}`,
	cannotBeInstalled: 'Cannot be installed',
	versionWithTheSame: (version: string | number) => `Version ${version} with the same files is installed already.`,
	thisVersionIsInstalled: 'This version is installed already, with other files.',
	versionIsInstalledThis: (version: string | number) => `Version ${version} is installed; this one comes beside it.`,
	itCameFromSomewhere: 'It came from somewhere else: only the name is the same.',
	whatIsDifferentFrom: 'What is different from the installed one',
	whatASearchFor: 'What a search for known tricks found',
	dangerousPlaces: (dangers: string | number) => `Dangerous places: ${dangers}.`,
	whatItCanRun: 'What it can run',
	tool: (tool: string | number) => `${tool} (tool)`,
	files: (count: string | number) => `Files (${count})`,
	sha256: 'SHA-256',
	aSkillWithoutA: 'A skill without a name'
};

export const siteSourceText = {
	addressOfTheSite: 'Address of the site',
	httpsExampleCom: 'https://example.com',
	oneThatListsIts: 'One that lists its skills under /.well-known/agent-skills/index.json.',
	onlyTheSkillWith: 'Only the skill with this name',
	allOfThem: 'all of them'
};

export const textSourceText = {
	theText: 'the text',
	theTextOfA: 'The text of a SKILL.md',
	nameMySkillDescription:
		'---\nname: my-skill\ndescription: What it does, and when to use it.\n---\nWhat to do, step by step.'
};

export const uploadSourceText = {
	dropHere: 'Drop a zip file or a folder',
	dropOrChoose: 'Drop a zip file or the folder of a skill here, or choose one.',
	zipFile: 'Zip file',
	folder: 'Folder',
	oneSkillOrSeveral: 'One skill or several. .git and node_modules are left out.'
};

export const installRouteText = {
	installSkills: 'Install skills',
	backToTheSkills: 'Back to the skills'
};

export const reviewRouteText = {
	lookBeforeYouInstall: 'Look before you install',
	backToTheSources: 'Back to the sources'
};

export const stagingText = {
	chooseFolder: 'Choose the folder that has a SKILL.md in it.',
	noFiles: 'There are no files in it.'
};
