/** Settings and code that connect a program to this server. Pure. */

export const GROUPS = [
	{
		title: 'Apps, over MCP',
		clients: ['claude-code', 'codex', 'opencode', 'cursor', 'gemini', 'vscode', 'claude', 'open-webui']
	},
	{ title: 'Editors, over ACP', clients: ['zed', 'jetbrains', 'neovim'] },
	{ title: 'Code, over the Responses API', clients: ['openai', 'ai-sdk', 'langchain', 'openrouter'] },
	{ title: 'More ways', clients: ['curl', 'ag-ui', 'a2a', 'library'] }
] as const;
export type ConnectClient = (typeof GROUPS)[number]['clients'][number];
export const CLIENTS = GROUPS.flatMap(({ clients }): readonly ConnectClient[] => clients);

/** They run on the user's computer and need no key. */
export const WITHOUT_KEY: ReadonlySet<ConnectClient> = new Set(['claude', 'zed', 'jetbrains', 'neovim', 'library']);

const MCP = 'Adds your skills as tools, prompts and resources.';
const ACP = 'The agent in your editor, with the project’s files.';
const RESPONSES = 'Asks the agent, which uses your skills. Your own tools come back to your program.';

export const ABOUT: Record<ConnectClient, { name: string; about: string }> = {
	'claude-code': { name: 'Claude Code', about: MCP },
	codex: { name: 'Codex', about: MCP },
	opencode: { name: 'opencode', about: MCP },
	cursor: { name: 'Cursor', about: MCP },
	gemini: { name: 'Gemini CLI', about: MCP },
	vscode: { name: 'VS Code', about: MCP },
	claude: { name: 'Claude Desktop', about: MCP },
	'open-webui': { name: 'Open WebUI', about: MCP },
	zed: { name: 'Zed', about: ACP },
	jetbrains: { name: 'JetBrains', about: ACP },
	neovim: { name: 'Neovim', about: ACP },
	openai: { name: 'OpenAI SDK', about: RESPONSES },
	'ai-sdk': { name: 'AI SDK', about: RESPONSES },
	langchain: { name: 'LangChain', about: RESPONSES },
	openrouter: { name: 'OpenRouter SDK', about: RESPONSES },
	curl: { name: 'curl', about: 'Skills, runs and files as JSON over HTTP.' },
	'ag-ui': { name: 'AG-UI', about: 'The agent for chat interfaces: text, steps and approvals as events.' },
	a2a: { name: 'A2A', about: 'The agent for other agents: send it a task, get files back.' },
	library: { name: 'Node.js library', about: 'Your skills inside your own program, without this server.' }
};

/** Names in older links. */
const FORMER: Record<string, ConnectClient> = { responses: 'openai', agui: 'ag-ui', mcp: 'claude-code', rest: 'curl' };

export interface Snippet {
	id: string;
	title: string;
	note?: string;
	language: string;
	text: string;
}

export interface Place {
	/** Of this server, as seen by the browser, without a trailing slash. */
	origin: string;
	/** A key, or a placeholder. */
	key: string;
	model: string;
}

const QUESTION = 'Count the words of “the quick brown fox”';
/** The page doesn't know where this software is installed. */
const FOLDER = '/path/to/openrouter-skills';

/** For what starts the command on the user's computer. */
const NO_KEY = 'No key needed. If you started the app with --data, add it here, too.';
const EDITOR = ['-y', 'openrouter-skills', 'acp'];

const JAVASCRIPT = { id: 'js', title: 'JavaScript', language: 'javascript' };
const PYTHON = { id: 'python', title: 'Python', language: 'python' };

export function snippetsOf(client: ConnectClient, place: Place): Snippet[] {
	return SNIPPETS[client](place);
}

/** The client named by a hash such as `#codex`. */
export function clientOf(hash: string): ConnectClient | null {
	const former = Object.entries(FORMER).find(([name]) => `#${name}` === hash);
	return CLIENTS.find((client) => `#${client}` === hash) ?? former?.[1] ?? null;
}

const SNIPPETS: Record<ConnectClient, (place: Place) => Snippet[]> = {
	'claude-code': ({ origin, key }) => [
		{
			id: 'claude-code',
			title: 'Run this once',
			language: 'bash',
			text: `claude mcp add --transport http skills "${origin}/mcp" \\\n  --header "Authorization: Bearer ${key}"`
		}
	],

	codex: ({ origin, key }) => [
		{
			id: 'codex',
			title: '~/.codex/config.toml',
			language: 'toml',
			text: `[mcp_servers.skills]\nurl = "${origin}/mcp"\nhttp_headers = { Authorization = "Bearer ${key}" }`
		}
	],

	opencode: (place) => {
		const server = { type: 'remote', ...remoteOf(place) };
		return [
			{
				id: 'opencode',
				title: 'opencode.json',
				language: 'json',
				text: pretty({ mcp: { servers: { skills: server } } })
			},
			{
				id: 'opencode-1',
				title: 'opencode.json, version 1',
				language: 'json',
				text: pretty({ mcp: { skills: server } })
			}
		];
	},

	cursor: (place) => [
		{
			id: 'cursor',
			title: '.cursor/mcp.json',
			note: 'The same works in most programs that have “mcpServers”.',
			language: 'json',
			text: pretty({ mcpServers: { skills: remoteOf(place) } })
		}
	],

	gemini: ({ origin, key }) => [
		{
			id: 'gemini',
			title: 'Run this once',
			language: 'bash',
			text: `gemini mcp add --transport http --header "Authorization: Bearer ${key}" \\\n  skills "${origin}/mcp"`
		}
	],

	vscode: (place) => [
		{
			id: 'vscode',
			title: '.vscode/mcp.json',
			language: 'json',
			text: pretty({ servers: { skills: { type: 'http', ...remoteOf(place) } } })
		}
	],

	claude: () => [
		{
			id: 'npx',
			title: 'claude_desktop_config.json',
			note: NO_KEY,
			language: 'json',
			text: pretty({ mcpServers: { skills: { command: 'npx', args: ['-y', 'openrouter-skills', 'mcp'] } } })
		},
		{
			id: 'stdio',
			title: 'The same for a clone',
			note: `Replace ${FOLDER} with the folder of the clone.`,
			language: 'json',
			text: pretty({
				mcpServers: { skills: { command: 'npm', args: ['--silent', '--prefix', FOLDER, 'run', 'mcp'] } }
			})
		}
	],

	'open-webui': ({ origin, key }) => [
		{
			id: 'open-webui',
			title: 'Admin settings → External tools → Add server',
			language: 'text',
			text: `Type: MCP (Streamable HTTP)\nURL: ${origin}/mcp\nAuth: Bearer\nKey: ${key}`
		}
	],

	zed: () => [
		{
			id: 'zed',
			title: 'settings.json',
			note: NO_KEY,
			language: 'json',
			text: pretty({ agent_servers: { Skills: { type: 'custom', command: 'npx', args: EDITOR, env: {} } } })
		}
	],

	jetbrains: () => [
		{
			id: 'jetbrains',
			title: '~/.jetbrains/acp.json',
			note: `${NO_KEY} Replace the path of npx with yours: “which npx” prints it.`,
			language: 'json',
			text: pretty({ agent_servers: { Skills: { command: '/usr/local/bin/npx', args: EDITOR, env: {} } } })
		}
	],

	neovim: () => [
		{
			id: 'codecompanion',
			title: 'CodeCompanion',
			note: NO_KEY,
			language: 'lua',
			text: `require('codecompanion').setup({
  adapters = {
    acp = {
      skills = function()
        return require('codecompanion.adapters').extend('gemini_cli', {
          name = 'skills',
          formatted_name = 'Skills',
          commands = { default = { 'npx', '-y', 'openrouter-skills', 'acp' } },
          env = {},
        })
      end,
    },
  },
  interactions = { chat = { adapter = 'skills' } },
})`
		},
		{
			id: 'avante',
			title: 'Avante',
			note: NO_KEY,
			language: 'lua',
			text: `require('avante').setup({
  provider = 'skills',
  acp_providers = { skills = { command = 'npx', args = { '-y', 'openrouter-skills', 'acp' } } },
})`
		}
	],

	openai: ({ origin, key, model }) => [
		{
			...JAVASCRIPT,
			text: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${origin}/v1',
  apiKey: '${key}'
});
const response = await client.responses.create({
  model: '${model}',
  input: '${QUESTION}'
});
console.log(response.output_text);`
		},
		{
			...PYTHON,
			text: `from openai import OpenAI

client = OpenAI(
    base_url="${origin}/v1",
    api_key="${key}",
)
response = client.responses.create(
    model="${model}",
    input="${QUESTION}",
)
print(response.output_text)`
		},
		{
			id: 'env',
			title: 'Any program with an OpenAI base URL',
			note: 'It has to use the Responses API.',
			language: 'bash',
			text: `export OPENAI_BASE_URL="${origin}/v1"\nexport OPENAI_API_KEY="${key}"`
		}
	],

	'ai-sdk': ({ origin, key, model }) => [
		{
			...JAVASCRIPT,
			text: `import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const server = createOpenAI({
  baseURL: '${origin}/v1',
  apiKey: '${key}'
});
const { text } = await generateText({
  model: server.responses('${model}'),
  prompt: '${QUESTION}'
});
console.log(text);`
		}
	],

	langchain: ({ origin, key, model }) => [
		{
			...JAVASCRIPT,
			text: `import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({
  model: '${model}',
  apiKey: '${key}',
  useResponsesApi: true,
  configuration: { baseURL: '${origin}/v1' }
});
const answer = await model.invoke('${QUESTION}');
console.log(answer.text);`
		},
		{
			...PYTHON,
			text: `from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="${model}",
    base_url="${origin}/v1",
    api_key="${key}",
    use_responses_api=True,
)
print(model.invoke("${QUESTION}").text)`
		}
	],

	openrouter: (place) => [
		{ id: 'sdk', title: '@openrouter/sdk', language: 'javascript', text: openRouter('@openrouter/sdk', place) },
		{ id: 'agent', title: '@openrouter/agent', language: 'javascript', text: openRouter('@openrouter/agent', place) }
	],

	curl: ({ origin, key, model }) => [
		{ id: 'list', title: 'List skills', language: 'bash', text: curl(key, `${origin}/api/skills`) },
		{
			id: 'run',
			title: 'Run a script',
			language: 'bash',
			text: curl(key, `${origin}/api/skills/executions`, {
				skillName: 'count-words',
				script: 'scripts/count.mjs',
				args: ['the quick brown fox']
			})
		},
		{
			id: 'ask',
			title: 'Ask the agent',
			language: 'bash',
			text: curl(key, `${origin}/v1/responses`, { model, input: QUESTION })
		}
	],

	'ag-ui': ({ origin, key }) => [
		{
			...JAVASCRIPT,
			text: `import { HttpAgent } from '@ag-ui/client';

const agent = new HttpAgent({
  url: '${origin}/api/chat',
  headers: { Authorization: 'Bearer ${key}' }
});
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: '${QUESTION}' });
const { newMessages } = await agent.runAgent();
console.log(newMessages.findLast(({ role }) => role === 'assistant')?.content);`
		}
	],

	a2a: ({ origin, key }) => [
		{ id: 'card', title: 'Agent card', language: 'text', text: `${origin}/.well-known/agent-card.json` },
		{
			...JAVASCRIPT,
			text: `import { SendMessageRequest } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory
} from '@a2a-js/sdk/client';

const fetchImpl = (url, options) => {
  const headers = new Headers(options?.headers);
  headers.set('authorization', 'Bearer ${key}');
  return fetch(url, { ...options, headers });
};
const factory = new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl })
  })
);
const client = await factory.createFromUrl('${origin}');
const task = await client.sendMessage(
  SendMessageRequest.fromJSON({
    message: {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text: '${QUESTION}' }]
    }
  })
);
const answer = task.artifacts.find(({ artifactId }) => artifactId === 'answer');
console.log(answer.parts.map(({ content }) => content.value).join(''));`
		}
	],

	library: () => [
		{ id: 'install', title: 'Install', language: 'bash', text: 'npm install --omit=optional openrouter-skills' },
		{
			id: 'js',
			title: 'Use it',
			language: 'javascript',
			text: `import { createSkillsProvider } from 'openrouter-skills';

const skills = await createSkillsProvider('./skills');
console.log(skills.systemPrompt, skills.tools);
const result = await skills.handleToolCall('use_skill', {
  skill: 'count-words',
  script: 'scripts/count.mjs',
  args: ['the quick brown fox']
});
console.log(result.stdout);
await skills.close();`
		}
	]
};

function remoteOf({ origin, key }: Place): { url: string; headers: Record<string, string> } {
	return { url: `${origin}/mcp`, headers: { Authorization: `Bearer ${key}` } };
}

function openRouter(name: string, { origin, key, model }: Place): string {
	return `import { OpenRouter } from '${name}';

const router = new OpenRouter({
  apiKey: '${key}',
  serverURL: '${origin}/v1'
});
const answer = router.callModel({
  model: '${model}',
  input: '${QUESTION}'
});
console.log(await answer.getText());`;
}

/** GET without a body. */
function curl(key: string, url: string, body?: unknown): string {
	const lines = [`curl -sS "${url}"`, `-H "Authorization: Bearer ${key}"`];
	if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`);
	return lines.join(' \\\n  ');
}

function pretty(value: unknown): string {
	return JSON.stringify(value, null, 2);
}
