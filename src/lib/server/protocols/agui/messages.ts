/** A conversation's messages in AG-UI's shape, with the ids that its events have (FEATURES F13). Pure. */
import type * as agui from '@ag-ui/core';
import type { Message, Part } from '../../../shared/message.ts';

export function toAguiMessages(messages: readonly Message[]): agui.Message[] {
	return messages.flatMap((message) => {
		return message.role === 'user' ? [toUserMessage(message)] : message.parts.flatMap(toAnswerMessages);
	});
}

function toUserMessage({ id, parts, files }: Message): agui.Message {
	const content = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
	return { id, role: 'user', content, ...(files.length > 0 ? { metadata: { files } } : {}) };
}

/** A part is a message in AG-UI; a call that has its result is two. */
function toAnswerMessages(part: Part): agui.Message[] {
	switch (part.type) {
		case 'text':
			return [{ id: part.id, role: 'assistant', content: part.text }];
		case 'reasoning':
			return [{ id: part.id, role: 'reasoning', content: part.text }];
		case 'tool': {
			const { id, name, arguments: text, result } = part;
			const call: agui.Message = {
				id,
				role: 'assistant',
				toolCalls: [{ id, type: 'function', function: { name, arguments: text } }]
			};
			if (result === undefined) return [call];
			return [call, { id: `result_${id}`, role: 'tool', toolCallId: id, content: result }];
		}
		case 'compaction':
			// The model's beginning was shortened: nothing that anybody has said.
			return [];
		default:
			return part satisfies never;
	}
}
