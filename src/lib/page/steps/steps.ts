/** Texts for a tool call: label, skill, command, result, decision. Pure. */
import { markHidden } from '../../shared/characters.ts';
import type { ApprovalDecision } from '../../shared/events.ts';
import { errorLine } from '../../shared/errors.ts';
import {
	isBuiltinCall,
	isEditorTool,
	isServerCall,
	mcpServerOf,
	mcpToolOf,
	builtinNameOf
} from '../../shared/names.ts';
import { type Approval, type Execution, openQuestions, type ToolPart, type ToolStatus } from '../../shared/message.ts';
import { cleanText } from '../text/clean-text.ts';
import { parseObject, PartialArguments, printWord } from './step-arguments.ts';

type Tense = 'now' | 'past' | 'plain';
type Tensed = Record<Tense, string>;
/** `{}` stands for the object. */
const said = (now: string, past: string, plain: string): Tensed => ({ now, past, plain });
/** By tool name, for `browser` also by action. */
const labels: Record<string, Tensed> = {
	load_skill: said('Loading skill {}', 'Loaded skill {}', 'Load skill {}'),
	read_skill_file: said('Reading {}', 'Read {}', 'Read {}'),
	search_skills: said('Searching skills for {}', 'Searched skills for {}', 'Search skills for {}'),
	search_skill_catalogs: said('Searching catalogs for {}', 'Searched catalogs for {}', 'Search catalogs for {}'),
	define_tool: said('Defining tool {}', 'Defined tool {}', 'Define tool {}'),
	remove_tool: said('Removing tool {}', 'Removed tool {}', 'Remove tool {}'),
	request_skill: said('Getting skill {}', 'Installed skill {}', 'Install skill {}'),
	save_as_skill: said('Making a draft of a skill', 'Made a draft of a skill', 'Make a draft of a skill'),
	list_skills: said('Listing skills', 'Listed skills', 'List skills'),
	file_read: said('Reading {}', 'Read {}', 'Read {}'),
	look_at_file: said('Looking at {}', 'Looked at {}', 'Look at {}'),
	file_write: said('Writing {}', 'Wrote {}', 'Write {}'),
	http_request: said('Requesting {}', 'Requested {}', 'Request {}'),
	web_search: said('Searching the web for {}', 'Searched the web for {}', 'Search the web for {}'),
	'openrouter:web_search': said('Searching the web for {}', 'Searched the web for {}', 'Search the web for {}'),
	web_search_call: said('Searching the web for {}', 'Searched the web for {}', 'Search the web for {}'),
	'openrouter:web_fetch': said('Reading {}', 'Read {}', 'Read {}'),
	'openrouter:datetime': said('Looking at the clock', 'Looked at the clock', 'Look at the clock'),
	image_generation_call: said('Making a picture', 'Made a picture', 'Make a picture'),
	'openrouter:image_generation': said('Making a picture', 'Made a picture', 'Make a picture'),
	eval_code: said('Running {}', 'Ran {}', 'Run {}'),
	execute_command: said('Running {}', 'Ran {}', 'Run {}'),
	editor_list: said('Listing files of the project', 'Listed files of the project', 'List files of the project'),
	editor_read: said('Reading {}', 'Read {}', 'Read {}'),
	editor_write: said('Writing {}', 'Wrote {}', 'Write {}'),
	editor_edit: said('Editing {}', 'Edited {}', 'Edit {}'),
	editor_run: said('Running {}', 'Ran {}', 'Run {}'),
	browser_open: said('Opening {}', 'Opened {}', 'Open {}'),
	browser_text: said('Reading page {}', 'Read page {}', 'Read page {}'),
	browser_click: said('Clicking {}', 'Clicked {}', 'Click {}'),
	browser_type: said('Typing into {}', 'Typed into {}', 'Type into {}'),
	browser_screenshot: said('Taking screenshot {}', 'Took screenshot {}', 'Take screenshot {}'),
	browser_close: said('Closing page', 'Closed page', 'Close page')
};
const statusText = {
	preparing: 'Preparing',
	waiting: 'Needs approval',
	handed: 'Waiting for the client',
	asking: 'Waiting for you',
	queued: 'Waiting for a worker',
	installing: 'Installing packages',
	running: 'Running',
	done: 'Done',
	failed: 'Failed',
	timeout: 'Timed out',
	denied: 'Denied',
	refused: 'Not installed',
	cancelled: 'Stopped',
	interrupted: 'Interrupted'
};
const runText = said('Running {}', 'Ran {}', 'Run {}');

const codeText = (language: string) => (language === '' ? 'code' : `${language} code`);

export interface StepFacts {
	/** "Loaded skill weather", "Running scripts/report.py". */
	label: string;
	skill: string | null;
	/** The skill or the tool; null if the label names it. */
	chip: string | null;
}

export function isDenied({ status, approval }: Pick<ToolPart, 'status' | 'approval'>): boolean {
	return status === 'failed' && approval?.decision?.choice === 'deny';
}

export const isTimeout = ({ error }: Pick<Execution, 'error'>): boolean => error === 'ExecutionTimeout';

export function statusWord(part: Pick<ToolPart, 'status' | 'approval' | 'execution' | 'questions'>): string {
	if (part.status === 'failed' && part.execution && isTimeout(part.execution)) return statusText.timeout;
	if (openQuestions(part).length > 0) return statusText.asking;
	if (part.status === 'waiting' && !part.approval) return statusText.handed;
	if (part.status === 'running' && part.execution?.isWaiting) {
		return part.execution.waitsFor === 'packages' ? statusText.installing : statusText.queued;
	}
	return statusText[isDenied(part) ? (part.approval?.install ? 'refused' : 'denied') : part.status];
}

const MAX_COMMAND = 4_000;
const MAX_LABEL = 160;
const MAX_PROBLEM = 300;
/** The label's parts are near the start of the JSON. */
const MAX_PARSED = 65_536;

export function describeStep(part: ToolPart): StepFacts {
	const mcp = mcpLabelOf(part);
	if (mcp !== null && part.headline) return { label: oneLine(part.headline), skill: null, chip: oneLine(mcp) };
	if (mcp !== null) return { label: oneLine(mcp), skill: null, chip: null };
	const values = valuesOf(part);
	const skill = skillOf(part, values);
	const label = oneLine(part.headline || (intentOf(values) ?? labelOf(part, values, skill)));
	const shown = skill === null ? null : markHidden(skill);
	const chip = shown !== null && label.includes(shown) ? null : shown;
	const isServers = isServerCall(part.name);
	const tool = isServers || label.includes(part.name) || part.name === 'use_skill' ? null : markHidden(part.name);
	return { label, skill: shown, chip: chip ?? (shown === null ? tool : null) };
}

/** Of a call that is over, as evals keep it: `tool: arguments`, which may be cut off. */
export function describeCall(call: string): string {
	const [name = '', ...rest] = call.split(': ');
	return describeStep({ type: 'tool', id: '', name, arguments: rest.join(': '), status: 'done' }).label;
}

/** "Ran add of demo"; null if it isn't an MCP tool. */
function mcpLabelOf(part: ToolPart): string | null {
	const { execution } = part;
	const server = mcpServerOf(execution?.skill ?? '');
	const found = server === null ? mcpToolOf(part.name) : { server, tool: execution?.tool ?? '' };
	return found && runText[tenseOf(part)].replace('{}', () => `${found.tool} of ${found.server}`);
}

/** The model's own description of the call, if the tool asks for one. */
function intentOf(values: Values): string | null {
	const intent = textOf(values, ['_intent', 'intent']);
	return intent !== null && intent.length <= MAX_LABEL ? intent : null;
}

function labelOf(part: ToolPart, values: Values, skill: string | null): string {
	const builtin = builtinNameOf(part.execution?.tool ?? part.name);
	const key = builtin === 'browser' ? `browser_${textOf(values, ['action']) ?? ''}` : (builtin ?? part.name);
	const words = Object.hasOwn(labels, key) ? labels[key] : undefined;
	const subject = words ? subjectOf(part, key, values, skill) : nameOf(part, values);
	return (words ?? runText)[tenseOf(part)].replace('{}', () => subject).trim();
}

function subjectOf(part: ToolPart, key: string, values: Values, skill: string | null): string {
	const path = textOf(values, ['path', 'file', 'file_path', 'filename']);
	switch (key) {
		case 'load_skill':
			return skill ?? '';
		case 'read_skill_file':
			return path && skill ? `${skill}/${path}` : (path ?? (skill ? `files in ${skill}` : ''));
		case 'openrouter:web_fetch':
		case 'http_request':
		case 'browser_open':
			return hostOf(textOf(values, ['url']) ?? '');
		case 'request_skill':
			return part.approval?.skill ?? textOf(values, ['id'])?.split(/[/#]/).at(-1) ?? '';
		case 'define_tool':
		case 'remove_tool':
			return textOf(values, ['name']) ?? '';
		case 'search_skills':
		case 'search_skill_catalogs':
		case 'web_search':
		case 'web_search_call':
		case 'openrouter:web_search':
			return `“${textOf(values, ['query', 'q']) ?? '…'}”`;
		case 'eval_code':
			return codeText(textOf(values, ['language']) ?? '');
		case 'execute_command':
		case 'editor_run':
			return textOf(values, ['command']) ?? '';
		default:
			return path ?? textOf(values, ['selector']) ?? '';
	}
}

/** Fallback for tools without a label. */
function nameOf({ name, execution }: ToolPart, values: Values): string {
	if (name === 'browser') return 'the browser';
	if (execution) return execution.tool ?? execution.script;
	return name === 'use_skill' ? (textOf(values, ['script', 'tool']) ?? 'a script') : name;
}

function hostOf(url: string): string {
	return URL.canParse(url) ? new URL(url).host : url;
}

const SKILL_TOOLS = new Set(['load_skill', 'use_skill', 'read_skill_file']);

function skillOf({ name, loaded, execution }: ToolPart, values: Values): string | null {
	const known = loaded?.skill ?? execution?.skill;
	if (known !== undefined) return builtinNameOf(known) === null && !isEditorTool(known) ? known : null;
	return SKILL_TOOLS.has(name) ? textOf(values, ['skill', 'skill_name', 'name']) : null;
}

function tenseOf({ status, execution }: ToolPart): Tense {
	if (status === 'preparing' || status === 'running') return 'now';
	// A failed script did run.
	const hasRun = status === 'done' || (status === 'failed' && execution?.exitCode !== undefined);
	return hasRun ? 'past' : 'plain';
}

type Values = Record<string, unknown>;

function valuesOf({ status, arguments: json }: Pick<ToolPart, 'status' | 'arguments'>): Values {
	const whole = status === 'preparing' || json.length > MAX_PARSED ? null : parseObject(json);
	if (whole) return whole;
	const lines = new PartialArguments().read(json.slice(0, MAX_PARSED));
	return Object.fromEntries(lines.filter(({ isOpen }) => !isOpen).map(({ name, value }) => [name, value]));
}

function textOf(values: Values, names: string[]): string | null {
	for (const name of names) {
		const value = Object.hasOwn(values, name) ? values[name] : undefined;
		if (typeof value === 'string' && value !== '') return value.slice(0, 200);
	}
	return null;
}

function oneLine(label: string): string {
	const line = markHidden(label.replace(/\s+/g, ' '));
	return line.length > MAX_LABEL ? `${line.slice(0, MAX_LABEL).trimEnd()}…` : line;
}

/** The error in plain words, without the exit code. Empty on success. */
export function problemOf({ message = '', tool, output }: Pick<Execution, 'message' | 'tool' | 'output'>): string {
	if (!/ ended with exit code -?\d+\.$/.test(message)) return cleanText(message);
	const complaints = output.filter(({ stream, text }) => stream === 'stderr' && text.trim() !== '');
	const said = (complaints.length > 0 ? complaints : output).map(({ text }) => text).join('');
	const line = errorLine(cleanText(said.slice(-16_384)));
	if (line !== null) return line.length > MAX_PROBLEM ? `${line.slice(0, MAX_PROBLEM)}…` : line;
	return `${tool === undefined ? 'The script failed' : 'The tool failed'} without any output.`;
}

const SANDBOXES: Record<string, string> = {
	bubblewrap: 'a sandbox',
	container: 'a container',
	process: 'no sandbox',
	direct: 'the app',
	mcp: 'its MCP server'
};

/** Where it ran. */
export function sandboxWords(sandbox: string): string {
	return SANDBOXES[sandbox] ?? cleanText(sandbox);
}

/** `ScriptNotFound`: “Script not found”. */
export function errorWords(errorType: string): string {
	const words = errorType.replace(/^Execution/, 'Run').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
	return words.slice(0, 1) + words.slice(1).toLowerCase();
}

/** The command as typed. */
export function printCommand({ script, args }: Pick<Execution, 'script' | 'args'>): string {
	return markHidden([script, ...args].map(printWord).join(' ').slice(0, MAX_COMMAND));
}

/** For a built-in skill or a tool of the editor, the command or code in its input. */
export function printProgram({ skill, script, args }: Pick<Execution, 'skill' | 'script' | 'args'>): string {
	const [input] = args;
	const hasInput = builtinNameOf(skill) !== null || isEditorTool(skill);
	const values = hasInput && args.length === 1 && input ? parseObject(input) : null;
	const program = values && textOfAny(values, ['command', 'code']);
	return program ? cleanText(program.slice(0, MAX_COMMAND)) : printCommand({ script, args });
}

function textOfAny(values: Values, names: string[]): string | null {
	const found = names.map((name) => values[name]).find((value) => typeof value === 'string' && value !== '');
	return typeof found === 'string' ? found : null;
}

/** A readable result: JSON indented, everything else unchanged, at most `maxLength` characters. */
export function printResult(result: string, maxLength = Infinity): { text: string; isCut: boolean } {
	const whole = cleanText(indentJson(result));
	return { text: whole.slice(0, maxLength), isCut: whole.length > maxLength };
}

function indentJson(json: string): string {
	if (!/^\s*[[{]/.test(json) || json.length > 200_000) return json;
	try {
		return JSON.stringify(JSON.parse(json), null, 2);
	} catch {
		return json;
	}
}

export function isUnderWay(status: ToolStatus): boolean {
	return status === 'preparing' || status === 'waiting' || status === 'running';
}

const allowedText = {
	once: 'Allowed once',
	script: 'Always allowed for this script',
	skill: 'Always allowed for this skill'
};

/** Why approval is needed, without what the card already says. */
export function whyAsked({
	skill,
	script,
	reason,
	install,
	define
}: Omit<Approval, 'interruptId' | 'args' | 'digest'>): string {
	const known = [
		`The agent asks to install the skill “${skill}” from ${install?.from}`,
		`The agent wants to ${define?.replaces ? 'replace' : 'define'} the tool “${define?.tool}”`,
		`“${skill}” wants to run ${script}`,
		`The built-in skill “${skill}” wants to run`
	];
	const prefix = known.find((each) => reason.startsWith(each)) ?? '';
	const rest = cleanText(reason.slice(prefix.length)).replace(prefix === '' ? '' : /^[.,]\s*(but\s+)?/, '');
	return rest.trim();
}

/** What ends the questions about a skill that isn’t trusted. */
export function untilWords({ trust }: Pick<Approval, 'trust'>): string {
	if (!trust) return '';
	return `Its scripts ask before each run until you ${trust === 'changed' ? 'trust it again' : 'trust it'}.`;
}

/** What the card of a question says besides the question’s own words. */
export function cardWords({ skill, script, install, define }: Approval): {
	title: string;
	allow: string;
	hint?: string;
	unanswered: string;
} {
	if (install) return { title: 'Install this skill?', allow: 'Install', unanswered: 'wasn’t installed' };
	if (define) {
		const title = define.replaces ? 'Replace this tool?' : 'Allow this new tool?';
		const allow = define.isKept ? 'Allow and keep as a skill' : 'Allow tool';
		return { title, allow, hint: define.isKept ? undefined : 'For this chat', unanswered: 'wasn’t defined' };
	}
	const isScript = !isBuiltinCall({ skill, script }) && mcpServerOf(skill) === null;
	const title = `Allow this ${isScript ? 'script' : 'tool'} to run?`;
	return { title, allow: 'Allow once', hint: 'This run only', unanswered: 'didn’t run' };
}

/** What a script can reach, in a line. Allowed hosts count only where the sandbox limits the network. */
export function reachWords({ hosts, readsServer }: NonNullable<Approval['reach']>): string {
	const network =
		hosts === null ? 'Can use the whole network' : hosts.length === 0 ? 'No network' : `Can reach ${hosts.join(', ')}`;
	return readsServer ? `${network} · Can read everything the server can read` : network;
}

export function printDecision(
	{ choice, reason }: ApprovalDecision,
	{ skill, install, define }: Pick<Approval, 'skill' | 'install' | 'define'>
): string {
	if (install) return choice === 'deny' ? 'Not now' : 'You chose to install it';
	if (define && choice !== 'deny') return define.isKept ? 'You allowed and kept this tool' : 'You allowed this tool';
	if (choice === 'script' && mcpServerOf(skill) !== null) return 'Always allowed for this tool';
	if (choice !== 'deny') return allowedText[choice];
	return reason ? `Denied: ${cleanText(reason)}` : 'Denied';
}
