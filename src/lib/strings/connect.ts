/** The page Connect: keys of other programs, and how each kind of client is set up. */
export const connectText = {
	title: 'Connect',
	back: 'Back to the chat',
	about: 'Other programs can use the skills of this server, and ask its agent. Choose what yours speaks.',
	clients: 'Ways to connect',
	names: {
		responses: 'Responses API',
		agui: 'AG-UI',
		mcp: 'MCP',
		a2a: 'A2A',
		rest: 'REST',
		library: 'Library'
	},
	abouts: {
		responses:
			'For every program that takes an OpenAI base URL. The agent answers: it loads skills, runs their scripts here, and hands the program’s own tools back to it.',
		agui: 'For user interfaces that speak AG-UI: text, steps, approvals and state as events.',
		mcp: 'The skills as tools, resources and prompts, for programs that bring a model of their own.',
		a2a: 'For other agents: a task is an answer of this agent, its artifacts are the files.',
		rest: 'Skills, executions, files and runs as JSON over HTTP.',
		library: 'The skills inside your own Node program. It needs neither this server nor a key.'
	},
	needs: {
		responses: 'execute',
		agui: 'execute',
		mcp: 'read, and execute to run skills',
		a2a: 'execute',
		rest: 'read, and execute to run skills'
	},
	needsScope: 'A key needs the scope',
	snippets: {
		responses: {
			env: 'Environment',
			js: 'openai for JavaScript',
			ai: 'AI SDK',
			'openrouter-sdk': 'OpenRouter SDK',
			'openrouter-agent': 'OpenRouter Agent SDK',
			python: 'openai for Python',
			curl: 'curl'
		},
		agui: { js: 'JavaScript' },
		mcp: {
			'claude-code': 'Claude Code',
			cursor: 'Cursor, and others with “mcpServers”',
			vscode: 'VS Code',
			stdio: 'Claude Desktop, and others that start a program'
		},
		a2a: { card: 'Agent card', js: 'JavaScript' },
		rest: { list: 'Which skills are there?', run: 'Run a script' },
		library: { install: 'Install', js: 'Use' }
	} as Record<string, Record<string, string>>,
	/** Under the title of a snippet. */
	notes: {
		'mcp cursor': '.cursor/mcp.json',
		'mcp vscode': '.vscode/mcp.json',
		'mcp stdio': 'claude_desktop_config.json; with the folder of this software. It needs no key.'
	} as Record<string, string>,
	copyOf: (client: string, snippet: string) => `Copy: ${client}, ${snippet}`,
	codeOf: (client: string, snippet: string) => `${client}, ${snippet}`,
	apiReference: 'API reference',
	yourKey: '<your key>',

	keyTitle: 'A key for a program',
	noKeyNeeded: 'Programs on this machine need no key: this server has no ADMIN_TOKEN. Any text will do in its place.',
	ownWorkspace: 'With a key a program has a workspace, conversations and executions of its own.',
	keyNeeded: 'Every program needs a key. With it, it has a workspace, conversations and executions of its own.',
	nameHint: 'So that you know later which program it is.',
	scopes: 'What it may do',
	scopeNames: { read: 'read', write: 'write', execute: 'execute', approve: 'approve' },
	scopeAbouts: {
		read: 'see skills, and what it made itself',
		write: 'switch skills on and off, over MCP',
		execute: 'run skills and ask the agent',
		approve: 'run what would need your consent, without asking you'
	},
	create: 'Make the key',
	another: 'Make another key',
	isThere: (name: string) => `The key for “${name}”`,
	once: 'Copy it now: it cannot be shown again. It stands in the settings below until you leave this page.',
	copyKey: 'Copy the key',

	keys: 'Keys',
	reading: 'Reading the keys…',
	none: 'None yet.',
	made: 'made',
	lastUsed: 'last used',
	neverUsed: 'never used',
	revokedOn: 'revoked',
	renameOf: (name: string) => `Rename ${name}`,
	revoke: 'Revoke',
	revokeOf: (name: string) => `Revoke ${name}`,
	revokeTitle: (name: string) => `Revoke “${name}”?`,
	revokeAbout: 'Programs with this key are refused at once, and for good. What they made stays.',
	revokedOne: (name: string) => `“${name}” is revoked.`,
	revokedKeys: (count: number) => (count === 1 ? '1 revoked key' : `${count} revoked keys`)
};
