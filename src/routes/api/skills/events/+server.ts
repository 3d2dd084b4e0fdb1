import { endpoint, events } from '$lib/server/endpoint.ts';
import { eventStream } from '$lib/server/http.ts';

export const GET = endpoint({
	id: 'followSkills',
	tag: 'Skills',
	summary: 'Says when the library changes',
	answer: events('The revision, now and after each change.'),
	handler: ({ app }) => eventStream((signal) => app.revisions.follow(signal))
});
