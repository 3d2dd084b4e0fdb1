/** Keeps a scrolling region at its end while it grows, until the reader scrolls up. */
import { untrack } from 'svelte';

/** Scrolling up by less is taken for a trembling finger. */
const DRIFT_PX = 3;
const NEAR_PX = 60;
const FAR_PX = 200;

export class StickToBottom {
	#viewport: HTMLElement | null = null;
	#lastTop = 0;
	isPinned = $state(true);
	/** Far enough from the end for a button that leads back. */
	isFar = $state(false);

	/** For `{@attach}` on the element that scrolls; its only child is what grows. */
	readonly attach = (viewport: HTMLElement): (() => void) => {
		this.#viewport = viewport;
		const follow = (): void => {
			if (this.isPinned) this.#jump();
			this.#measure();
		};
		const observer = new ResizeObserver(follow);
		observer.observe(viewport);
		for (const child of viewport.children) observer.observe(child);
		viewport.addEventListener('scroll', this.#onscroll, { passive: true });
		untrack(follow);
		return () => {
			observer.disconnect();
			viewport.removeEventListener('scroll', this.#onscroll);
			this.#viewport = null;
		};
	};

	/** Goes to the end, and stays there. */
	scrollToEnd(): void {
		// An effect that calls this must not run again because the reader scrolls up.
		untrack(() => {
			this.isPinned = true;
			this.#jump();
			this.#measure();
		});
	}

	#onscroll = (): void => {
		if (!this.#viewport) return;
		const top = this.#viewport.scrollTop;
		const distance = this.#distance();
		// Content that shrinks moves the region as well, but leaves it at its end.
		if (top < this.#lastTop - DRIFT_PX && distance > DRIFT_PX) this.isPinned = false;
		else if (top >= this.#lastTop && distance < NEAR_PX) this.isPinned = true;
		this.#lastTop = top;
		this.#measure();
	};

	#jump(): void {
		if (!this.#viewport) return;
		this.#viewport.scrollTop = this.#viewport.scrollHeight;
		this.#lastTop = this.#viewport.scrollTop;
	}

	#measure(): void {
		this.isFar = !this.isPinned && this.#distance() > (this.isFar ? NEAR_PX : FAR_PX);
	}

	#distance(): number {
		if (!this.#viewport) return 0;
		const { scrollHeight, scrollTop, clientHeight } = this.#viewport;
		return scrollHeight - scrollTop - clientHeight;
	}
}
