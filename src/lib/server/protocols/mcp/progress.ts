/** Live output of a script as progress, where the client asked for it (FEATURES F15). */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { SkillEvent } from '../../skills/types.ts';

export interface ProgressReport {
	onEvent(event: SkillEvent): void;
	/** All has been sent that was reported. */
	flush(): Promise<void>;
}

/** Characters of output that one notification carries; what comes while one is on its way goes together. */
const MAX_TEXT = 4096;

/** `progress` counts characters of output; a client that gave no token is told nothing. */
export function reportProgress({ mcpReq }: Pick<ServerContext, 'mcpReq'>): ProgressReport {
	const progressToken = mcpReq._meta?.progressToken;
	if (progressToken === undefined) return { onEvent: () => undefined, flush: async () => undefined };
	let progress = 0;
	let waiting = '';
	let sending: Promise<void> | null = null;

	const send = async (): Promise<void> => {
		while (waiting !== '' && !mcpReq.signal.aborted) {
			const text = waiting.slice(-MAX_TEXT).toWellFormed();
			progress += waiting.length;
			waiting = '';
			await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message: text } });
		}
	};
	const start = (): void => {
		// The client has gone, or its stream is closed: the call itself learns of it by its signal.
		sending ??= send()
			.catch(() => undefined)
			.finally(() => (sending = null));
	};
	return {
		onEvent(event) {
			if (event.type === 'started') waiting += `${event.skill}: ${event.script} runs\n`;
			if (event.type === 'output') waiting += event.text;
			if (waiting !== '') start();
		},
		async flush() {
			while (sending) await sending;
		}
	};
}
