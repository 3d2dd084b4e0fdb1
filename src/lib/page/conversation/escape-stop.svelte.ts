/** Stops the answer by Escape: at once, or by a second press where that would end a script in the middle. */
import type { ChatSession } from './session.svelte.ts';

/** Long enough to read what is asked, and to press again. */
const ARMED_MS = 4_000;

export class EscapeStop {
	readonly #session: ChatSession;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** The next press stops. */
	isArmed = $state(false);

	constructor(session: ChatSession) {
		this.#session = session;
	}

	press(): void {
		if (!this.#session.isRunning) return;
		if (this.isArmed || !this.#hasRunningTool()) {
			this.dispose();
			void this.#session.stop();
			return;
		}
		this.isArmed = true;
		this.#timer = setTimeout(() => (this.isArmed = false), ARMED_MS);
	}

	dispose(): void {
		clearTimeout(this.#timer);
		this.isArmed = false;
	}

	#hasRunningTool(): boolean {
		const parts = this.#session.entries.at(-1)?.message.parts ?? [];
		return parts.some((part) => part.type === 'tool' && part.status === 'running');
	}
}
