import { expect, test } from 'vitest';
import { actionsFor, creditsPage, splitDetail } from './message-groups.ts';

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

test('credits are bought where the account is', () => {
	expect(creditsPage('The account at openrouter.ai has no credits left.')).toMatch(/^https:\/\/openrouter\.ai\//);
	expect(creditsPage('The account at notopenrouter.ai.example has none.')).toBeNull();
});
