import { afterEach, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import type { ApiDescription, ListedOperation } from './api-description.ts';
import ApiOperation from './ApiOperation.svelte';
import '../../../app.css';

const operation: ListedOperation = {
	operationId: 'changeThing',
	tags: ['Things'],
	summary: 'Changes a thing',
	method: 'PUT',
	path: '/api/things/{id}',
	parameters: [
		{ name: 'id', in: 'path', required: true, description: 'As `GET /things` has it.', schema: { type: 'string' } }
	],
	requestBody: {
		content: {
			'application/json': {
				schema: { type: 'object', properties: { mode: { enum: ['on', 'off'] } }, required: ['mode'] }
			}
		}
	},
	responses: {
		200: {
			description: 'The thing.',
			content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } }
		},
		404: { $ref: '#/components/responses/not_found' }
	}
};

const components: ApiDescription['components'] = {
	schemas: {
		Thing: {
			type: 'object',
			properties: { name: { type: 'string' }, parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } },
			required: ['name', 'parts']
		}
	},
	responses: { not_found: { description: 'Not found.' } }
};

/** Answers requests with this response. */
function play(answer: () => Response) {
	const fetched = vi.fn<typeof fetch>(async () => answer());
	vi.stubGlobal('fetch', fetched);
	return fetched;
}
afterEach(() => vi.unstubAllGlobals());

const setup = (more: Partial<ListedOperation> = {}, server = 'http://127.0.0.1:3000') =>
	render(ApiOperation, { operation: { ...operation, ...more }, components, server });

test('E2: an operation shows its parameters, body, answers and examples once it is opened, with a link of its own', async () => {
	const { container, getByRole, getByText } = await setup();
	expect(container.querySelectorAll('dl, pre, input')).toHaveLength(0);
	await getByText('Changes a thing').click();
	await expect.element(getByRole('link', { name: 'Link to changeThing' })).toHaveAttribute('href', '#changeThing');
	await expect.element(getByText('path, required · string')).toBeVisible();
	await expect.element(getByText('GET /things', { exact: true })).toBeVisible();
	expect(container.textContent).toContain('As GET /things has it.');
	await expect.element(getByText('Not found.')).toBeVisible();
	expect(container.textContent).toContain(`-d '{"mode":"on"}'`);
	await expect.element(getByRole('button', { name: 'Copy the example of changeThing' })).toBeVisible();
	await expect
		.element(getByRole('group', { name: 'Example answer of changeThing' }))
		.toMatchTextContent(/"name": "count-words",\s+"parts": \[\]/);
	await getByText('Body: application/json').click();
	await expect
		.element(getByRole('group').filter({ hasText: 'Body: application/json' }).last())
		.toMatchTextContent(/"required": \[/);
	await getByText('Answer: application/json').click();
	await expect.element(getByRole('link', { name: 'Thing', exact: true })).toHaveAttribute('href', '#schema-Thing');
});

test('UI 11: a GET is sent at once, and its answer is shown as it is', async () => {
	const fetched = play(() => Response.json({ error: { code: 'not_found', message: 'Not found.' } }, { status: 404 }));
	const { getByText, getByTestId } = await setup({ method: 'GET', requestBody: undefined });
	await getByText('Changes a thing').click();
	await expect.element(getByTestId('send')).toBeDisabled();
	await getByTestId('parameter-id').fill('my skills/count words');
	await getByTestId('send').click();
	await expect.element(getByTestId('reply')).toMatchTextContent(/404.*"code": "not_found"/s);
	expect(fetched.mock.lastCall?.[0]).toBe('/api/things/my%20skills/count%20words');
});

test('UI 11: what can change something is sent when that is confirmed, with the body as it was typed', async () => {
	const fetched = play(() => Response.json({ name: 'a' }));
	const { getByText, getByTestId, getByRole } = await setup();
	await getByText('Changes a thing').click();
	await getByTestId('parameter-id').fill('a');
	await getByTestId('body').fill('{"mode": ');
	await expect.element(getByTestId('send')).toBeDisabled();
	await getByTestId('body').fill('{"mode": "off"}');
	await getByTestId('send').click();
	await expect.element(getByRole('dialog')).toMatchTextContent(/Send PUT \/api\/things\/a\?.*can change your data/);
	expect(fetched).not.toHaveBeenCalled();
	await getByTestId('confirm-delete').click();
	await expect.element(getByTestId('reply')).toMatchTextContent(/200.*"name": "a"/s);
	expect(fetched.mock.lastCall?.[1]).toMatchObject({ method: 'PUT', body: '{"mode": "off"}' });
});

test('UI 11: a stream is shown as it comes, and ended by hand; a server that does not answer is said', async () => {
	const encoder = new TextEncoder();
	const stream = new ReadableStream<Uint8Array>({
		start: (controller) => controller.enqueue(encoder.encode('data: one'))
	});
	const fetched = play(() => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
	const { getByText, getByTestId, getByRole } = await setup({ method: 'GET', parameters: [], requestBody: undefined });
	await getByText('Changes a thing').click();
	await getByTestId('send').click();
	await expect.element(getByTestId('reply')).toMatchTextContent(/data: one/);
	await getByRole('button', { name: 'Stop' }).click();
	await expect.element(getByTestId('send')).toBeEnabled();
	expect(fetched.mock.lastCall?.[1]?.signal?.aborted).toBe(true);
	fetched.mockRejectedValueOnce(new TypeError('refused'));
	await getByTestId('send').click();
	await expect.element(getByRole('alert')).toMatchTextContent(/The server didn’t answer/);
});

test('a narrow window scrolls the example, not the page', async () => {
	const { container, getByText } = await setup({}, `http://${'long.'.repeat(40)}example`);
	container.style.width = '358px';
	await getByText('Changes a thing').click();
	expect(container.querySelector('details')?.scrollWidth).toBeLessThanOrEqual(358);
});
