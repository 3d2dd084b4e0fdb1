import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas';
import { endpoint } from '$lib/server/endpoint.ts';
import { version } from '$app/environment';
import { describeAgent, offeredSkills } from '$lib/server/protocols/agui/agui.ts';

export const GET = endpoint({
	id: 'getAgentCapabilities',
	tag: 'Answers',
	summary: 'Get what the agent can do (AG-UI `AgentCapabilities`)',
	scope: 'read',
	answer: AgentCapabilitiesSchema.describe('Transport, tools, state, limits, skills.'),
	handler: ({ app, caller }) => {
		const { config, settings, sandbox } = app;
		const { maxSteps, maxDurationMs } = { ...config.limits, ...settings.current().limits };
		const { files, network, processes } = sandbox.isolation;
		return describeAgent({
			version,
			maxSteps,
			maxDurationMs,
			isSandboxed: files && network && processes,
			...offeredSkills(app, caller.apiKeyId)
		});
	}
});
