/** The server itself: health, session, settings, this description. */
import { apiKeyCreate, apiKeyPatch, settingsPatch } from '../../shared/settings.ts';
import { mcpServerPut } from '../../shared/mcp-servers.ts';
import { credentials } from '../../shared/api.ts';
import { keyCheck, signInComplete, signInStart } from '../../shared/models.ts';
import { DONE, ok, type Operation } from './operation.ts';

const KEYS = '/api/keys';

const keys: Operation[] = [
	{
		id: 'listApiKeys',
		method: 'get',
		path: KEYS,
		tag: 'API keys',
		summary: 'Keys of other programs, the newest first, revoked ones included',
		success: ok('Everything of them but themselves.')
	},
	{
		id: 'createApiKey',
		method: 'post',
		path: KEYS,
		tag: 'API keys',
		summary: 'Makes a key for a program',
		description: 'The answer is the only place where the key is told: only its hash is kept.',
		body: apiKeyCreate,
		success: ok('The key.', 201)
	},
	{
		id: 'renameApiKey',
		method: 'patch',
		path: `${KEYS}/{id}`,
		tag: 'API keys',
		summary: 'Renames a key',
		body: apiKeyPatch,
		success: ok('The key, without itself.')
	},
	{
		id: 'revokeApiKey',
		method: 'delete',
		path: `${KEYS}/{id}`,
		tag: 'API keys',
		summary: 'Revokes a key; what was made with it stays',
		success: ok('The key, without itself.')
	}
];

const MCP_SERVERS = '/api/mcp-servers';

const mcpServers: Operation[] = [
	{
		id: 'listMcpServers',
		method: 'get',
		path: MCP_SERVERS,
		tag: 'MCP servers',
		summary: 'Servers whose tools the agent may use, and how each stands now',
		success: ok('By name. Of variables and headers the names alone.')
	},
	{
		id: 'getMcpServer',
		method: 'get',
		path: `${MCP_SERVERS}/{name}`,
		tag: 'MCP servers',
		summary: 'One of them',
		success: ok('The server.')
	},
	{
		id: 'putMcpServer',
		method: 'put',
		path: `${MCP_SERVERS}/{name}`,
		tag: 'MCP servers',
		summary: 'Adds a server, or changes all of it',
		description:
			'A program is started on the machine of this server, without a sandbox. null for the value of a variable or header keeps what is stored, as long as the program or the origin is the same.',
		body: mcpServerPut,
		success: ok('The server; it is being connected in the background.'),
		errors: ['conflict']
	},
	{
		id: 'removeMcpServer',
		method: 'delete',
		path: `${MCP_SERVERS}/{name}`,
		tag: 'MCP servers',
		summary: 'Removes a server, with what was stored for it',
		success: DONE
	},
	{
		id: 'reconnectMcpServer',
		method: 'post',
		path: `${MCP_SERVERS}/{name}/reconnect`,
		tag: 'MCP servers',
		summary: 'Tries at once to connect it anew',
		success: ok('The server, as it stands at the beginning of the try.'),
		errors: ['conflict']
	}
];

export const SERVER_OPERATIONS: readonly Operation[] = [
	...keys,
	...mcpServers,
	{
		id: 'getHealth',
		method: 'get',
		path: '/api/health',
		tag: 'Server',
		summary: 'What runs here, and how skills are kept apart from the machine',
		success: ok('Version, model, sandbox, database, counts.')
	},
	{
		id: 'logIn',
		method: 'post',
		path: '/api/session',
		tag: 'Server',
		summary: 'Logs a browser in',
		body: credentials,
		success: [{ status: 204, description: 'The session is in a cookie.' }],
		errors: ['conflict']
	},
	{
		id: 'logOut',
		method: 'delete',
		path: '/api/session',
		tag: 'Server',
		summary: 'Logs a browser out',
		success: DONE
	},
	{
		id: 'getSettings',
		method: 'get',
		path: '/api/settings',
		tag: 'Server',
		summary: 'What can be changed while the server runs',
		success: ok('Settings; keys are said to be there, never shown.')
	},
	{
		id: 'changeSettings',
		method: 'put',
		path: '/api/settings',
		tag: 'Server',
		summary: 'Changes settings; what is left out stays as it is',
		body: settingsPatch,
		success: ok('The settings in effect.'),
		errors: ['conflict']
	},
	{
		id: 'listModels',
		method: 'get',
		path: '/api/models',
		tag: 'Models',
		summary: 'Models of the server that is set',
		description: 'A list of some minutes ago is answered with; `problem` says why there is none, or only an old one.',
		success: ok('In the order of that server.')
	},
	{
		id: 'checkModelKey',
		method: 'post',
		path: '/api/models/check',
		tag: 'Models',
		summary: 'Whether a key works, and what is left of it',
		description:
			'Nothing is stored. What is left out is what the server has; a stored key goes to no other host than its own.',
		body: keyCheck,
		success: ok('Also for a key that does not work: `message` says why.')
	},
	{
		id: 'findLocalModelServers',
		method: 'get',
		path: '/api/models/local',
		tag: 'Models',
		summary: 'Servers for models on this machine, at their usual ports',
		success: ok('Those that answer, with their models.')
	},
	{
		id: 'startSignIn',
		method: 'post',
		path: '/api/account/sign-in',
		tag: 'Models',
		summary: 'Begins to sign in at OpenRouter (OAuth PKCE)',
		body: signInStart,
		success: ok('Where the browser goes. It comes back to `returnTo` with `code` and `state` in the query.'),
		errors: ['conflict']
	},
	{
		id: 'completeSignIn',
		method: 'post',
		path: '/api/account/sign-in/complete',
		tag: 'Models',
		summary: 'Stores the key that signing in has given',
		body: signInComplete,
		success: ok('The settings in effect; the key is not shown.'),
		errors: ['conflict']
	},
	{
		id: 'getOpenApi',
		method: 'get',
		path: '/api/openapi.json',
		tag: 'Server',
		summary: 'This description',
		success: ok('OpenAPI 3.1.')
	}
];
