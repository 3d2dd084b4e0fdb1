/** Requirements of A2A's TCK 1.0.0 that don't apply here, and why. */
const ONE_BINDING = 'JSON-RPC is the only binding.';
const UNSIGNED = 'The card isn’t signed.';

export const DOES_NOT_APPLY: Readonly<Record<string, string>> = {
	'CORE-SEND-003': 'No media type is unsupported: a file of any type goes into the workspace as it is.',
	'CORE-STREAM-002': 'A message always gets a task, so no stream has a message only.',
	'CORE-CAP-001': 'Push notifications are supported.',
	'CORE-CAP-002': 'Streaming is supported.',
	'CORE-CAP-003': 'The extended card is supported.',
	'CORE-CAP-004': 'No extension is required.',
	'CARD-EXT-002': 'There is always an extended card.',
	'CARD-SIGN-001': UNSIGNED,
	'CARD-SIGN-002': UNSIGNED,
	'CARD-SIGN-003': UNSIGNED,
	'CARD-SIGN-004': UNSIGNED,
	'CARD-CACHE-003': 'Optional: the ETag is enough.',
	'VER-CLIENT-001': 'For clients.',
	'AUTH-TLS-001': 'TLS is up to the proxy: see docs/running.md.',
	'AUTH-TLS-002': 'TLS is up to the proxy: see docs/running.md.',
	'AUTH-SERVER-001': 'For clients.',
	'AUTH-INTASK-001': 'No task asks for a login. A missing variable is input-required.',
	'BIND-EQUIV-001': ONE_BINDING,
	'BIND-EQUIV-002': ONE_BINDING,
	'BIND-EQUIV-003': ONE_BINDING,
	'BIND-EQUIV-004': ONE_BINDING,
	'GRPC-*': ONE_BINDING,
	'HTTP_JSON-*': ONE_BINDING
};
