/** What a run offered, as rows. Pure (FEATURES F2). */
import type { RunOffer } from '../../shared/api.ts';
import type { OfferedSkill } from '../../shared/events.ts';

export type WhyFilter = 'offered' | 'loaded' | 'untold';

export interface WhyRow {
	name: string;
	/** Null for a skill that was loaded or run but isn't among the saved ones. */
	offered: OfferedSkill | null;
	isLoaded: boolean;
	/** One entry per execution. */
	ran: RunOffer['ran'];
}

/** In offer order, then skills that were loaded or run without being offered. */
export function whyRows({ offer, loaded, ran }: RunOffer): WhyRow[] {
	const listed = offer?.skills ?? [];
	const known = new Set(listed.map(({ name }) => name));
	const others = [...new Set([...loaded, ...ran.map(({ skill }) => skill)])].filter((name) => !known.has(name));
	const rowOf = (name: string, offered: OfferedSkill | null): WhyRow => ({
		name,
		offered,
		isLoaded: loaded.includes(name),
		ran: ran.filter(({ skill }) => skill === name)
	});
	return [...listed.map((skill) => rowOf(skill.name, skill)), ...others.map((name) => rowOf(name, null))];
}

export function filterRows(rows: readonly WhyRow[], filter: WhyFilter): WhyRow[] {
	switch (filter) {
		case 'offered':
			return rows.filter(({ offered }) => offered !== null && offered.told !== 'omitted');
		case 'loaded':
			return rows.filter(({ isLoaded, ran }) => isLoaded || ran.length > 0);
		case 'untold':
			return rows.filter(({ offered }) => offered?.told === 'omitted');
		default:
			return filter satisfies never;
	}
}

/** `7.13`, `0.002`: two decimal places, or as many as a small number needs. */
export function formatPoints(points: number): string {
	if (points === 0 || points >= 0.01) return String(Math.round(points * 100) / 100);
	return String(Number(points.toPrecision(1)));
}
