/** The settings page. */
export const settingsText = {
	title: 'Settings',
	back: 'Back to the chat',
	sections: 'Sections',
	reading: 'Reading the settings…',
	saving: 'Saving…',
	saved: 'Saved.',
	save: 'Save',

	account: 'Account',
	baseUrl: 'Base URL',
	baseUrlHint: 'Any server that speaks the Responses API; what comes before /responses.',
	baseUrlKey: 'Another address removes the stored key: it is for its host alone.',
	baseUrlBack: 'Back to',
	baseUrlWrong: 'Write an address that begins with http:// or https://, without user, password, query or fragment.',

	model: 'Model',
	modelAbout: 'What answers in conversations that have chosen nothing else.',
	modelChange: 'Choose another',
	modelBack: 'As the server was started',
	effort: 'Reasoning effort',

	limits: 'Limits of one answer',
	limitsAbout: 'An answer that reaches one of them ends, keeps what it has, and can be continued.',
	steps: 'Model calls',
	stepsHint: 'A whole number from 1 to 100.',
	cost: 'Cost in USD',
	costHint: 'Empty for any.',
	minutes: 'Minutes',
	minutesHint: 'From 0.1 to 1440.',
	limitsBack: 'As the server was started',

	skills: 'Skills',
	masterSwitch: 'Master switch',
	mayExecute: 'Skills may be executed',
	switchOn: 'While it is off nothing of a skill is run, neither in a chat nor by hand. The list stays.',
	switchKept:
		'SKILLS_ENABLED=false in the environment of this server keeps it off. Whoever runs the server can change that and start it anew.',
	catalog: 'Active catalog',
	catalogAbout: 'The API installs from this one alone; here you can install from all of them.',
	providers: { skillssh: 'skills.sh', skillsmp: 'SkillsMP', github: 'GitHub' },

	skillsmpKey: 'Key for SkillsMP',
	key: 'Key',
	anotherKey: 'Another key',
	removeKey: 'Remove the key',
	keyStored: 'A key is stored, encrypted. Nobody can read it here again.',
	keyMissing: 'Without a key SkillsMP cannot be searched. Nobody can read it here again.',

	picking: 'Skills that are picked by points',
	pickingAbout: 'Of skills on auto the OmniRoute scorer picks the best ones for what is asked.',
	pickingLook: 'Look at the points',
	atMost: 'At most so many skills',
	atLeast: 'With at least so many points',
	atMostWrong: 'The most skills must be a whole number from 0 to 50.',
	atLeastWrong: 'The fewest points must be a whole number from 0 to 1000.',

	mcpServers: 'MCP servers',

	appearance: 'Appearance',
	theme: 'Theme',
	themes: { system: 'As the system', light: 'Light', dark: 'Dark' },

	shortcuts: 'Keyboard shortcuts'
};
