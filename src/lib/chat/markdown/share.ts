/** Plain data made anew, with the parts of the old that are equal: what is the same object needs no rendering. */

/** `fresh`, where everything in it that equals what `old` has in its place is that very object. */
export function share<Value>(old: unknown, fresh: Value): Value {
	return shareParts(old, fresh) as Value;
}

function shareParts(old: unknown, fresh: unknown): unknown {
	if (old === fresh || !isObject(old) || !isObject(fresh) || Array.isArray(old) !== Array.isArray(fresh)) return fresh;
	const keys = Object.keys(fresh);
	let isSame = Object.keys(old).length === keys.length;
	for (const key of keys) {
		const value = shareParts(old[key], fresh[key]);
		fresh[key] = value;
		if (value !== old[key]) isSame = false;
	}
	return isSame ? old : fresh;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}
