/** Addresses of conversations and of single messages in them. Pure. */

const PREFIX = 'm-';

/** Opens the conversation, at a message if one is named: no element has such an id, the page finds the message itself. */
export function conversationAddress(conversationId: string, messageId?: string): string {
	const hash = messageId === undefined ? '' : `#${encodeURIComponent(PREFIX + messageId)}`;
	return `/c/${conversationId}${hash}`;
}

/** The message that an address names by its hash; null where it names none. */
export function messageOfHash(hash: string): string | null {
	const anchor = decode(hash.replace(/^#/, ''));
	return anchor.startsWith(PREFIX) && anchor.length > PREFIX.length ? anchor.slice(PREFIX.length) : null;
}

/** Anybody can write an address: one that is wrong names nothing. */
function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return '';
	}
}
