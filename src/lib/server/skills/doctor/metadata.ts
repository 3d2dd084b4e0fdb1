/** Makes the metadata of a SKILL.md a map of text to text (FEATURES A13, F1); pure. */
import type { FrontMatter } from '../front-matter.ts';
import { endingOf, entryAt, textLine, withoutEntry, withValue, type RawSkill } from './lines.ts';

/** Values that are no text become one; metadata that is no map becomes a remark. */
export function withTextMap(raw: RawSkill, front: FrontMatter): RawSkill | null {
	const line = front.lines.get('metadata');
	if (line === undefined) return null;
	const start = line - front.top - 1;
	const { metadata } = front.data;
	if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return withoutEntry(raw, start);
	const entries = Object.entries(metadata as Record<string, unknown>);
	const wrong = entries.filter(([, value]) => typeof value !== 'string');
	const placed = wrong.map(([key, value]) => ({ key, value, line: front.lines.get(`metadata.${key}`) }));
	if (placed.some((entry) => entry.line === undefined)) return rewritten(raw, start, entries);
	// From the last to the first, so that the lines of the others stay where they are.
	return placed
		.sort((a, b) => (b.line ?? 0) - (a.line ?? 0))
		.reduce((next, { key, value, line: at = 0 }) => withValue(next, at - front.top - 1, key, asText(value)), raw);
}

/** Written anew, for it stands on one line: `metadata: {a: [b]}`. */
function rewritten({ yaml, ...raw }: RawSkill, start: number, entries: [string, unknown][]): RawSkill {
	const { end } = entryAt(yaml, start);
	const eol = endingOf(yaml[start] ?? raw.eol);
	const lines = entries.map(([key, value]) => `  ${textLine(key, asText(value))}${eol}`);
	return { ...raw, yaml: [...yaml.slice(0, start), `metadata:${eol}`, ...lines, ...yaml.slice(end)] };
}

function asText(value: unknown): string {
	if (typeof value === 'string') return value;
	if (value === null || value === undefined) return '';
	const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
	return isList ? value.join(', ') : JSON.stringify(value);
}
