import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import type { Question } from '../../shared/message-schema.ts';
import type { QuestionReply } from '../../shared/questions.ts';
import QuestionCard from './QuestionCard.svelte';

const question: Question = {
	...{ id: 'q', server: 'demo', message: 'Who are you?\n<b>bold</b>' },
	fields: [
		{ name: 'name', title: 'Name', type: 'text', isRequired: true },
		{ name: 'age', title: 'Age', type: 'integer', isRequired: false, min: 0 },
		{ name: 'size', title: 'Size', type: 'choice', isRequired: false, options: [{ value: 's', title: 'Small' }] },
		{ name: 'ok', title: 'Agreed', type: 'boolean', isRequired: false, initial: true }
	]
};
const setup = async (more: Partial<Question> = {}, isOpen = true) => {
	const onreply = vi.fn(async (_id: string, _reply: QuestionReply) => undefined);
	const screen = await render(QuestionCard, { question: { ...question, ...more }, isOpen, onreply });
	return { screen, onreply };
};

test('E36: what was filled in is sent once, numbers as numbers; an empty field that isn’t needed is left out', async () => {
	const { screen, onreply } = await setup();
	await expect.element(screen.getByTestId('question-message')).toMatchTextContent(/<b>bold<\/b>/);
	await screen.getByTestId('question-accept').click();
	await expect.element(screen.getByTestId('question-error')).toHaveTextContent('“Name” is missing.');
	await screen.getByLabelText('Name').fill('Ada');
	await screen.getByLabelText('Age (optional)').fill('36');
	await screen.getByLabelText('Size (optional)').selectOptions('Small');
	await screen.getByTestId('question-accept').click();
	await expect.element(screen.getByTestId('question-reply')).toMatchTextContent(/demo: You answered/);
	const content = { name: 'Ada', age: 36, size: 's', ok: true };
	expect(onreply.mock.calls).toEqual([['q', { action: 'accept', content }]]);
});

test('E36: the field that doesn’t fit has the focus and says so; what a number may be stands below it', async () => {
	const seats = { name: 'seats', title: 'Seats', type: 'integer' as const, isRequired: true, min: 1, max: 12 };
	const { screen, onreply } = await setup({
		fields: [question.fields![0]!, { ...seats, description: 'At one table' }]
	});
	const [name, field] = [screen.getByLabelText('Name'), screen.getByLabelText('Seats')];
	await expect.element(field).toHaveAccessibleDescription('At one table · 1 to 12');
	await name.fill('Ada');
	await field.fill('40');
	await screen.getByTestId('question-accept').click();
	await expect.element(field).toHaveFocus();
	await expect.element(field).toHaveAttribute('aria-invalid', 'true');
	await expect.element(field).toHaveAccessibleDescription(/“Seats” must be at most 12/);
	await expect.element(name).toHaveAttribute('aria-invalid', 'false');
	await field.fill('4');
	await screen.getByTestId('question-accept').click();
	expect(onreply.mock.calls).toEqual([['q', { action: 'accept', content: { name: 'Ada', seats: 4 } }]]);
});

test('E36: declining and cancelling send nothing else', async () => {
	for (const action of ['decline', 'cancel'] as const) {
		const { screen, onreply } = await setup();
		await screen.getByLabelText('Name').fill('Ada');
		await screen.getByTestId(`question-${action}`).click();
		expect(onreply.mock.calls).toEqual([['q', { action }]]);
		await screen.unmount();
	}
});

test('E36: if the answer can’t be sent, the card says why and keeps what was typed', async () => {
	const { screen, onreply } = await setup();
	onreply.mockRejectedValueOnce(new Error('This question is no longer open.'));
	await screen.getByLabelText('Name').fill('Ada');
	await screen.getByTestId('question-accept').click();
	await expect.element(screen.getByTestId('question-error')).toHaveTextContent('This question is no longer open.');
	await expect.element(screen.getByLabelText('Name')).toHaveValue('Ada');
});

test('E36: a question that is over has no form', async () => {
	const { screen } = await setup({}, false);
	await expect.element(screen.getByTestId('question-reply')).toMatchTextContent(/demo: No answer/);
	await expect.element(screen.getByTestId('question')).not.toBeInTheDocument();
});

test('SECURITY MCP servers: a form that asks for what looks like a secret is warned about', async () => {
	const key = { name: 'key', title: 'API key', type: 'text' as const, isRequired: true };
	const { screen } = await setup({ fields: [key] });
	await expect.element(screen.getByTestId('question-warning')).toMatchTextContent(/looks like a secret/);
});

test('E36: what a server wants to ask the model is shown whole, and allowed once, for the chat, or not', async () => {
	const sample = { prompt: '[user]\nWhat is <b>6</b>?', maxTokens: 200 };
	const replies = [
		['question-accept', { action: 'accept' }, 'You let it ask the model'],
		['question-accept-chat', { action: 'accept', forChat: true }, 'You let it ask the model'],
		['question-decline', { action: 'decline' }, 'You didn’t let it ask the model']
	] as const;
	for (const [button, reply, words] of replies) {
		const { screen, onreply } = await setup({ fields: undefined, sample });
		await expect.element(screen.getByTestId('question-prompt')).toMatchTextContent(/What is <b>6<\/b>\?/);
		await expect.element(screen.getByTestId('question')).toMatchTextContent(/at most 200 tokens/);
		await screen.getByTestId(button).click();
		expect(onreply.mock.calls).toEqual([['q', reply]]);
		await expect.element(screen.getByTestId('question-reply')).toMatchTextContent(words);
		await screen.unmount();
	}
});
