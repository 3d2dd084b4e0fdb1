/** Validates the JSON-RPC calls of A2A 1.0 and 0.3 (method and params) before the SDK reads them. */
import { createHash } from 'node:crypto';
import { type Message, type Part, Role, TaskState } from '@a2a-js/sdk';
import { A2A_ERROR_CODE, RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { parseJson } from '../../../shared/json.ts';
import { isNestedDeeperThan, MAX_NESTING } from '../../../shared/errors.ts';
import { checkedMessage } from '../../conversations/agui-input.ts';
import { modelId } from '../../../shared/models.ts';
import type { NewMessage } from '../../turns/run-request.ts';
import { extensionOf } from '../../conversations/file-headers.ts';
import { tellAddress } from '../received-files.ts';
import { inPlainWords, sentenceOf } from '../../../shared/plain-issues.ts';

export type RpcId = string | number | null;

export interface RpcError {
	jsonrpc: '2.0';
	id: RpcId;
	error: { code: number; message: string; data?: unknown };
}

/** A valid call, for the SDK's handler of its version. */
export interface RpcCall {
	version: '1.0' | '0.3';
	id: RpcId;
	body: Record<string, unknown>;
}

/** Of a Date. */
const MAX_TIME = 8.64e15;

/** An id or a name. */
const name = z.string().max(1024);
const parts = <Schema extends z.ZodType>(part: Schema) => z.array(part).min(1).max(100);
const historyLength = z.int().min(0).optional();
const bytes = z.string().regex(/^[\w+/-]*={0,2}$/, 'must be base64');
const sentMessage = {
	messageId: name.min(1),
	contextId: name.optional(),
	taskId: name.optional(),
	/** Others are left out. */
	metadata: z.object({ model: modelId.optional() }).optional()
};

/** As in ProtoJSON: the field that is present tells the kind of part. */
const part10 = z.union([
	z.object({ text: z.string() }),
	z.object({ raw: bytes, filename: name.optional(), mediaType: name.optional() }),
	z.object({ url: z.string(), filename: name.optional(), mediaType: name.optional() }),
	z.object({ data: z.json() })
]);

const part03 = z.discriminatedUnion('kind', [
	z.object({ kind: z.literal('text'), text: z.string() }),
	z.object({
		kind: z.literal('file'),
		file: z.union([
			z.object({ bytes, name: name.optional(), mimeType: name.optional() }),
			z.object({ uri: z.string(), name: name.optional(), mimeType: name.optional() })
		])
	}),
	z.object({ kind: z.literal('data'), data: z.json() })
]);

/** Goes into a header. */
const header = z
	.string()
	.max(4096)
	.regex(/^[\x20-\x7e]*$/, 'must be plain text in one line');
const scheme = z
	.string()
	.max(64)
	.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a scheme like Bearer');
const address = z.string().min(1).max(2048);
const push10 = z.object({
	id: name.optional(),
	url: address,
	token: header.optional(),
	authentication: z.object({ scheme, credentials: header.optional() }).optional()
});
const push03 = z.object({
	id: name.optional(),
	url: address,
	token: header.optional(),
	authentication: z.object({ schemes: z.array(scheme).min(1).max(10), credentials: header.optional() }).optional()
});
const createPush10 = push10.extend({ taskId: name.min(1) });
const setPush03 = z.object({ taskId: name.min(1), pushNotificationConfig: push03 });

const send10 = z.object({
	message: z.object({
		...sentMessage,
		role: z.enum(['ROLE_USER', 'ROLE_AGENT', 'ROLE_UNSPECIFIED']),
		parts: parts(part10)
	}),
	configuration: z
		.object({
			historyLength,
			returnImmediately: z.boolean().optional(),
			taskPushNotificationConfig: push10.optional()
		})
		.optional()
});

const send03 = z.object({
	message: z.object({ ...sentMessage, role: z.enum(['user', 'agent']), parts: parts(part03) }),
	configuration: z
		.object({
			historyLength,
			blocking: z.boolean().optional(),
			pushNotificationConfig: push03.optional()
		})
		.optional()
});

const task = z.object({ id: name.min(1), historyLength });
const page = {
	contextId: name.regex(/^[^\0]*$/, 'must not contain NUL').optional(),
	pageSize: z.int().min(1).max(100).optional(),
	pageToken: name.optional(),
	historyLength,
	includeArtifacts: z.boolean().optional()
};
const moment = z.iso.datetime({ offset: true });
const STATES = ['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed'] as const;
const list10 = z
	.object({
		...page,
		status: z.enum(Object.keys(TaskState).filter((state) => state.startsWith('TASK_STATE_'))).optional(),
		statusTimestampAfter: moment.optional()
	})
	.default({});
/** In the words of 1.0, which the handler knows. */
const list03 = z
	.object({
		...page,
		status: z.enum([...STATES, 'rejected', 'auth-required', 'unknown']).optional(),
		lastUpdatedAfter: z.union([moment, z.int().min(0).max(MAX_TIME)]).optional()
	})
	.default({})
	.transform(({ status, lastUpdatedAfter, ...rest }) => ({
		...rest,
		// “unknown” is no state of 1.0.
		...(status && { status: `TASK_STATE_${status.replace('-', '_').toUpperCase()}` }),
		...(lastUpdatedAfter !== undefined && { statusTimestampAfter: new Date(lastUpdatedAfter).toISOString() })
	}));
const nothing = z.object({}).optional();

const pushTask = name.min(1);
const pushOfTask10 = z.object({ taskId: pushTask, id: name.min(1) });
const pushList10 = z.object({ taskId: pushTask });
const pushOfTask03 = z.object({ id: pushTask, pushNotificationConfigId: name.optional() });
const pushDelete03 = z.object({ id: pushTask, pushNotificationConfigId: name.min(1) });
const pushList03 = z.object({ id: pushTask });

const METHODS: ReadonlyMap<string, { version: RpcCall['version']; params: z.ZodType }> = new Map<
	string,
	{ version: RpcCall['version']; params: z.ZodType }
>([
	['SendMessage', { version: '1.0', params: send10 }],
	['SendStreamingMessage', { version: '1.0', params: send10 }],
	['GetTask', { version: '1.0', params: task }],
	['ListTasks', { version: '1.0', params: list10 }],
	['CancelTask', { version: '1.0', params: task }],
	['SubscribeToTask', { version: '1.0', params: task }],
	['GetExtendedAgentCard', { version: '1.0', params: nothing }],
	['CreateTaskPushNotificationConfig', { version: '1.0', params: createPush10 }],
	['GetTaskPushNotificationConfig', { version: '1.0', params: pushOfTask10 }],
	['ListTaskPushNotificationConfigs', { version: '1.0', params: pushList10 }],
	['DeleteTaskPushNotificationConfig', { version: '1.0', params: pushOfTask10 }],
	['message/send', { version: '0.3', params: send03 }],
	['message/stream', { version: '0.3', params: send03 }],
	['tasks/get', { version: '0.3', params: task }],
	['tasks/list', { version: '0.3', params: list03 }],
	['tasks/cancel', { version: '0.3', params: task }],
	['tasks/resubscribe', { version: '0.3', params: task }],
	['agent/getAuthenticatedExtendedCard', { version: '0.3', params: nothing }],
	['tasks/pushNotificationConfig/set', { version: '0.3', params: setPush03 }],
	['tasks/pushNotificationConfig/get', { version: '0.3', params: pushOfTask03 }],
	['tasks/pushNotificationConfig/list', { version: '0.3', params: pushList03 }],
	['tasks/pushNotificationConfig/delete', { version: '0.3', params: pushDelete03 }]
]);

const rpcId = z.union([z.string().max(1024), z.int(), z.null()]);
const envelope = z.object({
	jsonrpc: z.literal('2.0'),
	method: z.string().min(1),
	id: rpcId.default(null),
	params: z.unknown().optional()
});

/** Parses a request body. Never throws. */
export function readCall(text: string): RpcCall | RpcError {
	const json = parseJson(text);
	if (json === undefined) return rpcError(null, A2A_ERROR_CODE.PARSE_ERROR, 'The body isn’t JSON.');
	if (isNestedDeeperThan(MAX_NESTING, json)) {
		const message = `The body is nested more than ${MAX_NESTING} levels deep.`;
		return rpcError(idOf(json), A2A_ERROR_CODE.INVALID_REQUEST, message);
	}
	const sent = envelope.safeParse(json);
	if (!sent.success) {
		const message = Array.isArray(json) ? 'Batches aren’t supported. Send one call at a time.' : describe(sent.error);
		return rpcError(idOf(json), A2A_ERROR_CODE.INVALID_REQUEST, message);
	}
	const { id, method, params } = sent.data;
	const known = METHODS.get(method);
	if (!known) return rpcError(id, A2A_ERROR_CODE.METHOD_NOT_FOUND, `Unknown method “${method.slice(0, 100)}”.`);
	const checked = known.params.safeParse(params, { error: inPlainWords });
	if (!checked.success) return rpcError(id, A2A_ERROR_CODE.INVALID_PARAMS, `params.${describe(checked.error)}`);
	return { version: known.version, id, body: { jsonrpc: '2.0', id, method, params: checked.data } };
}

export function rpcError(id: RpcId, code: number, message: string): RpcError {
	return { jsonrpc: '2.0', id, error: { code, message } };
}

/** The id of an invalid call, if it has one. */
function idOf(json: unknown): RpcId {
	return z.object({ id: rpcId }).safeParse(json).data?.id ?? null;
}

/** Names the first wrong field, without its value. */
function describe(error: z.ZodError): string {
	return sentenceOf(error.issues[0], 'body').sentence.slice(0, 500);
}

export interface IncomingFile {
	/** Relative to the workspace. */
	path: string;
	bytes: Buffer;
}

const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Splits a client's message into the message for the run and its files. @throws AppError invalid_input | A2AError */
export function readIncoming(message: Message): { message: NewMessage; files: IncomingFile[] } {
	if (message.role !== Role.ROLE_USER) throw new RequestMalformedError('message.role must be the user.');
	const files = message.parts.flatMap(fileOf);
	const paths = files.map(({ path }) => path);
	if (new Set(paths).size < paths.length) throw new RequestMalformedError('Two file parts have the same name.');
	const text = message.parts.flatMap(wordsOf).join('\n\n');
	if (text.trim() === '') {
		throw new RequestMalformedError('The message is empty. Add a text part that says what to do.');
	}
	const addresses = message.parts.flatMap(({ content }) =>
		content?.$case === 'url' ? [tellAddress(content.value)] : []
	);
	const whole = [text, ...addresses].join('\n\n');
	return { message: checkedMessage({ id: storedId(message.messageId), text: whole, files: paths }), files };
}

/** Clients may send any text as an id; the store accepts plain ids only. */
function storedId(messageId: string): string {
	if (PLAIN_ID.test(messageId)) return messageId;
	return `a2a-${createHash('sha256').update(messageId).digest('hex').slice(0, 32)}`;
}

function wordsOf({ content }: Part): string[] {
	if (content?.$case === 'text') return [content.value];
	return content?.$case === 'data' ? [JSON.stringify(content.value)] : [];
}

function fileOf({ content, filename, mediaType }: Part, index: number): IncomingFile[] {
	if (content?.$case !== 'raw') return [];
	return [{ path: filename === '' ? `file-${index + 1}${extensionOf(mediaType)}` : filename, bytes: content.value }];
}
