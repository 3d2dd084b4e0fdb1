import { AppError } from '$lib/shared/errors.ts';
import { content, endpoint } from '$lib/server/endpoint.ts';

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export const GET = endpoint({
	protocol: 'Prometheus',
	answer: content('text/plain', 'Prometheus’ text format.'),
	async handler({ app: { telemetry } }) {
		if (!telemetry.scrape) {
			throw new AppError('not_found', 'Metrics are off.', { hint: 'Start the server with METRICS=true.' });
		}
		return new Response(await telemetry.scrape(), { headers: { 'content-type': TYPE } });
	}
});
