/** The input of a tool while somebody writes it: in fields made from its schema, or as JSON; each becomes the other. */
import { draftOf, fieldsOf, valueOf, type Field } from './schema-fields.ts';
import { emptyInput, readInput } from './scripts.ts';

export class ToolInput {
	/** Empty where the schema names none. */
	readonly fields: Field[];
	/** What was typed, by the index of the field: a name could be `toString`. */
	drafts = $state<string[]>([]);
	text = $state('');
	isJson = $state(false);
	/** Why the text cannot become fields. */
	problem = $state<string | null>(null);
	/** What is wrong with each field, by its index; of the last `read`. */
	problems = $state.raw<(string | undefined)[]>([]);
	/** What the text holds besides the fields. */
	#rest: [string, unknown][] = [];

	/** `begun`: an input as JSON, in place of an empty one. */
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

	/** @throws Error with a sentence; what is wrong with which field is in `problems` */
	read(): Record<string, unknown> {
		if (this.isJson) return readInput(this.text);
		const read = this.#readFields();
		this.problems = read.map(({ problem }) => problem);
		const wrong = this.fields.filter((_, index) => this.problems[index] !== undefined);
		if (wrong.length > 0) throw new Error(`Look again at ${wrong.map(({ name }) => name).join(', ')}.`);
		return this.#inputOf(read.map(({ value }) => value));
	}

	/** Nothing that was typed is lost: what is no value yet stands in the JSON as text. */
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

/** A required choice and a required yes or no have something to begin with. */
function beginningOf({ isRequired, kind, choices }: Field): unknown {
	if (!isRequired) return undefined;
	return kind === 'boolean' ? false : kind === 'choice' ? choices[0] : undefined;
}
