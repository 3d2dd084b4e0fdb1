/** Why a request was not made, or came to nothing. */
export type NetworkErrorCode =
	/** Not an address that may be asked: scheme, user name, spelling. */
	| 'bad-url'
	/** A header or method that may not be sent. */
	| 'bad-request'
	/** The host, or one of its addresses, is not on the public internet. */
	| 'blocked-address'
	/** No such host, or nobody answers there. */
	| 'unreachable'
	/** What came back is not HTTP, or is not packed as it says. */
	| 'bad-response'
	| 'timeout'
	| 'aborted';

/** Its message is one sentence for people and models. */
export class NetworkError extends Error {
	readonly code: NetworkErrorCode;

	constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = 'NetworkError';
		this.code = code;
	}
}
