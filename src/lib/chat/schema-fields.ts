/** A tool's JSON Schema as the fields of a form, and back: what was typed as the input that the schema asks for. Pure. */

export interface Field {
	name: string;
	description: string;
	kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
	/** Of a number: has it no fraction? */
	isInteger: boolean;
	isRequired: boolean;
	/** Of a choice: the values, in order. */
	choices: unknown[];
	/** What it is without a word; undefined for none. */
	preset: unknown;
}

type Schema = Record<string, unknown>;

/** Null for a schema that names no properties: its input is written as JSON. */
export function fieldsOf(schema: unknown): Field[] | null {
	const { properties, required } = asObject(schema);
	const entries = Object.entries(asObject(properties));
	if (entries.length === 0) return null;
	const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
	return entries.map(([name, of]) => fieldOf(name, asObject(of), isRequired(name)));
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
	const types = [schema.type].flat().filter((type) => type !== 'null');
	const type = types.length === 1 ? types[0] : undefined;
	const choices = Array.isArray(schema.enum) ? (schema.enum as unknown[]) : [];
	const description = [schema.title, schema.description].filter((text) => typeof text === 'string').join(': ');
	return {
		...{ name, description, isRequired, choices, preset: schema.default },
		kind: choices.length > 0 ? 'choice' : kindOf(type),
		isInteger: type === 'integer'
	};
}

function kindOf(type: unknown): Field['kind'] {
	if (type === 'string') return 'text';
	if (type === 'number' || type === 'integer') return 'number';
	return type === 'boolean' ? 'boolean' : 'json';
}

/** What stands in the field for this value; empty for one that is left out. */
export function draftOf({ kind, choices }: Field, value: unknown): string {
	if (value === undefined) return '';
	if (kind === 'choice') {
		const index = choices.findIndex((choice) => isSame(choice, value));
		return index < 0 ? '' : String(index);
	}
	if (kind === 'text' && typeof value === 'string') return value;
	return kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

/** The value, or in a sentence why it is none; both undefined for a field that is left out. */
export function valueOf(field: Field, draft: string): { value?: unknown; problem?: string } {
	if (field.kind === 'text') return draft === '' && !field.isRequired ? {} : { value: draft };
	if (draft.trim() === '') return field.isRequired ? { problem: 'Needed, and empty.' } : {};
	if (field.kind === 'choice') return { value: field.choices[Number(draft)] };
	if (field.kind === 'boolean') return { value: draft === 'true' };
	return field.kind === 'number' ? numberOf(field, draft) : jsonOf(draft);
}

function numberOf({ isInteger }: Field, draft: string): { value?: number; problem?: string } {
	const value = Number(draft);
	if (!Number.isFinite(value)) return { problem: 'Must be a number, such as 1.5.' };
	return isInteger && !Number.isInteger(value) ? { problem: 'Must be a whole number.' } : { value };
}

function jsonOf(draft: string): { value?: unknown; problem?: string } {
	try {
		return { value: JSON.parse(draft) as unknown };
	} catch (error) {
		return { problem: `Is no JSON: ${error instanceof Error ? error.message : String(error)}` };
	}
}

function isSame(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}

function asObject(value: unknown): Schema {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}
