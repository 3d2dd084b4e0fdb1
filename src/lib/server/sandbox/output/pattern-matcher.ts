/** Finds many patterns in a stream of bytes in one pass (Aho and Corasick), passing over line breaks. */

export interface PatternMatcher {
	/** Reads on; says up to where in the stream no pattern can begin that is not found yet. */
	scan(chunk: Buffer): number;
	/** Takes the next place that was found and begins before `until`; places that overlap are one. */
	next(until: number): Match | null;
}

export interface Match {
	/** Offsets in the stream. */
	start: number;
	end: number;
}

const ROOT = 0;
/** Bytes of every pattern that are enough to pass over what is none. */
const MAX_WINDOW = 32;

/**
 * Patterns have 4 bytes or more, and no line breaks; more than `maxBreaks` of them in a row end a match. Linear in the
 * stream, and where nothing matches not every byte of it is looked at.
 */
export function createPatternMatcher(patterns: readonly Buffer[], maxBreaks: number): PatternMatcher {
	const trie = buildTrie(patterns);
	const { childOf, depth, fail, longest, rest } = trie;
	const root = rootTable(trie);
	const skip = createSkip(patterns, root);
	/** Offsets of the last bytes that belong to the match under way, in a ring. */
	const ring = new Float64Array(2 ** Math.ceil(Math.log2(depth.reduce((most, each) => Math.max(most, each), 0) + 1)));
	const mask = ring.length - 1;
	const found: Match[] = [];
	let offset = 0;
	let node = ROOT;
	/** Bytes that were put into the ring. */
	let count = 0;
	let breaks = 0;

	/** Where the last `length` bytes of the match begin. */
	const startOf = (length: number): number => ring[(count - length) & mask] ?? 0;

	const add = (start: number, end: number) => {
		let first = start;
		for (let last = found.at(-1); last && last.end >= start; last = found.at(-1)) {
			first = Math.min(first, last.start);
			found.pop();
		}
		found.push({ start: first, end });
	};

	return {
		scan(chunk) {
			for (let index = 0; index < chunk.length; index += 1) {
				if (node === ROOT) index = skip(chunk, index);
				if (index >= chunk.length) break;
				const byte = chunk[index] ?? 0;
				if (node === ROOT) {
					node = root[byte] ?? ROOT;
				} else if (byte === 10 || byte === 13) {
					breaks += 1;
					if (breaks > maxBreaks) node = ROOT;
					continue;
				} else {
					let child = childOf(node, byte);
					while (child === ROOT && node !== ROOT) {
						node = fail[node] ?? ROOT;
						child = node === ROOT ? (root[byte] ?? ROOT) : childOf(node, byte);
					}
					node = child;
					if (node === ROOT) continue;
				}
				breaks = 0;
				ring[count & mask] = offset + index;
				count += 1;
				const length = longest[node] ?? 0;
				if (length > 0) {
					add(startOf(length), offset + index + 1);
					node = rest[node] ?? ROOT;
				}
			}
			offset += chunk.length;
			return node === ROOT ? offset : startOf(depth[node] ?? 0);
		},
		next(until) {
			const first = found[0];
			return first && first.start < until ? (found.shift() ?? null) : null;
		}
	};
}

/**
 * The next place where a match may begin, the chunk's end if none. Three bytes in a row that are at no beginning of a pattern rule out every place
 * from which a match would cover them (as Wu and Manber do).
 */
function createSkip(patterns: readonly Buffer[], root: Int32Array): (chunk: Buffer, index: number) => number {
	const window = patterns.reduce((least, pattern) => Math.min(least, pattern.length), MAX_WINDOW);
	const isPossible = new Uint8Array(0x1_0000);
	const hash = (first: number, second: number, third: number): number =>
		((first * 0x9e5) ^ (second * 0x1f3) ^ (third * 0x3d)) & 0xffff;
	for (const pattern of patterns) {
		for (let at = 0; at + 2 < window; at += 1) {
			isPossible[hash(pattern[at] ?? 0, pattern[at + 1] ?? 0, pattern[at + 2] ?? 0)] = 1;
		}
	}
	return (chunk, from) => {
		let index = from;
		const last = chunk.length - window;
		while (index <= last) {
			const first = chunk[index + window - 3] ?? 0;
			const second = chunk[index + window - 2] ?? 0;
			const third = chunk[index + window - 1] ?? 0;
			// Over a line break a match goes on.
			const isBroken = first === 10 || second === 10 || third === 10 || first === 13 || second === 13 || third === 13;
			if (!isBroken && isPossible[hash(first, second, third)] === 0) index += window - 2;
			else if (root[chunk[index] ?? 0] === ROOT) index += 1;
			else return index;
		}
		while (index < chunk.length && root[chunk[index] ?? 0] === ROOT) index += 1;
		return index;
	};
}

/** Nodes by number, the root 0. */
interface Trie {
	/** The root when there is none. */
	childOf(node: number, byte: number): number;
	/** Length of what leads to the node. */
	depth: Int32Array;
	/** The node of the longest other beginning of a pattern that what was read ends with. */
	fail: Int32Array;
	/** Length of the longest pattern that ends at the node; 0 for none. */
	longest: Int32Array;
	/** The node itself if a longer pattern may come, else the nearest by `fail` of which that is true. */
	rest: Int32Array;
}

function buildTrie(patterns: readonly Buffer[]): Trie {
	const size = patterns.reduce((sum, pattern) => sum + pattern.length, 1);
	const [byteOf, firstChild, sibling, depth, fail, longest, rest] = Array.from(
		{ length: 7 },
		() => new Int32Array(size)
	) as [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];
	const childOf = (node: number, byte: number): number => {
		let child = firstChild[node] ?? ROOT;
		while (child !== ROOT && byteOf[child] !== byte) child = sibling[child] ?? ROOT;
		return child;
	};

	let nodes = 1;
	for (const pattern of patterns) {
		let node = ROOT;
		for (const byte of pattern) {
			let child = childOf(node, byte);
			if (child === ROOT) {
				child = nodes;
				nodes += 1;
				byteOf[child] = byte;
				sibling[child] = firstChild[node] ?? ROOT;
				firstChild[node] = child;
				depth[child] = (depth[node] ?? 0) + 1;
			}
			node = child;
		}
		longest[node] = pattern.length;
	}

	// By depth, so that what a node falls back to is complete before it.
	const queue = [ROOT];
	for (const node of queue) {
		for (let child = firstChild[node] ?? ROOT; child !== ROOT; child = sibling[child] ?? ROOT) {
			queue.push(child);
			let back = node;
			let target: number = ROOT;
			while (back !== ROOT && target === ROOT) {
				back = fail[back] ?? ROOT;
				target = childOf(back, byteOf[child] ?? 0);
			}
			fail[child] = target;
			longest[child] ||= longest[target] ?? 0;
			rest[child] = firstChild[child] === ROOT ? (rest[target] ?? ROOT) : child;
		}
	}
	return { childOf, depth, fail, longest, rest };
}

function rootTable({ childOf }: Trie): Int32Array {
	return Int32Array.from({ length: 256 }, (_, byte) => childOf(ROOT, byte));
}
