#!/usr/bin/env node
/** Sends messages to Discord and lists or creates channels, with a bot's token. */

const USAGE = `Usage: discord.mjs channels list [--guild=GUILD_ID]
       discord.mjs channels create NAME [--guild=GUILD_ID]
       discord.mjs send "Your message" --channel=CHANNEL_ID
       discord.mjs messages list --channel=CHANNEL_ID [--limit=NUMBER]
       discord.mjs guilds list

--channel takes an ID or a name that only one channel has (--channel=#dev).
Environment: DISCORD_BOT_TOKEN, DISCORD_GUILD_ID (optional), DISCORD_API_URL (optional).
Without a token, nothing is sent: the script prints the request it would have sent.
Exit codes: 0 done, 1 refused, 2 wrong usage, 3 not configured, 4 unreachable or asked to wait.`;

const OPTIONS = ['--guild', '--channel', '--limit'];
const TIMEOUT_MS = 10_000;
const LONGEST_WAIT_SECONDS = 5;
const LONGEST_MESSAGE = 2000;
const SNOWFLAKE = /^\d{15,21}$/;
/** Channel types of the API that hold messages or other channels. */
const CHANNEL_TYPES = new Map([
	[0, 'text'],
	[2, 'voice'],
	[4, 'category'],
	[5, 'announcement'],
	[13, 'stage'],
	[15, 'forum'],
	[16, 'media']
]);

class Failure extends Error {
	constructor(exitCode, message) {
		super(message);
		this.exitCode = exitCode;
	}
}

const COMMANDS = {
	'channels list': listChannels,
	'channels create': createChannel,
	'messages list': listMessages,
	'guilds list': listGuilds,
	send
};

async function main(args) {
	if (args.length === 0) throw new Failure(2, USAGE);
	if (args.length === 1 && ['--help', '-h', 'help'].includes(args[0])) {
		print(USAGE);
		return;
	}
	const name = args[0] === 'send' ? 'send' : args.slice(0, 2).join(' ');
	const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
	if (!command) throw new Failure(2, `Unknown command "${name}".\n\n${USAGE}`);
	const { words, options } = readArguments(args.slice(name.split(' ').length));
	await command(options, words);
}

/** Known options in either form; all else is text, so that a message may begin with a dash. */
function readArguments(args) {
	const words = [];
	const options = {};
	for (let index = 0; index < args.length; index += 1) {
		const option = OPTIONS.find((name) => args[index] === name || args[index].startsWith(`${name}=`));
		if (!option) {
			words.push(args[index]);
			continue;
		}
		const value = args[index] === option ? args[(index += 1)] : args[index].slice(option.length + 1);
		if (!value) throw new Failure(2, `${option} needs a value.`);
		options[option.slice(2)] = value;
	}
	return { words, options };
}

async function send(options, words) {
	const content = onlyWord(words, 'Which message? discord.mjs send "Your message" --channel=CHANNEL_ID');
	if (!content.trim()) throw new Failure(2, 'The message is empty.');
	if ([...content].length > LONGEST_MESSAGE) {
		throw new Failure(2, `The message has ${[...content].length} characters; Discord allows ${LONGEST_MESSAGE}.`);
	}
	const channel = await resolveChannel(options);
	const sent = await call('POST', `/channels/${channel.id}/messages`, {
		content,
		// Text written by a model must not be able to ring a whole server.
		allowed_mentions: { parse: ['users'] }
	});
	print(`Sent to ${channel.name ? `#${channel.name}` : `channel ${channel.id}`} as message ${sent.id}.`);
}

async function listChannels(options, words) {
	noWords(words);
	const guild = await resolveGuild(options);
	const channels = await call('GET', `/guilds/${guild}/channels`);
	if (channels.length === 0) {
		print('The bot sees no channels on this server. Give it the permission "View Channels".');
		return;
	}
	const byId = new Map(channels.map((channel) => [channel.id, channel]));
	print('| id | channel | type | category |\n|---|---|---|---|');
	for (const channel of channels.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0))) {
		const type = CHANNEL_TYPES.get(channel.type) ?? `type ${channel.type}`;
		const mark = [0, 5].includes(channel.type) ? '#' : '';
		print(`| ${channel.id} | ${mark}${cell(channel.name)} | ${type} | ${cell(byId.get(channel.parent_id)?.name)} |`);
	}
}

async function createChannel(options, words) {
	const name = onlyWord(words, 'Which name? discord.mjs channels create NAME').replace(/^#/, '').trim();
	if (name.length < 1 || name.length > 100) throw new Failure(2, 'A channel name has 1 to 100 characters.');
	const guild = await resolveGuild(options);
	const made = await call('POST', `/guilds/${guild}/channels`, { name, type: 0 });
	print(`Created #${made.name} with the ID ${made.id}.`);
}

async function listMessages(options, words) {
	noWords(words);
	const limit = Number(options.limit ?? 20);
	if (!Number.isInteger(limit) || limit < 1 || limit > 100)
		throw new Failure(2, '--limit must be a whole number from 1 to 100.');
	const channel = await resolveChannel(options);
	const messages = await call('GET', `/channels/${channel.id}/messages?limit=${limit}`);
	if (messages.length === 0) print('This channel has no messages.');
	// Discord answers newest first; people read oldest first.
	for (const message of messages.toReversed()) {
		const extra = message.attachments?.length ? ` [${message.attachments.length} attachments]` : '';
		print(`[${message.timestamp}] ${message.author?.username ?? 'unknown'}: ${message.content}${extra}`);
	}
}

async function listGuilds(options, words) {
	noWords(words);
	const guilds = await call('GET', '/users/@me/guilds');
	if (guilds.length === 0) print('The bot is not a member of any server yet. Invite it from the developer portal.');
	for (const guild of guilds) print(`${guild.id}  ${guild.name}`);
}

/** The ID of --guild or DISCORD_GUILD_ID, or of the only server the bot is in. */
async function resolveGuild(options) {
	const given = options.guild ?? process.env.DISCORD_GUILD_ID;
	if (given) {
		if (SNOWFLAKE.test(given)) return given;
		throw new Failure(
			2,
			`"${given}" isn't a server ID. IDs have 15 to 21 digits; discord.mjs guilds list shows them.`
		);
	}
	if (!botToken()) return '<ID of the server>';
	const guilds = await call('GET', '/users/@me/guilds');
	if (guilds.length === 1) return guilds[0].id;
	const known = guilds.map((guild) => `${guild.id} (${guild.name})`).join(', ');
	throw new Failure(
		3,
		guilds.length === 0
			? 'The bot is not a member of any server yet. Invite it from the developer portal.'
			: `Which server? Give --guild=GUILD_ID or set DISCORD_GUILD_ID. Available: ${known}.`
	);
}

/** `{id, name?}` of --channel, which is an ID or a name. */
async function resolveChannel(options) {
	const given = options.channel;
	if (!given) throw new Failure(2, 'Which channel? Give --channel=CHANNEL_ID (discord.mjs channels list shows them).');
	const id = given.replace(/^<#(\d+)>$/, '$1');
	if (SNOWFLAKE.test(id)) return { id };
	const wanted = given.replace(/^#/, '').toLowerCase();
	if (!botToken()) return { id: `<ID of #${wanted}>` };
	const channels = await call('GET', `/guilds/${await resolveGuild(options)}/channels`);
	const writable = channels.filter((channel) => [0, 2, 5, 13].includes(channel.type));
	const found = writable.filter((channel) => channel.name?.toLowerCase() === wanted);
	if (found.length === 1) return found[0];
	if (found.length > 1) {
		throw new Failure(
			1,
			`${found.length} channels are called #${wanted}. Use an ID (${found.map(({ id }) => id).join(', ')}).`
		);
	}
	const names = writable.map((channel) => `#${channel.name}`).join(', ');
	throw new Failure(1, `There's no channel #${wanted}. Available: ${names || 'none that the bot can see'}.`);
}

/** One call of the REST API; waits once when Discord asks for a short pause. */
async function call(method, path, body, mayWait = true) {
	const base = (process.env.DISCORD_API_URL || 'https://discord.com/api/v10').replace(/\/+$/, '');
	if (!URL.canParse(base)) throw new Failure(3, "DISCORD_API_URL isn't a valid address.");
	const host = new URL(base).host;
	const request = `${method} ${base}${path}${body ? ` ${JSON.stringify(body)}` : ''}`;
	const token = botToken();
	if (!token) {
		throw new Failure(
			3,
			`Nothing was sent: DISCORD_BOT_TOKEN is not set. Set it on this skill's page.\nWould have sent: ${request}`
		);
	}
	let response;
	let text;
	try {
		response = await fetch(base + path, {
			method,
			headers: {
				authorization: `Bot ${token}`,
				'user-agent': 'DiscordBot (https://agentskills.io, 1.0.0)',
				...(body ? { 'content-type': 'application/json' } : {})
			},
			body: body ? JSON.stringify(body) : undefined,
			redirect: 'error', // The token belongs to this address alone.
			signal: AbortSignal.timeout(TIMEOUT_MS)
		});
		text = await response.text();
	} catch (error) {
		throw new Failure(4, unreachable(host, error, request));
	}
	const answer = parse(text);
	if (response.ok && answer !== undefined) return answer;
	if (response.status === 429) {
		const seconds = Number(answer?.retry_after ?? response.headers.get('retry-after') ?? Number.NaN);
		if (mayWait && seconds <= LONGEST_WAIT_SECONDS) {
			await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
			return call(method, path, body, false);
		}
		const wait = Number.isFinite(seconds) ? `in ${Math.ceil(seconds)} seconds` : 'later';
		throw new Failure(4, `Discord is limiting requests. Try again ${wait}.`);
	}
	throw refused(response.status, answer, host);
}

function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined; // The status says what went wrong; a page of HTML adds nothing.
	}
}

function unreachable(host, error, request) {
	if (error.name === 'TimeoutError')
		return `${host} didn't answer within ${TIMEOUT_MS / 1000} seconds. Read the channel before you try again.`;
	const code = error.cause?.code ?? error.code;
	const detail = code ? ` (${code})` : '';
	// The reason comes last: that's the line people are shown first.
	return `Would have sent: ${request}\nNo connection to ${host}${detail}.`;
}

/** Undefined or empty when none is set. */
function botToken() {
	return process.env.DISCORD_BOT_TOKEN?.trim().replace(/^Bot /i, '');
}

function refused(status, answer, host) {
	const words = typeof answer?.message === 'string' ? ` Discord says: ${answer.message}.` : '';
	if (status === 401)
		return new Failure(3, `Discord rejected DISCORD_BOT_TOKEN (401). Create a new token for the bot.${words}`);
	if (status === 403)
		return new Failure(
			1,
			`The bot isn't allowed to do this (403). Check its permissions on the server and in the channel.${words}`
		);
	if (status === 404)
		return new Failure(
			1,
			`Discord doesn't know this channel or server (404). Check the ID with "channels list".${words}`
		);
	if (status >= 500) return new Failure(4, `${host} has a problem (${status}). Try again later.${words}`);
	if (status < 300)
		return new Failure(4, `${host} didn't answer with JSON. Check DISCORD_API_URL.`);
	return new Failure(1, `Discord refused the request (${status}).${words}`);
}

function onlyWord(words, question) {
	if (words.length === 1) return words[0];
	if (words.length === 0) throw new Failure(2, question);
	throw new Failure(
		2,
		`Too many arguments: "${words.slice(1).join('", "')}". Put text with spaces in quotes.`
	);
}

function noWords(words) {
	if (words.length > 0) throw new Failure(2, `Unknown arguments: "${words.join('", "')}".\n\n${USAGE}`);
}

function cell(text) {
	return (text ?? '').replaceAll('|', '\\|');
}

/** All output goes through here. */
function print(text) {
	console.log(withoutToken(text));
}

/** No message may show the token, whoever sent it back. */
function withoutToken(text) {
	const token = botToken();
	return token ? text.replaceAll(token, '[token]') : text;
}

try {
	await main(process.argv.slice(2));
} catch (error) {
	const known = error instanceof Failure;
	console.error(withoutToken(known ? error.message : `Couldn't use Discord's answer: ${error.message}`));
	process.exitCode = known ? error.exitCode : 1;
}
