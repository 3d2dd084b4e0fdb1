/** What a client hears of a call before its result: live output as progress (F15), and log messages (E15). */
import {
	LOG_LEVEL_META_KEY,
	type LoggingLevel,
	type Notification,
	RELATED_TASK_META_KEY,
	type Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import type { SkillEvent } from '../../skills/types.ts';

export interface CallReports {
	onEvent(event: SkillEvent): void;
	/** Waits until everything reported so far has been sent. */
	flush(): Promise<void>;
	/** The request is answered, because its call became this task. Later reports have no request to belong to. */
	detach(taskId: string): void;
}

interface ReportsOptions {
	/** 2026-07-28 allows no reports for tasks. */
	isModern: boolean;
	/** As `logging/setLevel` has it; null if never set. Requests of 2026-07-28 bring theirs. */
	logLevel: LoggingLevel | null;
}

export function reportCall(
	server: Pick<Server, 'notification'>,
	handled: Pick<ServerContext, 'mcpReq'>,
	{ isModern, logLevel }: ReportsOptions
): CallReports {
	const { mcpReq } = handled;
	let taskId: string | null = null;
	const channel: Channel = {
		isOpen: () => (taskId === null ? !mcpReq.signal.aborted : !isModern),
		send(notification) {
			if (taskId === null) return mcpReq.notify(notification);
			const _meta = { [RELATED_TASK_META_KEY]: { taskId } };
			return server.notification({ ...notification, params: { ...notification.params, _meta } });
		}
	};
	const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
	const level = isModern ? levelIn(envelope[LOG_LEVEL_META_KEY]) : logLevel;
	const reports = [createProgress(channel, mcpReq._meta?.progressToken), createLog(channel, level)];
	return {
		onEvent(event) {
			for (const report of reports) report?.onEvent(event);
		},
		async flush() {
			for (const report of reports) await report?.flush();
		},
		detach: (id) => void (taskId = id)
	};
}

interface Channel {
	isOpen(): boolean;
	send(notification: Notification): Promise<void>;
}

type Report = Pick<CallReports, 'onEvent' | 'flush'>;

/** Sends what `next` gives, one at a time, until it gives nothing. */
function createSender(channel: Channel, next: () => Notification | null): { start(): void; flush(): Promise<void> } {
	let sending: Promise<void> | null = null;
	const send = async (): Promise<void> => {
		while (channel.isOpen()) {
			const notification = next();
			if (notification === null) return;
			await channel.send(notification);
		}
	};
	return {
		start() {
			// The client disconnected or its stream closed. The call learns of it through its signal.
			sending ??= send()
				.catch(() => undefined)
				.finally(() => (sending = null));
		},
		async flush() {
			while (sending) await sending;
		}
	};
}

/** Characters per notification. Output that arrives while one is being sent goes out together. */
const MAX_TEXT = 4096;

/** Script output, if the client sent a token; `progress` counts characters. */
function createProgress(channel: Channel, progressToken: string | number | undefined): Report | null {
	if (progressToken === undefined) return null;
	let progress = 0;
	let waiting = '';
	const sender = createSender(channel, () => {
		if (waiting === '') return null;
		const message = waiting.slice(-MAX_TEXT).toWellFormed();
		progress += waiting.length;
		waiting = '';
		return { method: 'notifications/progress', params: { progressToken, progress, message } };
	});
	return {
		onEvent(event) {
			if (event.type === 'started') waiting += `${event.skill}: ${event.script} runs\n`;
			if (event.type === 'output') waiting += event.text;
			if (waiting !== '') sender.start();
		},
		flush: () => sender.flush()
	};
}

/** By severity, as RFC 5424 has them. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
/** Messages per call; the result has the rest. */
const MAX_MESSAGES = 200;
const MAX_LINE = 1000;
/** Also of a line that doesn't end. */
const MAX_WAITING = 16_384;

/** null if it's none. */
export function levelIn(value: unknown): LoggingLevel | null {
	return LEVELS.find((level) => level === value) ?? null;
}

/** What scripts write to stderr, line by line, and how runs ended that failed. Nothing unless the client chose a level. */
function createLog(channel: Channel, threshold: LoggingLevel | null): Report | null {
	if (threshold === null) return null;
	const isWanted = (level: LoggingLevel) => LEVELS.indexOf(level) >= LEVELS.indexOf(threshold);
	const queue: Notification[] = [];
	let logger = '';
	let line = '';
	let count = 0;
	const sender = createSender(channel, () => queue.shift() ?? null);
	const log = (level: LoggingLevel, data: string): void => {
		if (!isWanted(level) || data.trim() === '' || count > MAX_MESSAGES) return;
		count += 1;
		const isLast = count > MAX_MESSAGES;
		const text = isLast ? 'More lines aren’t sent; the result of the call has them.' : data.slice(0, MAX_LINE);
		queue.push({
			method: 'notifications/message',
			params: { level: isLast ? 'warning' : level, logger, data: text.toWellFormed() }
		});
		sender.start();
	};
	return {
		onEvent(event) {
			if (event.type === 'started') logger = `${event.skill}/${event.script}`;
			if (event.type === 'output' && event.stream === 'stderr' && isWanted('info')) {
				const lines = (line + event.text).split('\n');
				line = (lines.pop() ?? '').slice(-MAX_WAITING);
				for (const each of lines) log('info', each.trimEnd());
			}
			if (event.type !== 'finished') return;
			log('info', line);
			line = '';
			// The limit is for what scripts write.
			count = Math.min(count, MAX_MESSAGES - 1);
			if (event.exitCode !== 0) log('error', `It ended with exit code ${event.exitCode ?? 'none'}.`);
		},
		flush: () => sender.flush()
	};
}
