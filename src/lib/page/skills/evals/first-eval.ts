/** The first eval of a skill that has none: from its own example, else from the last chat that used it. */
import { messageText } from '../../../shared/message.ts';
import type { SkillDetail } from '../../../shared/skills.ts';
import { EVERY_EXECUTION, nameOf } from '../../executions/executions.svelte.ts';
import type { Client } from '../../server.ts';

export interface FirstEval {
	from: 'example' | 'chat';
	prompt: string;
	/** Paths in the skill. */
	files: string[];
	/** As evals.json has them. */
	expectations: string[];
}

type Asked = Pick<Client, 'listExecutions' | 'getConversation'>;

const MOST_RUNS = 20;
const MOST_CHATS = 3;

/** null if there is neither, or only chats with files: the skill doesn't have those. Rejects with an `ApiError`. */
export async function findFirstEval(
	client: Asked,
	{ name, skillId, example }: Pick<SkillDetail, 'name' | 'skillId' | 'example'>
): Promise<FirstEval | null> {
	const loads = `skillLoaded: ${name}`;
	if (example) {
		const files = example.files.map((file) => `examples/${file}`);
		return { from: 'example', prompt: example.prompt, files, expectations: [loads] };
	}
	const { data } = await client.listExecutions({ ...EVERY_EXECUTION, skill: skillId, page: 1, limit: MOST_RUNS });
	const worked = data.filter((run) => run.status === 'success' && run.toolCallId !== null);
	for (const id of [...new Set(worked.map((run) => run.conversationId ?? ''))].filter(Boolean).slice(0, MOST_CHATS)) {
		// It may be deleted.
		const chat = await client.getConversation(id).catch(() => null);
		const messages = chat?.messages ?? [];
		for (const run of worked.filter((each) => each.conversationId === id)) {
			const at = messages.findIndex(({ parts }) =>
				parts.some((part) => part.type === 'tool' && part.id === run.toolCallId)
			);
			const asked = messages.slice(0, Math.max(at, 0)).findLast(({ role }) => role === 'user');
			const prompt = asked ? messageText(asked).trim() : '';
			if (prompt === '' || asked?.files.length !== 0) continue;
			return { from: 'chat', prompt, files: [], expectations: [loads, `toolCalled: ${nameOf(run)}`] };
		}
	}
	return null;
}

/** The text of `evals.json` with it; without one, with an empty prompt to fill in. */
export function evalsText(first: FirstEval | null, name: string): string {
	const { prompt = '', files = [], expectations = [`skillLoaded: ${name}`] } = first ?? {};
	return `${JSON.stringify({ evals: [{ prompt, ...(files.length > 0 && { files }), expectations }] }, null, '\t')}\n`;
}
