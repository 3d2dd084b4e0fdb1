/** How deep data may be nested: it is parsed at any depth, but writing it again ends in a stack overflow at some. */

/** Deeper is no request that anybody needs. */
export const MAX_NESTING = 100;

/** True when lists and objects lie in each other deeper than this. */
export function isNestedDeeperThan(levels: number, value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((inner) => isNestedDeeperThan(levels - 1, inner));
}
