/** Finds many patterns in a byte stream in one pass (Aho–Corasick), ignoring line breaks. */

export interface Match {
	/** Offsets in the stream. */
	start: number;
	end: number;
}

const ROOT = 0;
/** Maximum bytes per pattern used for skipping. */
const MAX_WINDOW = 32;

/**
 * Patterns must have at least 4 bytes and no line breaks. More than `maxBreaks` line breaks in a row end a match. Takes
 * linear time, and skips bytes where nothing matches.
 */
export function createPatternMatcher(patterns: readonly Buffer[], maxBreaks: number) {
	const trie = buildTrie(patterns);
	const { childOf, depth, fail, longest, rest } = trie;
	const root = Int32Array.from({ length: 256 }, (_, byte) => childOf(ROOT, byte));
	const skip = createSkip(patterns, root);
	/** Ring buffer with the offsets of the current match’s last bytes. */
	const ring = new Float64Array(2 ** Math.ceil(Math.log2(depth.reduce((most, each) => Math.max(most, each), 0) + 1)));
	const mask = ring.length - 1;
	const found: Match[] = [];
	let offset = 0;
	let node = ROOT;
	/** Offsets put into the ring. */
	let count = 0;
	let breaks = 0;

	/** Start of the match’s last `length` bytes. */
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
		/** Reads a chunk. @returns the offset before which no unfinished match can begin */
		scan(chunk: Buffer): number {
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
		/** Removes and returns the next match that begins before `until`. Overlapping matches are merged. */
		next(until: number): Match | null {
			const first = found[0];
			return first && first.start < until ? (found.shift() ?? null) : null;
		}
	};
}

/**
 * Finds the next possible start of a match, else the chunk’s end (Wu–Manber): three bytes that occur in no pattern’s
 * window rule out every start whose window covers them.
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
			// A match may span a line break.
			const isBroken = first === 10 || second === 10 || third === 10 || first === 13 || second === 13 || third === 13;
			if (!isBroken && isPossible[hash(first, second, third)] === 0) index += window - 2;
			else if (root[chunk[index] ?? 0] === ROOT) index += 1;
			else return index;
		}
		while (index < chunk.length && root[chunk[index] ?? 0] === ROOT) index += 1;
		return index;
	};
}

/** Nodes are numbers; the root is 0. */
interface Trie {
	/** The root if there is none. */
	childOf(node: number, byte: number): number;
	depth: Int32Array;
	/** The node of the longest proper suffix that is also a prefix of a pattern. */
	fail: Int32Array;
	/** Length of the longest pattern ending at the node; 0 for none. */
	longest: Int32Array;
	/** The node itself if it has children, else the nearest such node along `fail`. */
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

	// Breadth-first, so that fail targets are complete before their users.
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
