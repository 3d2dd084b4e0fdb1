/** Worker that highlights code with highlight.js. */
import hljs from 'highlight.js/lib/common';
import { readTokens } from './tokens.ts';
import type { HighlightAnswer, HighlightOrder } from './highlighter.ts';

addEventListener('message', ({ data }: MessageEvent<HighlightOrder>) => {
	const { value } = hljs.highlight(data.text, { language: data.language, ignoreIllegals: true });
	postMessage({ id: data.id, tokens: readTokens(value) } satisfies HighlightAnswer);
});
