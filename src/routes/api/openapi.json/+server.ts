import { z } from 'zod';
import { version } from '$app/environment';
import { endpoint } from '$lib/server/endpoint.ts';
import { createOpenApiDocument, endpointsOf, type OpenApiDocument } from '$lib/server/openapi.ts';

const ROUTES = import.meta.glob<Record<string, unknown>>('../**/+server.ts');

export const GET = endpoint({
	id: 'getOpenApi',
	tag: 'Server',
	summary: 'Get this description',
	answer: z.looseObject({ openapi: z.string() }).describe('OpenAPI 3.1.'),
	handler: async ({ url }): Promise<OpenApiDocument> => {
		const others = Object.entries(ROUTES).map(async ([file, load]) => [file, await load()] as const);
		// A glob doesn't include its own file.
		const modules = [['./+server.ts', { GET }] as const, ...(await Promise.all(others))];
		return createOpenApiDocument(endpointsOf('/api/openapi.json', modules), version, url.origin);
	}
});
