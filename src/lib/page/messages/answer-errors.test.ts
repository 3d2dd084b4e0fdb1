import { expect, test } from 'vitest';
import { actionsFor, creditsPage, splitDetail, waitOf } from './answer-errors.ts';

test.each([
	['unauthorized', 'settings'],
	['insufficient_credits', 'credits'],
	['model_not_found', 'switch'],
	['moderation', 'switch'],
	['context_length_exceeded', 'newChat'],
	['empty_response', 'retry'],
	['timeout', 'continue'],
	['something_else', 'continue'],
	['constructor', 'continue']
])('F14: what helps first after %s is to %s', (code, action) => {
	expect(actionsFor(code)[0]).toBe(action);
});

test("the server's own words are details", () => {
	const message = 'openrouter.ai takes no more requests for m now (429). It said: "Slow "down".". Wait a little.';
	expect(splitDetail(message)).toEqual({
		message: 'openrouter.ai takes no more requests for m now (429). Wait a little.',
		detail: 'Slow "down".'
	});
	expect(splitDetail('It failed.')).toEqual({ message: 'It failed.', detail: null });
});

test('a wait that was asked for is known', () => {
	expect(waitOf('Full. It asks to wait for 45 seconds. Try again after that.')).toBe(45_000);
	expect(waitOf('Full. It asks to wait for 2 minutes.')).toBe(120_000);
	expect(waitOf('Full. It asks to wait for 3 days.')).toBeNull();
	expect(waitOf('Full. Wait 2 minutes. Then try again.')).toBe(120_000);
	expect(waitOf('Full. Wait a moment, or choose another model.')).toBeNull();
	expect(waitOf('Full.')).toBeNull();
});

test('credits are bought where the account is', () => {
	expect(creditsPage('The account at openrouter.ai has no credits left.')).toMatch(/^https:\/\/openrouter\.ai\//);
	expect(creditsPage('The account at notopenrouter.ai.example has none.')).toBeNull();
});
