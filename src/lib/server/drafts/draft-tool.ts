/** The agent's tool to make a draft of a skill from its own chat. It places nothing: that is for a person, in the workbench (F8). */
import { AppError } from '../../shared/errors.ts';
import { DRAFT_TOOL } from '../../shared/names.ts';
import { toolOf, failed } from '../skills/call/tools.ts';
import type { BuiltinTools } from '../turns/toolbox.ts';
import type { Drafts } from './drafts.ts';

const TOOL = toolOf(
	DRAFT_TOOL,
	'Turn this chat into a draft of a skill. Only when the user asks for it. They read, change and save the draft themselves.',
	{},
	[]
);

/** For whom it is offered: only the server's owner may add skills. */
export interface DraftToolOffer {
	apiKeyId?: string | undefined;
	/** Another agent asks, not a person. */
	isProgram?: boolean | undefined;
	only?: readonly string[] | undefined;
}

export function createDraftTool(
	drafts: Pick<Drafts, 'start'>,
	{ apiKeyId, isProgram = false, only }: DraftToolOffer
): BuiltinTools {
	const isOffered = apiKeyId === undefined && !isProgram && (only?.includes(DRAFT_TOOL) ?? true);
	return {
		tools: () => (isOffered ? [TOOL] : []),
		has: (name) => isOffered && name === DRAFT_TOOL,
		lane: () => null,
		approval: () => null,
		async call(_name, _args, { caller }) {
			try {
				const draft = await drafts.start({ conversationId: caller.conversationId ?? '' });
				const said = [`The skill “${draft.name}” is drafted.`, draft.problem ?? ''].filter(Boolean).join(' ');
				return { ok: true, output: `${said} Nothing is installed until the user saves it there. (${draft.id})` };
			} catch (error) {
				const message = error instanceof AppError ? error.message : 'The draft couldn’t be made.';
				return failed('DraftFailed', message);
			}
		}
	};
}
