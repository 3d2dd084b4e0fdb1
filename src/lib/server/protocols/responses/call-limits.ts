/** What a caller of the API may say of tools, around a toolbox: only these, and so many calls. */
import { failure, type Toolbox } from '../../agent/tool.ts';

/** `names` are of tools of whatever kind; null for all. */
export function withOnly(toolbox: Toolbox, names: readonly string[] | null): Toolbox {
	if (names === null) return toolbox;
	const allowed = new Set(names);
	return {
		...toolbox,
		definitions: () => toolbox.definitions().filter(({ name }) => allowed.has(name)),
		kind: (name) => (allowed.has(name) ? toolbox.kind(name) : null)
	};
}

/** After `most` calls the tools that run here are gone; those of the caller stay. */
export function withCallLimit(toolbox: Toolbox, most: number | null): Toolbox {
	if (most === null) return toolbox;
	let made = 0;
	return {
		...toolbox,
		definitions: () => toolbox.definitions().filter(({ name }) => made < most || toolbox.kind(name) === 'caller'),
		async call(name, args, context) {
			made += 1;
			if (made <= most) return toolbox.call(name, args, context);
			return failure(
				'ToolCallLimit',
				`Only ${most} tool calls may be made in this response.`,
				'Answer with what you have.'
			);
		}
	};
}
