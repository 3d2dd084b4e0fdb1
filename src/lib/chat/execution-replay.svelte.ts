/** The step of a conversation that an execution was, from the events of its run: as it was shown, or while it runs. */
import type { RunEvent } from '../shared/events.ts';
import { emptyAnswer, foldEvent, type Message, type ToolPart } from '../shared/message.ts';
import type { Client } from './client.ts';

const ENDS = new Set<RunEvent['type']>(['RUN_FINISHED', 'RUN_ERROR']);

export class ExecutionReplay {
	readonly #client: Pick<Client, 'runEvents'>;
	#source: EventSource | null = null;
	/** Null until it was found. */
	part = $state.raw<ToolPart | null>(null);

	constructor(client: Pick<Client, 'runEvents'>) {
		this.#client = client;
	}

	/** Follows the run to its end; a run whose events are gone has no step. */
	open({ runId, toolCallId }: { runId: string; toolCallId: string }): void {
		this.close();
		let message: Message = emptyAnswer('replay', runId, '');
		const source = this.#client.runEvents(runId, 0);
		this.#source = source;
		source.onmessage = (received: MessageEvent<string>) => {
			const event = JSON.parse(received.data) as RunEvent;
			message = foldEvent(message, event);
			const part = message.parts.find((each) => each.type === 'tool' && each.id === toolCallId);
			if (part?.type === 'tool') this.part = part;
			if (ENDS.has(event.type)) this.close();
		};
		// All events come again with each connection.
		source.onerror = () => this.close();
	}

	close(): void {
		this.#source?.close();
		this.#source = null;
	}
}
