/** A tool's JSON Schema as form fields, and the typed values as its input. Pure. */
import { emptyInput, readInput } from './scripts.ts';
import { asObject } from '../../../shared/json.ts';

export interface Field {
	name: string;
	description: string;
	kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
	/** For numbers. */
	isInteger: boolean;
	isRequired: boolean;
	/** For choices, in order. */
	choices: unknown[];
	/** The schema's default; undefined if none. */
	preset: unknown;
}

type Schema = Record<string, unknown>;

/** Null for a schema without properties: its input is written as JSON. */
function fieldsOf(schema: unknown): Field[] | null {
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
		name,
		description,
		isRequired,
		choices,
		preset: schema.default,
		kind: choices.length > 0 ? 'choice' : kindOf(type),
		isInteger: type === 'integer'
	};
}

function kindOf(type: unknown): Field['kind'] {
	if (type === 'string') return 'text';
	if (type === 'number' || type === 'integer') return 'number';
	return type === 'boolean' ? 'boolean' : 'json';
}

/** The field's text for this value; empty if it's left out. */
function draftOf({ kind, choices }: Field, value: unknown): string {
	if (value === undefined) return '';
	if (kind === 'choice') {
		const index = choices.findIndex((choice) => isSame(choice, value));
		return index < 0 ? '' : String(index);
	}
	if (kind === 'text' && typeof value === 'string') return value;
	return kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

/** The value, or a sentence about what is wrong; both undefined if the field is left out. */
export function valueOf(field: Field, draft: string): { value?: unknown; problem?: string } {
	if (field.kind === 'text') return draft === '' && !field.isRequired ? {} : { value: draft };
	if (draft.trim() === '') return field.isRequired ? { problem: 'This field is required.' } : {};
	if (field.kind === 'choice') return { value: field.choices[Number(draft)] };
	if (field.kind === 'boolean') return { value: draft === 'true' };
	return field.kind === 'number' ? numberOf(field, draft) : jsonOf(draft);
}

function numberOf({ isInteger }: Field, draft: string): { value?: number; problem?: string } {
	const value = Number(draft);
	if (!Number.isFinite(value)) return { problem: 'Enter a number, such as 1.5.' };
	return isInteger && !Number.isInteger(value) ? { problem: 'Enter a whole number.' } : { value };
}

function jsonOf(draft: string): { value?: unknown; problem?: string } {
	try {
		return { value: JSON.parse(draft) as unknown };
	} catch (error) {
		return { problem: `Not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
	}
}

function isSame(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}

/** Input for a tool, edited as fields or as JSON; each converts to the other. */
export class ToolInput {
	/** Empty if the schema has no properties. */
	readonly fields: Field[];
	/** Typed text by field index, not by name: a field could be called `toString`. */
	drafts = $state<string[]>([]);
	text = $state('');
	isJson = $state(false);
	/** Why the JSON can't become fields. */
	problem = $state<string | null>(null);
	/** Errors by field index, from the last `read`. */
	problems = $state.raw<(string | undefined)[]>([]);
	/** Values of the JSON that have no field. */
	#rest: [string, unknown][] = [];

	/** `begun`: JSON input to start with, instead of an empty one. */
	constructor(schema: Record<string, unknown> | undefined, begun?: string | null) {
		const fields = fieldsOf(schema);
		this.fields = fields ?? [];
		this.text = emptyInput(schema);
		this.isJson = fields === null;
		this.drafts = this.fields.map((field) => draftOf(field, field.preset ?? beginningOf(field)));
		if (typeof begun !== 'string') return;
		this.text = begun;
		if (fields !== null) this.showFields();
	}

	/** @throws Error with a sentence; `problems` tells which fields */
	read(): Record<string, unknown> {
		if (this.isJson) return readInput(this.text);
		const read = this.#readFields();
		this.problems = read.map(({ problem }) => problem);
		const wrong = this.fields.filter((_, index) => this.problems[index] !== undefined);
		if (wrong.length > 0) throw new Error(`Check ${wrong.map(({ name }) => name).join(', ')}.`);
		return this.#inputOf(read.map(({ value }) => value));
	}

	/** Loses nothing: invalid values become text in the JSON. */
	showJson(): void {
		const values = this.#readFields().map(({ value, problem }, index) => (problem ? this.drafts[index] : value));
		this.text = JSON.stringify(this.#inputOf(values), null, 2);
		this.isJson = true;
	}

	showFields(): void {
		try {
			const input = readInput(this.text);
			this.#rest = Object.entries(input).filter(([name]) => !this.fields.some((field) => field.name === name));
			this.drafts = this.fields.map((field) =>
				draftOf(field, Object.hasOwn(input, field.name) ? input[field.name] : undefined)
			);
			this.problem = null;
			this.problems = [];
			this.isJson = false;
		} catch (error) {
			this.problem = error instanceof Error ? error.message : String(error);
		}
	}

	#readFields(): { value?: unknown; problem?: string }[] {
		return this.fields.map((field, index) => valueOf(field, this.drafts[index] ?? ''));
	}

	#inputOf(values: unknown[]): Record<string, unknown> {
		const given = this.fields.map(({ name }, index): [string, unknown] => [name, values[index]]);
		return Object.fromEntries([...this.#rest, ...given].filter(([, value]) => value !== undefined));
	}
}

/** Required choices and booleans need an initial value. */
function beginningOf({ isRequired, kind, choices }: Field): unknown {
	if (!isRequired) return undefined;
	return kind === 'boolean' ? false : kind === 'choice' ? choices[0] : undefined;
}
