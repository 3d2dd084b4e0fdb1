/** What the door refuses on the way to a protocol of JSON-RPC, in the words of JSON-RPC; pure (FEATURES E15, E16). */
import type { AppError, ErrorCode } from '../../shared/errors.ts';

export interface RpcRefusal {
	jsonrpc: '2.0';
	/** The body was not read, so nobody knows its id. */
	id: null;
	error: { code: number; message: string; data: { code: ErrorCode } };
}

/** Of the numbers that JSON-RPC leaves to servers. */
const REFUSED = -32_000;
const INTERNAL = -32_603;

export function rpcRefusal({ code, message, hint }: AppError): RpcRefusal {
	const number = code === 'internal' ? INTERNAL : REFUSED;
	const sentence = hint === undefined ? message : `${message} ${hint}`;
	return { jsonrpc: '2.0', id: null, error: { code: number, message: sentence, data: { code } } };
}
