/** Plain data made anew, with the parts of the old that are equal: what is the same object needs no rendering. */
import { isObject } from '../../shared/json.ts';

/** `fresh`, where everything in it that equals what `old` has in its place is that very object. */
export function share<Value>(old: unknown, fresh: Value): Value {
	return shareParts(old, fresh) as Value;
}

function shareParts(old: unknown, fresh: unknown): unknown {
	if (old === fresh) return old;
	if (Array.isArray(fresh)) return Array.isArray(old) ? shareItems(old, fresh) : fresh;
	if (!isObject(old) || !isObject(fresh) || old.type !== fresh.type) return fresh;
	let isSame = true;
	// Those of one type have the same keys.
	for (const key in fresh) {
		const value = shareParts(old[key], fresh[key]);
		fresh[key] = value;
		if (value !== old[key]) isSame = false;
	}
	return isSame ? old : fresh;
}

function shareItems(old: unknown[], fresh: unknown[]): unknown[] {
	let isSame = old.length === fresh.length;
	for (const [index, item] of fresh.entries()) {
		const value = shareParts(old[index], item);
		fresh[index] = value;
		if (value !== old[index]) isSame = false;
	}
	return isSame ? old : fresh;
}
