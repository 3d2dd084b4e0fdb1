/** What is said about whether a skill may be used: trust, findings, needs, what is wrong with it. */
export const brokenSkillText = {
	edit: 'Edit its files',
	skill: 'Skill',
	itCanBeUsed: 'It can be used now.',
	openItsPage: 'Open its page',
	broken: 'Broken',
	itCannotBeUsed: 'It cannot be used until what is wrong with its SKILL.md is put right.',
	remove: 'Remove',
	loadingTheSkill: 'Loading the skill…',
	thereIsNoSuch: 'There is no such skill, or it is gone.',
	allSkills: 'All skills',
	trash: 'Trash'
};

export const diagnosisIssueText = {
	error: 'Error',
	warning: 'Warning',
	thisHasToBe: 'This has to be put right by hand.',
	byHandPerhaps: (fix: string | number) => `By hand, perhaps: ${fix}`,
	fixOf: (subject: string | number, message: string | number) => `Fix: ${subject} ${message}`,
	fix: 'Fix',
	theFile: 'The file'
};

export const secretsFormText = {
	hideTheValueOf: (name: string | number) => `Hide the value of ${name}`,
	showTheValueOf: (name: string | number) => `Show the value of ${name}`,
	storedEncryptedOnThis:
		'Stored encrypted on this server, given only to this skill’s scripts, and removed from their output. Nobody can read it here again. For a value of several lines, show it before you paste it.',
	saving: 'Saving…',
	save: 'Save'
};

export const skillChangesText = {
	added: 'new',
	removed: 'deleted',
	changed: 'changed',
	noTextOrToo: ', no text or too long to be shown',
	differenceOf: (path: string | number) => `Difference of ${path}`
};

export const skillDoctorText = {
	whatIsWrongWith: 'What is wrong with its SKILL.md',
	fixedTheOldText: 'Fixed. The old text is kept beside it, in',
	tryAgain: 'Try again',
	lookingAtTheSkill: 'Looking at the skill…',
	nothingItKeepsTo: 'Nothing: it keeps to all rules of the standard.',
	theFix: 'The fix',
	theFileWillBe: 'The file will be called SKILL.md; its text stays as it is.',
	thisWillBeWritten: 'This will be written. The old file is kept beside it, as',
	skillMdTimeOld: '.SKILL.md.<time>.old',
	ifTheSkillWas: '; if the skill was trusted, look at it again afterwards.',
	writing: 'Writing…',
	writeIt: 'Write it',
	cancel: 'Cancel',
	fixAll: 'Fix all',
	skillMd: 'SKILL.md'
};

export const skillFindingsText = {
	aSearchForKnown: 'A search for known tricks found nothing. That is no proof: read the scripts.'
};

export const skillNeedsText = {
	found: 'found',
	itSaysAndShows: 'It says and shows nothing that it would need.',
	aGuessFromIts: ' (a guess from its files)',
	variables: 'Variables',
	storedForThisSkill: 'stored for this skill',
	setByTheOperator: 'set by the operator',
	notSet: 'not set',
	notSetOptional: 'not set (optional)',
	replaceOf: (name: string | number) => `Replace ${name}`,
	replace: 'Replace',
	removeOf: (name: string | number) => `Remove ${name}`,
	remove: 'Remove',
	programs: 'Programs',
	notInstalled: 'not installed',
	pythonModules: 'Python modules'
};

export const skillNetworkText = {
	itAsksForNo: 'It asks for no network, and gets none.',
	itAsksToReach: 'It asks to reach these hosts; it reaches those that you allow.'
};

export const skillProblemsText = {
	problems: 'Problems',
	error: 'Error',
	warning: 'Warning',
	write: 'Write:',
	line: (line: string | number) => `line ${line}`
};

export const trustText = {
	builtin: 'Built in',
	trusted: 'Trusted',
	changed: 'Changed',
	untrusted: 'Not trusted',
	builtinMeaning: 'It is part of this server.',
	trustedMeaning: 'Its scripts run as the settings of this server say.',
	changedMeaning:
		'Its files have changed since it was trusted. Its scripts ask before each run until you look at the changes.',
	untrustedMeaning: 'Nobody has looked at its files. Its scripts ask before each run, and can be allowed once only.',
	danger: 'Dangerous',
	warning: 'Look closely',
	info: 'Good to know'
};

export const skillTrustText = {
	lookAtChanges: 'Look at what has changed',
	lookAtFindings: 'Look at what was found',
	trust: 'Trust',
	inAFolderThat: 'In a folder that this server was given.',
	dangerousPlacesWereFound: (dangers: string | number) => `Dangerous places were found in it: ${dangers}. See below.`,
	withdrawTrust: 'Withdraw trust',
	itCannotBeTrusted: 'It cannot be trusted, for it cannot be looked at as a whole.',
	iHaveLookedAt: 'I have looked at it: trust these files',
	sha256: 'SHA-256'
};
