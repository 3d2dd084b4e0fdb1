#!/usr/bin/env node
/** Compares a deployed folder with its MANIFEST.sha256: every file, no more and no less. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile, readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';

const MANIFEST = 'MANIFEST.sha256';
const USAGE = `Usage: verify.mjs TARGET

Checks every file of the folder TARGET against TARGET/${MANIFEST}.
Exit codes: 0 unchanged, 1 changed or not deployed, 2 wrong usage.`;

class Failure extends Error {}

async function main(args) {
	if (args.includes('--help') || args.includes('-h')) {
		console.log(USAGE);
		return 0;
	}
	if (args.length !== 1 || args[0] === '') {
		console.error(USAGE);
		return 2;
	}
	const [target] = args;
	const root = await realpath(target).catch((error) => {
		throw new Failure(`Couldn't open the folder ${target} (${error.code}).`);
	});
	const expected = parseManifest(await readManifest(root, target));
	const differences = [];
	for (const [name, checksum] of expected) {
		const found = await checksumOf(root, name);
		if (found === undefined) differences.push(`missing: ${name}`);
		else if (found !== checksum) differences.push(`changed: ${name}`);
	}
	for (const name of await namesIn(root)) {
		if (!expected.has(name) && name !== MANIFEST) differences.push(`extra: ${name}`);
	}
	if (differences.length === 0) {
		console.log(`${target} is unchanged: ${expected.size} files, all checksums match.`);
		return 0;
	}
	for (const difference of differences.sort()) console.log(difference);
	console.error(`${target} has changed: ${differences.length} differences.`);
	return 1;
}

async function readManifest(root, target) {
	try {
		return await readFile(join(root, MANIFEST), 'utf8');
	} catch (error) {
		throw new Failure(
			error.code === 'ENOENT'
				? `${target} has no ${MANIFEST}: deploy.sh didn't deploy it, or the list was deleted.`
				: `${target}/${MANIFEST} can't be read (${error.code}).`
		);
	}
}

/** Names (with `/`) to checksums; a line that is none, or leads outside, makes the whole list useless. */
function parseManifest(text) {
	const expected = new Map();
	for (const [index, line] of text.split('\n').entries()) {
		if (line === '') continue;
		const match = /^([0-9a-f]{64})  (.+)$/.exec(line);
		const parts = match?.[2].split('/') ?? [];
		if (!match || isAbsolute(match[2]) || parts.some((part) => ['', '.', '..'].includes(part))) {
			throw new Failure(`Line ${index + 1} of ${MANIFEST} is damaged, so nothing can be verified.`);
		}
		expected.set(match[2], match[1]);
	}
	if (expected.size === 0) throw new Failure(`${MANIFEST} is empty, so nothing can be verified.`);
	return expected;
}

/** undefined when there is no such file; a text that is no checksum when it is not one inside the folder. */
async function checksumOf(root, name) {
	let path;
	try {
		path = await realpath(join(root, name));
	} catch (error) {
		if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
		throw error;
	}
	const inside = relative(root, path);
	if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return 'leads outside';
	if (!(await lstat(path)).isFile()) return 'not a file';
	const hash = createHash('sha256');
	await pipeline(createReadStream(path), hash);
	return hash.digest('hex');
}

/** All that is not a folder, as names with `/`. */
async function namesIn(root, folder = '') {
	const names = [];
	for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
		const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
		if (entry.isDirectory()) names.push(...(await namesIn(root, name)));
		else names.push(name);
	}
	return names;
}

try {
	process.exitCode = await main(process.argv.slice(2));
} catch (error) {
	console.error(error instanceof Failure ? error.message : `Couldn't verify: ${error.message}`);
	process.exitCode = 1;
}
