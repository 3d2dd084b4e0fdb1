/**
 * Keeps a scrolling region at its end while it grows, until the reader scrolls up. A new question is scrolled near the top
 * and stays there: a reply longer than the screen is read from its start, and a button leads to its end.
 */
import { untrack } from 'svelte';

/** Scrolling up by less is ignored. */
const DRIFT_PX = 3;
/** scrollTop is fractional, heights are whole pixels. */
const ROUNDING_PX = 0.75;
const NEAR_PX = 60;
/** Distance of a new question from the top. */
const QUESTION_TOP_PX = 50;

export class StickToBottom {
	#viewport: HTMLElement | null = null;
	#lastTop = 0;
	#question: HTMLElement | null = null;
	/** The question stays in sight until the reader goes to the end. */
	#isHeld = false;
	#spacer: HTMLElement | null = null;
	isPinned = $state(true);
	/** Far enough from the end to show a button back. */
	isFar = $state(false);

	/** For `{@attach}` on the scrolling element; its first child is what grows. */
	readonly attach = (viewport: HTMLElement): (() => void) => {
		this.#viewport = viewport;
		const follow = (): void => {
			this.#makeRoom();
			if (this.isPinned) this.#jump();
			this.#measure();
		};
		const observer = new ResizeObserver(follow);
		observer.observe(viewport);
		// Not the spacer: it changes in reaction to what is observed.
		if (viewport.firstElementChild) observer.observe(viewport.firstElementChild);
		viewport.addEventListener('scroll', this.#onscroll, { passive: true });
		untrack(follow);
		return () => {
			observer.disconnect();
			viewport.removeEventListener('scroll', this.#onscroll);
			this.#viewport = null;
		};
	};

	/** For `{@attach}` on an empty element after the content: the space below a short reply. */
	readonly attachSpacer = (spacer: HTMLElement): (() => void) => {
		this.#spacer = spacer;
		return () => void (this.#spacer = null);
	};

	scrollToEnd(): void {
		this.#isHeld = false;
		this.#pin();
	}

	#pin(): void {
		// Untracked, so that an effect calling this doesn't rerun when the reader scrolls up.
		untrack(() => {
			this.isPinned = true;
			this.#jump();
			this.#measure();
		});
	}

	/** Scrolls a question near the top, with enough space below that nothing moves until the reply fills it. */
	scrollToQuestion(question: HTMLElement): void {
		this.#question = question;
		this.#isHeld = true;
		this.#makeRoom();
		this.#pin();
	}

	/** Scrolls a message to the top instantly. */
	scrollTo(message: HTMLElement): void {
		this.#bring(message, 'instant');
		this.#measure();
	}

	/** Scrolls to the start of the message above, or of the current one if its start is out of sight. */
	scrollToPrevious(messages: Iterable<HTMLElement>): void {
		if (!this.#viewport) return;
		const top = this.#viewport.getBoundingClientRect().top;
		const previous = [...messages].findLast((message) => message.getBoundingClientRect().top < top - NEAR_PX);
		if (previous) this.#bring(previous, prefersReducedMotion() ? 'instant' : 'smooth');
	}

	/** Leaves an element where it is seen while what is above it changes. */
	async stayAt(element: HTMLElement | undefined, changed: Promise<void>): Promise<void> {
		// The reader may have scrolled up a moment ago: after the correction, the event would look like a way down.
		untrack(this.#onscroll);
		const before = element?.getBoundingClientRect().top ?? 0;
		await changed;
		if (!this.#viewport || !element?.isConnected) return;
		// Scroll anchoring does this except at the very top.
		this.#viewport.scrollTop += element.getBoundingClientRect().top - before;
		this.#lastTop = this.#viewport.scrollTop;
	}

	/** Only `scrollIntoView` knows the height of what hasn't been rendered yet. */
	#bring(message: HTMLElement, behavior: ScrollBehavior): void {
		this.isPinned = false;
		message.scrollIntoView({ block: 'start', behavior });
	}

	#onscroll = (): void => {
		if (!this.#viewport) return;
		const top = this.#viewport.scrollTop;
		const distance = this.#distance();
		const moved = top - this.#lastTop;
		// Shrinking content moves the region too, but leaves it at its end.
		const isUp = moved < -DRIFT_PX + ROUNDING_PX && distance > DRIFT_PX - ROUNDING_PX;
		// Scrolling away from the question releases it.
		if (this.#isHeld && (isUp || moved > DRIFT_PX)) {
			this.#isHeld = false;
			this.isPinned = distance < NEAR_PX;
		} else if (isUp) this.isPinned = false;
		else if (top >= this.#lastTop && distance < NEAR_PX) this.isPinned = true;
		this.#lastTop = top;
		this.#measure();
	};

	/** Sizes the spacer so that the question can stand near the top. */
	#makeRoom(): void {
		if (!this.#viewport || !this.#spacer || !this.#question?.isConnected) return;
		const used = this.#spacer.getBoundingClientRect().top - this.#question.getBoundingClientRect().top;
		const missing = this.#viewport.clientHeight - QUESTION_TOP_PX - used;
		this.#spacer.style.height = `${Math.max(0, Math.floor(missing))}px`;
	}

	#jump(): void {
		if (!this.#viewport) return;
		const { scrollTop, scrollHeight } = this.#viewport;
		this.#viewport.scrollTop = Math.min(scrollHeight, this.#isHeld ? scrollTop + this.#overQuestion() : scrollHeight);
		this.#lastTop = this.#viewport.scrollTop;
	}

	/** How far the region can scroll until the question is near its top. */
	#overQuestion(): number {
		if (!this.#viewport || !this.#question?.isConnected) return Infinity;
		const top = this.#question.getBoundingClientRect().top - this.#viewport.getBoundingClientRect().top;
		return top - QUESTION_TOP_PX;
	}

	#measure(): void {
		this.isFar = (!this.isPinned || this.#isHeld) && this.#distance() > NEAR_PX;
	}

	#distance(): number {
		if (!this.#viewport) return 0;
		const { scrollHeight, scrollTop, clientHeight } = this.#viewport;
		return scrollHeight - scrollTop - clientHeight;
	}
}

function prefersReducedMotion(): boolean {
	return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
