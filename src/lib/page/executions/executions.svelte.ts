/** Executions: words for them, the filtered list, and one execution with its replay. */
import type { RunEvent } from '../../shared/events.ts';
import { markHidden } from '../../shared/characters.ts';
import {
	builtinNameOf,
	CASE_SESSION,
	DRAFT_SOURCE,
	EVAL_SESSION,
	isEval,
	isInLibrary,
	isOfChat,
	librarySkillOf,
	OLD_TRIAL_SOURCE,
	UNSAVED_SOURCE
} from '../../shared/names.ts';
import { withoutSecretInput, withoutSecrets, withoutSecretValues } from '../../shared/secret-patterns.ts';
import {
	emptyAnswer,
	type Execution,
	foldEvent,
	type Message,
	type Part,
	type ToolPart,
	type ToolStatus
} from '../../shared/message.ts';
import type { TrashedSkill } from '../../shared/install.ts';
import type { MissingNeed } from '../../shared/skills.ts';
import type { SkillExecution, SkillExecutionList } from '../../shared/try-out.ts';
import { type ApiError, asApiError, isInTrash, queryOf } from '../request.ts';
import type { Client, ExecutionQuery } from '../server.ts';
import { isFirstVersion, skillPage } from '../skills/skill-words.ts';
import { errorWords, printProgram, problemOf, sandboxWords } from '../steps/steps.ts';
import { parseObject, printWord } from '../steps/step-arguments.ts';
import { formatBytes, formatCount, formatDuration, formatSeconds } from '../text/format.ts';

const EXECUTION_WORDS: Record<SkillExecution['status'], string> = {
	pending: 'Waiting',
	running: 'Running',
	success: 'Succeeded',
	error: 'Failed',
	timeout: 'Timed out'
};

/** What a person ended is stored as an error of its own type (E12), and is no failure. */
const ENDED_BY_PERSON: Partial<Record<string, string>> = { ApprovalDenied: 'Denied', Cancelled: 'Stopped' };

export function statusWords({ status, errorType }: SkillExecution): string {
	return ENDED_BY_PERSON[errorType ?? ''] ?? EXECUTION_WORDS[status];
}

export function isUnderWay({ status }: SkillExecution): boolean {
	return status === 'running' || status === 'pending';
}

export function hasFailed({ status, errorType }: SkillExecution): boolean {
	if (ENDED_BY_PERSON[errorType ?? ''] !== undefined) return false;
	return status === 'error' || status === 'timeout';
}

/** Classes of the chip with its status. */
export function statusLook(execution: SkillExecution): string {
	if (hasFailed(execution)) return 'border-danger/50! text-danger!';
	if (isUnderWay(execution)) return 'text-accent!';
	return execution.status === 'success' ? 'border-accent/50! text-accent!' : '';
}

export function nameOf({ tool, script }: SkillExecution): string {
	return tool ?? script ?? '';
}

/** What the list calls the skill of a run, and its page, if it has one. Drafts and unsaved text are recorded under ids of their own: `badge`. */
export function subjectOf({ skillId, skill, sandbox }: SkillExecution): {
	words: string;
	badge?: string;
	href: string | null;
} {
	const source = skillId.slice(0, skillId.indexOf('/'));
	if (sandbox === 'mcp') return { words: skill, href: '/settings#mcp-servers' };
	if (source === OLD_TRIAL_SOURCE) return { words: skill, badge: 'Draft or unsaved text', href: null };
	if (source.startsWith(DRAFT_SOURCE))
		return {
			words: skill,
			badge: 'Draft',
			href: `/skills/drafts/${encodeURIComponent(source.slice(DRAFT_SOURCE.length))}`
		};
	if (source.startsWith(UNSAVED_SOURCE))
		return { words: skill, badge: 'Unsaved text', href: skillPage(skillId.slice(UNSAVED_SOURCE.length)) };
	return { words: skill, href: isOfChat(skillId) ? null : skillPage(skillId) };
}

const MAX_LINE = 300;

/**
 * What ran and what it was given, as one line: `scripts/count.mjs "two words"`, or `count_words text: two words`. What
 * looks like a secret is left out.
 */
export function commandOf(execution: SkillExecution): string {
	const { skill, argv, input } = withoutSecretInput(execution);
	const name = nameOf(execution);
	const values = input === null ? null : parseObject(input);
	const isProgram = builtinNameOf(skill) !== null && (values?.command ?? values?.code) !== undefined;
	const given = isProgram
		? printProgram({ skill, script: name, args: [input ?? ''] })
		: values
			? Object.entries(values).map(([key, value]) => `${key}: ${printValue(value)}`)
			: (input === null ? argv : [input]).map(printWord);
	const line = markHidden(withoutSecrets([name, ...[given].flat()].join(' ')).replaceAll(/\s+/g, ' ')).trim();
	return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

const printValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Names and values of known facts, without empty ones. `keyName`: of its API key, if known. */
export function factsOf(execution: SkillExecution, keyName?: string): [name: string, value: string][] {
	const { limits, files, refused, exitCode, stdoutBytes, stderrBytes, apiKeyId, sessionId } = execution;
	const { words, badge } = subjectOf(execution);
	const named = badge ? `${words} (${badge.toLowerCase()})` : words;
	const whose = isInLibrary(execution.skillId) ? execution.skillId : named;
	const facts: [string, string][] = [
		['Skill', isFirstVersion(execution.version) ? whose : `${whose} ${execution.version}`],
		['Started from', chatOf(execution) ? 'Chat' : sourceOf(execution, keyName)],
		['Ran in', sandboxWords(execution.sandbox)],
		['Exit code', exitCode === null ? '–' : String(exitCode)],
		['Error', execution.errorType === null ? '' : errorWords(execution.errorType)],
		['Output', `${formatBytes(stdoutBytes ?? 0)} stdout, ${formatBytes(stderrBytes ?? 0)} stderr`],
		[
			'Limits',
			Object.entries(limits)
				.filter(([, value]) => value > 0)
				.map(([name, value]) => printLimit(name, value))
				.join('\n')
		],
		['Files created', files.map(({ path, bytes }) => `${path} (${formatBytes(bytes)})`).join(', ')],
		['Blocked hosts', refused.join(', ')],
		['Sandbox', execution.sandbox],
		['API key', apiKeyId !== null && keyName !== undefined ? `“${keyName}” (${apiKeyId})` : (apiKeyId ?? '')],
		['Session', sessionId ?? ''],
		['SHA-256 of files', execution.digest]
	];
	return facts.filter(([, value]) => value !== '');
}

/** Sizes are configured in powers of two: 512 MB is 512 × 2²⁰ bytes. */
function printSize(bytes: number): string {
	const megabytes = bytes / 2 ** 20;
	if (megabytes < 1) return formatBytes(bytes);
	return megabytes < 1024 ? `${Number(megabytes.toFixed(1))} MB` : `${Number((megabytes / 1024).toFixed(1))} GB`;
}

const printTime = (ms: number): string => (ms % 1000 === 0 ? formatSeconds(ms / 1000) : formatDuration(ms));

const LIMITS: Record<string, [name: string, print: (value: number) => string]> = {
	timeoutMs: ['Time limit', printTime],
	cpuSeconds: ['CPU time', formatSeconds],
	memoryBytes: ['Memory', printSize],
	virtualBytes: ['Virtual memory', printSize],
	processes: ['Processes', formatCount],
	openFiles: ['Open files', formatCount],
	fileBytes: ['File size', printSize],
	workspaceBytes: ['Workspace', printSize],
	workspaceFiles: ['Workspace files', formatCount]
};

function printLimit(name: string, value: number): string {
	const [words, print] = Object.hasOwn(LIMITS, name) ? (LIMITS[name] ?? [name, String]) : [name, String];
	return `${words} ${print(value)}`;
}

/** Files of runs by hand lie where those of a chat would, but it isn't one. */
export function chatOf({ conversationId }: SkillExecution): string | null {
	return conversationId?.startsWith('run-') ? null : conversationId;
}

/** Where it came from, if not from a chat: drafts, evals, test cases and the Run tab name their sessions; only the editor runs what isn’t saved. */
export function sourceOf({ skillId, apiKeyId, sessionId, conversationId }: SkillExecution, keyName?: string): string {
	if (sessionId?.startsWith(`${EVAL_SESSION}draft-`)) return 'Draft';
	if (isEval(sessionId)) return 'Eval';
	if (apiKeyId !== null) return keyName ?? 'API key';
	if (sessionId?.startsWith(CASE_SESSION)) return 'Test case';
	if ((sessionId ?? conversationId)?.startsWith('run-'))
		return skillId.startsWith(UNSAVED_SOURCE) ? 'Editor' : 'Run tab';
	return sessionId?.startsWith('resp_') ? 'Responses API' : 'API';
}

/** What came of it, in a line: what went wrong, or what it wrote. Empty if there’s no more to it than its status. */
export function outcomeOf(execution: SkillExecution, mostNamed = 1): string {
	const { files } = execution;
	if (hasFailed(execution)) return withoutSecrets(problemOf(asStep(execution).execution));
	if (files.length === 0) return '';
	return `Wrote ${files.length > mostNamed ? `${files.length} files` : files.map(({ path }) => markHidden(path)).join(', ')}`;
}

/** The limits that a script meets most often; the run's page has all. */
export function mainLimits({ limits }: Pick<SkillExecution, 'limits'>): string[] {
	return Object.entries(limits)
		.filter(([name]) => name === 'timeoutMs' || name === 'memoryBytes')
		.map(([name, value]) => printLimit(name, value));
}

/** What it lacked, and what it lacked when it was run again. */
export function lacksOf(missing: MissingNeed | null | undefined, again: SkillExecution | null): MissingNeed[] {
	const both = [missing, again?.missing].filter((each) => each !== null && each !== undefined);
	return both.filter(({ kind, name }, at) => at === 0 || kind !== both[0]?.kind || name !== both[0].name);
}

/** Whether it ran a skill's script, saved or not, which can be edited. False for built-in and MCP tools, a chat's own ones, and drafts. */
export function isOfSkill({ skill, skillId, script, sandbox }: SkillExecution): boolean {
	return (
		librarySkillOf(skillId) !== null &&
		sandbox !== 'mcp' &&
		sandbox !== 'direct' &&
		script !== null &&
		builtinNameOf(skill) === null
	);
}

/** A step without what looks like a secret in its input. */
export function withoutSecretsOf(part: ToolPart): ToolPart {
	const { execution } = part;
	const args = execution && withoutSecretInput({ argv: execution.args, input: null }).argv.map(withoutSecretValues);
	return {
		...part,
		arguments: withoutSecretValues(part.arguments),
		...(execution && { execution: { ...execution, args: args ?? [] } })
	};
}

/** As a step in a chat, without what looks like a secret; both output streams are one here. */
export function asStep(execution: SkillExecution): { execution: Execution; status: ToolStatus } {
	const { output, skill, tool, sandbox, files, refused, missing, exitCode, durationMs } = execution;
	const { argv, input } = withoutSecretInput(execution);
	const isOver = !isUnderWay(execution);
	return {
		status: isOver ? (hasFailed(execution) ? 'failed' : 'done') : 'running',
		execution: {
			skill,
			script: nameOf(execution),
			args: input === null ? argv : [input],
			sandbox,
			files,
			refused,
			missing: missing ?? undefined,
			tool: tool ?? undefined,
			output: output === null || output === '' ? [] : [{ stream: 'stdout', text: output }],
			exitCode: isOver ? exitCode : undefined,
			durationMs: durationMs ?? undefined,
			error: execution.errorType ?? undefined,
			message: execution.errorMessage ?? undefined,
			executionId: execution.id
		}
	};
}

export const EVERY_EXECUTION: ExecutionQuery = { status: '', skill: '', apiKeyId: '', text: '', since: '', until: '' };

/** From an address; what isn't a filter is left out. */
export function queryFrom(search: URLSearchParams): ExecutionQuery {
	const of = (name: keyof ExecutionQuery): string => search.get(name) ?? '';
	const statuses = [...Object.keys(EXECUTION_WORDS), 'failed', 'denied'] as ExecutionQuery['status'][];
	const status = statuses.find((each) => each === of('status'));
	const { status: _, ...rest } = EVERY_EXECUTION;
	const given = Object.keys(rest).map((name) => [name, of(name as keyof typeof rest)]);
	return { ...(Object.fromEntries(given) as typeof rest), status: status ?? '' };
}

/** The page that lists them. */
export function listUrl(query: Partial<ExecutionQuery>): string {
	return `/skills/executions${queryOf({ ...query })}`;
}

/** Download address of all matching executions. */
export function exportUrl(query: ExecutionQuery, format: 'csv' | 'json'): string {
	return `/api/skills/executions/export${queryOf({ format, ...query })}`;
}

export type ExecutionClient = Pick<Client, 'listExecutions' | 'endExecution'>;

const PAGE_SIZE = 25;
/** While something runs, and otherwise. */
const REFRESH_MS = 1500;
const IDLE_MS = 10_000;

/** One page of the filtered list, refreshed while something runs. */
export class Executions {
	readonly #client: ExecutionClient;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** Only the latest request counts. */
	#asked = 0;
	query = $state.raw<ExecutionQuery>(EVERY_EXECUTION);
	page = $state(1);
	list = $state.raw<SkillExecutionList | null>(null);
	error = $state.raw<ApiError | null>(null);
	isLoading = $state(false);

	constructor(client: ExecutionClient) {
		this.#client = client;
	}

	show(query: ExecutionQuery, page = 1): Promise<void> {
		this.query = query;
		this.page = page;
		return this.read();
	}

	async read(): Promise<void> {
		clearTimeout(this.#timer);
		const asked = ++this.#asked;
		this.isLoading = true;
		try {
			const list = await this.#client.listExecutions({ ...this.query, page: this.page, limit: PAGE_SIZE });
			if (asked !== this.#asked) return;
			this.list = list;
			this.error = null;
			const isUnderWay = list.data.some(({ status }) => status === 'running' || status === 'pending');
			this.#timer = setTimeout(() => this.#look(), isUnderWay ? REFRESH_MS : IDLE_MS);
		} catch (error) {
			if (asked === this.#asked) this.error = asApiError(error);
		} finally {
			if (asked === this.#asked) this.isLoading = false;
		}
	}

	/** A hidden tab doesn't ask. */
	#look(): void {
		if (document.visibilityState === 'visible') void this.read();
		else this.#timer = setTimeout(() => this.#look(), IDLE_MS);
	}

	async end(id: string): Promise<void> {
		try {
			await this.#client.endExecution(id);
		} catch (error) {
			this.error = asApiError(error);
		}
		await this.read();
	}

	dispose(): void {
		clearTimeout(this.#timer);
		this.#asked += 1;
	}
}

/** A skill that can’t be run as it is. `trashed`: null once it’s gone for good. */
export type LostSkill =
	| { state: 'broken'; id: string; problem: string }
	| { state: 'off'; id: string }
	| { state: 'renamed'; id: string; name: string }
	| { state: 'deleted'; trashed: TrashedSkill | null };

/** How the skill of a run is by now; `changed`: it has other files than those that ran. */
export type SkillNow = { state: 'same' | 'changed' } | LostSkill;

export const isLost = (now: SkillNow | null): now is LostSkill =>
	now !== null && now.state !== 'same' && now.state !== 'changed';

/** Never rejects. Unsaved text is as any other, once it was saved. */
export async function skillNow(
	client: Pick<Client, 'getSkill' | 'listTrash'>,
	{ skillId, digest }: Pick<SkillExecution, 'skillId' | 'digest'>
): Promise<SkillNow> {
	const of = librarySkillOf(skillId);
	if (of === null) return { state: 'same' };
	try {
		const { id, skillId: now, name, status, mode, diagnostics, digest: current } = await client.getSkill(of);
		const fault = diagnostics.find(({ severity }) => severity === 'error');
		if (status === 'broken') {
			const field = fault && fault.field !== '_' ? fault.field : 'SKILL.md';
			return { state: 'broken', id, problem: fault ? `${field} ${fault.message}` : '' };
		}
		// A run names the skill by what it was called.
		if (now !== of) return { state: 'renamed', id, name };
		if (mode === 'off') return { state: 'off', id };
		return { state: current !== digest ? 'changed' : 'same' };
	} catch (error) {
		// Nobody can tell, and running it will.
		if (asApiError(error).code !== 'not_found') return { state: 'same' };
		const trash = await client.listTrash().catch(() => []);
		return { state: 'deleted', trashed: trash.find((each) => each.skillId === of) ?? null };
	}
}

type ExecutionWatchClient = Pick<
	Client,
	'getExecution' | 'runEvents' | 'endExecution' | 'getConversation' | 'restoreConversation' | 'getSkill' | 'listTrash'
>;

/** One execution, refreshed while it runs. */
export class ExecutionWatch {
	readonly #client: ExecutionWatchClient;
	readonly #id: string;
	readonly replay: ExecutionReplay;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isOver = false;
	value = $state.raw<SkillExecution | null>(null);
	error = $state.raw<ApiError | null>(null);
	/** Its skill has other files by now than those that failed. */
	hasChanged = $state(false);
	/** Its skill, if it has one in the library; null until known. */
	skill = $state.raw<SkillNow | null>(null);
	/** Its chat: `deleted` can be restored, `gone` can't; null without one, and until known. */
	chat = $state<'there' | 'deleted' | 'gone' | null>(null);
	/** What was asked there first, or its other title. */
	chatTitle = $state('');

	constructor(client: ExecutionWatchClient, id: string) {
		this.#client = client;
		this.#id = id;
		this.replay = new ExecutionReplay(client);
	}

	/** Never rejects: a failure sets `error`. */
	async read(): Promise<void> {
		clearTimeout(this.#timer);
		try {
			const value = await this.#client.getExecution(this.#id);
			// Before it's shown, so that nothing moves.
			if (isOfSkill(value) && !isUnderWay(value)) {
				this.skill = await skillNow(this.#client, value);
				this.hasChanged = hasFailed(value) && this.skill.state === 'changed';
			}
			const isFirst = this.value === null;
			if (isFirst && value.conversationId !== null) await this.#findChat(value.conversationId);
			if (this.#isOver) return;
			this.value = value;
			this.error = null;
			const { runId, toolCallId, tool, input } = value;
			if (isFirst && runId !== null && toolCallId !== null) {
				const [name, args] = [tool ?? 'use_skill', input ?? ''];
				this.replay.open(
					runId,
					{ type: 'tool', id: toolCallId, name, arguments: args, status: 'running' },
					!isUnderWay(value)
				);
			} else if (isFirst) this.replay.close();
			if (isUnderWay(value)) this.#timer = setTimeout(() => void this.read(), REFRESH_MS);
		} catch (error) {
			this.error = asApiError(error);
		}
	}

	async #findChat(id: string): Promise<void> {
		const missing = await this.#client.getConversation(id).then(({ title }) => {
			this.chatTitle = title;
			return null;
		}, asApiError);
		if (missing === null) this.chat = 'there';
		else if (missing.code === 'not_found') this.chat = isInTrash(missing) ? 'deleted' : 'gone';
	}

	async restoreChat(): Promise<void> {
		const id = this.value?.conversationId;
		try {
			if (id) await this.#client.restoreConversation(id);
			this.chat = 'there';
		} catch (error) {
			this.error = asApiError(error);
		}
	}

	async end(): Promise<void> {
		try {
			await this.#client.endExecution(this.#id);
			await this.read();
		} catch (error) {
			this.error = asApiError(error);
		}
	}

	dispose(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.replay.close();
	}
}

const ENDS = new Set<RunEvent['type']>(['RUN_FINISHED', 'RUN_ERROR']);

/** The step in a chat that an execution belonged to, rebuilt from the run's events. */
export class ExecutionReplay {
	readonly #client: Pick<Client, 'runEvents'>;
	#source: EventSource | null = null;
	/** Null until found. */
	part = $state.raw<ToolPart | null>(null);
	/** Found or given up: the layout below it is stable from now on. */
	isSettled = $state(false);

	constructor(client: Pick<Client, 'runEvents'>) {
		this.#client = client;
	}

	/**
	 * Follows the run to its end. If its events are gone, there is no step. `asked` is the call from the record, because a call
	 * that needed approval was written by the run before.
	 */
	open(runId: string, asked: ToolPart, isOver: boolean): void {
		let message: Message = emptyAnswer('replay', runId, '');
		const source = this.#client.runEvents(runId, { seq: 0 });
		this.#source = source;
		source.onmessage = (received: MessageEvent<string>) => {
			const event = JSON.parse(received.data) as RunEvent;
			const isAsked = (part: Part): boolean => part.type === 'tool' && part.id === asked.id;
			const isBegun = event.type === 'CUSTOM' && (event.name === 'tool.decision' || event.name === 'skill.started');
			if (isBegun && event.value.toolCallId === asked.id && !message.parts.some(isAsked)) {
				message = { ...message, parts: [...message.parts, asked] };
			}
			message = foldEvent(message, event);
			const part = message.parts.find(isAsked);
			if (part?.type === 'tool') {
				this.part = part;
				// Shown while it runs, the output of a run that is over would be at its end.
				this.isSettled ||= isOver ? part.status === 'done' || part.status === 'failed' : part.status !== 'preparing';
			}
			if (ENDS.has(event.type)) this.close();
		};
		// Each connection sends all events again.
		source.onerror = () => this.close();
	}

	close(): void {
		this.#source?.close();
		this.#source = null;
		this.isSettled = true;
	}
}
