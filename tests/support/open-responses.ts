/** Checks values against the Open Responses document, which clients rely on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const DOCUMENT = JSON.parse(
	readFileSync(join(import.meta.dirname, '../fixtures/open-responses.openapi.json'), 'utf8')
) as { components: { schemas: Record<string, { properties?: { type?: { enum?: string[] } } }> } };

const ajv = new Ajv2020({ strict: false, discriminator: false, validateFormats: false });
ajv.addSchema(DOCUMENT as object, 'document');
const checks = new Map<string, ValidateFunction>();

/** What's wrong with the value; empty if nothing is. */
export function problemsOf(schemaName: string, value: unknown): string[] {
	const known = checks.get(schemaName);
	const check = known ?? ajv.compile({ $ref: `document#/components/schemas/${schemaName}` });
	checks.set(schemaName, check);
	if (check(value)) return [];
	return (check.errors ?? []).map(({ instancePath, message }) => `${schemaName}${instancePath} ${message}`);
}

/** Throws if the value doesn't match the document. */
export function validate(schemaName: string, value: unknown): void {
	const problems = problemsOf(schemaName, value);
	if (problems.length > 0) throw new Error(`${problems.join('; ')} in ${JSON.stringify(value).slice(0, 500)}`);
}

/** The schema for each stream event type. */
const EVENTS = new Map(
	Object.entries(DOCUMENT.components.schemas).flatMap(([name, { properties }]) => {
		if (!name.endsWith('StreamingEvent')) return [];
		return (properties?.type?.enum ?? []).map((type): [string, string] => [type, name]);
	})
);

/** Throws if the event isn't in the document or doesn't match it. */
export function validateEvent(event: { type: string }): void {
	const name = EVENTS.get(event.type);
	if (name === undefined) throw new Error(`the document knows no event ${event.type}`);
	validate(name, event);
}
