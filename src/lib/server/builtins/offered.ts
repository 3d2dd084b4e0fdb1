/** Which built-in skills are offered for a question (FEATURES B7, B8; modes as for other skills). */
import { pickAutoSkills } from '../skills/find/omniroute-score.ts';
import type { Builtin } from './builtin.ts';

export type BuiltinMode = 'on' | 'off' | 'auto';

export interface OfferOptions {
	/** The user's words. */
	question: string;
	/** By skill id, `builtin/name`. */
	modeOf(skillId: `builtin/${string}`): BuiltinMode;
	/** Names of those that were called earlier in the conversation. */
	used: ReadonlySet<string>;
	/** Of those that are `auto`: how many at most, with how many points at least (B8). */
	limits?: { maxSkills: number; minScore: number };
}

export function builtinId(name: string): `builtin/${string}` {
	return `builtin/${name}`;
}

/** `on` always, `off` never, `auto` when it fits the question or was used before; none that is not available. In their order. */
export function pickBuiltins(
	builtins: readonly Builtin[],
	{ question, modeOf, used, limits }: OfferOptions
): readonly Builtin[] {
	const available = builtins.filter(({ name, unavailable }) => {
		return modeOf(builtinId(name)) !== 'off' && unavailable() === null;
	});
	const automatic = available.filter(({ name }) => modeOf(builtinId(name)) === 'auto');
	const fitting = new Set(pickAutoSkills(automatic, { messages: [question] }, limits).map(({ skill }) => skill));
	return available.filter((builtin) => {
		return !automatic.includes(builtin) || used.has(builtin.name) || fitting.has(builtin);
	});
}
