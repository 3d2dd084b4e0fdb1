/** What goes over a WebSocket besides the events of a response: the client's one message, and errors (FEATURES F12). */
import { AppError } from '../../../shared/errors.ts';
import { ApiError, toApiError } from './errors.ts';

/** `WebSocketErrorEvent` of Open Responses. */
export interface SocketError {
	type: 'error';
	status: number;
	error: { type: string; code: string; message: string; param: string | null };
}

/** Those of HTTP alone; beside them what other servers know and would be misunderstood in silence. */
const NOT_HERE: readonly string[] = ['stream', 'stream_options', 'background', 'stream_id'];

/** The body of a `response.create`. @throws ApiError */
export function readMessage(text: string): Record<string, unknown> {
	const message = parse(text);
	if (typeof message !== 'object' || message === null || Array.isArray(message)) {
		throw new ApiError(400, 'A message must be a JSON object.', { code: 'invalid_type' });
	}
	const { type, ...body } = message as Record<string, unknown>;
	if (type !== 'response.create') {
		throw new ApiError(400, 'type: must be “response.create”; nothing else is sent here.', {
			code: 'invalid_value',
			param: 'type'
		});
	}
	const other = NOT_HERE.find((name) => body[name] !== undefined && body[name] !== null);
	if (other !== undefined) {
		throw new ApiError(400, `“${other}” is not for WebSockets: leave it out.`, {
			code: 'unsupported_parameter',
			param: other
		});
	}
	if (body.generate === false) {
		throw new ApiError(400, '“generate: false” is not supported: there is nothing here to warm up.', {
			code: 'unsupported_parameter',
			param: 'generate'
		});
	}
	return body;
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// What the parser says quotes the message, and that may hold a secret.
		throw new AppError('invalid_input', 'The message is not valid JSON.');
	}
}

export function socketError(error: unknown): SocketError {
	const { status, type, code, message, param } = toApiError(error);
	return { type: 'error', status, error: { type, code: code ?? type, message, param } };
}
