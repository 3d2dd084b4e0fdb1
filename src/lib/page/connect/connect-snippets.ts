/** Settings and code that connect a program to this server. Pure. */
import { APPS, type Place, type Snippet, ANY_KEY, withKey, inJavaScript, inShell, quoted } from './app-settings.ts';

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
const BOTH = 'Gives it your skills as tools, or makes this agent its model. Skills run here, its own tools there.';
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

// Code that uses this server.

const QUESTION = 'Count the words of “the quick brown fox”';
const JAVASCRIPT = { id: 'js', title: 'JavaScript', language: 'javascript' };
const PYTHON = { id: 'python', title: 'Python', language: 'python' };

const CODE = {
	openai: ({ origin, key, model }) => [
		{
			...JAVASCRIPT,
			text: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${origin}/v1',
  apiKey: '${key}'
});
const response = await client.responses.create({
  model: ${inJavaScript(model)},
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
    model=${quoted(model)},
    input="${QUESTION}",
)
print(response.output_text)`
		},
		{
			id: 'env',
			title: 'Any program with an OpenAI base URL',
			note: 'It may use the Responses API or Chat Completions.',
			language: 'bash',
			text: `export OPENAI_BASE_URL="${origin}/v1"\nexport OPENAI_API_KEY="${key}"`
		}
	],

	agents: ({ origin, key, model }) => [
		{
			...JAVASCRIPT,
			text: `import { Agent, OpenAIProvider, Runner } from '@openai/agents';

const runner = new Runner({
  modelProvider: new OpenAIProvider({
    baseURL: '${origin}/v1',
    apiKey: '${key}'
  }),
  tracingDisabled: true
});
const agent = new Agent({ name: 'Assistant', model: ${inJavaScript(model)} });
const { finalOutput } = await runner.run(agent, '${QUESTION}');
console.log(finalOutput);`
		},
		{
			...PYTHON,
			text: `from agents import Agent, OpenAIProvider, RunConfig, Runner

config = RunConfig(
    model_provider=OpenAIProvider(
        base_url="${origin}/v1",
        api_key="${key}",
    ),
    tracing_disabled=True,
)
agent = Agent(name="Assistant", model=${quoted(model)})
result = Runner.run_sync(agent, "${QUESTION}", run_config=config)
print(result.final_output)`
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
  model: server.responses(${inJavaScript(model)}),
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
  model: ${inJavaScript(model)},
  apiKey: '${key}',
  configuration: { baseURL: '${origin}/v1' }
});
const answer = await model.invoke('${QUESTION}');
console.log(answer.text);`
		},
		{
			...PYTHON,
			text: `from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${quoted(model)},
    base_url="${origin}/v1",
    api_key="${key}",
)
print(model.invoke("${QUESTION}").text)`
		}
	],

	openrouter: (place) => [
		{ id: 'sdk', title: '@openrouter/sdk', language: 'javascript', text: openRouter('@openrouter/sdk', place) },
		{ id: 'agent', title: '@openrouter/agent', language: 'javascript', text: openRouter('@openrouter/agent', place) }
	],

	copilotkit: ({ origin, key }) => [
		{
			id: 'js',
			title: 'Its runtime, in Node.js',
			language: 'javascript',
			text: `import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime, InMemoryAgentRunner } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

const agent = new HttpAgent({
  url: '${origin}/api/chat'${withKey(key, `,\n  headers: { Authorization: 'Bearer ${key}' }`)}
});
const runtime = new CopilotRuntime({
  agents: { default: agent },
  runner: new InMemoryAgentRunner()
});
createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit' })).listen(4000);`
		},
		{
			id: 'react',
			title: 'Your page, in React',
			note: 'The address is the runtime’s, as seen by the browser.',
			language: 'jsx',
			text: `import { CopilotKit, CopilotChat } from '@copilotkit/react-core/v2';

export default function App() {
  return (
    <CopilotKit runtimeUrl="/api/copilotkit" useSingleEndpoint={false}>
      <CopilotChat />
    </CopilotKit>
  );
}`
		}
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
  url: '${origin}/api/chat'${withKey(key, `,\n  headers: { Authorization: 'Bearer ${key}' }`)}
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
${a2aFactory(key)}
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
} satisfies Record<string, (place: Place) => Snippet[]>;

/** The SDK sends a key only by a `fetch` of one's own. */
function a2aFactory(key: string): string {
	if (key === ANY_KEY)
		return "import { ClientFactory } from '@a2a-js/sdk/client';\n\nconst factory = new ClientFactory();";
	return `import {
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
);`;
}

function openRouter(name: string, { origin, key, model }: Place): string {
	return `import { OpenRouter } from '${name}';

const router = new OpenRouter({
  apiKey: '${key}',
  serverURL: '${origin}/v1'
});
const answer = router.callModel({
  model: ${inJavaScript(model)},
  input: '${QUESTION}'
});
console.log(await answer.getText());`;
}

/** GET without a body. */
function curl(key: string, url: string, body?: unknown): string {
	const lines = [`curl -sS "${url}"`];
	if (key !== ANY_KEY) lines.push(`-H "Authorization: Bearer ${key}"`);
	if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d ${inShell(JSON.stringify(body))}`);
	return lines.join(' ');
}

const SNIPPETS: Record<ConnectClient, (place: Place) => Snippet[]> = { ...APPS, ...CODE };
