/** What the pages of skills say: the list, one skill, its scores. */
export const skillFilesText = {
	noTextOrToo: (bytes: string | number) => `${bytes}, no text or too long to be shown`
};

export const skillHeaderText = {
	skill: 'Skill',
	version: (version: string) => `version ${version}`,
	from: (place: string) => `from ${place}`,
	ofTheKey: (owner: string) => `of the key ${owner}`,
	asksFor: (tools: string) => `asks for ${tools}`,
	notAvailable: (reason: string) => `Not available: ${reason}`,
	newChat: 'New chat with it',
	edit: 'Edit',
	exportZip: 'Export zip',
	executions: 'Executions',
	used: (executions: number, failures: number) =>
		`Used ${executions} ${executions === 1 ? 'time' : 'times'}${failures > 0 ? `, ${failures} failed` : ''}, last`,
	neverUsedYet: 'Never used yet'
};

export const skillModeText = {
	whenItIsOffered: 'When it is offered',
	on: 'On',
	itsToolsAreAlways: 'Its tools are always offered',
	auto: 'Auto',
	offeredWhenItFits: 'Offered when it fits what is asked',
	off: 'Off',
	neitherOfferedNorRun: 'Neither offered nor run'
};

export const skillPageText = {
	thereIsNoSuch: 'There is no such skill, or it is gone.',
	allSkills: 'All skills',
	tryAgain: 'Try again',
	loadingTheSkill: 'Loading the skill…',
	parts: 'Parts of this skill',
	problems: (count: number) => (count > 0 ? `Problems ${count}` : 'Problems'),
	instructions: 'Instructions',
	files: (count: number) => `Files ${count}`,
	run: 'Run',
	trust: (dangers: number) => (dangers > 0 ? `Findings ${dangers}` : 'Findings'),
	needs: (missing: number) => (missing > 0 ? `Needs ${missing}` : 'Needs'),
	evals: 'Evals',
	versions: 'Versions',
	whatHasChangedSince: 'What has changed since it was trusted',
	whatASearchFor: 'What a search for known tricks found',
	digest: 'All files together',
	whatItNeeds: 'What it needs',
	network: 'Network',
	remove: 'Remove',
	nothingToRun: 'It has no scripts and no tools: it is read, not run.'
};

export const skillRowText = {
	modeOf: (name: string) => `When ${name} is offered`,
	changeMode: 'Change when it is offered',
	broken: 'Broken',
	notAvailable: 'Not available',
	ready: 'Ready',
	key: (owner: string | number) => `key ${owner}`,
	used: (executions: string | number) => `used ${executions} ×`,
	isOn: (name: string | number) => `${name} is on`,
	fix: 'Fix',
	on: 'On',
	auto: 'Auto',
	off: 'Off'
};

export const skillScoresText = {
	name: 'name',
	tags: 'tags',
	description: 'description',
	background: 'background',
	provider: 'provider',
	nothing: 'nothing',
	whatSomebodyAsks: 'What somebody asks',
	scoring: 'Scoring…',
	score: 'Score',
	thereAreNoSkills: 'There are no skills to score.',
	theBestOfSkills: (count: string | number, total: string | number) => `The best ${count} of ${total} skills.`,
	pickedAreTheSkills: (value: string | number, autoMaxSkills: string | number, autoMinScore: string | number) =>
		`${value} Picked are the skills that are on, and the best ${autoMaxSkills} on auto with at least ${autoMinScore} points by the OmniRoute scorer; the catalog is filled by the other.`,
	settings: 'Settings',
	scores: 'Scores',
	skill: 'Skill',
	catalog: 'Catalog',
	omniroute: 'OmniRoute',
	picked: 'Picked',
	yes: 'Yes',
	no: 'No',
	wordsOfTheName: 'words of the name'
};

export const skillListText = {
	pageTitle: (app: string) => `Skills · ${app}`,
	chooseOne: 'Choose a skill to read what it does, or make one of your own.',
	create: 'New skill',
	api: 'API',
	resize: 'Width of the list',
	skills: 'Skills',
	broken: (count: string | number) => `, ${count} broken`,
	ready: (count: string | number, value: string | number) => `${count} ready${value}`,
	install: 'Install',
	installedSkills: 'Installed skills',
	moreAboutSkills: 'More about skills',
	searchSkills: 'Search skills',
	show: 'Show',
	readingTheSkills: 'Reading the skills…',
	showMoreOf: (STEP: string | number, count: string | number) => `Show ${STEP} more of ${count}`,
	noSkillsYetInstall:
		'No skills yet. Install one, or put a folder with a SKILL.md into skills/: it shows here by itself.',
	noSkillMatches: 'No skill matches.',
	builtIn: 'Built in',
	updates: 'Updates',
	trash: 'Trash',
	executions: 'Executions',
	scores: 'Scores',
	settings: 'Settings'
};

export const skillRouteText = {
	skill: (id: string) => `Skill ${id}`,
	title: (id: string, app: string) => `${id} · Skills · ${app}`,
	allSkills: 'All skills',
	whatIsKnownOf: 'What is known of the skill'
};

export const scoresRouteText = {
	scores: 'Scores',
	backToTheSkills: 'Back to the skills',
	whyASkillIs: 'Why a skill is or is not picked: its points for what somebody asks, signal by signal.'
};

export const skillFilterText = {
	all: 'All',
	on: 'On',
	auto: 'Auto',
	off: 'Off',
	broken: 'Broken',
	installed: 'Installed',
	builtin: 'Built in'
};

export const importMenuText = {
	install: 'Install',
	more: 'More ways to get a skill',
	create: 'New skill',
	upload: 'Upload a zip file or folder',
	github: 'From GitHub',
	catalogs: 'From a catalog',
	site: 'From a web site'
};

export const catalogBudgetText = {
	catalog: (tokens: string, budget: string) => `catalog ${tokens} tokens of ${budget}`,
	within: 'The model is told of every skill that is not off.',
	over: 'There is not room for all: the skills that fit what is asked are told in full, the others by name.'
};

export const skillInstructionsText = {
	view: 'How it is shown',
	rendered: 'Read',
	source: 'Source',
	loading: 'Reading the SKILL.md…',
	empty: 'It has no instructions: its SKILL.md ends after the front matter.',
	tryAgain: 'Try again'
};

export const fileBrowserText = {
	files: 'Files',
	none: 'It has no files.',
	choose: 'Choose a file to read it.',
	notShown: 'This is no text, or too long to be shown here.',
	back: 'All files',
	numbers: 'Line numbers',
	copy: (path: string) => `Copy ${path}`,
	edit: 'Edit',
	text: (path: string) => `Text of ${path}`
};

/** By where it comes from; goes on after “from”. */
export const providerText = {
	github: 'GitHub',
	skillssh: 'skills.sh',
	skillsmp: 'SkillsMP',
	'well-known': 'a web site',
	zip: 'a zip file',
	folder: 'a folder',
	inline: 'text',
	custom: 'a handler',
	local: 'a folder of skills',
	builtin: 'this server'
};

export const sandboxText = {
	asProcesses: 'as plain processes',
	inSandbox: (name: string) => `in ${name}`,
	together: (where: string) => `Scripts run ${where}: the files of this machine are NOT isolated.`,
	apart: (where: string, hasNoNetwork: boolean) =>
		`Scripts run ${where}: no access to other files, ${hasNoNetwork ? 'no network but the hosts that you allow' : 'but the network is open'}.`
};
