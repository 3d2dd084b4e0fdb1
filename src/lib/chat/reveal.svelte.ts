/** Shows more and more of something long, a little in each frame, so that the page stays free. */

export class Reveal {
	readonly #perFrame: number;
	/** How many more are shown than at first. */
	count = $state(0);
	#frame = 0;

	constructor(perFrame: number) {
		this.#perFrame = perFrame;
	}

	/** Goes on until so many are shown. */
	start(total: number): void {
		cancelAnimationFrame(this.#frame);
		const next = (): void => {
			this.count = Math.min(total, this.count + this.#perFrame);
			if (this.count < total) this.#frame = requestAnimationFrame(next);
		};
		next();
	}

	/** For `{@attach}`: ends with the element. */
	readonly attach = (): (() => void) => () => cancelAnimationFrame(this.#frame);
}
