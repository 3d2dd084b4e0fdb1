/** Finding a model among hundreds; pure. */
import type { ModelInfo } from '../shared/models.ts';

/** Those in whose name or id every word is, in the order of the list; a name that begins with the query is first. */
export function filterModels(models: readonly ModelInfo[], query: string): ModelInfo[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return [...models];
	const first: ModelInfo[] = [];
	const others: ModelInfo[] = [];
	for (const model of models) {
		const name = model.name.toLowerCase();
		const text = `${name}\n${model.id.toLowerCase()}`;
		if (!words.every((word) => text.includes(word))) continue;
		const isFirst = name.startsWith(words.join(' ')) || model.id.toLowerCase().startsWith(words.join(' '));
		(isFirst ? first : others).push(model);
	}
	return [...first, ...others];
}

/** `$0.15`, `$3`, `$12.50`, `$0.0004`: dollars for a million tokens. */
export function formatPrice(dollars: number): string {
	if (dollars === 0) return '$0';
	const places = dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 4;
	return `$${dollars.toFixed(places).replace(/\.?0+$/, '')}`;
}
