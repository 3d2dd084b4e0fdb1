/** What went wrong in A2A's words: its error classes, which the SDK numbers (A2A §5.4). */
import { A2AError, RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../log.ts';

/** Any error as one that may be told; what nobody expected is logged, and told without its words. */
export function toA2AError(error: unknown, log: Log): A2AError {
	if (error instanceof A2AError) return error;
	if (!(error instanceof AppError)) {
		log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 'A2A call failed');
		return new A2AError('Something went wrong in the server; its log says more.');
	}
	const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
	switch (error.code) {
		case 'not_found':
			return new TaskNotFoundError({ message, cause: error });
		case 'conflict':
		case 'method_not_allowed':
			return new UnsupportedOperationError({ message, cause: error });
		case 'invalid_input':
		case 'forbidden':
		case 'too_large':
		case 'unsupported_media_type':
			return new RequestMalformedError({ message, cause: error });
		default:
			return new A2AError({ message, cause: error });
	}
}
