/** Queries that are no part of a larger contract; the description of the API and the routes read the same. */
import { z } from 'zod';

/** Of every list that has pages. The page is a whole number from 1, `limit` at most 200. */
export const pageQuery = z.object({
	page: z.coerce.number().int().min(1).max(1_000_000).default(1),
	limit: z.coerce.number().int().min(1).max(200).default(50)
});

/** `GET /api/conversations`. Any text is a query; of a very long one the beginning is looked for. */
export const conversationQuery = z.object({
	q: z.string().max(100_000).optional(),
	archived: z.enum(['true', 'false']).optional()
});

/** `GET /api/conversations/:id/export`. */
export const conversationExportQuery = z.object({ format: z.enum(['json', 'markdown']).default('json') });

/** `GET /api/conversations/:id/messages`: those before this one. */
export const earlierQuery = z.object({ before: z.string('must be the id of a message').max(256) });

/** `GET /api/runs/:id/events`: a number that is none of this run starts over. */
export const eventsQuery = z.object({ after: z.string().max(32).optional() });

/** `POST /api/session`. */
export const credentials = z.strictObject({ token: z.string().min(1).max(1000) });

/** `GET /api/skills/marketplace` and `/skillssh`. Other sites are asked for less at once. */
export const catalogQuery = pageQuery.extend({
	q: z.string().max(200).optional(),
	limit: z.coerce.number().int().min(1).max(200).default(20)
});
