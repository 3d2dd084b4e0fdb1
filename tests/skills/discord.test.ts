import { describe, expect, it } from 'vitest';
import { closedAddress, runSkill, startServer, type RecordedRequest } from './run-skill.ts';

const SCRIPT = 'discord/discord.mjs';
const TOKEN = 'secret-bot-token';
const GUILD = '900000000000000001';
const DEV = '100000000000000001';

const CHANNELS = [
	{ id: '100000000000000002', name: 'general', type: 0, position: 2, parent_id: '100000000000000009' },
	{ id: DEV, name: 'dev', type: 0, position: 1, parent_id: null },
	{ id: '100000000000000009', name: 'Text | channels', type: 4, position: 0, parent_id: null }
];

type Answer = ReturnType<Parameters<typeof startServer>[0]>;

/** A fake Discord with the endpoints the skill uses. */
function api({ method, url, body }: RecordedRequest): Answer {
	const path = `${method} ${url.pathname}`;
	if (path === 'GET /users/@me/guilds') return { json: [{ id: GUILD, name: 'Home' }] };
	if (path === `GET /guilds/${GUILD}/channels`) return { json: CHANNELS };
	if (path === `POST /guilds/${GUILD}/channels`) {
		return { status: 201, json: { ...(JSON.parse(body) as object), id: '100000000000000005' } };
	}
	if (path === `POST /channels/${DEV}/messages`) return { json: { id: '777000000000000001' } };
	if (path === `GET /channels/${DEV}/messages`) {
		return {
			json: [
				{ timestamp: '2025-01-02', author: { username: 'bo' }, content: 'second' },
				{ timestamp: '2025-01-01', author: { username: 'al' }, content: 'first', attachments: [{}] }
			]
		};
	}
	return { status: 404, json: { message: 'Unknown Channel', code: 10003 } };
}

async function discord(args: string[], answer: (request: RecordedRequest) => Answer = api, env = {}) {
	const server = await startServer(answer);
	const run = await runSkill(SCRIPT, args, { env: { DISCORD_BOT_TOKEN: TOKEN, DISCORD_API_URL: server.url, ...env } });
	expect(run.stdout + run.stderr).not.toContain(TOKEN);
	return { ...run, requests: server.requests };
}

describe('discord', () => {
	it('E33: lists the channels of the only server in their order', async () => {
		const { stdout, exitCode, requests } = await discord(['channels', 'list']);
		expect(exitCode).toBe(0);
		expect(stdout.trim().split('\n').slice(2)).toEqual([
			'| 100000000000000009 | Text \\| channels | category |  |',
			`| ${DEV} | #dev | text |  |`,
			'| 100000000000000002 | #general | text | Text \\| channels |'
		]);
		expect(requests.every(({ authorization }) => authorization === `Bot ${TOKEN}`)).toBe(true);
	});

	it('takes the server from --guild, then from DISCORD_GUILD_ID, without asking for the list', async () => {
		const byOption = await discord(['channels', 'list', `--guild=${GUILD}`], api, {
			DISCORD_GUILD_ID: '900000000000000002'
		});
		const byVariable = await discord(['channels', 'list'], api, { DISCORD_GUILD_ID: GUILD });
		for (const { requests } of [byOption, byVariable]) {
			expect(requests.map(({ url }) => url.pathname)).toEqual([`/guilds/${GUILD}/channels`]);
		}
	});

	it('E33: sends a message that rings no one but named users, once', async () => {
		const { stdout, exitCode, requests } = await discord(['send', '- Hello, *World*! @everyone', `--channel=${DEV}`]);
		expect({ stdout, exitCode }).toEqual({
			stdout: `Sent to channel ${DEV} as message 777000000000000001.\n`,
			exitCode: 0
		});
		expect(requests).toHaveLength(1);
		expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
			content: '- Hello, *World*! @everyone',
			allowed_mentions: { parse: ['users'] }
		});
	});

	it('finds a channel by its name', async () => {
		const found = await discord(['send', 'Hi', '--channel', '#dev']);
		expect(found.stdout).toBe('Sent to #dev as message 777000000000000001.\n');
		const missing = await discord(['send', 'Hi', '--channel=#nope']);
		expect(missing).toMatchObject({ exitCode: 1, stdout: '' });
		expect(missing.stderr).toBe("There's no channel #nope. Available: #general, #dev.\n");
	});

	it('reads messages oldest first, creates a channel, lists servers', async () => {
		const messages = await discord(['messages', 'list', `--channel=${DEV}`, '--limit=2']);
		expect(messages.stdout).toBe('[2025-01-01] al: first [1 attachments]\n[2025-01-02] bo: second\n');
		expect(messages.requests[0]?.url.search).toBe('?limit=2');
		expect((await discord(['channels', 'create', '#news'])).stdout).toBe(
			'Created #news with the ID 100000000000000005.\n'
		);
		expect((await discord(['guilds', 'list'])).stdout).toBe(`${GUILD}  Home\n`);
	});

	it.each([
		[['channels', 'list'], 'GET API/guilds/<ID of the server>/channels'],
		[['channels', 'create', 'news', `--guild=${GUILD}`], `POST API/guilds/${GUILD}/channels {"name":"news","type":0}`],
		[['guilds', 'list'], 'GET API/users/@me/guilds'],
		[['messages', 'list', `--channel=${DEV}`], `GET API/channels/${DEV}/messages?limit=20`],
		[
			['send', 'Hello', '--channel=#Dev'],
			'POST API/channels/<ID of #dev>/messages {"content":"Hello","allowed_mentions":{"parse":["users"]}}'
		]
	])('E33: without a token %j sends nothing, and says what it would have sent', async (args, request) => {
		const server = await startServer(api);
		const run = await runSkill(SCRIPT, args, { env: { DISCORD_API_URL: server.url } });
		const [problem, sent] = run.stderr.trim().split('\n');
		expect(problem).toBe("Nothing was sent: DISCORD_BOT_TOKEN is not set. Set it on this skill's page.");
		expect(sent).toBe(`Would have sent: ${request.replace('API', server.url)}`);
		expect({ exitCode: run.exitCode, stdout: run.stdout }).toEqual({ exitCode: 3, stdout: '' });
		expect(server.requests).toEqual([]);
	});

	it('ends with code 3 when the bot is in several servers and none is named', async () => {
		const guilds = [
			{ id: '900000000000000001', name: 'A' },
			{ id: '900000000000000002', name: 'B' }
		];
		const { exitCode, stderr } = await discord(['channels', 'list'], () => ({ json: guilds }));
		expect(exitCode).toBe(3);
		expect(stderr).toContain('Available: 900000000000000001 (A), 900000000000000002 (B).');
	});

	it.each([
		[401, 3, 'rejected DISCORD_BOT_TOKEN (401)'],
		[403, 1, "The bot isn't allowed to do this (403). Check its permissions"],
		[404, 1, "doesn't know this channel or server (404)"],
		[400, 1, 'Discord refused the request (400). Discord says: echo'],
		[502, 4, 'has a problem (502). Try again later.']
	])('explains status %i and ends with code %i', async (status, code, message) => {
		const { exitCode, stderr, stdout } = await discord(['send', 'Hi', `--channel=${DEV}`], ({ authorization }) => ({
			status,
			json: { message: `echo ${authorization}` }
		}));
		expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
		expect(stderr).toContain(message);
	});

	it('waits once when asked for a short pause', async () => {
		let calls = 0;
		const { stdout, exitCode, requests } = await discord(['send', 'Hi', `--channel=${DEV}`], (request) => {
			calls += 1;
			return calls === 1 ? { status: 429, json: { retry_after: 0.05 } } : api(request);
		});
		expect(exitCode).toBe(0);
		expect(stdout).toContain('Sent to channel');
		expect(requests).toHaveLength(2);
	});

	it('ends with code 4 when asked for a long pause, or for a second one', async () => {
		const long = await discord(['send', 'Hi', `--channel=${DEV}`], () => ({
			status: 429,
			json: { retry_after: 61.2 }
		}));
		expect(long).toMatchObject({ exitCode: 4, stderr: 'Discord is limiting requests. Try again in 62 seconds.\n' });
		expect(long.requests).toHaveLength(1);
		const again = await discord(['send', 'Hi', `--channel=${DEV}`], () => ({
			status: 429,
			json: { retry_after: 0.01 }
		}));
		expect(again.exitCode).toBe(4);
		expect(again.requests).toHaveLength(2);
	});

	it('ends with code 4 when Discord cannot be reached', async () => {
		const { exitCode, stderr } = await discord(['guilds', 'list'], api, { DISCORD_API_URL: await closedAddress() });
		expect(exitCode).toBe(4);
		expect(stderr).toMatch(
			/^Would have sent: GET http:\S+\/users\/@me\/guilds\nNo connection to \S+ \(ECONNREFUSED\)\.\n$/
		);
	});

	it('does not carry the token to another address', async () => {
		const other = await startServer(() => ({ json: [] }));
		const { exitCode } = await discord(['guilds', 'list'], () => ({ status: 302, headers: { location: other.url } }));
		expect(exitCode).toBe(4);
		expect(other.requests).toEqual([]);
	});

	it.each([
		[['send', '', `--channel=${DEV}`], 'The message is empty.'],
		[['send', 'x'.repeat(2001), `--channel=${DEV}`], 'The message has 2001 characters; Discord allows 2000.'],
		[['send', 'Hi'], 'Which channel?'],
		[['send', 'Hi', 'there', `--channel=${DEV}`], 'Put text with spaces in quotes.'],
		[['channels', 'list', '--guild=12'], '"12" isn\'t a server ID'],
		[['channels', 'delete'], 'Unknown command "channels delete".'],
		[['constructor'], 'Unknown command "constructor".']
	])('ends with code 2 for %j and sends nothing', async (args, message) => {
		const { exitCode, stderr, requests } = await discord(args);
		expect(exitCode).toBe(2);
		expect(stderr).toContain(message);
		expect(requests).toEqual([]);
	});
});
