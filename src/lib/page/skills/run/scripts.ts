/** What can be run by hand, and with what input. Pure. */
import type { SkillDetail } from '../../../shared/skills.ts';
import type { SkillExecution } from '../../../shared/try-out.ts';
import { librarySkillOf } from '../../../shared/names.ts';
import { asArray, asObject } from '../../../shared/json.ts';
import type { NewCase } from '../../server.ts';
import { cleanText } from '../../text/clean-text.ts';
import { firstSentence, ownScripts, skillPage } from '../skill-words.ts';

/**
 * As SKILL.md names them. Files in `scripts/` or at the top level are meant to be run; deeper ones are mostly parts of
 * them.
 */
function mainScriptsFirst(scripts: readonly string[], files: SkillDetail['files']): string[] {
	const isMain = (script: string): boolean => /^(scripts\/)?[^/]+$/.test(script);
	const words = textOfSkill(files).split(/[^\w./-]+|\.(?=\s)/);
	const places = new Map(
		scripts.map((script) => {
			const name = script.replace(/^.*\//, '');
			const at = words.findIndex((word) => word === name || word.endsWith(`/${name}`));
			return [script, at < 0 ? Infinity : at];
		})
	);
	const placeOf = (script: string): number => places.get(script) ?? Infinity;
	return scripts.toSorted(
		(a, b) => Number(isMain(b)) - Number(isMain(a)) || (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b))
	);
}

function textOfSkill(files: SkillDetail['files']): string {
	return files.find(({ path }) => path === 'SKILL.md')?.text ?? '';
}

export interface Runnable {
	kind: 'script' | 'tool';
	/** Path of the script, or name of the tool. */
	name: string;
}

/** What of a skill can be run, and in which order. */
type Runs = Pick<SkillDetail, 'scripts' | 'tools' | 'files'>;

export function runnablesOf({ scripts, tools, files }: Runs): Runnable[] {
	return [
		...mainScriptsFirst(ownScripts(scripts), files).map((name): Runnable => ({ kind: 'script', name })),
		...tools.map((name): Runnable => ({ kind: 'tool', name }))
	];
}

/** How SKILL.md says to run a script: at most 5 of its lines of code that give it arguments, without its interpreter. */
export function usesOf(files: SkillDetail['files'], script: string): string[] {
	const name = script.replace(/^.*\//, '');
	const isScript = (word: string): boolean => word === name || word.endsWith(`/${name}`);
	let isFenced = false;
	const uses = textOfSkill(files)
		.split('\n')
		.flatMap((line) => {
			const isFence = /^\s*(```|~~~)/.test(line);
			if (isFence) isFenced = !isFenced;
			const codes =
				isFenced || /^(?: {4}|\t)/.test(line) ? [line] : [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
			return isFence ? [] : codes;
		});
	const found = uses.flatMap((code) => {
		const words = code.trim().split(/\s+/);
		const at = words.findIndex(isScript);
		return at >= 0 && at < words.length - 1 && code.length <= 300 ? [words.slice(at).join(' ')] : [];
	});
	return [...new Set(found)].slice(0, 5);
}

/** The comment or the docstring at the start of a text: in marks of its own, or line by line. */
const OPENING = /^\s*(?:\/\*+([^]*?)\*\/|[ru]?"""([^]*?)"""|[ru]?'''([^]*?)'''|((?:[ \t]*(?:#|\/\/).*(?:\n|$))+))/i;
/** Comments for programs, for lawyers, and on the line below. */
const NOTICE =
	/^(?:!|-\*-|@|eslint|shellcheck|pylint|vim:|SPDX|Copyright|\(c\)|©|Licen[cs]e|usage\b|(?:exit|stop|fail) (?:immediately|on)\b)|\blicensed under\b|\bstrict mode\b/i;
const MAX_PURPOSE = 200;

/** What a script says that it does, in a sentence: in what it begins with, or in its help. Empty if it doesn’t say. */
export function purposeOf(files: SkillDetail['files'], script: string): string {
	const whole = files.find(({ path }) => path === script)?.text?.slice(0, 10_000) ?? '';
	const [parser = ''] = /ArgumentParser\([^]{0,400}/.exec(whole) ?? [];
	const [, , help = ''] = /\bdescription\s*=\s*(["'])([^"'\n]+)\1/.exec(parser) ?? [];
	// Without the packages that a Python script lists for its runner.
	let text = whole.replace(/^# \/\/\/ \w+\n(?:#.*\n)*?# \/\/\/[ \t]*\n/m, '');
	const said: string[] = [];
	for (let found; said.length < 20 && (found = OPENING.exec(text)); text = text.slice(found[0].length)) {
		const lines = (found.slice(1).find(Boolean) ?? '').split('\n').map((line) => line.replace(/^[\s*#/]*/, '').trim());
		const kept = lines.filter((line) => !NOTICE.test(line));
		said.push(...kept.join('\n').split(/\n{2,}/));
	}
	const file = script.split('/').at(-1) ?? '';
	const names = [file, file.replace(/\.\w+$/, '')];
	return (
		[...said, help]
			.map((paragraph) => firstSentence(paragraph.replace(/\s+/g, ' ').replaceAll('`', '')))
			.map((each) =>
				each.replace(/^([\w.-]+)\s*[-–—:]+\s+/, (start, word: string) => (names.includes(word) ? '' : start))
			)
			.find((each) => each.split(' ').length > 2 && each.length <= MAX_PURPOSE) ?? ''
	);
}

/** The words of a command line, without their quotes. */
export function wordsOf(line: string): string[] {
	const words = line.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g) ?? [];
	return words.map((word) =>
		word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
			double === undefined ? (single ?? '') : double.replace(/\\(.)/g, '$1')
		)
	);
}

/** Initial input of a tool: the required properties, empty. */
export function emptyInput(schema: Record<string, unknown> | undefined): string {
	const { properties, required } = schema ?? {};
	const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
	const types = (typeof properties === 'object' && properties !== null ? properties : {}) as Record<string, unknown>;
	return JSON.stringify(Object.fromEntries(names.map((name) => [name, emptyValue(types[name])])), null, 2);
}

const EMPTY_VALUES: Record<string, unknown> = {
	string: '',
	number: 0,
	integer: 0,
	boolean: false,
	array: [],
	object: {}
};

function emptyValue(schema: unknown): unknown {
	const { type, enum: choices, default: value } = (schema ?? {}) as Record<string, unknown>;
	if (value !== undefined) return value;
	if (Array.isArray(choices) && choices.length > 0) return choices[0] as unknown;
	return typeof type === 'string' ? (EMPTY_VALUES[type] ?? null) : null;
}

/** Arguments, one per line. A line of a flag and more is read as a shell reads it: no program takes `--file x.txt` as one. */
export function argumentsIn(text: string): string[] {
	return linesOf(text).flatMap((line) => (/^--?[a-z][\w-]*\s+\S/i.test(line) ? wordsOf(line) : [line]));
}

/** Non-empty lines. */
export function linesOf(text: string): string[] {
	return text.split('\n').filter((line) => line !== '');
}

/** Those of these files that a run was given: by their path, or by a folder’s. */
export function filesGiven(paths: readonly string[], { args, input }: Pick<NewCase, 'args' | 'input'>): string[] {
	const textsIn = (value: unknown): string[] =>
		typeof value === 'string' ? [value] : Object.values(asObject(value)).concat(asArray(value)).flatMap(textsIn);
	const given = [...(args ?? []).flatMap((arg) => [arg, arg.replace(/^--?[^=]+=/, '')]), ...textsIn(input)].map(
		(text) => text.replace(/^\.\//, '').replace(/\/$/, '')
	);
	return paths.filter((path) => given.some((text) => text === '.' || path === text || path.startsWith(`${text}/`)));
}

/** @throws Error with a sentence if it isn't a JSON object */
export function readInput(text: string): Record<string, unknown> {
	let value: unknown;
	try {
		value = text.trim() === '' ? {} : JSON.parse(text);
	} catch (error) {
		throw new Error(`The input isn’t valid JSON: ${error instanceof Error ? error.message : String(error)}`, {
			cause: error
		});
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new Error('The input must be a JSON object, such as {"text": "…"}.');
	return value as Record<string, unknown>;
}

/** Initial values of the run form, from an earlier execution. */
export interface RunPreset {
	/** Index in `runnablesOf`. */
	index: number;
	/** Arguments, one per line, or tool input as JSON; null if they can't be shown that way. */
	text: string | null;
	/** Of a run by hand: where its files are. */
	folder?: string;
	/** Of a run by hand. */
	executionId?: string;
}

/** Address of the run form. Prefilled by execution id, so that no address can say what to run a script with. */
export function runPage(skillId: string, executionId?: string): string {
	return `${skillPage(skillId)}#run${executionId === undefined ? '' : `?execution=${encodeURIComponent(executionId)}`}`;
}

/** The same, with a script or tool chosen. */
export function runScriptPage(skillId: string, script: string): string {
	return `${skillPage(skillId)}#run?script=${encodeURIComponent(script)}`;
}

/** The execution, or the script or tool, named by an address's hash; null if it names none. */
export function namedInHash(hash: string, what: 'execution' | 'script'): string | null {
	return hash.startsWith('#run?') ? new URLSearchParams(hash.slice('#run?'.length)).get(what) || null : null;
}

/** What each was last run with by hand, newest first. */
export function lastPresets(
	executions: readonly SkillExecution[],
	skill: Runs & Pick<SkillDetail, 'skillId'>
): RunPreset[] {
	const presets = executions
		.filter(({ sessionId }) => sessionId?.startsWith('run-'))
		.flatMap((execution) => presetOf(execution, skill) ?? []);
	return presets.filter(({ index }, at) => presets.findIndex((each) => each.index === index) === at);
}

/** Null for an execution of another skill, or of something this one no longer has. */
export function presetOf(
	execution: Pick<SkillExecution, 'id' | 'skillId' | 'script' | 'tool' | 'argv' | 'input' | 'conversationId'>,
	skill: Runs & Pick<SkillDetail, 'skillId'>
): RunPreset | null {
	const { tool, script } = execution;
	const index = runnablesOf(skill).findIndex(({ kind, name }) =>
		tool === null ? kind === 'script' && name === script : kind === 'tool' && name === tool
	);
	if (librarySkillOf(execution.skillId) !== skill.skillId || index < 0) return null;
	const text = tool === null ? printLines(execution.argv) : printInput(execution.input);
	const { id, conversationId: folder } = execution;
	return {
		...{ index, text: text === null || cleanText(text) === text ? text : null },
		...(folder?.startsWith('run-') && { folder, executionId: id })
	};
}

function printLines(args: readonly string[]): string | null {
	return args.some((arg) => arg === '' || arg.includes('\n')) ? null : args.join('\n');
}

/** The record may have cut off long input. */
function printInput(input: string | null): string | null {
	try {
		return input === null ? null : JSON.stringify(JSON.parse(input), null, 2);
	} catch {
		return null;
	}
}
