/** AG-UI's own client against the built app: threads on the page, capabilities. For both tasks, see clients.spec.ts. */
import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas';
import { aguiClient, kindsOf } from '../support/agui-client.ts';
import { expect, test } from './app.ts';

test('F13: the capabilities are as AG-UI has them', async ({ app }) => {
	const response = await fetch(`${app.url}/api/agent/capabilities`);
	expect(AgentCapabilitiesSchema.parse(await response.json())).toMatchObject({ tools: { clientProvided: true } });
});

test('F13: HttpAgent sees the script run, and its thread is a conversation that the page shows', async ({
	app,
	page
}) => {
	const client = aguiClient(app.url);
	await client.run('Count the words of "one two three"');
	expect(kindsOf(client.events).has('skill.finished')).toBe(true);
	expect(client.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
	await page.goto(`${app.url}/c/${client.agent.threadId}`);
	await expect(page.locator('[data-testid=message][data-role=assistant]')).toHaveAttribute('data-status', 'complete');
	await expect(page.locator('[data-testid=message][data-role=user]')).toContainText('one two three');
});
