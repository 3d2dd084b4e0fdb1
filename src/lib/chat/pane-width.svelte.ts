/** How wide the first of two panes is, in per cent; the browser remembers it. */
import { readStored, writeStored } from './stored.ts';

export class PaneWidth {
	readonly #key: string;
	readonly min: number;
	readonly max: number;
	readonly preset: number;
	percent = $state(50);

	constructor(key: string, { min = 30, max = 70, preset = 50 } = {}) {
		this.#key = key;
		this.min = min;
		this.max = max;
		this.preset = preset;
		const kept = Number(readStored('local', key) ?? Number.NaN);
		this.percent = Number.isFinite(kept) ? this.#within(kept) : preset;
	}

	set(percent: number): void {
		this.percent = this.#within(percent);
		writeStored('local', this.#key, String(this.percent));
	}

	reset(): void {
		this.percent = this.preset;
		writeStored('local', this.#key, null);
	}

	#within(percent: number): number {
		return Math.round(Math.min(this.max, Math.max(this.min, percent)) * 10) / 10;
	}
}
