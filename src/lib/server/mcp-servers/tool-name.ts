/** What a server's tool is called among all tools: `mcp__server__tool`, and no other tool is called the same (FEATURES E36); pure. */
import { createHash } from 'node:crypto';

/** The most that models' servers take. */
const MAX_LENGTH = 64;
const DIGEST_LENGTH = 8;

/**
 * As it is where the name can be read back: servers end at the first `__` behind the prefix. Any other has a digest of both
 * names at its end, the same each time.
 */
export function toolName(server: string, tool: string): string {
	const plain = `mcp__${server}__${tool}`;
	const isClear = !server.includes('__') && !server.endsWith('_');
	if (isClear && plain.length <= MAX_LENGTH && /^[A-Za-z0-9_-]+$/.test(tool)) return plain;
	const digest = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, DIGEST_LENGTH);
	const readable = plain.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_LENGTH - DIGEST_LENGTH - 1);
	return `${readable}_${digest}`;
}
