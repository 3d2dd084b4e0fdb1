import { AppError } from '$lib/shared/errors.ts';
import { door } from '$lib/server/endpoint.ts';

export const GET = door('Health checks', undefined, async ({ app }) => {
	const reason = await app.readiness.reason();
	if (reason !== null) throw new AppError('unavailable', reason);
	return { status: 'ready' };
});
