import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { longPress } from './motion.svelte.ts';

let element: HTMLElement;
let held: DOMRect[];
let stop: (() => void) | void;

beforeEach(() => {
	vi.useFakeTimers();
	held = [];
	element = document.createElement('article');
	element.style.userSelect = 'none';
	element.innerHTML = '<p>Text</p><a href="#there">Link</a><pre style="user-select: text">code</pre>';
	document.body.append(element);
	stop = longPress((at) => held.push(at))(element);
});

afterEach(() => {
	stop?.();
	element.remove();
	vi.useRealTimers();
});

function point(type: string, { on = 'p', ...more }: PointerEventInit & { on?: string } = {}): void {
	const init = { pointerType: 'touch', isPrimary: true, bubbles: true, clientX: 20, clientY: 30, ...more };
	element.querySelector(on)?.dispatchEvent(new PointerEvent(type, init));
}

test('UI 8: half a second opens, at the finger, once', () => {
	point('pointerdown');
	vi.advanceTimersByTime(450);
	expect(held).toEqual([]);
	point('pointermove', { clientX: 24, clientY: 33 });
	vi.advanceTimersByTime(100);
	expect(held.map(({ x, y }) => [x, y])).toEqual([[20, 30]]);
	vi.advanceTimersByTime(2_000);
	expect(held).toHaveLength(1);
});

test.each([
	['a finger that moves', () => point('pointermove', { clientY: 45 })],
	['a finger that is lifted', () => point('pointerup')],
	['scrolling', () => point('pointercancel')],
	['a second finger', () => point('pointerdown', { isPrimary: false })]
])('UI 8: %s opens nothing', (_name, act) => {
	point('pointerdown');
	act();
	vi.advanceTimersByTime(2_000);
	expect(held).toEqual([]);
});

test.each([
	['a mouse', { pointerType: 'mouse' }],
	['a link', { on: 'a' }],
	['text that can be selected', { on: 'pre' }]
])('UI 8: on %s a press keeps what it does by itself', (_name, init) => {
	point('pointerdown', init);
	vi.advanceTimersByTime(2_000);
	expect(held).toEqual([]);
});
