/** Requests to `/v1/responses` with tools that Open Responses doesn't have, in one app per file with a skill that says things. */
import { afterAll, afterEach } from 'vitest';
import { call, type ModelServer, type Reply, status } from './model-server.ts';
import { createResponsesRigs, type ResponsesRig, type ResponsesRigOptions } from './responses-rig.ts';

const SKILLS = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"\n'
};
export const say = (word: string) => call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: [word] });

export const SEARCH = { type: 'web_search', search_context_size: 'low' };
export const NO_SEARCH = 'The tool web_search was left out: the model’s server doesn’t offer it.';
export const refusal = (type: string) =>
	status(400, {
		error: { message: `Invalid value: '${type}'. Supported values are: 'function'.`, param: 'tools[0].type' }
	});

/** Call it once per file: it tidies up after each test, and after all. */
export function createToolsRig() {
	const rigs = createResponsesRigs(SKILLS);
	let rig: ResponsesRig;
	afterEach(() => rigs.settle());
	afterAll(() => rigs.close());
	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	const sent = (number: number): any => rig.model?.requests[number]?.body;
	return {
		open: async (script: Reply[], more?: ResponsesRigOptions): Promise<void> => {
			rig = await rigs.open(script, more);
		},
		model: (): ModelServer => {
			if (!rig.model) throw new Error('demo mode has no scripted model');
			return rig.model;
		},
		ask: (body: Record<string, unknown>, to = rig) => to.askFreely(body),
		stream: (body: Record<string, unknown>) => rig.streamFreely(body),
		/** The body of the model's request. */
		sent,
		toolsSent: (number: number): string[] =>
			(sent(number)?.tools ?? []).map(({ type, name }: { type: string; name?: string }) => name ?? type)
	};
}
