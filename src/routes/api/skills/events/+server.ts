import { endpoint, events } from '$lib/server/endpoint.ts';
import { eventStream } from '$lib/server/http.ts';

export const GET = endpoint({
	id: 'followSkills',
	tag: 'Skills',
	summary: 'Follow changes to the skills',
	answer: events('The revision, at once and after each change.'),
	handler: ({ app }) => eventStream(app.log, (signal) => app.revisions.follow(signal))
});
