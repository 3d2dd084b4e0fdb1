/** Takes out of foreign text what could hide or forge something on screen: controls, ANSI and OSC sequences, bidi, tags. */

const ESCAPE = '\\u001b';
const SEQUENCES = new RegExp(
	// OSC, DCS and the like run to BEL or ST; an unfinished one runs to the end of its line.
	`${ESCAPE}[\\]PX^_][^\\u0007\\u001b\\n]*(?:\\u0007|${ESCAPE}\\\\)?` +
		`|[${ESCAPE}\\u009b]\\[?[0-9:;<=>?]*[ -/]*[@-~]` +
		`|${ESCAPE}.?`,
	'g'
);
// Control characters are what this is about.
/* eslint-disable no-control-regex */
const INVISIBLE =
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
/* eslint-enable no-control-regex */
const SUSPECT = new RegExp(INVISIBLE, 'u');

/** Keeps line breaks and tabs; a lone carriage return becomes a line break. */
export function cleanText(text: string): string {
	if (!SUSPECT.test(text)) return text;
	return text.replace(/\r\n?/g, '\n').replace(SEQUENCES, '').replace(INVISIBLE, '');
}
