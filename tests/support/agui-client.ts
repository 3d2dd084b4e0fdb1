/** AG-UI's own client against our server: every event on the wire is checked against the protocol's schemas. */
import { HttpAgent, type BaseEvent, type RunAgentParameters } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';

export interface AguiClient {
	agent: HttpAgent;
	/** Of the last run, as the client received them. */
	events: BaseEvent[];
	/** Of the last run. */
	runId: string;
	/** Adds the message, if given, and runs. Returns the text of the new assistant messages. */
	run(text?: string, parameters?: RunAgentParameters): Promise<string>;
	/** The last event of the last run. */
	last(): BaseEvent & Record<string, unknown>;
}

/** `given`: options for AG-UI's HttpAgent. */
export function aguiClient(url: string, given: Partial<ConstructorParameters<typeof HttpAgent>[0]> = {}): AguiClient {
	const events: BaseEvent[] = [];
	let wire: Promise<string> = Promise.resolve('');
	const agent = new HttpAgent({
		url: `${url}/api/chat`,
		...given,
		async fetch(address, init) {
			const response = await fetch(address, init);
			// If a client disconnects, the client has already checked what arrived.
			wire = response
				.clone()
				.text()
				.catch(() => '');
			return response;
		}
	});
	let count = 0;
	const client: AguiClient = {
		agent,
		events,
		runId: '',
		async run(text, parameters = {}) {
			events.length = 0;
			client.runId = parameters.runId ?? crypto.randomUUID();
			if (text !== undefined) {
				count += 1;
				agent.addMessage({ id: `${agent.threadId}-question-${count}`, role: 'user', content: text });
			}
			const run = agent.runAgent(
				{ ...parameters, runId: client.runId },
				{ onEvent: ({ event }) => void events.push(event) }
			);
			const { newMessages } = await run.finally(async () => checkEvents(await wire));
			return newMessages
				.map(({ role, content }) => (role === 'assistant' && typeof content === 'string' ? content : ''))
				.join('');
		},
		last: () => events.at(-1) as BaseEvent & Record<string, unknown>
	};
	return client;
}

/** @throws if an event of this stream is invalid; anything but a stream has no events */
function checkEvents(stream: string): void {
	for (const [, data = ''] of stream.matchAll(/^data: (.*)$/gm)) EventSchemas.parse(JSON.parse(data));
}

/** Event types; CUSTOM events by name. */
export function kindsOf(events: readonly BaseEvent[]): Set<string> {
	return new Set(events.map((event) => (event.type === 'CUSTOM' ? String(event.name) : String(event.type))));
}
