/** Settings and programs that connect a client with this server, ready to be copied. Pure: the same place and key give the same text. */

export const CLIENTS = ['responses', 'agui', 'mcp', 'a2a', 'rest', 'library'] as const;
export type ConnectClient = (typeof CLIENTS)[number];

export const CLIENT_NAMES: Record<ConnectClient, string> = {
	responses: 'Responses API',
	agui: 'AG-UI',
	mcp: 'MCP',
	a2a: 'A2A',
	rest: 'REST',
	library: 'Library'
};

export interface Snippet {
	/** Unique within its client. */
	id: string;
	title: string;
	/** Shown under the title. */
	note?: string;
	language: string;
	text: string;
}

/** What a snippet is written for. */
export interface Place {
	/** Of this server, as the browser has reached it; without a slash at the end. */
	origin: string;
	/** A key, or what stands in its place. */
	key: string;
	/** What answers. */
	model: string;
}

const QUESTION = 'Count the words of “the quick brown fox”';
/** The page cannot know where this software lies. */
const FOLDER = '/path/to/openrouter-skills';

export function snippetsOf(client: ConnectClient, place: Place): Snippet[] {
	return SNIPPETS[client](place);
}

/** The one that an address asks for, as in `#mcp`. */
export function clientOf(hash: string): ConnectClient | null {
	return CLIENTS.find((client) => `#${client}` === hash) ?? null;
}

const SNIPPETS: Record<ConnectClient, (place: Place) => Snippet[]> = {
	responses: ({ origin, key, model }) => [
		{
			id: 'env',
			title: 'Environment',
			language: 'bash',
			text: `export OPENAI_BASE_URL="${origin}/v1"\nexport OPENAI_API_KEY="${key}"`
		},
		{
			id: 'js',
			title: 'openai for JavaScript',
			language: 'javascript',
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
			id: 'ai',
			title: 'AI SDK',
			language: 'javascript',
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
		},
		{
			id: 'openrouter-sdk',
			title: 'OpenRouter SDK',
			language: 'javascript',
			text: openRouter('@openrouter/sdk', { origin, key, model })
		},
		{
			id: 'openrouter-agent',
			title: 'OpenRouter Agent SDK',
			language: 'javascript',
			text: openRouter('@openrouter/agent', { origin, key, model })
		},
		{
			id: 'python',
			title: 'openai for Python',
			language: 'python',
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
			id: 'curl',
			title: 'curl',
			language: 'bash',
			text: curl(key, `${origin}/v1/responses`, { model, input: QUESTION })
		}
	],

	agui: ({ origin, key }) => [
		{
			id: 'js',
			title: 'JavaScript',
			language: 'javascript',
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

	mcp: ({ origin, key }) => {
		const server = { url: `${origin}/mcp`, headers: { Authorization: `Bearer ${key}` } };
		const command = { command: 'npm', args: ['--silent', '--prefix', FOLDER, 'run', 'mcp'] };
		return [
			{
				id: 'claude-code',
				title: 'Claude Code',
				language: 'bash',
				text: `claude mcp add --transport http skills "${origin}/mcp" \\\n  --header "Authorization: Bearer ${key}"`
			},
			{
				id: 'cursor',
				title: 'Cursor, and others with “mcpServers”',
				note: '.cursor/mcp.json',
				language: 'json',
				text: pretty({ mcpServers: { skills: server } })
			},
			{
				id: 'vscode',
				title: 'VS Code',
				note: '.vscode/mcp.json',
				language: 'json',
				text: pretty({ servers: { skills: { type: 'http', ...server } } })
			},
			{
				id: 'stdio',
				title: 'Claude Desktop, and others that start a program',
				note: 'claude_desktop_config.json; with the folder of this software. It needs no key.',
				language: 'json',
				text: pretty({ mcpServers: { skills: command } })
			}
		];
	},

	a2a: ({ origin, key }) => [
		{ id: 'card', title: 'Agent card', language: 'text', text: `${origin}/.well-known/agent-card.json` },
		{
			id: 'js',
			title: 'JavaScript',
			language: 'javascript',
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

	rest: ({ origin, key }) => [
		{ id: 'list', title: 'Which skills are there?', language: 'bash', text: curl(key, `${origin}/api/skills`) },
		{
			id: 'run',
			title: 'Run a script',
			language: 'bash',
			text: curl(key, `${origin}/api/skills/executions`, {
				skillName: 'count-words',
				script: 'scripts/count.mjs',
				args: ['the quick brown fox']
			})
		}
	],

	library: () => [
		{
			id: 'install',
			title: 'Install',
			language: 'bash',
			text: `cd ${FOLDER}\nnpm run build:lib\nnpm pack ./dist\ncd your-project\nnpm install ${FOLDER}/openrouter-skills-*.tgz`
		},
		{
			id: 'js',
			title: 'Use',
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

/** Without a body it reads. */
function curl(key: string, url: string, body?: unknown): string {
	const lines = [`curl -sS "${url}"`, `-H "Authorization: Bearer ${key}"`];
	if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`);
	return lines.join(' \\\n  ');
}

function pretty(value: unknown): string {
	return JSON.stringify(value, null, 2);
}
