/** Makes the arguments of a documented command out of a message. */
import { stem } from '../../skills/search.ts';
import type { Command } from './commands.ts';
import { slotsOf } from './command-line.ts';
import type { TemplateArgument, TemplateGroup } from './command-line.ts';
import { fillSlots } from './fill.ts';
import type { Filled } from './fill.ts';
import type { FillContext } from './filling.ts';
import { overlaps } from './question.ts';
import type { Span } from './question.ts';
import { slotWords } from './slots.ts';

export interface FilledCommand extends Filled {
	args: string[];
	/** Optional switches that were asked for. */
	switches: number;
}

export function fillCommand(command: Command, context: FillContext): FilledCommand {
	const groups = [...command.groups, ...command.moreOptions];
	const more = new Set(slotsOf(command.moreOptions));
	const literals = literalSpans(command, context);
	const slots = slotsOf(groups);
	const first = fillSlots(slots, context, literals);
	// An option found elsewhere in the text must not take what a documented placeholder needs, so it gets what is left.
	const filled =
		first.missing.length > 0 && more.size > 0
			? fillSlots(
					slots.filter((slot) => !more.has(slot)),
					context,
					literals
				)
			: first;
	const args: string[] = [];
	let switches = 0;
	for (const group of groups) {
		const values = group.arguments.map((argument) => fillArgument(argument, filled));
		const isSwitch = group.isOptional && slotsOf([group]).length === 0;
		const isKept =
			!group.isOptional || (isSwitch ? isAskedFor(group, context) : values.every((value) => value.length > 0));
		if (isKept) args.push(...values.flat());
		if (isKept && isSwitch) switches += 1;
	}
	return { ...filled, args, switches };
}

function fillArgument(argument: TemplateArgument, { found }: Filled): string[] {
	const [only] = argument;
	if (argument.length === 1 && only !== undefined && typeof only !== 'string' && only.isRepeated) {
		const value = found.get(only);
		return value ? (value.values ?? [value.value]) : [];
	}
	const isJson = typeof only === 'string' && /^\s*[{[]/.test(only);
	const texts = argument.map((part) => {
		if (typeof part === 'string') return part;
		const value = found.get(part)?.value;
		return value === undefined || !isJson ? value : JSON.stringify(value).slice(1, -1);
	});
	return texts.every((text) => text !== undefined) ? [texts.join('')] : [];
}

/** `[--clean]`, `[--format json]`: when the words of the switch and its value occur, and are not denied. */
function isAskedFor(group: TemplateGroup, { question }: FillContext): boolean {
	const literals = group.arguments.map((argument) => argument.join(''));
	if (question.words.some((word) => word.text === literals[0])) return true;
	const words = literals.length > 1 ? literals.slice(1) : literals;
	const asked = words.flatMap(slotWords).map(stem);
	if (asked.length === 0 || asked.join('').length < 3) return false;
	const isNegative = asked[0] === 'no' || asked[0] === 'without';
	return asked.every((part) =>
		question.words.some((word, index) => {
			const isDenied = /^(no|not|without|don['’]?t|never)$/.test(question.words[index - 1]?.lower ?? '');
			const isSame = word.stem === part || (part === 'no' && word.lower === 'without');
			return isSame && !word.isQuoted && (isNegative || !isDenied);
		})
	);
}

/** Words of the message that a literal value of the command stands for, such as `month` in `--period month`. */
function literalSpans(command: Command, { question }: FillContext): Span[] {
	const values = command.groups
		.filter(({ isOptional, arguments: list }) => !isOptional && list.length > 1)
		.flatMap(({ arguments: list }) => list.slice(1))
		.filter((argument) => argument.every((part) => typeof part === 'string'))
		.map((argument) => stem(argument.join('').toLowerCase()));
	return question.words
		.filter((word) => !word.isQuoted && values.includes(word.stem))
		.map(({ start, end }) => ({ start, end }));
}

/** Does any of the spans cover the piece? */
export function isUsed(piece: Span, taken: readonly Span[]): boolean {
	return taken.some((span) => overlaps(span, piece));
}
