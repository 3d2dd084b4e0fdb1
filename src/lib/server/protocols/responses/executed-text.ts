/** What a reader of the thoughts sees of a skill's call. */
import type { ExecutedCall } from './wire.ts';

const MAX_ARGUMENTS = 300;
const MAX_RESULT = 600;

export function callText({ name, arguments: text }: ExecutedCall): string {
	return `Running ${name} ${shortened(text, MAX_ARGUMENTS)}`;
}

/** Follows `callText`. */
export function resultText({ output = '', is_error: isError, name }: ExecutedCall): string {
	return `\n\n${name} ${isError ? 'failed' : 'answered'}: ${shortened(output, MAX_RESULT)}`;
}

function shortened(text: string, most: number): string {
	return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
