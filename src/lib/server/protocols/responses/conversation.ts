/** What a request goes on from: the chain before it, its session and workspace, and the items that it brings. */
import type { ResponseItem } from '../../agent/model.ts';
import type { Responses } from '../../store/responses.ts';
import type { Workspaces } from '../../workspaces.ts';
import type { CompactionSeal } from './compaction-seal.ts';
import { ApiError } from './errors.ts';
import { type InputContext, readInput } from './input.ts';
import type { ResponseRequest } from './request.ts';
import { MAX_UNSHOWN, type Room } from './sealed.ts';
import type { ExecutedCall } from './wire.ts';

export interface ConversationParts {
	store: { responses: Responses };
	workspaces: Workspaces;
	compactions: CompactionSeal;
	/** Name of the workspace of a key, or else of a chain. */
	folderOf(apiKeyId: string | null, sessionId: string): string;
}

export interface Conversation {
	/** What was said and done before this request. */
	before: ResponseItem[];
	/** What this request adds. */
	asked: ResponseItem[];
	sessionId: string;
	folder: string;
}

/** @throws ApiError for a chain that is not there, items that cannot be read, and where there is nothing at all */
export async function readConversation(
	parts: ConversationParts,
	{ input, previous_response_id: previous }: Pick<ResponseRequest, 'input' | 'previous_response_id'>,
	{ id, model, apiKeyId }: { id: string; model: string; apiKeyId: string | null }
): Promise<Conversation> {
	const { responses } = parts.store;
	const isNew = previous === null || previous === undefined;
	const chain = isNew ? [] : await responses.chain(previous, apiKeyId);
	if (!chain) {
		throw new ApiError(400, `Previous response with id '${previous?.slice(0, 100)}' not found.`, {
			code: 'previous_response_not_found',
			param: 'previous_response_id'
		});
	}
	const isEmpty = input === undefined || input === null || input.length === 0;
	if (isEmpty && chain.length === 0 && input !== '') {
		throw new ApiError(400, "Missing required parameter: 'input'.", {
			code: 'missing_required_parameter',
			param: 'input'
		});
	}
	const open = (sealed: string, room: Room) => parts.compactions.open(sealed, apiKeyId, room);
	// A compaction begins a new chain; the files of the one before are still meant.
	const sessionId = chain[0]?.sessionId ?? compactedSession(input, open) ?? id;
	const folder = parts.folderOf(apiKeyId, sessionId);
	const before = chain.flatMap(({ items, body }) => {
		return (items as ResponseItem[]).filter(({ type }) => type !== 'reasoning' || body.model === model);
	});
	const asked = await readInput(input, {
		model,
		workspaces: parts.workspaces,
		folder,
		open,
		calls: new Set(before.flatMap(({ type, call_id }) => (type === 'function_call' ? [String(call_id)] : []))),
		find: (itemId) => findItem(responses, itemId, apiKeyId)
	});
	return { before, asked, sessionId, folder };
}

function compactedSession(input: ResponseRequest['input'], open: InputContext['open']): string | null {
	const item = Array.isArray(input) ? input.findLast(({ type }) => type === 'compaction') : undefined;
	const compaction = item?.type === 'compaction' ? open(item.encrypted_content, { left: MAX_UNSHOWN }) : null;
	return compaction === null || compaction === 'unreadable' ? null : compaction.sessionId;
}

/** `resp_<hex>` gives its items ids with the same hex. */
async function findItem(
	responses: Responses,
	itemId: string,
	apiKeyId: string | null
): Promise<Record<string, unknown> | null> {
	const hex = /^[a-z]+_([0-9a-f]{32})_\d+$/.exec(itemId)?.[1];
	const stored = hex === undefined ? null : await responses.get(`resp_${hex}`, apiKeyId);
	const output = (stored?.body.output ?? []) as Record<string, unknown>[];
	return output.find(({ id }) => id === itemId) ?? null;
}

// What a reader of the thoughts sees of a skill's call.

const MAX_ARGUMENTS = 300;
const MAX_RESULT = 600;

export function callText({ name, arguments: text }: ExecutedCall): string {
	return `Running ${name} ${shortened(text, MAX_ARGUMENTS)}`;
}

/** Follows `callText`. */
export function resultText({ output = '', is_error: isError, name }: ExecutedCall): string {
	return `\n\n${name} ${isError ? 'failed' : 'answered'}: ${shortened(output, MAX_RESULT)}`;
}

function shortened(text: string, most: number): string {
	return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
