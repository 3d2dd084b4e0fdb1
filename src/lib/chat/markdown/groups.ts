/** A long list in groups, so that whatever shows it need not look at each of its parts when one is added at the end. */
export class Groups<Part> {
	readonly #size: number;
	#groups: Part[][] = [];

	/** `size` is the number of parts in a group; the last has what is left. */
	constructor(size: number) {
		this.#size = size;
	}

	/** The parts in groups; a group that has the same parts as last time is that very array. */
	update(parts: readonly Part[]): Part[][] {
		const groups: Part[][] = [];
		for (let start = 0; start < parts.length; start += this.#size) {
			const old = this.#groups[groups.length];
			const end = Math.min(parts.length, start + this.#size);
			const isSame = old?.length === end - start && old.every((part, index) => part === parts[start + index]);
			groups.push(isSame ? old : parts.slice(start, end));
		}
		return (this.#groups = groups);
	}
}
