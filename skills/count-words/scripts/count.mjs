#!/usr/bin/env node
/** The tool `count_words` as a command. */
import { readFileSync } from 'node:fs';
import countWords from './count_words.js';

const USAGE = `Usage: count.mjs "TEXT"
       count.mjs --file FILE

Prints {words, characters, charactersWithoutSpaces, lines, sentences} as JSON.`;

async function main(args) {
	if (args.length === 1 && ['--help', '-h'].includes(args[0])) {
		console.log(USAGE);
		return 0;
	}
	const fromFile = args[0] === '--file';
	if (args.length === 0 || (fromFile && args.length !== 2)) {
		console.error(USAGE);
		return 2;
	}
	try {
		const text = fromFile ? readText(args[1]) : args.join(' ');
		console.log(JSON.stringify(await countWords({ text }), null, 2));
		return 0;
	} catch (error) {
		console.error(`Couldn't count the words in ${fromFile ? args[1] : 'the text'}: ${reasonOf(error)}.`);
		return 1;
	}
}

function readText(path) {
	return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
}

function reasonOf(error) {
	if (error.code === 'ENOENT') return 'file not found';
	return error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'not a UTF-8 text file' : error.message;
}

process.exitCode = await main(process.argv.slice(2));
