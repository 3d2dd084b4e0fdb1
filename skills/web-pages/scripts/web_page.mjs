#!/usr/bin/env node
/** Reads a web page or an HTML file without running its scripts: text, links, tables. */

import { lookup } from 'node:dns/promises';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { BlockList, isIPv6 } from 'node:net';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { findAll, isHidden, parseHtml } from '../lib/html.mjs';

const USAGE = `Usage: web_page.mjs read PAGE                   the readable text, as Markdown
       web_page.mjs links PAGE [--match TEXT]   its links
       web_page.mjs tables PAGE                 its tables, each with a CSV file

PAGE is an https:// address or an HTML file. Nothing of the page runs.`;

const MAX_BYTES = 10 * 1024 * 1024;
/** A model reads 20 KB of output. */
const MAX_PRINTED = 15_000;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 20_000;
const [MOST_LINKS, MOST_TABLES, MOST_ROWS] = [200, 30, 40];
const MAX_SPAN = 100;
/** Around the text, not part of it. */
const ASIDE = new Set('nav footer aside form button select dialog menu noscript template svg script style iframe object head title'.split(' '));
const BLOCKS = new Set('address article blockquote dd details div dl dt fieldset figcaption figure header hr li main ol p pre section summary table tr ul body'.split(' '));
const PRIVATE = new BlockList();
for (const range of ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'])
	PRIVATE.addSubnet(...range.split('/').map((part, index) => (index ? Number(part) : part)), 'ipv4');
for (const [address, bits] of [['::', 127], ['64:ff9b::', 32], ['2002::', 16], ['fc00::', 7], ['fe80::', 10], ['ff00::', 8]])
	PRIVATE.addSubnet(address, bits, 'ipv6');

/** Exit code and sentence. */
class Failure extends Error {
	constructor(exitCode, message) {
		super(message);
		this.exitCode = exitCode;
	}
}

async function main(args) {
	let given;
	try {
		const options = { match: { type: 'string' }, output: { type: 'string' }, help: { type: 'boolean', short: 'h' } };
		given = parseArgs({ args, allowPositionals: true, options });
	} catch (error) {
		throw new Failure(2, `${error.message}\n\n${USAGE}`);
	}
	if (given.values.help) return console.log(USAGE);
	const [command, address, ...rest] = given.positionals;
	const commands = { read, links, tables };
	if (!Object.hasOwn(commands, command ?? '') || !address || rest.length > 0) throw new Failure(2, USAGE);
	const page = /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? await fetchPage(address) : readPage(address);
	const root = parseHtml(decodedText(page));
	commands[command]({ ...page, root }, given.values);
}

// Where pages come from.

function readPage(path) {
	const stat = statSync(path, { throwIfNoEntry: false });
	if (!stat) throw new Failure(1, `Can't read ${path}: there is no such file. A web address begins with https://.`);
	if (!stat.isFile()) throw new Failure(1, `${path} isn't a file.`);
	if (stat.size > MAX_BYTES) throw tooLarge(path);
	return { name: path, url: null, bytes: readFileSync(path), charset: null };
}

async function fetchPage(address) {
	let url = urlOf(address);
	const signal = AbortSignal.timeout(TIMEOUT_MS);
	for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
		await checkAddress(url);
		let response;
		try {
			const headers = { accept: 'text/html,application/xhtml+xml,text/plain;q=0.8', 'user-agent': 'web-pages skill' };
			response = await fetch(url, { headers, redirect: 'manual', signal });
		} catch (error) {
			throw unreachable(url, error);
		}
		const location = response.headers.get('location');
		if (response.status >= 300 && response.status < 400 && location) {
			await response.body?.cancel();
			url = urlOf(location, url);
			continue;
		}
		// Over https, the proxy refuses the connection; a 403 is the page's own.
		if (response.status === 403 && isProxied() && url.protocol === 'http:') throw unreachable(url, new Error('refused'));
		if (!response.ok) throw new Failure(1, `${url.host} answered with ${response.status}${response.status === 404 ? ' (not found)' : ''}.`);
		const type = response.headers.get('content-type') ?? 'text/html';
		if (!/^(text\/(html|plain)|application\/(xhtml\+xml|xml)|text\/xml)/i.test(type))
			throw new Failure(1, `${url.href} isn't a web page: it's ${type.split(';')[0]}.`);
		const charset = /charset=["']?([\w-]+)/i.exec(type)?.[1] ?? null;
		return { name: url.href, url, bytes: await bodyOf(response, url), charset };
	}
	throw new Failure(1, `${address} redirects more than ${MAX_REDIRECTS} times.`);
}

async function bodyOf(response, url) {
	const chunks = [];
	let size = 0;
	try {
		for await (const chunk of response.body ?? []) {
			size += chunk.length;
			if (size > MAX_BYTES) throw tooLarge(url.href);
			chunks.push(chunk);
		}
	} catch (error) {
		throw error instanceof Failure ? error : unreachable(url, error);
	}
	return Buffer.concat(chunks);
}

function urlOf(address, base) {
	let url;
	try {
		url = new URL(address, base);
	} catch {
		throw new Failure(2, `“${oneLine(address)}” isn't a web address.`);
	}
	if (!/^https?:$/.test(url.protocol)) throw new Failure(2, `Only addresses with https:// or http:// can be read, not ${url.protocol}`);
	if (url.username || url.password) throw new Failure(2, 'Addresses with a user name or password are not read.');
	return url;
}

/** The app's proxy refuses private addresses. Where scripts run without it, this does. */
async function checkAddress(url) {
	if (isProxied()) return;
	const host = url.hostname.replace(/^\[|\]$/g, '');
	const addresses = await lookup(host, { all: true }).catch((error) => Promise.reject(unreachable(url, error)));
	for (const { address } of addresses) {
		const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
		if (/^::ffff:/i.test(mapped) || PRIVATE.check(mapped, isIPv6(mapped) ? 'ipv6' : 'ipv4'))
			throw new Failure(4, `${url.host} is an address of this machine or its network: it isn't read.`);
	}
}

function isProxied() {
	return Boolean(process.env.HTTPS_PROXY && process.env.HTTP_PROXY);
}

function unreachable(url, error) {
	if (error.name === 'TimeoutError') return new Failure(4, `${url.host} doesn't answer within ${TIMEOUT_MS / 1000} seconds.`);
	const code = error.cause?.code ?? error.code;
	return new Failure(
		4,
		`${url.host} can't be reached${code && /^E/.test(code) ? ` (${code})` : ''}. Allow this host on the skill's page; if it isn't listed there, add it to metadata.network in the skill's SKILL.md first. Or attach the page as a file.`
	);
}

function tooLarge(name) {
	return new Failure(1, `${name} is too large: the limit is ${MAX_BYTES / 1024 / 1024} MB.`);
}

/** By the byte order mark, the server's word, the page's own word, or what the bytes can be. */
function decodedText({ bytes, charset }) {
	const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
	const own = /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(bytes.toString('latin1', 0, 4096))?.[1];
	for (const label of [mark, charset, own].filter(Boolean)) {
		try {
			return new TextDecoder(label).decode(bytes);
		} catch {
			// No encoding of this name: the next one.
		}
	}
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

// What is made of them.

function read({ root, name, url }, { output }) {
	const title = titleOf(root);
	const meta = (key) => findAll(root, ['meta']).find(({ attributes }) => [attributes.name, attributes.property].includes(key))?.attributes.content;
	const facts = [['Author', meta('author')], ['Published', meta('article:published_time')?.slice(0, 10)], ['Address', url?.href]];
	const text = markdownOf(mainOf(root));
	if (text === '') throw new Failure(1, `${name} has no readable text: perhaps its scripts write it, and they aren't run.`);
	const head = [title && `# ${title}`, ...facts.flatMap(([key, value]) => (value ? `${key}: ${oneLine(value)}` : []))].filter(Boolean);
	const all = [...head, text.startsWith(`# ${title}\n`) ? text.slice(text.indexOf('\n')).trim() : text].join('\n\n');
	const target = output ?? (all.length > MAX_PRINTED ? fileFor(name, '.md') : null);
	if (target !== null) write(target, `${all}\n`);
	console.log(all.slice(0, MAX_PRINTED));
	if (target !== null) console.log(`${all.length > MAX_PRINTED ? '\n… There is more.\n' : ''}\nThe whole text: ${target}`);
}

function links({ root, name, url }, { match = '' }) {
	const base = baseOf(root, url);
	const found = new Map();
	for (const element of findAll(root, ['a'])) {
		const { href } = element.attributes;
		if (!href || isHidden(element) || /^(javascript|data|vbscript|#)/i.test(href.trim())) continue;
		let address = href.trim();
		try {
			address = new URL(address, base ?? undefined).href;
		} catch {
			// A file has no address that its links are relative to.
		}
		const words = oneLine(textOf(element)) || oneLine(findAll(element, ['img'])[0]?.attributes.alt ?? '');
		const isMatch = `${words} ${address}`.toLowerCase().includes(match.toLowerCase());
		if (isMatch && !found.get(address)) found.set(address, words);
	}
	if (found.size === 0) throw new Failure(1, `${name} has no links${match ? ` with “${oneLine(match)}”` : ''}.`);
	console.log(`${countOf(found.size, 'link')} in ${oneLine(titleOf(root) || name)}\n`);
	for (const [address, words] of [...found].slice(0, MOST_LINKS)) console.log(`- ${words || '(no text)'}: <${oneLine(address)}>`);
	if (found.size > MOST_LINKS) console.log(`\n${found.size - MOST_LINKS} more. Narrow them down with --match.`);
}

function tables({ root, name }) {
	const all = findAll(root, ['table']).filter((element) => !isHidden(element) && findAll(element, ['table']).length === 1);
	const found = all.map((element) => ({ element, rows: rowsOf(element) })).filter(({ rows }) => rows.length > 1 && rows[0].length > 1);
	if (found.length === 0) throw new Failure(1, `${name} has no tables.`);
	console.log(`${countOf(found.length, 'table')} in ${oneLine(titleOf(root) || name)}`);
	for (const [index, { element, rows }] of found.slice(0, MOST_TABLES).entries()) {
		const [caption] = findAll(element, ['caption']);
		const target = fileFor(name, found.length > 1 ? `-table-${index + 1}.csv` : '-table.csv');
		write(target, rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join(''));
		const [header, ...data] = rows;
		console.log(`\n## ${(caption && oneLine(textOf(caption))) || `Table ${index + 1}`}\n`);
		console.log([header, header.map(() => '---'), ...data.slice(0, MOST_ROWS)].map((row) => `| ${row.map((cell) => cell.slice(0, 80).replace(/[\\|]/g, '\\$&')).join(' | ')} |`).join('\n'));
		if (data.length > MOST_ROWS) console.log(`\n${countOf(data.length - MOST_ROWS, 'more row')} in the file.`);
		console.log(`\n${countOf(data.length, 'row')}: ${target}`);
		for (const line of sumsOf(header, data)) console.log(`- ${line}`);
	}
}

/** Columns whose cells are all numbers, in words. */
function sumsOf(header, data) {
	return header.flatMap((name, column) => {
		const cells = data.map((row) => row[column]).filter((cell) => cell !== '');
		const numbers = cells.map((cell) => (/^[-−]?\d{1,3}(,\d{3})*(\.\d+)?$|^[-−]?\d+(\.\d+)?$/.test(cell) ? Number(cell.replaceAll(',', '').replace('−', '-')) : NaN));
		if (numbers.length < 2 || numbers.some(Number.isNaN)) return [];
		const sum = numbers.reduce((total, number) => total + number, 0);
		const [low, high] = [Math.min(...numbers.slice(0, 10_000)), Math.max(...numbers.slice(0, 10_000))];
		return [`${name}: total ${shown(sum)}, mean ${shown(sum / numbers.length)}, from ${shown(low)} to ${shown(high)}`];
	});
}

/** Each row as wide as the widest; a cell that spans several is repeated. */
function rowsOf(element) {
	const rows = [];
	const carried = [];
	for (const row of findAll(element, ['tr'])) {
		const cells = [];
		const takeCarried = () => {
			for (let left = carried[cells.length]; left?.rows > 0; left = carried[cells.length]) {
				left.rows -= 1;
				cells.push(left.text);
			}
		};
		for (const cell of row.children.filter((child) => child.name === 'td' || child.name === 'th')) {
			takeCarried();
			const span = (name) => Math.min(Math.max(Number.parseInt(cell.attributes[name], 10) || 1, 1), MAX_SPAN);
			const [text, below] = [oneLine(textOf(cell)), span('rowspan') - 1];
			for (let times = span('colspan'); times > 0; times -= 1) {
				if (below > 0) carried[cells.length] = { text, rows: below };
				cells.push(text);
			}
		}
		takeCarried();
		if (cells.some((cell) => cell !== '')) rows.push(cells);
	}
	const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
	return rows.map((row) => [...row, ...Array(width - row.length).fill('')]);
}

/** The part of a page that holds its text: named so, or the whole. */
function mainOf(root) {
	const named = findAll(root, ['article', 'main']);
	const [body = root] = findAll(root, ['body']);
	const largest = named.map((element) => ({ element, size: textOf(element).length })).toSorted((a, b) => b.size - a.size)[0];
	return largest && largest.size > 200 ? largest.element : body;
}

function textOf(element) {
	if (typeof element === 'string') return element;
	if (isHidden(element) || /^(script|style|noscript|template|svg)$/.test(element.name)) return '';
	return element.name === 'br' ? '\n' : element.children.map(textOf).join('');
}

function markdownOf(root) {
	const lines = [];
	let line = '';
	const flush = (prefix = '') => {
		const text = line.replace(/[^\S\n]+/g, ' ').trim();
		if (text !== '') lines.push(prefix + text);
		line = '';
	};
	const visit = (element, prefix) => {
		if (typeof element === 'string') return void (line += element.replace(/\s+/g, ' '));
		const { name, children } = element;
		if (ASIDE.has(name) || isHidden(element)) return;
		const level = /^h([1-6])$/.exec(name)?.[1];
		if (name === 'br') return void (line += '\n');
		if (name === 'table') return void (flush(prefix), lines.push(tableText(element)));
		if (name === 'pre') return void (flush(prefix), lines.push(`\`\`\`\n${textOf(element).trim()}\n\`\`\``));
		const isBlock = level || BLOCKS.has(name);
		const own = level ? `${'#'.repeat(Number(level))} ` : name === 'li' ? '- ' : name === 'blockquote' ? '> ' : prefix;
		if (isBlock) flush(prefix);
		for (const child of children) visit(child, own);
		if (isBlock) flush(own);
	};
	visit(root, '');
	flush();
	return lines.join('\n\n').replace(/(^- .*)\n\n(?=- )/gm, '$1\n').replaceAll(/\p{Cf}/gu, '').trim();
}

function tableText(element) {
	const rows = rowsOf(element).slice(0, MOST_ROWS);
	if (rows.length === 0) return '';
	const [header, ...data] = rows;
	return [header, header.map(() => '---'), ...data].map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

function titleOf(root) {
	const [heading] = findAll(root, ['h1']).filter((element) => !isHidden(element));
	return oneLine((heading && textOf(heading)) || (findAll(root, ['title'])[0]?.children.join('') ?? ''));
}

function baseOf(root, url) {
	const href = findAll(root, ['base'])[0]?.attributes.href;
	try {
		return href ? new URL(href, url ?? undefined) : url;
	} catch {
		return url;
	}
}

function fileFor(name, ending) {
	const path = name.replace(/^https?:\/\//, '').replace(/[?#].*$/, '').replace(/\/$/, '');
	const bare = basename(path).replace(/\.x?html?$/i, '').replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 60);
	return `${bare || 'page'}${ending}`;
}

function write(target, content) {
	try {
		writeFileSync(target, content);
	} catch (error) {
		throw new Failure(1, `Can't write ${target}: ${error.code === 'ENOENT' ? 'there is no such folder' : error.message}.`);
	}
}

function csvCell(text) {
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function shown(number) {
	return number.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function countOf(count, noun) {
	return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function oneLine(text) {
	return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').trim().replace(/\s+/g, ' ').slice(0, 500);
}

try {
	await main(process.argv.slice(2));
} catch (error) {
	console.error(error instanceof Failure ? error.message : `Couldn't do this: ${error.message}`);
	process.exitCode = error instanceof Failure ? error.exitCode : 1;
}
