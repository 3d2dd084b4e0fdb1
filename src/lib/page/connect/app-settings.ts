/** Settings of programs that people have. Pure. */
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
	/** A key, a placeholder, or `ANY_KEY`. */
	key: string;
	model: string;
}

/** For programs that insist on a key, where the server asks for none. */
export const ANY_KEY = 'not-needed';

/** Stands where the key goes, until there is one. */
export const NO_KEY_YET = '<your key>';

const IN_A_CONTAINER = 'From a container, this computer is usually called host.docker.internal.';
/** The page doesn't know where this software is installed. */
const FOLDER = '/path/to/openrouter-skills';
/** For what starts the command on the user's computer. */
const NO_KEY =
	'This needs no key: the program starts the app itself. If you started it with --data or DATA_DIR, add that here, too.';
const EDITOR = ['-y', 'openrouter-skills', 'acp'];
const AS_TOOLS = 'Your skills as its tools';
const AS_MODEL = 'This agent as its model';

export const APPS = {
	'claude-code': ({ origin, key }) => [
		{
			id: 'claude-code',
			title: 'Run this once',
			language: 'bash',
			text: `claude mcp add --scope user --transport http skills "${origin}/mcp"${withKey(key, ` --header "Authorization: Bearer ${key}"`)}`
		}
	],

	codex: ({ origin, key, model }) => [
		{
			id: 'codex',
			title: `${AS_TOOLS}: ~/.codex/config.toml`,
			language: 'toml',
			text: `[mcp_servers.skills]\nurl = "${origin}/mcp"${tomlHeaders(key)}`
		},
		{
			id: 'model',
			title: `${AS_MODEL}: ~/.codex/config.toml`,
			note: 'The first two lines stand before any “[…]”.',
			language: 'toml',
			text: `model = ${quoted(model)}
model_provider = "skills"

[model_providers.skills]
name = "openrouter-skills"
base_url = "${origin}/v1"
wire_api = "responses"${tomlHeaders(key)}`
		}
	],

	gemini: ({ origin, key }) => [
		{
			id: 'gemini',
			title: 'Run this once',
			language: 'bash',
			text: `gemini mcp add --scope user --transport http ${withKey(key, `--header "Authorization: Bearer ${key}" `)}skills "${origin}/mcp"`
		}
	],

	qwen: ({ origin, key, model }) => [
		{
			id: 'qwen',
			title: `${AS_TOOLS}: run this once`,
			language: 'bash',
			text: `qwen mcp add --scope user --transport http ${withKey(key, `--header "Authorization: Bearer ${key}" `)}skills "${origin}/mcp"`
		},
		{
			id: 'model',
			title: `${AS_MODEL}: before you start it`,
			language: 'bash',
			text: `export OPENAI_BASE_URL="${origin}/v1"\nexport OPENAI_API_KEY="${key}"\nexport OPENAI_MODEL=${inShell(model)}`
		}
	],

	opencode: (place) => {
		const { origin, key, model } = place;
		const server = { type: 'remote', ...remoteOf(place) };
		const provider = {
			npm: '@ai-sdk/openai-compatible',
			name: 'openrouter-skills',
			options: { baseURL: `${origin}/v1`, apiKey: key },
			models: { [model]: { name: 'Agent with skills' } }
		};
		return [
			{
				id: 'opencode',
				title: `${AS_TOOLS}: opencode.json`,
				language: 'json',
				text: pretty({ mcp: { skills: server } })
			},
			{
				id: 'model',
				title: `${AS_MODEL}: opencode.json`,
				language: 'json',
				text: pretty({ model: `skills/${model}`, provider: { skills: provider } })
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

	vscode: (place) => [
		{
			id: 'vscode',
			title: '.vscode/mcp.json',
			language: 'json',
			text: pretty({ servers: { skills: { type: 'http', ...remoteOf(place) } } })
		}
	],

	zed: (place) => [
		{
			id: 'agent',
			title: 'This agent beside its own: settings.json',
			note: NO_KEY,
			language: 'json',
			text: pretty({
				agent_servers: { Skills: { type: 'custom', command: 'npx', args: EDITOR, env: {} } }
			})
		},
		{
			id: 'zed',
			title: `${AS_TOOLS}: settings.json`,
			language: 'json',
			text: pretty({ context_servers: { skills: remoteOf(place) } })
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
			title: `${AS_TOOLS}: Admin settings → External tools → Add server`,
			note: IN_A_CONTAINER,
			language: 'text',
			text: `Type: MCP (Streamable HTTP)\nURL: ${origin}/mcp\nAuth: ${key === ANY_KEY ? 'None' : `Bearer\nKey: ${key}`}`
		},
		{
			id: 'model',
			title: `${AS_MODEL}: Admin settings → Connections → OpenAI API → Add connection`,
			language: 'text',
			text: `URL: ${origin}/v1\nAuth: Bearer\nKey: ${key}`
		}
	],

	librechat: ({ origin, key, model }) => [
		{
			id: 'librechat',
			title: `${AS_TOOLS}: librechat.yaml`,
			note: IN_A_CONTAINER,
			language: 'yaml',
			text: `mcpSettings:
  allowedDomains:
    - "${origin}"
mcpServers:
  skills:
    type: streamable-http
    url: "${origin}/mcp"${withKey(key, `\n    headers:\n      Authorization: "Bearer ${key}"`)}`
		},
		{
			id: 'model',
			title: `${AS_MODEL}: librechat.yaml`,
			language: 'yaml',
			text: `endpoints:
  custom:
    - name: "Skills"
      baseURL: "${origin}/v1"
      apiKey: "${key}"
      models:
        default: [${quoted(model)}]
        fetch: true
      titleConvo: true
      titleModel: "current_model"`
		}
	]
} satisfies Record<string, (place: Place) => Snippet[]>;

/** What opens the program and adds this server to it; the key is part of it. */
const LINKS = {
	cursor: (place: Place) =>
		`cursor://anysphere.cursor-deeplink/mcp/install?name=skills&config=${encodeURIComponent(btoa(JSON.stringify(remoteOf(place))))}`,
	vscode: (place: Place) =>
		`vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: 'skills', type: 'http', ...remoteOf(place) }))}`
};

/** Null for a program that has no such link. */
export function installLink(client: string, place: Place): string | null {
	return client === 'cursor' || client === 'vscode' ? LINKS[client](place) : null;
}

/** Left out where no key is needed. */
export function withKey(key: string, text: string): string {
	return key === ANY_KEY ? '' : text;
}

const tomlHeaders = (key: string): string => withKey(key, `\nhttp_headers = { Authorization = "Bearer ${key}" }`);

function remoteOf({ origin, key }: Place): { url: string; headers?: Record<string, string> } {
	return { url: `${origin}/mcp`, ...(key !== ANY_KEY && { headers: { Authorization: `Bearer ${key}` } }) };
}

function pretty(value: unknown): string {
	return JSON.stringify(value, null, 2);
}

// The name of a model comes from its server: what is copied must be a text, whatever is in it.

/** Also for Python, TOML and YAML. */
export function quoted(text: string): string {
	return JSON.stringify(text);
}

export function inJavaScript(text: string): string {
	return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

/** In a shell of POSIX. */
export function inShell(text: string): string {
	return /^[\w./:@+-]+$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
