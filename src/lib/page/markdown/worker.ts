/** Worker that highlights code with highlight.js. */
import hljs from 'highlight.js/lib/common';
import { partsOfCode, readTokens } from './tokens.ts';
import type { HighlightAnswer, HighlightOrder } from './highlighter.ts';

addEventListener('message', ({ data }: MessageEvent<HighlightOrder>) => {
	const tokens = partsOfCode(data.language, data.text).flatMap(([language, text]) =>
		readTokens(hljs.highlight(text, { language, ignoreIllegals: true }).value)
	);
	postMessage({ id: data.id, tokens } satisfies HighlightAnswer);
});
