import { test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import '../../../app.css';
import { diagramPage } from '../../../routes/frames/diagram/diagram-page.ts';
import Markdown from './Markdown.svelte';
import DiagramBlock from './DiagramBlock.svelte';
const text = `# Title one

Some **bold** and *italic* with \`code\` and [a link](https://e.org). Maths $x^2 + y_1$ inline.

## Second

- one
- two
  - nested
- [x] done

1. First
2. Second

> A quote over
> two lines

$$
\\int_0^1 \\frac{x^2}{\\sqrt{1-x}} dx
$$

\`\`\`python
# Adds numbers
def add(a: int, b=2):
    """Doc"""
    return {"sum": a + b, 'ok': True, "n": 12.5}
\`\`\`

| Region | Sum |
| --- | ---: |
| North | 1,200 |

![A chart](https://images.example/chart.png)

\`\`\`ts
${Array.from({ length: 60 }, (_, i) => `const value${i} = compute(${i}, 'text'); // note`).join('\n')}
\`\`\`
`;
test('shot', { timeout: 60000 }, async () => {
	for (const theme of ['light', 'dark']) for (const width of [1280, 390]) {
		document.documentElement.dataset.theme = theme;
		document.body.style.height = 'auto'; document.body.style.overflow='visible'; document.documentElement.style.overflow='visible'; document.documentElement.style.height='auto';
		await page.viewport(width, 1900);
		const s = await render(Markdown, { text });
		const d = await render(DiagramBlock, { text: 'graph LR\n A[One] --> B{Two}\n B --> C', frameUrl: URL.createObjectURL(new Blob([diagramPage('n')], { type: 'text/html' })) });
		await new Promise(r => setTimeout(r, 5000));
		await page.screenshot({ path: `/tmp/shots/md-${theme}-${width}.png` });
		await d.unmount(); await s.unmount();
	}
});
