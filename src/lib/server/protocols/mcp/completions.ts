/** What a client offers while somebody types a skill’s name or a file’s path. */
import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { findNamed } from './resources.ts';
import { URI_TEMPLATE } from './skill-uri.ts';
import type { CallerView } from './view.ts';

const MAX_VALUES = 100;

/** Nothing for an argument that may be anything. */
export function complete(
	{ library }: CallerView,
	{ ref, argument, context }: CompleteRequest['params']
): CompleteResult {
	const isFile = ref.type === 'ref/resource' && ref.uri === URI_TEMPLATE;
	if (!isFile) return toResult([]);
	const isPath = argument.name === 'path';
	const files = isPath ? (findNamed(library, context?.arguments?.skill ?? '')?.files ?? []) : [];
	const values = argument.name === 'skill' ? library.skills.map(({ name }) => name) : files;
	return toResult(values.filter((value) => value.startsWith(argument.value)));
}

function toResult(values: readonly string[]): CompleteResult {
	const shown = values.slice(0, MAX_VALUES);
	return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
}
