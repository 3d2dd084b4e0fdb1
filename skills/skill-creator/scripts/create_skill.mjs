#!/usr/bin/env node
/** Makes a new skill: SKILL.md, and if asked for a script and a tool. */

import { chmodSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { HANDLERS, SCRIPTS, skillMd, toolsJson } from '../lib/templates.mjs';

const USAGE = `Usage: create_skill.mjs NAME --description TEXT [--script LANGUAGE] [--tool TOOL_NAME] [--into FOLDER]

Makes a new skill: SKILL.md, and if asked for a script and a tool.

  NAME                lower-case letters, digits and hyphens
  --description TEXT  what it does and when to use it
  --script LANGUAGE   python, node or bash
  --tool TOOL_NAME    adds tools.json with this tool and its handler
  --into FOLDER       where the folder is made (default: here)`;

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const TOOL_NAME = /^[a-z][a-z0-9_]*$/;
const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1024;
const LANGUAGES = { py: 'python', javascript: 'node', js: 'node', sh: 'bash', shell: 'bash' };

/** Something in the call isn't valid: exit code 2. */
class UsageError extends Error {}

/** The folder can't be made: exit code 1. */
class CreationError extends Error {}

function main(args) {
	const options = readOptions(args);
	if (options.help) return console.log(USAGE);
	const name = checkedName(options.name);
	const description = checkedDescription(options.description);
	const language = checkedLanguage(options.script);
	const files = filesOf(name, description, language, checkedTool(options.tool, language));
	const folder = join(options.into, name);
	create(folder, files, options.into);
	console.log(`Created the skill ${name} in ${folder}:\n`);
	for (const path of Object.keys(files).sort()) console.log(`- \`${name}/${path}\``);
	console.log(`\nNext: fill in ${folder}/SKILL.md, then install it.`);
}

function readOptions(args) {
	const text = { type: 'string' };
	const options = { description: text, script: text, tool: text, into: { ...text, default: '.' } };
	let read;
	try {
		read = parseArgs({ args, allowPositionals: true, options: { ...options, help: { type: 'boolean', short: 'h' } } });
	} catch (error) {
		throw new UsageError(`${error.message}\n\n${USAGE}`);
	}
	const { values, positionals } = read;
	const isComplete = positionals.length === 1 && values.description !== undefined;
	if (!isComplete && !values.help) throw new UsageError(USAGE);
	return { ...values, name: positionals[0] };
}

function checkedName(name) {
	if (NAME.test(name) && name.length <= LONGEST_NAME) return name;
	const words = name.normalize('NFKD').replace(/[^\0-\x7f]/g, '').toLowerCase().match(/[a-z0-9]+/g) ?? [];
	const better = words.join('-').slice(0, LONGEST_NAME).replace(/-$/, '');
	throw new UsageError(
		`"${name}" can't be a skill name. Use lower-case letters, digits and single hyphens, at most ${LONGEST_NAME} characters.${better && ` Try "${better}".`}`
	);
}

/** On one line and without characters that YAML forbids. */
function checkedDescription(text) {
	const line = text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ').trim().replace(/\s+/g, ' ');
	if (!line) throw new UsageError('The description is empty. Say what the skill does and when to use it.');
	const { length } = [...line];
	if (length > LONGEST_DESCRIPTION)
		throw new UsageError(`The description has ${length} characters; the maximum is ${LONGEST_DESCRIPTION}.`);
	return line;
}

function checkedLanguage(language) {
	if (language === undefined) return undefined;
	const known = LANGUAGES[language.toLowerCase()] ?? language.toLowerCase();
	if (Object.hasOwn(SCRIPTS, known)) return known;
	throw new UsageError(`--script must be python, node or bash, not "${language}".`);
}

function checkedTool(tool, language) {
	if (tool === undefined) return undefined;
	if (!TOOL_NAME.test(tool) || tool.length > LONGEST_NAME)
		throw new UsageError(
			`"${tool}" can't be a tool name. Start with a lower-case letter and use only lower-case letters, digits and underscores, at most ${LONGEST_NAME} characters.`
		);
	if (language === 'bash')
		throw new UsageError('A tool needs node or python: change --script bash or leave it out.');
	return tool;
}

/** Relative path → `{ text, mode }`. */
function filesOf(name, description, language, tool) {
	const files = {};
	let script;
	if (tool) {
		const kind = language ?? 'node';
		const handler = `scripts/${tool}.${kind === 'python' ? 'py' : 'js'}`;
		files[handler] = { text: HANDLERS[kind], mode: 0o644 };
		files['tools.json'] = { text: toolsJson(tool, handler, description), mode: 0o644 };
	} else if (language) {
		script = `scripts/run.${{ python: 'py', node: 'mjs', bash: 'sh' }[language]}`;
		files[script] = { text: SCRIPTS[language], mode: 0o755 };
	}
	files['SKILL.md'] = { text: skillMd(name, description, script, tool), mode: 0o644 };
	return files;
}

/** All or nothing: the files are written beside the place, then moved there in one step. */
function create(folder, files, into) {
	if (!statSync(into, { throwIfNoEntry: false })?.isDirectory())
		throw new CreationError(`The folder ${into} doesn't exist.`);
	if (lstatSync(folder, { throwIfNoEntry: false }))
		throw new CreationError(`${folder} already exists. Nothing was changed; choose another name.`);
	const staging = mkdtempSync(join(into, '.new-skill-'));
	try {
		for (const [path, { text, mode }] of Object.entries(files)) {
			const target = join(staging, path);
			mkdirSync(dirname(target), { recursive: true });
			writeFileSync(target, text);
			chmodSync(target, mode);
		}
		chmodSync(staging, 0o755);
		renameSync(staging, folder);
	} catch (error) {
		rmSync(staging, { recursive: true, force: true });
		throw error;
	}
}

try {
	main(process.argv.slice(2));
} catch (error) {
	if (!(error instanceof UsageError || error instanceof CreationError || error.syscall)) throw error;
	console.error(error.message);
	process.exitCode = error instanceof UsageError ? 2 : 1;
}
