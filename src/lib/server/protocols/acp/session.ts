/** One conversation that is open in an editor: its prompts, the questions they raise, its modes and its history. */
import { randomUUID } from 'node:crypto';
import type {
	AgentContext,
	ClientCapabilities,
	ContentBlock,
	SessionConfigOption,
	SessionModeState,
	SessionUpdate,
	StopReason,
	ToolCallContent,
	SessionMode
} from '@agentclientprotocol/sdk';
import { plainLine } from '../../../shared/characters.ts';
import { AppError } from '../../../shared/errors.ts';
import type { RunEvent } from '../../../shared/events.ts';
import { emptyAnswer, type Message } from '../../../shared/message.ts';
import { asModelId, isReasoningEffort, REASONING_EFFORTS } from '../../../shared/names.ts';
import type { ModelList } from '../../../shared/models.ts';
import { cancelWaiting } from '../../conversations/consent.ts';
import type { ConversationChanges } from '../../runs/conversation-changes.ts';
import type { Runner } from '../../runs/runner.ts';
import type { Skill } from '../../skills/types.ts';
import type { Store } from '../../store/store.ts';
import type { BuiltinTools } from '../../turns/toolbox.ts';
import type { Workspaces } from '../../workspaces.ts';
import { keepReceived } from '../received-files.ts';
import { createEditorTools, type Editor, type Project } from './editor-tools.ts';
import { readPrompt } from './prompt.ts';
import { createQuestions, type Questions } from './questions.ts';
import { createRenderer, type Renderer, type RenderOptions, replay, stopReasonOf } from './render.ts';

export interface SessionParts {
	store: Store;
	runner: Runner;
	workspaces: Workspaces;
	changes: ConversationChanges;
	models: { list(signal?: AbortSignal): Promise<ModelList>; current(): { id: string; offline: boolean } };
	/** Skills that can be used, for commands. */
	skills(): readonly Pick<Skill, 'name' | 'description'>[];
	/** Of the server: `ask` asks for every script, whatever the conversation says. */
	approvalMode: 'ask' | 'auto';
}

/** The editor's own MCP servers. */
export interface SessionServers {
	tools(): BuiltinTools;
	problems(patienceMs: number): Promise<string[]>;
	close(): Promise<void>;
}

export interface SessionOptions {
	client: AgentContext;
	capabilities: ClientCapabilities;
	project: Project;
	/** null without any. */
	servers: SessionServers | null;
	/** Sentences about servers that can't be used at all. */
	refused: readonly string[];
	log(error: unknown): void;
}

/** How long a prompt waits for the editor's MCP servers. */
const SERVERS_MS = 10_000;
const MAX_COMMANDS = 200;
const STOPPED = 'The editor stopped this.';
export class EditorSession {
	readonly id: string;
	#parts: SessionParts;
	#options: SessionOptions;
	#mode: Mode = DEFAULT;
	#editor: Editor;
	#turn: { stop: AbortController; done: Promise<unknown> } | null = null;
	/** What the editor's tools show of their calls. */
	#shown = new Map<string, ToolCallContent[]>();
	#questions: Questions;
	#closing = new AbortController();
	#hasTriedServers = false;

	constructor(parts: SessionParts, options: SessionOptions) {
		this.id = options.project.sessionId;
		this.#parts = parts;
		this.#options = options;
		this.#editor = {
			...options,
			acceptsEdits: () => this.#mode === 'edits',
			show: (toolCallId, content) => this.#shown.set(toolCallId, content)
		};
		this.#questions = createQuestions(parts, {
			...options,
			editor: this.#editor,
			instructions: () => this.#instructions(),
			mayAcceptEdits: () => this.#mode === DEFAULT,
			acceptEdits: () => this.#switchTo('edits')
		});
		void this.#followTitle().catch(options.log);
	}

	get cwd(): string {
		return this.#options.project.cwd;
	}

	/** For a run of this session's prompt; none for one that began elsewhere. */
	tools(): BuiltinTools[] {
		if (!this.#turn) return [];
		const { servers } = this.#options;
		return [createEditorTools(this.#editor), ...(servers ? [servers.tools()] : [])];
	}

	/** Reads what the conversation has chosen. Call once. */
	async open(): Promise<void> {
		const { store, approvalMode } = this.#parts;
		const { approval } = await store.runs.choiceOf(this.id);
		this.#mode = approval === 'ask' && approvalMode === 'auto' ? 'ask' : DEFAULT;
		await store.conversations.change(this.id, { folder: this.cwd }, new Date().toISOString());
	}

	/** Answers a prompt. @throws AppError `conflict` while another is being answered, and with what went wrong */
	async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
		if (this.#closing.signal.aborted) throw new AppError('not_found', 'This session is closed.');
		if (this.#turn)
			throw new AppError('conflict', 'This session is still answering a prompt. Cancel it, or wait until it’s done.');
		const stop = new AbortController();
		const onAbort = () => stop.abort();
		signal.addEventListener('abort', onAbort, { once: true });
		if (signal.aborted) onAbort();
		const answered = this.#answer(blocks, stop.signal);
		this.#turn = { stop, done: answered.catch(() => undefined) };
		try {
			return await answered;
		} catch (error) {
			if (stop.signal.aborted && !(error instanceof AppError)) return 'cancelled';
			throw error;
		} finally {
			signal.removeEventListener('abort', onAbort);
			this.#turn = null;
			this.#shown.clear();
		}
	}

	/** Stops the prompt under way, with its scripts. Resolves once it has ended. */
	async cancel(): Promise<void> {
		this.#turn?.stop.abort();
		await this.#turn?.done;
	}

	/** Ends everything of the session. The conversation stays. */
	async close(): Promise<void> {
		this.#closing.abort();
		await this.cancel();
		await this.#options.servers?.close();
	}

	/** The conversation so far. */
	async replay(): Promise<void> {
		const { store, runner } = this.#parts;
		for (const message of await store.messages.list(this.id)) {
			for (const update of await replay(await runner.current(message), this.#renderOptions())) await this.#tell(update);
		}
		const conversation = await store.conversations.get(this.id);
		if (conversation) await this.#tell({ sessionUpdate: 'session_info_update', title: conversation.title });
	}

	async tellCommands(): Promise<void> {
		const availableCommands = this.#parts
			.skills()
			.slice(0, MAX_COMMANDS)
			.map(({ name, description }) => ({
				name,
				description: plainLine(description).slice(0, 200),
				input: { hint: 'What to do with this skill' }
			}));
		await this.#tell({ sessionUpdate: 'available_commands_update', availableCommands });
	}

	// Modes and other choices

	modes(): SessionModeState {
		return { currentModeId: this.#mode, availableModes: modesFor(this.#parts.approvalMode) };
	}

	/** @throws AppError invalid_input */
	async setMode(id: string): Promise<void> {
		const mode = this.modes().availableModes.find((each) => each.id === id);
		if (!mode) throw new AppError('invalid_input', `There’s no mode “${plainLine(id).slice(0, 100)}”.`);
		this.#mode = id as Mode;
		await this.#choose({ approval: id === 'ask' ? 'ask' : null });
	}

	async configOptions(): Promise<SessionConfigOption[]> {
		return optionsFor(this.#parts.models, this.modes(), await this.#parts.store.runs.choiceOf(this.id));
	}

	/** @throws AppError invalid_input */
	async setOption(id: string, value: unknown): Promise<void> {
		const refuse = () =>
			new AppError(
				'invalid_input',
				`“${plainLine(String(value)).slice(0, 100)}” can’t be chosen for “${plainLine(id).slice(0, 100)}”.`
			);
		if (typeof value !== 'string') throw refuse();
		if (id === 'mode') {
			await this.setMode(value);
			await this.#switchTo(this.#mode);
		} else if (id === 'model') {
			const model = value === DEFAULT ? null : asModelId(value);
			if (model === null && value !== DEFAULT) throw refuse();
			await this.#choose({ model });
		} else if (id === 'effort') {
			if (value !== DEFAULT && !isReasoningEffort(value)) throw refuse();
			await this.#choose({ effort: value === DEFAULT ? null : value });
		} else throw refuse();
	}

	async #switchTo(mode: Mode): Promise<void> {
		this.#mode = mode;
		await this.#tell({ sessionUpdate: 'current_mode_update', currentModeId: mode });
	}

	async #choose(choice: Parameters<Store['conversations']['change']>[1]): Promise<void> {
		const { store, changes } = this.#parts;
		await store.conversations.change(this.id, choice, new Date().toISOString());
		changes.announce(this.id);
	}

	// A prompt

	async #answer(blocks: readonly ContentBlock[], stopped: AbortSignal): Promise<StopReason> {
		const { workspaces, runner } = this.#parts;
		const { text, files } = await readPrompt(blocks, this.#editor, stopped);
		await this.#tellProblems();
		const names: string[] = [];
		for (const file of files) {
			if (!file.isOfProject) names.push(await keepReceived(workspaces, this.id, file));
			else names.push((await workspaces.write(this.id, file.name, new Blob([file.bytes]).stream())).path);
		}
		if (stopped.aborted) return 'cancelled';
		const runId = randomUUID();
		const command = this.#commandOf(text);
		const message = { id: randomUUID(), text: command?.text ?? text, files: [...new Set(names)] };
		const task = { kind: 'ask' as const, message, tools: [], instructions: this.#instructions() };
		await runner.start({
			runId,
			conversationId: this.id,
			pins: command ? [command.skill] : [],
			isElsewhere: true,
			...task
		});
		return this.#follow(runId, stopped);
	}

	/** Shows the answer until it ends, over all runs that write it. */
	async #follow(first: string, stopped: AbortSignal): Promise<StopReason> {
		let runId = first;
		const run = await this.#parts.runner.get(runId);
		if (!run) throw new AppError('internal', 'The run is gone.');
		const { messageId, startedAt } = run;
		const renderer = createRenderer(emptyAnswer(messageId, runId, startedAt), this.#renderOptions());
		for (;;) {
			await this.#stream(runId, renderer, stopped);
			const next = await this.#nextRun(messageId, runId, renderer, stopped);
			if (typeof next !== 'string') return next.stopReason;
			runId = next;
		}
	}

	/** The run that goes on with the answer once its questions are decided, or why it's over. */
	async #nextRun(
		messageId: string,
		runId: string,
		renderer: Renderer,
		stopped: AbortSignal
	): Promise<string | { stopReason: StopReason }> {
		for (;;) {
			const answer = await this.#parts.store.messages.get(this.id, messageId);
			if (!answer) return { stopReason: 'cancelled' };
			if (answer.runId !== null && answer.runId !== runId) return answer.runId;
			if (answer.status !== 'waiting') {
				const stopReason = stopReasonOf(answer);
				// A refusal is no error, so nobody would say why.
				if (answer.error)
					await this.#tell({
						sessionUpdate: 'agent_message_chunk',
						content: { type: 'text', text: answer.error.message }
					});
				return { stopReason };
			}
			if (stopped.aborted) {
				await cancelWaiting(this.#parts, { conversationId: this.id, answer, reason: STOPPED });
				await this.#endCalls(answer);
				return { stopReason: 'cancelled' };
			}
			await this.#questions.ask(answer, renderer, stopped);
		}
	}

	async #stream(runId: string, renderer: Renderer, stopped: AbortSignal): Promise<void> {
		const { runner } = this.#parts;
		const stop = () => void runner.stop(runId).catch(this.#options.log);
		stopped.addEventListener('abort', stop, { once: true });
		if (stopped.aborted) stop();
		try {
			// Its own end ends it, so that the last updates come before the answer to the prompt.
			for await (const batch of (await runner.follow(runId, 0, new AbortController().signal)) ?? []) {
				const events = batch.map(({ data }) => JSON.parse(data) as RunEvent);
				for (const update of await renderer.updates(events)) await this.#tell(update);
			}
		} finally {
			stopped.removeEventListener('abort', stop);
		}
	}

	async #endCalls({ id, parts }: Message): Promise<void> {
		for (const part of parts) {
			if (part.type !== 'tool' || part.status !== 'waiting') continue;
			await this.#tell({ sessionUpdate: 'tool_call_update', toolCallId: `${id}:${part.id}`, status: 'failed' });
		}
	}

	/** `/skill text` uses a skill. */
	#commandOf(text: string): { skill: string; text: string } | null {
		const [, name, rest = ''] = /^\/([a-z0-9-]+)(?:\s+([^]*))?$/.exec(text) ?? [];
		if (name === undefined || !this.#parts.skills().some((skill) => skill.name === name)) return null;
		return { skill: name, text: rest.trim() || `Use the skill “${name}”.` };
	}

	async #tellProblems(): Promise<void> {
		if (this.#hasTriedServers) return;
		this.#hasTriedServers = true;
		const { servers, refused, capabilities } = this.#options;
		for (const problem of [...refused, ...((await servers?.problems(SERVERS_MS)) ?? [])]) {
			const [title, text] = ['An MCP server can’t be used', `An MCP server can’t be used. ${problem}\n\n`];
			await this.#tell(
				capabilities.session?.notices
					? { sessionUpdate: 'notice', severity: 'warning', title, description: problem }
					: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } }
			);
		}
	}

	#instructions(): string {
		const { capabilities, project } = this.#options;
		const others = project.roots.filter((root) => root !== project.cwd);
		const also = others.length === 0 ? '' : ` Other folders of it are ${others.join(', ')}.`;
		const can = [
			'editor_list and editor_read show its files',
			...(capabilities.fs?.writeTextFile ? ['editor_edit and editor_write change them'] : []),
			...(capabilities.terminal ? ['editor_run runs a command there'] : [])
		];
		return `# The editor\nThe user talks to you in a code editor, where the project ${project.cwd} is open.${also} ${can.join('; ')}. Your working directory is another folder, for this chat: the files of the project that messages name are copied there under the same path, skills run there, and file_read and file_write work there. What else a script needs of the project, read with editor_read and write with file_write.`;
	}

	#renderOptions(): RenderOptions {
		const { capabilities } = this.#options;
		return {
			cwd: this.cwd,
			conversationId: this.id,
			workspaces: this.#parts.workspaces,
			shownBy: (toolCallId) => this.#shown.get(toolCallId),
			hasNotices: Boolean(capabilities.session?.notices)
		};
	}

	/** The model names a chat after its first answer, and people rename it on the page. */
	async #followTitle(): Promise<void> {
		const { store, changes } = this.#parts;
		let known = '';
		for await (const _ of changes.follow(this.id, this.#closing.signal)) {
			const title = (await store.conversations.get(this.id))?.title ?? '';
			if (title !== '' && title !== known) await this.#tell({ sessionUpdate: 'session_info_update', title });
			known = title;
		}
	}

	/** Never rejects: an editor that has left ends the session by its connection. */
	async #tell(update: SessionUpdate): Promise<void> {
		await this.#options.client.notify('session/update', { sessionId: this.id, update }).catch(() => undefined);
	}
}

/** `edits` counts for the session, `ask` is kept with the conversation. */
type Mode = 'default' | 'ask' | 'edits';

/** The usual choice: a mode, a model, an effort. */
const DEFAULT = 'default';
const MODELS_MS = 3_000;
const MAX_MODELS = 500;

/** `approvals`: of the server, which may ask for every script. */
function modesFor(approvals: 'ask' | 'auto'): SessionMode[] {
	const scripts = approvals === 'ask' ? ' and before scripts run' : '';
	const usual = {
		id: DEFAULT,
		name: 'Ask before edits',
		description: `Asks before it changes files of the project${scripts}.`
	};
	const always = {
		id: 'ask',
		name: 'Always ask',
		description: 'Asks before edits, and before every script of a skill.'
	};
	const description = 'Changes files of the project without asking, except hidden ones.';
	const edits = { id: 'edits', name: 'Accept edits', description };
	return approvals === 'ask' ? [usual, edits] : [usual, always, edits];
}

/** Demo mode has no model to choose. */
async function optionsFor(
	models: { list(signal?: AbortSignal): Promise<ModelList>; current(): { id: string; offline: boolean } },
	{ currentModeId, availableModes }: SessionModeState,
	{ model, effort }: { model: string | null; effort: string | null }
): Promise<SessionConfigOption[]> {
	const modes = availableModes.map(({ id, name, description }) => ({ value: id, name, description }));
	const mode: SessionConfigOption = {
		...{ type: 'select', id: 'mode', name: 'Mode', category: 'mode' },
		currentValue: currentModeId,
		options: modes
	};
	const { id: usual, offline } = models.current();
	if (offline) return [mode];
	const { data } = await models.list(AbortSignal.timeout(MODELS_MS)).catch(() => ({ data: [] }));
	const known = new Map(data.slice(0, MAX_MODELS).map(({ id, name }) => [id, name]));
	if (model !== null && !known.has(model)) known.set(model, model);
	const named = [...known].map(([value, name]) => ({ value, name }));
	const efforts = [DEFAULT, ...REASONING_EFFORTS].map((value) => ({
		value,
		name: value.replace(/^./, (first) => first.toUpperCase())
	}));
	return [
		mode,
		{
			...{ type: 'select', id: 'model', name: 'Model', category: 'model' },
			currentValue: model ?? DEFAULT,
			options: [{ value: DEFAULT, name: `Default (${usual})` }, ...named]
		},
		{
			...{ type: 'select', id: 'effort', name: 'Reasoning effort', category: 'thought_level' },
			currentValue: effort ?? DEFAULT,
			options: efforts
		}
	];
}
