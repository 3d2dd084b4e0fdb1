/** Checks values against the document of Open Responses: what a client may rely on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const DOCUMENT = JSON.parse(
	readFileSync(join(import.meta.dirname, '../fixtures/open-responses.openapi.json'), 'utf8')
) as { components: { schemas: Record<string, { properties?: { type?: { enum?: string[] } } }> } };

const ajv = new Ajv2020({ strict: false, discriminator: false, validateFormats: false });
ajv.addSchema(DOCUMENT as object, 'document');
const checks = new Map<string, ValidateFunction>();

/** What is wrong with the value; empty when nothing is. */
export function problemsOf(schemaName: string, value: unknown): string[] {
	const known = checks.get(schemaName);
	const check = known ?? ajv.compile({ $ref: `document#/components/schemas/${schemaName}` });
	checks.set(schemaName, check);
	if (check(value)) return [];
	return (check.errors ?? []).map(({ instancePath, message }) => `${schemaName}${instancePath} ${message}`);
}

/** Throws when the value is not what the document says. */
export function validate(schemaName: string, value: unknown): void {
	const problems = problemsOf(schemaName, value);
	if (problems.length > 0) throw new Error(`${problems.join('; ')} in ${JSON.stringify(value).slice(0, 500)}`);
}

/** Which schema an event of a stream has, by its type. */
const EVENTS = new Map(
	Object.entries(DOCUMENT.components.schemas).flatMap(([name, { properties }]) => {
		if (!name.endsWith('StreamingEvent')) return [];
		return (properties?.type?.enum ?? []).map((type): [string, string] => [type, name]);
	})
);

/** Throws for an event that the document does not know, or that is not as it says. */
export function validateEvent(event: { type: string }): void {
	const name = EVENTS.get(event.type);
	if (name === undefined) throw new Error(`the document knows no event ${event.type}`);
	validate(name, event);
}
