/** An expectation of evals.json as a row of a form: what to check, and with what; and its words. Pure. */
import { asText, isObject, type JsonObject, parseJson } from '../../../shared/json.ts';
import { checkIn, type CheckName, checkNamed, isNumberCheck, readExpectation } from '../../../shared/evals.ts';

/** `rubric`: a sentence for the model that judges. */
export type CheckKind = CheckName | 'rubric';

interface CheckWords {
	/** Of the choice, followed by the value. */
	label: string;
	/** Name of the value's field. */
	value: string;
	example: string;
	/** May have several lines. */
	isLong?: true;
}

/** In the order of the menu. */
export const CHECK_WORDS: Readonly<Record<CheckKind, CheckWords>> = {
	rubric: { label: 'The AI judges', value: 'Sentence', example: 'The answer is friendly.', isLong: true },
	contains: { label: 'Answer contains', value: 'Text', example: '42 words', isLong: true },
	notContains: { label: 'Answer doesn’t contain', value: 'Text', example: 'sorry', isLong: true },
	equals: { label: 'Answer is exactly', value: 'Text', example: '42', isLong: true },
	regex: { label: 'Answer matches the pattern', value: 'Regular expression', example: '\\b\\d+ words' },
	json: {
		...{ label: 'JSON in it fits schema', value: 'JSON Schema', isLong: true },
		example: '{ "type": "object", "required": ["words"] }'
	},
	file: { label: 'Makes the file', value: 'File', example: 'report.md' },
	exitCode: { label: 'Script ends with code', value: 'Exit code', example: '0' },
	maxSteps: { label: 'Maximum steps', value: 'Steps', example: '5' },
	toolCalled: { label: 'Calls the tool or script', value: 'Tool or script', example: 'scripts/count.mjs' },
	skillLoaded: { label: 'Loads the skill', value: 'Skill', example: 'count-words' },
	skillNotLoaded: { label: 'Doesn’t load the skill', value: 'Skill', example: 'weather' }
};

export interface ExpectationFields {
	kind: CheckKind;
	/** As text: JSON for a schema. */
	value: string;
	/** Of an exit code; empty: any. */
	script: string;
}

/** Texts of an object, as the server takes them: the first one that is there. */
const SENTENCES = ['text', 'description', 'rubric'] as const;

/** null for what the form can't show. `skill`: the tested one's name, for `skillLoaded: true`. */
export function fieldsOf(given: unknown, skill: string): ExpectationFields | null {
	if (typeof given === 'string') return fieldsOfText(given);
	if (!isObject(given)) return null;
	const keys = Object.keys(given).filter((key) => checkNamed(key) !== undefined);
	const [key = ''] = keys;
	const kind = checkNamed(key);
	const sentence = SENTENCES.find((each) => typeof given[each] === 'string');
	if (!kind && sentence) return fieldsOfText(String(given[sentence]));
	if (!kind || keys.length > 1) return null;
	const value = given[key];
	const script = asText(given.script) ?? '';
	if (typeof value === 'string') return { kind, value, script };
	if (kind === 'json') return { kind, value: JSON.stringify(value, null, 2), script };
	if (isNumberCheck(kind)) return { kind, value: String(value), script };
	return kind.startsWith('skill') && value === true ? { kind, value: skill, script } : null;
}

function fieldsOfText(text: string): ExpectationFields {
	return { ...(checkIn(text) ?? { kind: 'rubric', value: text }), script: '' };
}

/** What the file has then. Fields of `given` that the form doesn't know stay. */
export function writeExpectation(given: unknown, { kind, value, script }: ExpectationFields): unknown {
	const kept = isObject(given) ? without(given, kind) : {};
	const isAlone = Object.keys(kept).length === 0;
	if (kind === 'rubric') return isAlone ? value : { ...kept, rubric: value };
	if (kind === 'json') return { ...kept, json: parseJson(value) ?? value };
	if (isNumberCheck(kind)) {
		const number = /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
		const of = kind === 'exitCode' && script !== '' ? { script } : null;
		return !of && isAlone && number !== value ? `${kind}: ${number}` : { ...kept, [kind]: number, ...of };
	}
	return isAlone && value !== '' && value === value.trim() ? `${kind}: ${value}` : { ...kept, [kind]: value };
}

/** A check's own text for people stays; the sentence of a judge is its value. */
function without(given: JsonObject, kind: CheckKind): JsonObject {
	const wasSentence = !Object.keys(given).some((key) => checkNamed(key) !== undefined);
	const isText = (key: string) => (SENTENCES as readonly string[]).includes(key);
	return Object.fromEntries(
		Object.entries(given).filter(([key]) => {
			if (checkNamed(key) !== undefined || key === 'script') return false;
			return !isText(key) || (!wasSentence && kind !== 'rubric');
		})
	);
}

/** An expectation's text in plain words: `skillLoaded: x` is “Loads the skill x”; a sentence stays. */
export function expectationWords(text: string): string {
	const [, word = '', value = ''] = /^(\w+): ([^]+)$/.exec(text) ?? [];
	const kind = checkNamed(word);
	if (!kind) return text;
	const ofScript = kind === 'exitCode' ? /^(-?\d+) of ([^]+)$/.exec(value) : null;
	return ofScript ? `${ofScript[2]} ends with code ${ofScript[1]}` : `${CHECK_WORDS[kind].label} ${value}`;
}

/** Why the server would refuse it, said of what is typed; null if it wouldn't. */
export function problemOf(given: unknown, skill: string): string | null {
	try {
		readExpectation(given, skill);
		return null;
	} catch (error) {
		const { message } = error as Error;
		const [, first = '', rest = ''] = /^(\w+) ([^]*)$/.exec(message) ?? [];
		return checkNamed(first) ? `This ${rest}` : `This ${message}`;
	}
}
