/** Push notifications: tells addresses that programs named of the progress of their tasks (A2A §4.3; FEATURES E16). */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { StreamResponse, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { parseJson } from '../../../shared/json.ts';
import { AppError, hostAndPort } from '../../../shared/errors.ts';
import { API_SCOPES } from '../../../shared/names.ts';
import type { Log } from '../../log.ts';
import { createAddressGuard, NetworkError } from '../../network/addresses.ts';
import { createSafeFetch } from '../../network/safe-fetch.ts';
import { type Replica, soleReplica } from '../../replica.ts';
import type { TaskPush } from '../../store/chat/tasks.ts';
import { decryptText, encryptText } from '../../trust/vault.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { createPushSink, foldTask, type Notification, type PushSink } from './push-sink.ts';
import { taskEvents } from './render-task.ts';
import type { RpcCall } from './requests.ts';
import { type CallParts, readTask, type TaskSource } from './task-calls.ts';

export interface PushParts extends CallParts {
	log: Log;
	/** 32 bytes, for nothing else. */
	pushKey: Buffer;
	/** `host:port` of receivers outside the public internet. */
	pushHosts: readonly string[];
	/** Default: this server is alone. */
	replica?: Replica;
}

/** Who asks to be told, and how. */
export interface PushCaller {
	asker: Asker;
	version: RpcCall['version'];
	/** As the client reached this server. */
	origin: string;
}

type Config = TaskPushNotificationConfig;

const MAX_PER_TASK = 5;
/** Of all tasks that aren't over. */
const MAX_OPEN = 1000;
/** Of those, so that one key can't take them all. */
const MAX_OPEN_PER_KEY = 200;
/** After a failure; then it's given up. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000];
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 4096;
const TOKEN_HEADER = 'x-a2a-notification-token';

const stored = z.object({
	url: z.string(),
	token: z.string(),
	authentication: z.object({ scheme: z.string(), credentials: z.string() }).nullable(),
	version: z.enum(['1.0', '0.3']),
	origin: z.string(),
	asker: z.object({ apiKeyId: z.string().nullable(), scopes: z.array(z.enum(API_SCOPES)) })
});
type Secret = z.infer<typeof stored>;

/** One task and everybody who is told of it. */
interface Watch {
	task: Task | null;
	sinks: Map<string, PushSink & Pick<Asker, 'apiKeyId'>>;
	stop: AbortController;
	/** Its last event has been told to the sinks. */
	isOver: boolean;
}

export function createPushes(parts: PushParts) {
	const { store, runner, workspaces, changes, log, replica = soleReplica() } = parts;
	const watches = new Map<string, Watch>();
	const working = new Set<Promise<void>>();
	const closing = new AbortController();
	const publicFetch = createSafeFetch();
	const trustedFetch = createSafeFetch({ isAllowed: () => true });
	const guard = createAddressGuard();
	const isTrusted = (url: URL) => parts.pushHosts.includes(hostAndPort(url));

	const seal = (push: Omit<TaskPush, 'sealed'>, secret: Secret): TaskPush => ({
		...push,
		sealed: JSON.stringify(encryptText(parts.pushKey, labelOf(push), JSON.stringify(secret)))
	});
	/** null if it was written with another key, or damaged. */
	const open = (push: TaskPush): Secret | null => {
		const sealed = parseJson(push.sealed) as ReturnType<typeof encryptText> | null;
		const text = sealed && decryptText(parts.pushKey, labelOf(push), sealed);
		return text === null ? null : (stored.safeParse(parseJson(text)).data ?? null);
	};
	const find = async ({ contextId, answer }: TaskSource): Promise<TaskPush[]> =>
		store.tasks.pushes(contextId, answer.id);

	const post = async (secret: Secret, { body, contentType }: Notification): Promise<'ok' | 'again' | 'never'> => {
		const { authentication, token } = secret;
		const url = new URL(secret.url);
		const headers: Record<string, string> = { 'content-type': contentType };
		if (token !== '') headers[TOKEN_HEADER] = token;
		if (authentication) headers['authorization'] = `${authentication.scheme} ${authentication.credentials}`.trim();
		try {
			const send = isTrusted(url) ? trustedFetch : publicFetch;
			const options = { method: 'POST', headers, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES };
			const { status } = await send(secret.url, { ...options, signal: closing.signal });
			if (status >= 200 && status < 300) return 'ok';
			return status >= 500 || status === 408 || status === 429 ? 'again' : 'never';
		} catch (error) {
			if (!(error instanceof NetworkError)) throw error;
			return ['blocked-address', 'bad-url', 'bad-request'].includes(error.code) ? 'never' : 'again';
		}
	};
	const isRevoked = async ({ asker }: Secret): Promise<boolean> => {
		if (asker.apiKeyId === null) return false;
		const key = await store.apiKeys.get(asker.apiKeyId);
		return key === null || key.revokedAt !== null;
	};
	const deliver = async (push: TaskPush, secret: Secret, notification: Notification): Promise<boolean> => {
		try {
			for (const delayMs of [...RETRY_DELAYS_MS, null]) {
				// Another server may have removed or replaced it.
				if (replica.isShared && !(await store.tasks.isPushOf(push, replica.id))) return false;
				if (await isRevoked(secret)) return false;
				const outcome = await post(secret, notification);
				if (outcome === 'ok') return true;
				if (outcome === 'never' || delayMs === null) break;
				await delay(delayMs, undefined, { signal: closing.signal, ref: false });
			}
			log.info(
				{ host: hostAndPort(new URL(secret.url)), taskId: push.taskId },
				'A push notification couldn’t be delivered'
			);
		} catch (error) {
			if (!closing.signal.aborted) log.error({ error: String(error) }, 'A push notification failed');
		}
		return false;
	};

	/** Events of the task until it's over, then its sinks end by themselves. */
	const follow = async (watch: Watch, push: TaskPush, { asker, origin }: Secret, told: string | null) => {
		const { signal } = watch.stop;
		const changed = changes.follow(push.contextId, signal);
		let change = changed.next();
		let known = told;
		for (;;) {
			let latest = await readTask(parts, asker, push.taskId);
			if (stateOf(latest) !== known) {
				const files = { workspaces, contextId: push.contextId, origin };
				const read = async () => (latest = await readTask(parts, asker, push.taskId));
				for await (const event of taskEvents({ runner, files, read, signal }, latest)) tell(watch, event);
				known = stateOf(latest);
			}
			if (signal.aborted) return;
			if (!isOpen(latest)) break;
			if ((await change).done) return;
			change = changed.next();
		}
		watch.isOver = true;
		for (const sink of watch.sinks.values()) sink.finish();
	};
	const drop = (place: string, watch: Watch) => {
		watch.isOver = true;
		for (const sink of watch.sinks.values()) sink.stop();
		watch.stop.abort();
		if (watches.get(place) === watch) watches.delete(place);
	};
	const keep = (work: Promise<void>) => {
		const kept = work
			.catch((error: unknown) => {
				if (closing.signal.aborted || (error instanceof AppError && error.code === 'not_found')) return;
				log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 'A push failed');
			})
			.finally(() => working.delete(kept));
		working.add(kept);
	};
	/** `told`: the state that the receiver knows; null: it's told the state at once. */
	const watch = (push: TaskPush, secret: Secret, told: string | null) => {
		const place = placeOf(push);
		const found = watches.get(place);
		const isFirst = !found || found.isOver;
		const watched = isFirst ? { task: null, sinks: new Map(), stop: new AbortController(), isOver: false } : found;
		const sink = {
			apiKeyId: secret.asker.apiKeyId,
			...createPushSink({
				version: secret.version,
				deliver: (notification) => deliver(push, secret, notification),
				onEnd() {
					if (closing.signal.aborted) return;
					watched.sinks.delete(push.id);
					if (watched.sinks.size === 0) drop(place, watched);
					keep(store.tasks.closePush(push));
				}
			})
		};
		watched.sinks.get(push.id)?.stop();
		watched.sinks.set(push.id, sink);
		if (watched.task && told === null) sink.push({ payload: { $case: 'task', value: watched.task } }, watched.task);
		if (!isFirst) return;
		watches.set(place, watched);
		keep(follow(watched, push, secret, told).catch((error: unknown) => (drop(place, watched), Promise.reject(error))));
	};

	const check = (config: Config, apiKeyId: string | null): URL => {
		const told = [...watches.values()].flatMap(({ sinks }) => [...sinks.values()]);
		const own = told.filter((sink) => sink.apiKeyId === apiKeyId);
		if (told.length >= MAX_OPEN || (apiKeyId !== null && own.length >= MAX_OPEN_PER_KEY)) {
			throw new RequestMalformedError('Too many tasks have push notifications. Try again when some are done.');
		}
		const url = URL.parse(config.url);
		if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
			throw new RequestMalformedError('The url of a push notification must be a web address without a password.');
		}
		try {
			if (!isTrusted(url)) guard.check(url.hostname);
		} catch (cause) {
			if (!(cause instanceof NetworkError)) throw cause;
			const message = `${cause.message} The server’s owner can allow it with A2A_PUSH_HOSTS.`;
			throw new RequestMalformedError({ message, cause });
		}
		return url;
	};

	return {
		/** Checks address and secrets before anything is started. @throws RequestMalformedError */
		check,

		/** Adds a config to a task, or replaces the one of its id. `isNew`: the task starts or goes on with the same call. */
		async add(
			source: TaskSource,
			config: Config,
			{ asker, version, origin }: PushCaller,
			isNew: boolean = false
		): Promise<Config> {
			const { href } = check(config, asker.apiKeyId);
			const { contextId, taskId, answer } = source;
			// 0.3 has one without an id, which is replaced.
			const id = config.id || (version === '0.3' ? taskId : randomUUID());
			const authentication = config.authentication?.scheme ? config.authentication : null;
			const secret = { url: href, token: config.token, authentication, version, origin };
			const hasMore = isNew || isOpen(source);
			const place = { contextId, messageId: answer.id, id, taskId, isOpen: hasMore };
			const kept = { ...secret, asker: { apiKeyId: asker.apiKeyId, scopes: [...asker.scopes] } };
			const push = seal(place, kept);
			await store.tasks.putPush(push, new Date().toISOString(), replica.id);
			// Counted afterwards, because several may come at once.
			if ((await find(source)).findIndex((each) => each.id === id) >= MAX_PER_TASK) {
				await store.tasks.removePush(push);
				throw new RequestMalformedError(`A task can have ${MAX_PER_TASK} push notifications. Delete one first.`);
			}
			if (hasMore) watch(push, kept, isNew || answer.status === 'running' ? null : stateOf(source));
			return configOf(push, kept);
		},

		/** @throws TaskNotFoundError */
		async get(source: TaskSource, id: string): Promise<Config> {
			const push = (await find(source)).find((each) => each.id === (id || source.taskId));
			const secret = push && open(push);
			if (!secret) throw new TaskNotFoundError('This task has no push notification with that id.');
			return configOf(push, secret);
		},

		/** Without their secrets, as everywhere. */
		async list(source: TaskSource): Promise<Config[]> {
			return (await find(source)).flatMap((push) => {
				const secret = open(push);
				return secret ? [configOf(push, secret)] : [];
			});
		},

		/** Also if there was none. */
		async remove({ contextId, answer, taskId }: TaskSource, id: string): Promise<void> {
			const push = { contextId, messageId: answer.id, id: id || taskId };
			await store.tasks.removePush(push);
			const place = placeOf(push);
			const watched = watches.get(place);
			watched?.sinks.get(push.id)?.stop();
			watched?.sinks.delete(push.id);
			if (watched?.sinks.size === 0) drop(place, watched);
		},

		/** Goes on with the tasks of servers that have stopped. Call once. */
		async resume(): Promise<void> {
			const takeOver = async () => {
				for (const push of await store.tasks.claimPushes(replica.id, MAX_OPEN)) {
					const secret = open(push);
					// The last state may not have been told, so it's told again.
					if (secret) watch(push, secret, null);
					else await store.tasks.closePush(push);
				}
			};
			await takeOver();
			replica.onGone(takeOver);
		},

		async close(): Promise<void> {
			closing.abort();
			for (const [place, each] of watches) drop(place, each);
			await Promise.all(working);
		}
	};
}

export type Pushes = ReturnType<typeof createPushes>;

function tell(watch: Watch, event: StreamResponse): void {
	const task = watch.task === null && event.payload?.$case === 'task' ? event.payload.value : watch.task;
	if (!task) return;
	const after = foldTask(task, event);
	watch.task = after;
	for (const sink of watch.sinks.values()) sink.push(event, after);
}

function isOpen({ answer }: TaskSource): boolean {
	return answer.status === 'running' || answer.status === 'waiting';
}

function stateOf({ run, answer }: TaskSource): string {
	return `${run.id} ${answer.status}`;
}

function placeOf({ contextId, messageId }: Pick<TaskPush, 'contextId' | 'messageId'>): string {
	return `${contextId} ${messageId}`;
}

function labelOf({ contextId, messageId, id }: Pick<TaskPush, 'contextId' | 'messageId' | 'id'>): Buffer {
	return Buffer.from(JSON.stringify(['a2a-push', contextId, messageId, id]));
}

/** As a program may read it: without what it's secured with. */
function configOf({ id, taskId }: TaskPush, { url, authentication }: Secret): Config {
	const named = authentication ? { scheme: authentication.scheme, credentials: '' } : undefined;
	return { tenant: '', id, taskId, url, token: '', authentication: named };
}
