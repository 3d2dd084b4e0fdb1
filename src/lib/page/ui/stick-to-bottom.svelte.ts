/**
 * Keeps a scrolling region at its end while it grows, until the reader scrolls up. A new question is brought near the top
 * and stays there: an answer that is longer than the screen is read from its beginning, and a button leads to its end.
 */
import { untrack } from 'svelte';

/** Scrolling up by less is taken for a trembling finger. */
const DRIFT_PX = 3;
/** Where a region stands is a fraction of a pixel; its heights are whole ones. */
const ROUNDING_PX = 0.75;
const NEAR_PX = 60;
/** A new question stands so far below the top. */
const QUESTION_TOP_PX = 50;

export class StickToBottom {
	#viewport: HTMLElement | null = null;
	#lastTop = 0;
	#question: HTMLElement | null = null;
	/** The question stays in sight, until the reader goes to the end. */
	#isHeld = false;
	#spacer: HTMLElement | null = null;
	isPinned = $state(true);
	/** Far enough from the end for a button that leads back. */
	isFar = $state(false);

	/** For `{@attach}` on the element that scrolls; its first child is what grows. */
	readonly attach = (viewport: HTMLElement): (() => void) => {
		this.#viewport = viewport;
		const follow = (): void => {
			this.#makeRoom();
			if (this.isPinned) this.#jump();
			this.#measure();
		};
		const observer = new ResizeObserver(follow);
		observer.observe(viewport);
		// Not the spacer: it changes because of what is observed.
		if (viewport.firstElementChild) observer.observe(viewport.firstElementChild);
		viewport.addEventListener('scroll', this.#onscroll, { passive: true });
		untrack(follow);
		return () => {
			observer.disconnect();
			viewport.removeEventListener('scroll', this.#onscroll);
			this.#viewport = null;
		};
	};

	/** For `{@attach}` on an empty element after what grows: the room below a short answer. */
	readonly attachSpacer = (spacer: HTMLElement): (() => void) => {
		this.#spacer = spacer;
		return () => {
			this.#spacer = null;
		};
	};

	/** Goes to the end, and stays there. */
	scrollToEnd(): void {
		this.#isHeld = false;
		this.#pin();
	}

	#pin(): void {
		// An effect that calls this must not run again because the reader scrolls up.
		untrack(() => {
			this.isPinned = true;
			this.#jump();
			this.#measure();
		});
	}

	/** Brings a question near the top; the room below it is the answer's, so that nothing moves until that is full. */
	scrollToQuestion(question: HTMLElement): void {
		this.#question = question;
		this.#isHeld = true;
		this.#makeRoom();
		this.#pin();
	}

	/** Brings a message to the top, at once. */
	scrollTo(message: HTMLElement): void {
		this.#bring(message, 'instant');
		this.#measure();
	}

	/** Goes to the beginning of the message above: of the one that is being read, when its beginning is out of sight. */
	scrollToPrevious(messages: Iterable<HTMLElement>): void {
		if (!this.#viewport) return;
		const top = this.#viewport.getBoundingClientRect().top;
		const previous = [...messages].findLast((message) => message.getBoundingClientRect().top < top - NEAR_PX);
		if (previous) this.#bring(previous, prefersReducedMotion() ? 'instant' : 'smooth');
	}

	/** `scrollIntoView` alone knows how high what was never seen is. */
	#bring(message: HTMLElement, behavior: ScrollBehavior): void {
		this.isPinned = false;
		message.scrollIntoView({ block: 'start', behavior });
	}

	#onscroll = (): void => {
		if (!this.#viewport) return;
		const top = this.#viewport.scrollTop;
		const distance = this.#distance();
		const moved = top - this.#lastTop;
		// Content that shrinks moves the region as well, but leaves it at its end.
		const isUp = moved < -DRIFT_PX + ROUNDING_PX && distance > DRIFT_PX - ROUNDING_PX;
		// Whoever moves away from the question is led by it no longer.
		if (this.#isHeld && (isUp || moved > DRIFT_PX)) {
			this.#isHeld = false;
			this.isPinned = distance < NEAR_PX;
		} else if (isUp) this.isPinned = false;
		else if (top >= this.#lastTop && distance < NEAR_PX) this.isPinned = true;
		this.#lastTop = top;
		this.#measure();
	};

	/** The spacer is as high as what is missing below the question for it to stand near the top. */
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

	/** How far the region may go until the question stands near its top. */
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
