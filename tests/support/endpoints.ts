/** Every endpoint the routes export. */
import type { Endpoint } from '../../src/lib/server/endpoint.ts';
import { endpointsOf } from '../../src/lib/server/openapi.ts';

const ROUTES = import.meta.glob<Record<string, unknown>>('../../src/routes/**/+server.ts', {
	eager: true,
	exhaustive: true
});

/** Exports of each `+server.ts`, by Kit's route id. */
export const ROUTE_MODULES: Readonly<Record<string, Record<string, unknown>>> = Object.fromEntries(
	Object.entries(ROUTES).map(([file, module]) => [
		file.slice(file.indexOf('/routes/') + '/routes'.length, -'/+server.ts'.length),
		module
	])
);

/** For programs: REST and the protocols. */
export const EVERY_ENDPOINT = endpointsOf(
	'',
	Object.entries(ROUTE_MODULES).map(([route, module]) => [`.${route}/+server.ts`, module])
);

/** The endpoint a route exports for a method; undefined for anything else. */
export function endpointAt(route: string, method: string): Endpoint | undefined {
	const value = ROUTE_MODULES[route]?.[method];
	return typeof value === 'function' && 'spec' in value ? (value as Endpoint) : undefined;
}
