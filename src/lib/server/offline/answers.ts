/** What demo mode says: what it asks, what it has run and how that went, what there is. */
import { errorLine, isTrace } from '../../shared/errors.ts';
import { asArray, asObject, asText, type JsonObject, parseJson } from '../../shared/json.ts';
import { ASKED, NEXT, offeredIn, ONLY_SCRIPTS, UNFIT, unusableLine } from '../../shared/questions.ts';
import { scriptsNamedIn, tokenize } from '../skills/find/words.ts';
import {
	type CatalogSkill,
	type FinishedCall,
	type History,
	LOAD_SKILL,
	type LoadedSkill,
	type Shelved,
	USE_SKILL
} from './history.ts';
import { fenced, inlineCode, renderOutput, renderValue } from './markdown.ts';
import type { Action, Work } from './actions.ts';
import { isFileName, isSeen, type Slot, slotWords, wantedExtensions, wordsForFile } from './slots.ts';

/** What is asked before anything runs. */
export type Ask =
	/** `isEither`: which of the values that were said, as it takes only one. */
	| { about: 'value'; action: Action; slot: Slot; isEither?: boolean }
	/** Something was said that would not be used. */
	| { about: 'left'; action: Action; left: string[] }
	| { about: 'action'; actions: Action[] }
	/** It speaks of a file, and there is none. */
	| { about: 'file' }
	| { about: 'skill'; skills: string[] }
	/** What can be done with a file that it can't answer a question about, or where it was asked what it can do; without a file, which one is meant. */
	| { about: 'work'; file: string | null; works: ReadonlyMap<string, Work>; isHelp: boolean };

const CONNECT = 'For real answers, connect a model in **Settings**.';
const INSTALLING = 'To install a skill, press **Install** in **Skills**, or drop its folder or zip on this page. ';
const LAST_COMMA = /, (?=[^,]*$)/;
const MAX_LISTED = 40;
/** So many skills can be picked from. */
const MAX_SKILLS = 12;
export const ABOUT =
	'Demo mode: no AI model is connected. Simple rules match your words with the skills and run their scripts.';
const UNABLE = 'Demo mode does what skills can do; anything else needs a model.';
const MAX_ERROR_LINES = 12;
/** So many lines of a failed script are a message, and are shown whole. */
const SHORT_MESSAGE = 5;

/** One question, and what there is to choose from. */
export function askText(ask: Ask): string {
	const list = (items: readonly string[]) => items.map((item, index) => `${index + 1}. ${item}`).join('\n');
	return [...linesOf(), ASKED].join('\n\n');

	function linesOf(): string[] {
		if (ask.about === 'skill') {
			const names = ask.skills.map((name) => `**${name}**`);
			return ['Which skill should I use?', list(names), 'Reply with its number or name.'];
		}
		if (ask.about === 'work') {
			const lead = ask.isHelp ? ABOUT : 'Demo mode can’t answer this without a model.';
			const works = list([...ask.works.keys()]);
			const first =
				ask.file === null ? 'Which file do you mean?' : `${lead} With ${inlineCode(ask.file)} it can do this:`;
			return [first, works, 'Reply with its number.'];
		}
		if (ask.about === 'file') return ['Which file do you mean? Attach it and send it.'];
		if (ask.about === 'action') {
			const shown = [...choicesOf(ask.actions)].map(([text, [action]]) =>
				action && text === shortForm(action.form) ? inlineCode(text) : text
			);
			return ['Which of these do you want?', list(shown), 'Reply with its number.'];
		}
		if (ask.about === 'value') return [needFor(ask.slot, ask.action.purpose) ?? questionFor(ask.slot)];
		const pieces = ask.left.slice(0, 5).map((piece) => `“${piece}”`);
		const words = ask.action.slots.flatMap((slot) =>
			/^(switch|file|output)$/.test(slot.kind) || wordsFor(slot) === '' ? [] : `**${wordsFor(slot)}**`
		);
		const parts = [...new Set(words)].slice(0, 6).join(', ').replace(LAST_COMMA, ' or ');
		return [
			`What should I do with ${pieces.join(', ')}? I can't tell where it belongs.`,
			`${parts === '' ? 'Say it in other words' : `Say what it is (${parts})`}, or reply “ignore it”.`
		];
	}
}

/** What a person can choose from: what each command does, else its name with what it needs, or its form where that is not its own. */
export function choicesOf(actions: readonly Action[]): Map<string, Action[]> {
	const isOwn = ({ purpose, label }: Action) =>
		purpose !== '' && actions.every((other) => other.purpose !== purpose || other.label === label);
	const isOnly = (action: Action) =>
		actions.every((other) => other.form === action.form || inWords(other) !== inWords(action));
	const wordsOf = (action: Action) =>
		isOwn(action) ? action.purpose : isOnly(action) ? inWords(action) : shortForm(action.form);
	// Not `Map.groupBy`: programs that use the library may run on Node 20.
	const choices = [...new Set(actions.map(wordsOf))];
	return new Map(choices.map((words) => [words, actions.filter((action) => wordsOf(action) === words)]));
}

/** `Tide with time` for `scripts/tide.mjs HH:MM`. */
function inWords({ label, slots }: Action): string {
	const [script = '', ...rest] = label.split(' ');
	const name = slotWords(script.replace(/^.*\/|\.\w+$/g, '')).join(' ');
	const needed = slots.flatMap((slot) => {
		const own = slot.flag === null || PLAIN.test(slot.name.toLowerCase()) ? [] : slotWords(slot.name);
		return slot.isRequired && wordsFor(slot) !== '' ? [wordsFor(slot), ...own].join(' ') : [];
	});
	const text = [name, ...rest, ...(needed.length > 0 ? ['with', needed.join(' and ')] : [])].join(' ');
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a person calls the value; '' where nothing says it. */
function wordsFor({ name, flag, kind }: Slot): string {
	const words = slotWords(flag ?? name).join(' ');
	return PLAIN.test(words) ? (WHAT[kind] ?? (/^(number|time|date)$/.test(kind) ? kind : '')) : words;
}

/** With a few of its options: nobody reads twelve. */
function shortForm(form: string): string {
	const [, kept = form, rest = ''] = /^((?:[^[]*\[[^\]]*\]){3})(.*)$/s.exec(form) ?? [];
	return rest.includes('[') ? `${kept} …` : form;
}

const WHAT: Partial<Record<Slot['kind'], string>> = { url: 'web address', email: 'email address', text: 'text' };

/** The name of a value that is called by what it is, or by one letter, tells nothing more. */
const PLAIN = /^(.?|text|string|value|number|file|input|path|url|date|time|output|args?|arguments?|hh mm|yyyy mm dd)$/;

/** `To create a skill, I need its **name**: …`, where the command says what it does; else null. */
function needFor({ name, flag, choices, kind, about }: Slot, purpose: string): string | null {
	const words = slotWords(flag ?? name).join(' ');
	const job = /^(?:to )?((?!(?:how|what|which|a|an|the|one|all|this)\b)[a-z]*[^\Ws](?:ss)?\b.*)$/i.exec(purpose)?.[1];
	if (job === undefined || choices.length > 0 || /^(file|output|date)$/.test(kind)) return null;
	const [said = ''] = about.replace(/^\W*`[^`]*`[\s:|–-]*/, '').split(/\.(?=\s|$)|;|\s\|/, 1);
	const more = said === '' || said.length > 160 ? '' : `: ${said.replaceAll('**', '').trim()}`;
	const own = flag !== null && kind === 'name' ? ` ${slotWords(name).join(' ')}` : '';
	const thing = PLAIN.test(words)
		? `a ${WHAT[kind] ?? (/^(number|time)$/.test(kind) ? kind : 'value')}`
		: `the **${words}**${own}`;
	return `To ${job.charAt(0).toLowerCase()}${job.slice(1)}, I need ${thing.replace(/^a (?=e)/, 'an ')}${more}.`;
}

function questionFor(slot: Slot): string {
	const { name, flag, choices, kind } = slot;
	const words = slotWords(flag ?? name).join(' ');
	const isPlain = PLAIN.test(words);
	const purpose = isPlain || words === kind ? '' : ` for **${words}**`;
	const [extension] = wantedExtensions(slot);
	if (choices.length > 0) {
		const shown = choices.slice(0, 20).map(inlineCode).join(', ').replace(LAST_COMMA, ' or ');
		return `Which ${name.includes('|') ? 'one' : `**${words}**`}: ${shown}?`;
	}
	if (kind === 'file')
		return `Which ${extension === undefined ? '' : `.${extension} `}file should I use${purpose}? Attach it or type its name.`;
	if (kind === 'output') return `What should I call the new file${purpose}?`;
	if (kind === 'date') return `Which date should I use${purpose}? Type it like 2025-03-31.`;
	// `--group-by COLUMN`
	const own = flag === null ? '' : slotWords(name).join(' ');
	if (kind === 'name' && own.length > 2 && own !== words) return `Which ${own} should I use for **${words}**?`;
	const what = WHAT[kind] ?? (/^(number|time)$/.test(kind) ? kind : purpose === '' ? 'value' : '');
	const example = kind === 'time' ? ' Type it like 14:30.' : '';
	return `What ${what === '' ? '' : `${what} `}should I use${purpose}?${example}`;
}

/** For a message that fits nothing, or asks what it can do. `said` before it: no answer to a question is told so, once. */
export function offerText(
	skills: readonly CatalogSkill[],
	said: string,
	{ isHelp, isOfFile, file }: { isHelp: boolean; isOfFile: boolean; file: string | undefined }
): string {
	if (said.includes(ASKED) && !isHelp) {
		const takes = offeredIn(said).answers.length > 1 ? 'a number of the list' : 'a value or “ignore it”';
		return `Demo mode can’t use this as an answer: it understands ${takes}. Ask again with everything in one message, or reply “never mind”.\n\n${CONNECT}`;
	}
	if (skills.length === 0) return [ABOUT, 'Without a skill it can’t answer this.', CONNECT].join('\n\n');
	const shown = skills.slice(0, MAX_SKILLS);
	const more = skills.length > MAX_SKILLS ? 'All are listed in **Skills**, where more can be installed. ' : INSTALLING;
	const asks = [...(file === undefined ? [] : [`What can I ask about ${file}?`]), 'What can you do?'];
	const attach = isOfFile ? ['If it’s about a file of yours, attach that and ask again.'] : [];
	if (!isHelp) return [[UNFIT, UNABLE, ...attach, NEXT].join(' '), listed(asks), more + CONNECT].join('\n\n');
	const known = shown.map(({ name, description }) => {
		const sentence = /^[^]{1,300}?[.!?](?=\s|$)/.exec(description)?.[0] ?? description.slice(0, 200);
		return `- **${name}**${sentence === '' ? '' : ` – ${sentence.replace(/\s+/g, ' ').trim()}`}`;
	});
	return [ABOUT, NEXT, known.join('\n'), more + CONNECT].join('\n\n');
}

/** For what no script does, such as a poem, with what can be asked about a file. */
export function unableText(what: string, offer: readonly string[], file?: string): string {
	// A text is quoted, and not summed up.
	const whole = wordsForFile(file ?? '').includes('table') ? [`Summarise ${file}`] : [];
	const own = file === undefined ? [] : [...offer.slice(0, 2), ...whole, `What can I ask about ${file}?`];
	const asks = own.length > 0 ? own.slice(0, 3) : ['What can you do?'];
	return [`Demo mode can’t ${what}: ${ONLY_SCRIPTS} ${NEXT}`, listed(asks), CONNECT].join('\n\n');
}

/** For skills that were meant and can’t be used. */
export function unusableText(skills: History['unusable']): string {
	const ways = [...new Set(skills.map(wayBack))];
	return ways
		.flatMap((way) => [...skills.filter((skill) => wayBack(skill) === way).map((skill) => unusableLine(skill)), way])
		.join('\n\n');
}

/** For a message that wants a skill changed: `on`, `off` or null, to delete it. */
export function changeText(name: string, to: string | null): string {
	const verb = to === null ? 'delete it' : `turn it ${to}`;
	return `Demo mode can’t change skills. To ${verb}, open **${name}** in **Skills**.`;
}

/** Instead of an answer that stands above, with what it offers. */
export function sameText(answer: string): string {
	const { answers } = offeredIn(answer);
	const offer = answers.length > 0 ? [NEXT, listed(answers)] : [];
	return ['The answer is the one above. Demo mode can’t say more about it.', ...offer, CONNECT].join('\n\n');
}

/** For a message that no skill fits but one that can’t be used. */
export function shelvedText(skill: Shelved): string {
	return `${unusableLine(skill, 'would fit, but it’s')} ${wayBack(skill)}`;
}

function wayBack({ why }: { why: string }): string {
	if (why.startsWith('not')) return INSTALLING.trim();
	const verb = why === 'off' ? 'Turn it on' : why.startsWith('broken') ? 'Fix it' : 'Restore it';
	return `${verb} in **Skills**, then ask again.`;
}

/** A greeting, where there are files to ask about. */
export function welcomeText(files: readonly string[], offer: readonly string[]): string {
	const asks = offer.length > 0 ? offer : [...files.map((file) => `What can I ask about ${file}?`), 'What can you do?'];
	return [`Hello. Ask about ${files.map(inlineCode).join(', ')}.`, NEXT, listed(asks)].join('\n\n');
}

/** For attachments that only a model could look at, or, where only that was asked, all; '' where there is none. */
export function unreadText(attached: readonly string[], isWhole: boolean): string {
	const names = attached.filter((path) => isWhole || isSeen(path)).map(inlineCode);
	return names.length === 0
		? ''
		: `Demo mode can’t look into ${names.join(', ')}: a model can. Connect one in Settings, or name a skill and what it should do with the file.`;
}

function listed(asks: readonly string[]): string {
	return asks.map((text) => `- ${text}`).join('\n');
}

/** A skill without anything to run: the sections that speak of what was asked, or its outline. */
export function instructionsText({ name, body, files }: LoadedSkill, asked: string): string {
	const sections = sectionsOf(body);
	const words = new Set(tokenize(asked));
	const count = (text: string) => new Set(tokenize(text).filter((word) => words.has(word))).size;
	const points = sections.map(({ title, text }) => count(`${title} ${text}`) + count(title));
	const best = Math.max(2, ...points);
	const shown = sections.filter((_, index) => points[index] === best).slice(0, 2);
	const outline = sections.slice(0, MAX_LISTED).map(({ level, title }) => `${'  '.repeat(level)}- ${title}`);
	// Where no file was told, nothing is known to be missing.
	const missing = files.length === 0 ? [] : [...scriptsNamedIn(body).keys()].filter((path) => !files.includes(path));
	const lead =
		missing.length > 0
			? `The instructions of **${name}** name ${missing.map(inlineCode).join(', ')}, but the skill has no such file. Correct the name there, or add the file.`
			: `The instructions of **${name}** name no command that demo mode could run. Run its scripts by hand in the **Run** tab of the skill's page.`;
	return [
		...shown.map(({ title, text }) => `**${title}**\n\n${text.slice(0, 2_000)}`),
		lead,
		...(outline.length > 0 ? [`It covers:\n\n${outline.join('\n')}`] : []),
		CONNECT
	].join('\n\n');
}

function sectionsOf(body: string): { level: number; title: string; text: string }[] {
	const sections: { level: number; title: string; text: string }[] = [];
	let fence: string | null = null;
	for (const line of body.split('\n')) {
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (mark !== undefined) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
		const [, marks, title = ''] = (fence === null && /^(#{1,6})\s+(\S.*)$/.exec(line)) || [];
		const last = sections.at(-1);
		if (marks !== undefined) sections.push({ level: Math.max(0, marks.length - 2), title: title.trim(), text: '' });
		else if (last) last.text = `${last.text}\n${line}`.trim();
	}
	return sections.length > 1 && /^# /m.test(body.slice(0, 2_000)) ? sections.slice(1) : sections;
}

// What the calls of a turn answered: results, files, failures.

/** Each result in turn; where one answers, not those that refuse. What was run stands in the steps. */
export function reportText(calls: readonly FinishedCall[]): string {
	const answering = calls.filter((call) => !isRefusal(call));
	if (answering.length === 0) {
		const refusals = calls.toReversed().map(reportCall);
		const isTold = (text: string, at: number) => refusals.findIndex((each) => leadOf(each) === leadOf(text)) < at;
		return [...refusals.filter((text, at) => !isTold(text, at)), CONNECT].join('\n\n');
	}
	const reports = answering.map((call) => {
		const text = reportCall(call);
		return answering.length > 1 && !hasFailed(call) ? `${titleOf(call)}:\n\n${text}` : text;
	});
	// What one file has only a part of may take another one, too.
	const isPartly = answering.length < calls.length && reports.some((text) => text.includes('No such sentence has'));
	const others = isPartly
		? [
				'One question can look at one file at a time.',
				...calls.filter(isRefusal).map((call) => leadOf(reportCall(call)))
			]
		: [];
	return [...reports, others.join(' ')].filter(Boolean).join('\n\n');
}

function leadOf(text: string): string {
	return text.trim().split('\n', 1)[0] ?? '';
}

/** A script that read a question and has no answer says so in its first sentence. */
export function isRefusal(call: FinishedCall): boolean {
	return (
		call.name === USE_SKILL &&
		/^[^\n]{1,300} can['’]t answer that\b/m.test((asText(resultOf(call).stdout) ?? '').slice(0, 2_000))
	);
}

function resultOf({ output }: FinishedCall): JsonObject {
	return asObject(parseJson(output));
}

function hasFailed(call: FinishedCall): boolean {
	const result = resultOf(call);
	if (call.name === USE_SKILL || call.name === LOAD_SKILL)
		return result.ok === false || asText(result.error) !== undefined;
	// A tool's own result may well have a member named so; a failure has little else.
	const failureKeys = ['ok', 'error', 'type', 'message', 'hint', 'stdout', 'stderr', 'exitCode'];
	return asText(result.error) !== undefined && Object.keys(result).every((key) => failureKeys.includes(key));
}

function reportCall(call: FinishedCall): string {
	if (hasFailed(call)) return reportFailure(call);
	if (call.name !== USE_SKILL) return renderValue(call.output);
	const { stdout, stderr, truncated, files } = resultOf(call);
	const printed = renderOutput(asText(stdout) ?? '');
	const warnings = asText(stderr)?.trim() ?? '';
	const nothing =
		warnings === '' ? `${inlineCode(nameOf(call))} ran and printed nothing.` : fenced(lastLines(warnings));
	const cut = truncated === true ? 'The output was longer than is shown here.' : '';
	return [printed || nothing, cut, reportFiles(files, printed)].filter((part) => part !== '').join('\n\n');
}

function reportFailure(call: FinishedCall): string {
	const result = resultOf(call);
	const [error, message] = [asText(result.error), asText(result.message)];
	const type = asText(result.type) ?? (message === undefined ? undefined : error);
	const name = inlineCode(nameOf(call));
	if (error === 'ApprovalDenied') return `You didn’t allow ${name}, so it didn’t run. Ask again to run it.`;
	const what = call.name === LOAD_SKILL ? `The skill ${name} could not be loaded` : `${name} failed`;
	const [output, errors] = [asText(result.stdout)?.trim(), asText(result.stderr)?.trim()];
	const reason = message ?? (error === type ? '' : error);
	const hasExited = / ended with exit code \d+\.$/.test(reason ?? '');
	const button = buttonFor(type, message ?? '');
	// The step above has the rest of it, and its exit code.
	const said = hasExited ? (errors ?? output ?? '') : '';
	const line = errorLine(said);
	const lines = said.split('\n').length;
	// One line is part of the sentence.
	const isBlock = lines > 1 && lines <= SHORT_MESSAGE && !isTrace(said);
	const advice = button ?? asText(result.hint) ?? adviceAfter(type, said);
	return [
		line === null || isBlock ? `${what}.` : `${what}: ${inlineCode(line)}`,
		line !== null && isBlock && fenced(said),
		hasExited ? '' : reason,
		// What it printed before it lacked something is in the step.
		!hasExited && button === null && output && renderOutput(output),
		!hasExited && errors && fenced((isTrace(errors) ? errorLine(errors) : null) ?? lastLines(errors)),
		reportFiles(result.files, ''),
		advice && `**What to do**: ${advice}`
	]
		.filter(Boolean)
		.join('\n\n');
}

/** The hint speaks to a model, which has no buttons. */
function buttonFor(type: string | undefined, message: string): string | null {
	const label = {
		MissingPackage: message.replace(/^.* package (\S+), which isn’t installed\.$/s, 'Install $1'),
		MissingVariable: message.replace(/^.* variable (\S+), which isn’t set\.$/s, 'Set $1'),
		HostNotAllowed: message.replace(/^.* allowed to reach (\S+)\.$/s, 'Allow $1').replace(/^This .*/s, 'Allow hosts')
	}[type ?? ''];
	return label === undefined || label === message ? null : `Press **${label}** in the step above.`;
}

function adviceAfter(type: string | undefined, said: string): string {
	if (type === 'ExecutionTimeout')
		return 'Ask again with less to work on, or raise the time limit of scripts in Settings → Limits.';
	return type === 'ExecutionFailed' && isTrace(said)
		? 'If what it was given is right, fix the script with **Edit skill** in the step above. Then ask again.'
		: '';
}

/** Those that the text doesn't name already. */
function reportFiles(files: unknown, text: string): string {
	const lines = asArray(files).flatMap((file) => {
		const { path, bytes } = asObject(file);
		if (typeof path !== 'string' || text.includes(path)) return [];
		return `- ${inlineCode(path)}${typeof bytes === 'number' ? ` (${bytes} bytes)` : ''}`;
	});
	return lines.length > 0 ? `${lines.length === 1 ? 'File' : 'Files'} written:\n\n${lines.join('\n')}` : '';
}

/** The script of a run, the skill of a load, else the tool. */
function nameOf(call: FinishedCall): string {
	const { script, skill } = asObject(parseJson(call.arguments));
	return (call.name === USE_SKILL ? asText(script) : call.name === LOAD_SKILL ? asText(skill) : undefined) ?? call.name;
}

/** The files that a script was given, else its name. */
function titleOf(call: FinishedCall): string {
	const args = asArray(asObject(parseJson(call.arguments)).args).map(String);
	const end = args.findIndex((arg) => arg.startsWith('-'));
	const files = args.slice(0, end < 0 ? undefined : end).filter(isFileName);
	return files.length > 0 ? `**${files.join(', ')}**` : inlineCode(nameOf(call));
}

function lastLines(text: string): string {
	const lines = text.trimEnd().split('\n');
	return [...(lines.length > MAX_ERROR_LINES ? ['…'] : []), ...lines.slice(-MAX_ERROR_LINES)].join('\n');
}
