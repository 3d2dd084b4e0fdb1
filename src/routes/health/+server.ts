import { door } from '$lib/server/endpoint.ts';

/** The process lives. Whether it should get requests is another question: `/ready`. */
export const GET = door('Health checks', undefined, async () => ({ status: 'ok' }));
