/** The server itself: health, session, settings, this description. */
import { credentials } from '../../shared/queries.ts';
import { settingsPatch } from '../../shared/settings.ts';
import { DONE, ok, type Operation } from './operation.ts';

export const SERVER_OPERATIONS: readonly Operation[] = [
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
		id: 'getOpenApi',
		method: 'get',
		path: '/api/openapi.json',
		tag: 'Server',
		summary: 'This description',
		success: ok('OpenAPI 3.1.')
	}
];
