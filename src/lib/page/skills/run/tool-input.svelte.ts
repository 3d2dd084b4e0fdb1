/** A JSON Schema as form fields, and the typed values as the input of a tool or the arguments of a script. Pure. */
import { argsOf, type Command, inputOf, isFileName, labelOf } from './arguments.ts';
import { argumentsIn, emptyInput, linesOf, readInput } from './scripts.ts';
import { asArray, asObject, asText } from '../../../shared/json.ts';

export interface Field {
	name: string;
	/** The name as a word; a script's places are written in capitals. */
	label: string;
	description: string;
	kind: 'text' | 'lines' | 'number' | 'boolean' | 'choice' | 'json';
	/** For numbers. */
	isInteger: boolean;
	isRequired: boolean;
	/** Required text may be none. */
	mayBeEmpty: boolean;
	/** For choices, in order. */
	choices: unknown[];
	/** The schema's default; undefined if none. */
	preset: unknown;
	/** A value as one may type it; empty if unknown. */
	example: string;
	/** Its value is the path of a file. */
	isFile: boolean;
}

/** The same input as text. */
interface Notation {
	label: string;
	/** Leads from the fields to the text. */
	switchLabel: string;
	hint?: string;
	/** @throws Error with a sentence */
	toText(input: Record<string, unknown>): string;
	/** @throws Error with a sentence */
	toInput(text: string): Record<string, unknown>;
}

const JSON_INPUT: Notation = {
	label: 'Input (JSON)',
	switchLabel: 'Switch to JSON',
	toText: (input) => JSON.stringify(input, null, 2),
	toInput: readInput
};

/** `command` of a script; without one, only its text is known. */
export function argumentNotation(command?: Command): Notation {
	return {
		...{ label: 'Arguments', switchLabel: 'Type arguments', hint: 'One per line, or a flag and its value' },
		toText(input) {
			const args = command ? argsOf(command, input) : [];
			if (args.some((arg) => arg.includes('\n'))) throw new Error('A value of several lines needs its field.');
			return args.join('\n');
		},
		toInput(text) {
			const input = command ? inputOf(command, argumentsIn(text)) : {};
			if (input === null) throw new Error('These arguments don’t fit the fields.');
			return input;
		}
	};
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
		...{ name, label: name },
		description,
		isRequired,
		mayBeEmpty: !(Number(schema.minLength) > 0),
		choices,
		preset: schema.default,
		kind: choices.length > 0 ? 'choice' : schema.format === 'lines' ? 'lines' : kindOf(type),
		isInteger: type === 'integer',
		example: type === 'string' ? (asText(asArray(schema.examples)[0]) ?? '') : '',
		isFile: type !== 'boolean' && choices.length === 0 && isFileName(name, description)
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
	if (kind === 'lines') return [value].flat().map(String).join('\n');
	return kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

/** The value, or a sentence about what is wrong; both undefined if the field is left out. */
export function valueOf(field: Field, draft: string): { value?: unknown; problem?: string } {
	if (field.kind === 'text' && (draft !== '' || (field.isRequired && field.mayBeEmpty))) return { value: draft };
	if (draft.trim() === '')
		return field.isRequired
			? { problem: field.isFile ? 'Choose a file, or type its path.' : 'Fill this in: it can’t run without it.' }
			: {};
	if (field.kind === 'lines') return { value: linesOf(draft) };
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

/** What is in a form, to go on with it later. */
export type Typed = Pick<ToolInput, 'isText' | 'text' | 'drafts'> & { rest: [string, unknown][] };

/** Input for a tool or a script, edited as fields or as text; each converts to the other. */
export class ToolInput {
	readonly notation: Notation;
	/** Empty if the schema has no properties. */
	readonly fields: Field[];
	/** Typed text by field index, not by name: a field could be called `toString`. */
	drafts = $state<string[]>([]);
	text = $state('');
	isText = $state(false);
	/** Why the text can't become fields, or the fields text. */
	problem = $state<string | null>(null);
	/** Errors by field index, from the last `read` or run. */
	problems = $state.raw<(string | undefined)[]>([]);
	/** Values of the text that have no field. */
	#rest: [string, unknown][] = [];

	/** `begun`: text to start with, instead of an empty input. */
	constructor(schema: Record<string, unknown> | undefined, begun?: string | null, notation: Notation = JSON_INPUT) {
		const fields = fieldsOf(schema);
		// A tool's properties are called what they're called.
		if (notation !== JSON_INPUT) for (const field of fields ?? []) field.label = labelOf(field.name);
		this.notation = notation;
		this.fields = fields ?? [];
		this.text = notation === JSON_INPUT ? emptyInput(schema) : '';
		this.isText = fields === null;
		this.drafts = this.fields.map((field) => draftOf(field, field.preset ?? beginningOf(field)));
		if (typeof begun !== 'string') return;
		this.text = begun;
		if (fields === null) return;
		this.showFields();
		this.isText = this.problem !== null;
		this.problem = null;
	}

	get typed(): Typed {
		return { isText: this.isText, text: this.text, drafts: [...this.drafts], rest: this.#rest };
	}

	/** Goes on with what was typed into a form of the same fields. */
	resume({ isText, text, drafts, rest }: Typed): void {
		this.#rest = rest;
		Object.assign(this, { isText, text, drafts });
	}

	/** What the fields say so far, without what is wrong. */
	get values(): Record<string, unknown> {
		return this.#inputOf(this.#readFields().map(({ value }) => value));
	}

	/** @throws Error with a sentence; `problems` tells which fields */
	read(): Record<string, unknown> {
		if (this.isText) return this.notation.toInput(this.text);
		const read = this.#readFields();
		this.problems = read.map(({ problem }) => problem);
		const wrong = this.fields.filter((_, index) => this.problems[index] !== undefined);
		if (wrong.length > 0) throw new Error(`Check ${wrong.map(({ label }) => label).join(', ')}.`);
		return this.#inputOf(read.map(({ value }) => value));
	}

	/** Shows a program's complaint at the fields that it names. */
	blame(output: string): void {
		const said = output
			.split('\n')
			.find((line) => /\b(?:error:|must|invalid|required)/i.test(line) && line.length < 500);
		if (said === undefined || this.isText) return;
		const words = said.split(/[\s,:;"'“”()]+/).map((word) => word.replace(/\.$/, ''));
		this.problems = this.fields.map(({ name }) =>
			words.includes(name) ? said.replace(/^.*?\berror:\s*/i, '').trim() : undefined
		);
	}

	/** Puts a file into a field, by default the first one for files, or at the end of the arguments. */
	addFile(path: string, index = this.fields.findIndex(({ isFile }) => isFile)): void {
		const withLine = (text: string): string => [...linesOf(text), path].join('\n');
		if (this.isText) this.text = this.notation === JSON_INPUT ? this.text : withLine(this.text);
		else if (index >= 0)
			this.drafts[index] = this.fields[index]?.kind === 'lines' ? withLine(this.drafts[index] ?? '') : path;
	}

	/** Loses nothing: invalid values become text. */
	showText(): void {
		const values = this.#readFields().map(({ value, problem }, index) => (problem ? this.drafts[index] : value));
		this.#attempt(() => {
			this.text = this.notation.toText(this.#inputOf(values));
			this.isText = true;
		});
	}

	showFields(): void {
		this.#attempt(() => {
			const input = this.notation.toInput(this.text);
			this.#rest = Object.entries(input).filter(([name]) => !this.fields.some((field) => field.name === name));
			this.drafts = this.fields.map((field) =>
				draftOf(field, Object.hasOwn(input, field.name) ? input[field.name] : undefined)
			);
			this.problems = [];
			this.isText = false;
		});
	}

	#attempt(work: () => void): void {
		this.problem = null;
		try {
			work();
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
