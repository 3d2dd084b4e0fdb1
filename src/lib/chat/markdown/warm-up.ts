/** Gets the parser ready before there is an answer: the first text that it reads costs it many times as much as the next. */
import { BlockStream } from './block-stream.ts';

/** A bit of everything. */
const SAMPLE = `# a

**b** *c* \`d\` ~~e~~ [f](https://example.com) <https://example.com> &amp; \\* $g$

- h
  1. i

> j

| k | l |
| - | - |
| m | n |

\`\`\`js
o
\`\`\`
`;

export function warmUpParser(): void {
	new BlockStream().update(SAMPLE, false);
}
