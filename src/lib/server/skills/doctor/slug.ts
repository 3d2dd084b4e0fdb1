/** A name that a skill may have, from one that it may not (FEATURES A6); pure. */
import { lengthOf } from '../fields.ts';

const NAME = /^[\p{Ll}\p{Lo}\p{Lm}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{Lm}\p{N}]+)*$/u;

export function isName(text: string): boolean {
	return text === text.normalize('NFKC') && lengthOf(text) <= 64 && NAME.test(text);
}

/** `Fetch_Weather v2!` → `fetch-weather-v2`; empty where nothing is left. */
export function slugOf(text: string): string {
	const slug = [
		...text
			.normalize('NFKC')
			.toLowerCase()
			.normalize('NFKC')
			.replace(/[^\p{Ll}\p{Lo}\p{Lm}\p{N}]+/gu, '-')
			.replace(/^-/, '')
	]
		.slice(0, 64)
		.join('')
		.replace(/-$/, '');
	return isName(slug) ? slug : '';
}
