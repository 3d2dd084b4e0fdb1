/** Content in an answer that's rendered separately, under the built app's policy. */
import { startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { expect, test as base } from './app.ts';

const test = base.extend<object, { model: ModelServer }>({
	model: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const model = await startModelServer();
			await use(model);
			await model.close();
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ model }, use) => {
		await use({
			env: { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'sk-or-v1-test', OPENROUTER_MODEL: 'test/model' }
		});
	}
});

const ANSWER = [
	'Inline $x^2$.',
	'```python\ndef add(a, b):\n    return a + b\n```',
	'```mermaid\ngraph TD\n  A["<img src=x onerror=parent.pwned=1>"] --> B[Two]\n  click A "javascript:parent.pwned=1"\n```',
	'The end.'
].join('\n\n');

test('SECURITY What people see: diagrams, maths and code are drawn, and no policy is broken for it', async ({
	page,
	app,
	model
}) => {
	test.slow();
	const refused: string[] = [];
	page.on('console', (message) => {
		// The diagram frame's policy blocks the attack's picture, as it should.
		if (message.type() === 'error' && !message.text().includes('Loading the image')) refused.push(message.text());
	});
	model.push(text(ANSWER));
	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('draw');
	await page.keyboard.press('Enter');
	await expect(page.locator('.katex')).toHaveCount(1);
	await expect(page.getByText('def', { exact: true })).toHaveClass('code-keyword');
	await expect(page.getByTestId('diagram')).toHaveAttribute('data-phase', 'drawn', { timeout: 30_000 });
	await expect(page.locator('iframe')).toHaveAttribute('sandbox', 'allow-scripts');
	expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
	expect(refused).toEqual([]);
});

const HOSTILE = '<img src=x onerror=parent.pwned=1>';
const KINDS = [
	`graph TD\n  A -- "${HOSTILE}" --> B["\`<b onclick=parent.pwned=1>x</b> **bold**\`"]`,
	`stateDiagram-v2\n  s1 : ${HOSTILE}\n  s1 --> s2 : ${HOSTILE}`,
	`erDiagram\n  "${HOSTILE}" ||--o{ B : "${HOSTILE}"`,
	`---\ntitle: "\\x3cimg src=x onerror=parent.pwned=1>"\n---\ngraph TD\n  A --> B`
];

test('SECURITY What people see: a handler in a label is gone before the policy has to refuse it, in every kind of diagram', async ({
	page,
	app,
	model
}) => {
	test.slow();
	const refused: string[] = [];
	page.on('console', (message) => {
		if (message.type() === 'error' && !message.text().includes('Loading the image')) refused.push(message.text());
	});
	for (const kind of KINDS) {
		model.push(text(`\`\`\`mermaid\n${kind}\n\`\`\``));
		await page.goto(app.url);
		await page.getByTestId('composer-input').fill('draw');
		await page.keyboard.press('Enter');
		await expect(page.getByTestId('diagram')).toHaveAttribute('data-phase', 'drawn', { timeout: 30_000 });
		expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
	}
	expect(refused).toEqual([]);
});

test('SECURITY What people see: the page that draws diagrams has no origin, and only our own pages may frame it', async ({
	page,
	app
}) => {
	const response = await page.goto(`${app.url}/frames/diagram`);
	const policy = response?.headers()['content-security-policy'] ?? '';
	expect(policy).toContain("default-src 'none'");
	expect(policy).toContain("frame-ancestors 'self'");
	expect(response?.headers()['x-frame-options']).toBe('SAMEORIGIN');
	expect(await page.evaluate(() => window.origin)).toBe('null');
});
