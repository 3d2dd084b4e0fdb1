import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import type { ListedOperation } from './api-description.ts';
import ApiOperation from './ApiOperation.svelte';
import '../../../app.css';

const operation: ListedOperation = {
	...{
		operationId: 'changeThing',
		tags: ['Things'],
		summary: 'Changes a thing',
		method: 'PUT',
		path: '/api/things/{id}'
	},
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

test('E2: an operation shows its parameters, body, answers and an example, with a link of its own', async () => {
	const { container, getByRole, getByText } = await render(ApiOperation, {
		operation,
		server: 'http://127.0.0.1:3000'
	});
	await expect.element(getByRole('link', { name: 'PUT /api/things/{id}' })).toHaveAttribute('href', '#changeThing');
	await expect.element(getByText('path, required · string')).toBeVisible();
	await expect.element(getByText('GET /things', { exact: true })).toBeVisible();
	expect(container.textContent).toContain('As GET /things has it.');
	await expect.element(getByText('not found')).toBeVisible();
	expect(container.textContent).toContain(`-d '{"mode":"on"}'`);
	await expect.element(getByRole('button', { name: 'Copy the example of changeThing' })).toBeVisible();
	await getByText('Body: application/json').click();
	expect(container.querySelector('details')?.open).toBe(true);
	expect(container.querySelector('details pre')?.textContent).toContain('"required": [');
	await getByText('Answer: application/json').click();
	await expect.element(getByRole('link', { name: 'Thing', exact: true })).toHaveAttribute('href', '#schema-Thing');
});

test('a narrow window scrolls the example, not the page', async () => {
	const { container } = await render(ApiOperation, { operation, server: `http://${'long.'.repeat(40)}example` });
	container.style.width = '358px';
	const article = container.querySelector('article');
	expect(article?.scrollWidth).toBeLessThanOrEqual(358);
});
