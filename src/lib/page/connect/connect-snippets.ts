/** Settings and code that connect a program to this server. Pure. */
import { APPS, type Place, type Snippet } from './app-settings.ts';
import { CODE } from './client-code.ts';

export const GROUPS = [
	{ title: 'Coding agents', clients: ['claude-code', 'codex', 'gemini', 'qwen', 'opencode'] },
	{ title: 'Editors', clients: ['cursor', 'vscode', 'zed', 'jetbrains', 'neovim'] },
	{ title: 'Chat apps', clients: ['claude', 'open-webui', 'librechat'] },
	{ title: 'Your own code', clients: ['openai', 'agents', 'ai-sdk', 'langchain', 'openrouter', 'copilotkit'] },
	{ title: 'More ways', clients: ['curl', 'ag-ui', 'a2a', 'library'] }
] as const;
export type ConnectClient = (typeof GROUPS)[number]['clients'][number];
export const CLIENTS = GROUPS.flatMap(({ clients }): readonly ConnectClient[] => clients);

const SKILLS = 'Gives it your skills as tools, prompts and resources.';
const BOTH =
	'Gives it your skills as tools, or makes this agent its model: then skills run here, and its own tools there.';
const IN_EDITOR = 'Puts the agent into your editor, with the project’s files.';
const AGENT = 'Asks the agent, which uses your skills. Your own tools come back to your program.';

export const ABOUT: Record<ConnectClient, { name: string; about: string }> = {
	'claude-code': { name: 'Claude Code', about: SKILLS },
	codex: { name: 'Codex', about: BOTH },
	gemini: { name: 'Gemini CLI', about: SKILLS },
	qwen: { name: 'Qwen Code', about: BOTH },
	opencode: { name: 'opencode', about: BOTH },
	cursor: { name: 'Cursor', about: SKILLS },
	vscode: { name: 'VS Code', about: SKILLS },
	zed: { name: 'Zed', about: `${IN_EDITOR} Or gives Zed’s own agent your skills as tools.` },
	jetbrains: { name: 'JetBrains', about: IN_EDITOR },
	neovim: { name: 'Neovim', about: IN_EDITOR },
	claude: { name: 'Claude Desktop', about: SKILLS },
	'open-webui': { name: 'Open WebUI', about: BOTH },
	librechat: { name: 'LibreChat', about: BOTH },
	openai: { name: 'OpenAI SDK', about: AGENT },
	agents: { name: 'OpenAI Agents SDK', about: AGENT },
	'ai-sdk': { name: 'AI SDK', about: AGENT },
	langchain: { name: 'LangChain', about: AGENT },
	openrouter: { name: 'OpenRouter SDK', about: AGENT },
	copilotkit: { name: 'CopilotKit', about: 'Puts the agent into your React app: text, steps and approvals.' },
	curl: { name: 'curl', about: 'Skills, runs and files as JSON over HTTP.' },
	'ag-ui': { name: 'AG-UI', about: 'The agent for chat interfaces: text, steps and approvals as events.' },
	a2a: { name: 'A2A', about: 'The agent for other agents: send it a task, get files back.' },
	library: { name: 'Node.js library', about: 'Your skills inside your own program, without this server.' }
};

/** They run on the user's computer and need no key. */
export const WITHOUT_KEY: ReadonlySet<ConnectClient> = new Set(['claude', 'jetbrains', 'neovim', 'library']);

/** Names in older links. */
const FORMER: Record<string, ConnectClient> = { responses: 'openai', agui: 'ag-ui', mcp: 'claude-code', rest: 'curl' };

export function snippetsOf(client: ConnectClient, place: Place): Snippet[] {
	return SNIPPETS[client](place);
}

/** The client named by a hash such as `#codex`. */
export function clientOf(hash: string): ConnectClient | null {
	const former = Object.entries(FORMER).find(([name]) => `#${name}` === hash);
	return CLIENTS.find((client) => `#${client}` === hash) ?? former?.[1] ?? null;
}

const SNIPPETS: Record<ConnectClient, (place: Place) => Snippet[]> = { ...APPS, ...CODE };
