import { version } from '$app/environment';
import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { AgentCapabilities } from '$lib/shared/events.ts';
import { api } from '$lib/server/http.ts';
import { describeAgent, offeredSkills } from '$lib/server/protocols/agui/capabilities.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	const { config, settings, sandbox } = locals.app;
	const { maxSteps, maxDurationMs } = { ...config.limits, ...settings.current().limits };
	const { files, network, processes } = sandbox.isolation;
	const capabilities: AgentCapabilities = describeAgent({
		version,
		maxSteps,
		maxDurationMs,
		isSandboxed: files && network && processes,
		...offeredSkills(locals.app, locals.caller.apiKeyId)
	});
	return json(capabilities);
});
