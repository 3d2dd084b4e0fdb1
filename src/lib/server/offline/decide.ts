/** Decides what demo mode does next: call something, ask something, or tell how it went. Pure. */
import { builtinNameOf, DRAFT_TOOL, SKILL_REQUEST_TOOLS } from '../../shared/names.ts';
import { insteadText, isAsking, NEXT, offeredIn } from '../../shared/questions.ts';
import type { FunctionTool, ModelRequest } from '../agent/model.ts';
import { createSkillIndex } from '../skills/find/skill-index.ts';
import { tokenize, tokenizeName } from '../skills/find/words.ts';
import { type Action, actionsOf, type Filled, type PlannedCall, toolAction, type Used, type Work } from './actions.ts';
import {
	ABOUT,
	type Ask,
	askText,
	choicesOf,
	instructionsText,
	isRefusal,
	offerText,
	reportText,
	unableText,
	unreadText,
	unusableText,
	welcomeText
} from './answers.ts';
import {
	type CatalogSkill,
	type History,
	LOAD_SKILL,
	type LoadedSkill,
	readHistory,
	readSkillContent,
	toolNamesOf,
	type Turn,
	USE_SKILL
} from './history.ts';
import {
	fitFor,
	isAskedOf,
	isDataQuestion,
	isQuestion,
	isRestricting,
	isWishForChange,
	isWishForEdit,
	keyOf,
	knows,
	pick,
	settle,
	type Settled,
	SETTLED_NOTHING,
	takesQuestion,
	understand,
	withoutAddress,
	withQuestion
} from './account.ts';
import { isAlike, isAmong, isNamed } from './fill.ts';
import {
	filesIn,
	framing,
	isFiller,
	isOverview,
	isSaid,
	isScript,
	lacksFile,
	type Message,
	OVERVIEW,
	overlapsAny,
	type Piece,
	readMessage,
	type Word
} from './message.ts';
import { extensionOf, isFileNoun, isFirstOf, type Slot, speaksOf, wordsForFile } from './slots.ts';

export type Decision = { kind: 'call'; call: PlannedCall } | { kind: 'say'; text: string };

/** Tools that serve skills themselves: no message asks for them by their words. */
const SKILL_TOOLS = new Set([LOAD_SKILL, USE_SKILL, 'list_skills', 'search_skills', 'read_skill_file']);
/** Of so many skills that fit the commands are compared, if they fit this share as well as the best one. */
const MAX_COMPARED = 3;
const NEAR = 0.35;
/** From this share on two skills fit as well as each other. */
const ALIKE = 0.65;
/** A pinned skill that fits at all is meant before one that fits better by up to so much. */
const PINNED = 5;
const NEGATING = /^(not|never|without|except|excluding|instead|than|rather|dont|\p{L}{2,5}n['’]t)$/u;
/** Of any work. */
const COMMON = /^(take|make|get|go|come|bring|give|put|need|want|will)$/;
/** Of several files; of `sum up`. */
const ALL = /^(all|both|each|two|three|four|five|\d|up|points?|bullets?|sentences?|paragraphs?|briefly)$/;
/** `over both files`, `the two sales files` */
const SEVERAL = /\b(both|all|these|those|the (two|three|\d+))( \w+)? (files|tables|sheets)\b/i;
/** Looks for the file that has something. */
const OF_FILES = /\b(which|what|any) (of (my|the|these|those) )?(files?|documents?)\b/i;
/** Asks for no work, but what there is. */
const HELP =
	/^\W*(help|what (else )?(can|could) (you|i|we) (do|ask|say|try)( (here|now|for me|(with|about) ((it|this|that|these|my|the)( \w+)?|\S+\.\w{1,5})))?|(which|what) skills\b.{0,200}|(list|show)( me)?( all)?( (of )?(my|the|your|installed))? skills|what (does|can) (the )?[\w-]+ do|what (can|does|is) (the |my |your )?([\w-]+ )?skills? ?(do|for|about)?)\W*$/i;
/** Asks what can be done with a file. */
const OF_FILE = /\b(with|about) (this|that|these|it)\W*$/i;
/** Asks for advice, not for work. */
const HOW_TO = /^\W*(how (do|does|can|could|should|would|to)\b|why|who|what (is|are) an?\b)/i;
/** Words for a figure, and those of a question that names no thing, column or cell. */
const OF_FIGURE =
	'many|much|total|sum|average|mean|median|percentage|percent|share|proportion|most|least|first|last|best|worst|expensive|\\w{3,}est';
const OF_ANY =
	'how|what|which|who|is|are|was|were|do|does|did|has|have|that|this|it|they|those|these|there|the|of|in|up|to|as|an?|so|all|together|altogether|makes?|made|come|came|adds?|costs?|ones?|top';
/** Goes on with what was asked before. */
const FOLLOWING = new RegExp(
	[
		// It names nothing of its own: `How many are there?`, `What percentage is that?`, `the total?`
		String.raw`^(?=.*\b(?:${OF_FIGURE})\b)\W*(?:(?:${OF_ANY}|${OF_FIGURE})\b ?)+\W*$`,
		String.raw`\b(who|which|how many) (ones? )?there\b|^\W*(and )?(when|where|who) (is|was|are|were) (it|that|this|those|they)\W*$`,
		String.raw`^\W*(and|now|also|then|again|same|instead|what about|how about|but|only|just|their|his|her|its|(make|do|sort|order|show|draw) (it|that|this|them|those|these|the same)|as an?|per|by)\b`,
		String.raw`^\W*(in|at|on|for|from|since|without) (?!which|what|each|every|all)\S+( \S+){0,2}$`,
		String.raw`^\W*(in|at|on|for|from|since|with|without) .{1,60} only\W*$`,
		String.raw`\b(of|among) (them|those|these)\b|\b(they|them)\b|(?<!\b(?:who|whose|which|what|any\w*|every\w*|each|all)\b.*)\btheir\b`,
		String.raw`^\W*(which|who|what)( ones?| (are|were|is|was) (they|these|those|(the )?\w+est))\W*$`
	].join('|'),
	'i'
);
/** Ends a question without an answer to it. */
const LEAVING =
	/^\W*((oh|ok|okay|no|sorry|please|actually|just)\W+)*(no|nope|nah|never ?mind|cancel|stop|quit|forget)(\W+(it|that|this|please|thanks|thank you))*\W*$/i;
/** Asks for a skill that isn’t there yet: for nothing else catalogs are searched. */
const FINDING = /\b(find|search|look|browse|install|get|add|download)\b.*\b(skills?|catalogs?)\b/i;
const HELLO = String.raw`(?:hi|hello|hey|good (?:morning|afternoon|evening|day))(?: (?:there|all|everyone|again))?`;
const GREETING = new RegExp(
	String.raw`^\W*(?:${HELLO}|${HELLO}\W+(?:how|who) are you( today)?|(?:how|who) are you( today)?)\W*$`,
	'i'
);
const THANKS =
	/^\W*((many |ok,? |great,? )?(thanks|thank you|thx|cheers)( a lot| so much| very much| for (the|your|that|all your) help| for that)?|great|nice|cool|perfect|well done)(\W+(good)?bye)?\W*$/i;
/** What takes a model, unless a skill speaks of it; not `book with the most pages`, and not `the mail of Anna`, which a file can have. */
const MODEL_WORK = new RegExp(
	String.raw`^\W*(?:(?:please|can you|could you|would you|help me|i (?:want|need|would like|['’]d like) you to|and|now|then|also)\W+)*(?:` +
		[
			String.raw`(?<writing>write|compose|draft|make(?: up)?|invent|send(?! (?:me|us)\b))(?: (?:me|us|him|her|them|everyone|everybody|[\w'’]+(?= (?:an?|the|my|our) )))?(?: (?:an?|the|some|my|our|this|another))?(?: \w+)? (?<thing>poem|story|joke|song|limerick|haiku|essay|speech|letter|e-?mail|mail|reminder|invitation|toast|novel|reply)s?(?=\W*$|\W+(?:to|for|about|of|on|from|in|with|and|that|which|saying|asking|thanking|telling)\b|[,.;:])`,
			String.raw`(?:tell|give)(?: me| us)? (?:an?|another|some)(?: \w+)? (?<told>poem|story|joke|song|limerick|haiku)s?\b`,
			String.raw`(?<verb>(?:book|reserve)(?= (?:me|us|him|her|them|an?|the|my|our|some|two|three|four|\d+)\b)|translate|forecast|predict|e-?mail(?=(?: \w+){1,4} (?:to|that|about|saying|and)\b| (?:him|her|them|everyone|everybody)\b))\b(?! \w+ing\b)`
		].join('|') +
		')',
	'i'
);
/** With so many words one chooses from a list. */
const MAX_CHOICE = 4;
/** So many messages can be about one question. */
const MAX_THREAD = 8;
/** So many messages can go on with a question. */
const MAX_LINKS = 30;

interface Scene {
	request: ModelRequest;
	history: History;
	/** Tools that belong to no skill, and that the message may mean. */
	tools: FunctionTool[];
	/** Meant by what fits no skill. */
	fallback: string | undefined;
	/** What the person was asked to choose from, and said something else: that is asked once. */
	asked: readonly string[];
	/** The files that came before the message. */
	brought: readonly string[];
}

interface Choice {
	name: string;
	points: number;
	tool: FunctionTool | null;
	/** Meant whatever is said: by its name, or for a file of its own. */
	isSure: boolean;
	/** No word of the message speaks of it. */
	isFallback?: boolean;
}

type Plan =
	| Work
	/** `isOdd`: something was said that goes nowhere. */
	| { kind: 'ask'; ask: Ask; points: number; isOdd?: boolean };
/** `others`: skills that fitted as well as the one that is called; `isMore`: it is one of several that all are called. */
type Step = ({ kind: 'load' | 'outline' } | Plan) & { skill?: string; others?: string[]; isMore?: boolean };

interface Candidate extends Used {
	/** How many words of its own name were said. */
	named: number;
	points: number;
	isComplete: boolean;
}

/** By so many points the better one must lead. */
const LEAD = 2;
const MAX_OFFERED = 7;
const MAX_WORKS = 5;
/** Makes a script print what can be asked about a file, if it documents this. */
const QUESTIONS = '--questions';
/** About ideas, as long as there is nothing to compare. */
const IDEAS = /^\W*what(['’]s| is| are) the differences? between \D+$/i;

export function decide(request: ModelRequest): Decision {
	const history = withoutGreetings(readHistory(request));
	const { calls, turns, skills } = history;
	const runs = calls.filter((call) => readSkillContent(call.output) === null);
	const say = (text: string): Decision => ({ kind: 'say', text });
	// What was asked for may be a text, and this be it.
	const isAsked = isAsking(turns.at(-2)?.reply ?? '');
	if (!isAsked && THANKS.test(turns.at(-1)?.text ?? '')) return say('You’re welcome.');
	if (isAsked && LEAVING.test(turns.at(-1)?.text ?? '')) return say('OK, never mind.');
	const isGreeting = !isAsked && GREETING.test(turns.at(-1)?.text ?? '');
	const file = turns.flatMap(({ attached }) => attached).at(-1);
	const files = [...new Set(turns.flatMap(({ attached }) => attached))];
	if (isGreeting && files.length > 0 && history.pinned.size === 0) return say(welcomeText(files, ownOffer(history)));
	const { text = '', attached = [] } = turns.at(-1) ?? {};
	const unable = isAsked || calls.length > 0 ? null : unableTo(text, request, history);
	if (unable !== null) return say(unableText(unable, ownOffer(history), file));
	const isMute = request.toolChoice === 'none' || turns.length === 0 || (isGreeting && history.pinned.size === 0);
	const step = isMute ? null : nextStep(request, history);
	const isHelp = HELP.test(text) || (step === null && isGreeting);
	if (isHelp && files.length === 0 && OF_FILE.test(text)) return say(askText({ about: 'file' }));
	const planned = plannedIn(step);
	const isMade = calls.some((made) => made.name === planned?.name && made.arguments === planned.arguments);
	// Another file may have what one hasn't, and of several each is told.
	const isMore = planned && !isMade && (runs.every(isRefusal) || (step?.kind !== 'ask' && step?.isMore));
	if (runs.length > 0 && !isMore) {
		const instead = step?.others ? [insteadText(step.skill ?? '', step.others)] : [];
		const about = isHelp ? [ABOUT] : [];
		return say([...about, withoutUnmet(reportText(runs), request, history), ...instead].join('\n\n'));
	}
	const saidName = text.toLowerCase().replaceAll(' ', '-');
	const unusable = history.unusable.filter(({ name }) => !step || saidName.includes(name));
	if (unusable.length > 0 && !isHelp) return say(unusableText(unusable));
	if (planned) return isMade ? say(reportText(calls)) : { kind: 'call', call: planned };
	// Asked for something else, it's no answer.
	if (THANKS.test(text)) return say('You’re welcome.');
	const skill = step?.kind === 'outline' ? history.loaded.get(step.skill ?? '') : undefined;
	const asked = step?.kind === 'ask' ? step.ask : null;
	// It asks about a word that was said, or for a file.
	const isLost = !step || asked?.about === 'left' || (asked?.about === 'value' && asked.slot.kind === 'file');
	const words = framing(readMessage(text, { attached, earlier: [], workspace: [] }));
	const unknown = asked?.about === 'left' ? asked.left.join(' ') : text;
	const isWhole = isLost && (isHelp || words.some((word) => isOverview(word) && unknown.includes(word.text)));
	const unread = isLost || step?.kind === 'outline' ? unreadText(attached, isWhole) : '';
	// Of a file that it can't look into, it has nothing to ask.
	if (unread !== '' && isLost && !isHelp) return say(unread);
	const said = isHelp ? text.toLowerCase().split(/[^\w-]+/) : [];
	const named = skills.filter(({ name }) => said.includes(name));
	const reply = turns.at(-2)?.reply ?? '';
	// A sentence of its own is no attempt to choose from a list.
	const isList = offeredIn(reply).answers.length > 1;
	const isNew = isQuestion(text) || isWishForChange(text) || (isList && words.length > MAX_CHOICE);
	const replied = isNew ? '' : reply;
	// `How many members are over 60?` can be of a file.
	const isOfFile = file === undefined && isDataQuestion(text) && skills.some(readsFiles);
	const offer = () => offerText(named.length > 0 ? named : skills, replied, { isHelp, isOfFile, file });
	if (!asked && !skill && file !== undefined && isWishForEdit(text))
		return say(unableText('change or delete files (you can delete one in **Files**)', ownOffer(history), file));
	const answer = asked ? askText(asked) : skill ? instructionsText(skill, text) : offer();
	return say([isGreeting ? 'Hello.' : '', unread, answer].filter(Boolean).join('\n\n'));
}

function readsFiles({ description }: CatalogSkill): boolean {
	return tokenize(description).some(isFileNoun);
}

/** `write poems`, where that is wanted and no skill, tool or file speaks of such; else null. */
function unableTo(text: string, { tools, toolChoice }: ModelRequest, history: History): string | null {
	const {
		told,
		writing = told && 'write',
		thing = told,
		verb
	} = MODEL_WORK.exec(text.split('\n', 1)[0] ?? '')?.groups ?? {};
	const isFree = history.pinned.size === 0 && typeof toolChoice !== 'object';
	const words = [writing, thing, verb].flatMap((word) => (word === undefined ? [] : tokenize(word)));
	const isForecast =
		/^(forecast|predict)$/i.test(verb ?? '') && history.turns.some(({ attached }) => attached.length > 0);
	if (words.length === 0 || !isFree || isForecast) return null;
	const known = [...tools, ...history.skills, ...history.shelved];
	if (known.some(({ name, description }) => isAllIn(words, [...tokenizeName(name), ...tokenize(description)])))
		return null;
	if (/^e-?mail$/i.test(verb ?? '')) return 'send emails';
	if (thing === undefined)
		return /^(book|reserve)$/i.test(verb ?? '') ? `${verb?.toLowerCase()} anything` : (verb?.toLowerCase() ?? null);
	return `${writing?.toLowerCase().split(' ', 1)[0]} ${thing.toLowerCase().replace(/y$/, 'ie')}s`;
}

function isAllIn(words: readonly string[], stems: readonly string[]): boolean {
	return words.every((word) => stems.includes(word));
}

/** `Hi, what are these?` is the question; a text that was asked for is kept as it is. */
function withoutGreetings(history: History): History {
	const turns = history.turns.map((turn, at, all) => {
		const text = turn.text.replace(new RegExp(String.raw`^\W*${HELLO}\W+(?=\w)`, 'i'), '');
		return isQuestion(text) && !isAsking(all[at - 1]?.reply ?? '') ? { ...turn, text } : turn;
	});
	return { ...history, turns };
}

function plannedIn(step: Step | null): PlannedCall | undefined {
	if (step?.kind === 'load') return { name: LOAD_SKILL, arguments: JSON.stringify({ skill: step.skill }) };
	return step?.kind === 'call' ? step.call : undefined;
}

/** Of the questions that a script offers, those that would run something if they were asked. */
function withoutUnmet(report: string, request: ModelRequest, history: History): string {
	const unmet = offeredIn(report).answers.filter((text) => {
		const told = history.turns.map((turn, at, { length }) => (at === length - 1 ? { ...turn, reply: report } : turn));
		const turns = [...told, { text, attached: [], reply: '' }];
		return nextStep(request, { ...history, turns, calls: [] })?.kind !== 'call';
	});
	const kept = unmet.reduce((text, question) => text.replace(`\n- ${question}`, ''), report);
	return kept.replace(new RegExp(`${NEXT}\\n(?!\\n- )\\s*`), '').trimEnd() || report;
}

/** Takes up the question that was asked last, if this message answers it; else the message stands for itself. */
function nextStep(request: ModelRequest, history: History, links = 0): Step | null {
	const { turns, loaded } = history;
	const skillTools = new Set([...loaded.values()].flatMap(toolNamesOf));
	const isMeant = (name: string) => builtinNameOf(name) === null || turns.at(-1)?.text.includes(name) === true;
	// An id that another tool finds, no person can be asked for.
	const isFed = ({ name, parameters }: FunctionTool, said = JSON.stringify(parameters)) =>
		request.tools.some((other) => other.name !== name && said.includes(`from ${other.name}`));
	const isOwn = ({ name }: FunctionTool) => !SKILL_TOOLS.has(name) && !skillTools.has(name) && isMeant(name);
	// A chat that has only begun is nothing to make a skill of.
	const isEarly = ({ name }: FunctionTool) => name === DRAFT_TOOL && turns.length < 2;
	const isSought = ({ name }: FunctionTool) =>
		SKILL_REQUEST_TOOLS.every((tool) => tool !== name) || FINDING.test(turns.at(-1)?.text ?? '');
	const tools = request.tools.filter((tool) => isOwn(tool) && !isFed(tool) && !isEarly(tool) && isSought(tool));
	const [only, ...others] = history.pinned;
	const fallback = others.length > 0 ? undefined : only;
	let start = turns.length - 1;
	while (start > Math.max(0, turns.length - MAX_THREAD) && isAsking(turns[start - 1]?.reply ?? '')) start -= 1;
	const begin = start;
	for (; start < turns.length; start += 1) {
		// What is no answer to a question is no wish of its own for the pinned skill, either: that would ask the same again.
		const isWish = start === begin || start < turns.length - 1;
		const asked = turns.slice(begin, start).flatMap(({ reply }) => offeredIn(reply).answers);
		const brought = turns.slice(0, start).flatMap(({ attached }) => attached);
		const scene = { request, history, tools, fallback: isWish ? fallback : undefined, asked, brought };
		const step = follow(scene, start);
		if (step === 'other') continue;
		const [last] = turns.slice(-1);
		const isNew = last && start === turns.length - 1 && step?.kind !== 'load' && FOLLOWING.test(last.text);
		const asking = turns.slice(0, turns.slice(0, -1).findLastIndex(({ text }) => !THANKS.test(text)) + 1);
		const before = isNew && links < MAX_LINKS ? nextStep(request, { ...history, turns: asking }, links + 1) : null;
		// `And in May?` names no other script, though `May` may be a place.
		const { action } = (step?.kind === 'call' && step.used) || {};
		const isOther =
			before?.kind === 'call' &&
			action !== undefined &&
			action.label !== before.used?.action.label &&
			tellingIn(readMessage(last?.text ?? '', { attached: [], earlier: [], workspace: [] })).some((word) =>
				knows(action, word)
			);
		if (!last || before?.kind !== 'call' || !before.used || isOther) return step;
		// What follows on a script is for that script, or runs what it names itself; nothing is asked about it.
		return again(before.used, last, before.skill) ?? (step?.kind === 'ask' ? null : step);
	}
	return null;
}

/** The same command with what a message changes (`and after 22:30?`); null where that doesn't say all of it. */
function again({ action, filled, said }: Used, { text, attached }: Turn, skill = ''): Step | null {
	const thread = `${said}\n${text}`;
	const asked = isWishForChange(text) ? null : withQuestion(action, filled.values, thread);
	const message = readMessage(text, { attached, earlier: [], workspace: [] });
	const changed = understand(action, message, new Map());
	const isSaid = changed.values.size > 0 || tellingIn(message).some((word) => knows(action, word));
	if (!asked && (!isSaid || changed.left.length > 0)) return null;
	const values = asked ?? new Map([...filled.values, ...changed.values]);
	return {
		kind: 'call',
		call: action.call(values),
		strange: 0,
		fit: 0,
		used: { action, filled: { ...filled, values }, said: thread },
		skill
	};
}

/** From a message on, each one after it being the answer to what was asked; `other` where one is not. */
function follow(scene: Scene, start: number): Step | null | 'other' {
	const { turns, workspace } = scene.history;
	const files = (text: string) => filesIn(readMessage(text, { attached: [], earlier: [], workspace }));
	const earlier = turns
		.slice(0, start)
		.toReversed()
		.flatMap(({ text, attached }) => [...attached, ...files(text)]);
	const [first, ...answers] = turns.slice(start);
	let message = readMessage(first?.text ?? '', { attached: first?.attached ?? [], earlier, workspace });
	let settled = SETTLED_NOTHING;
	const brought = turns.slice(0, start).findLastIndex(({ attached }) => attached.length > 0);
	const told = brought < 0 ? [] : turns.slice(brought, start);
	const next = () => aboutFiles(scene, message) ?? answerable(scene, stepFor(scene, message, settled), message, told);
	let step = next();
	for (const { text, attached } of answers) {
		const ask = askOf(step);
		if (!step || !ask) return 'other';
		const answer = readMessage(text, { ...message, attached });
		if (/^(value|left)$/.test(ask.about) && isQuestion(text) && attached.length === 0) return 'other';
		if (ask.about === 'value' && ask.slot.kind !== 'file' && ownerOf(scene.history, answer)) return 'other';
		if (ask.about === 'work') {
			if (HELP.test(text)) return 'other';
			const works = [...ask.works.keys()].map((work) => [work]);
			const work = ask.works.get(pick(works, answer)?.[0] ?? '');
			if (!work) return 'other';
			step = work;
			continue;
		}
		const isTalk = (word: Word) => isFiller(word, true) || isFileNoun(word.lower) || attached.includes(word.text);
		const isFile = attached.length > 0 && answer.words.every(isTalk);
		const told = isFile ? settled : settle(ask, answer, settled);
		if (!told) return 'other';
		message = { ...message, attached: [...message.attached, ...attached] };
		// An attached file makes no other skill the one that was asked about.
		const asking = step.kind === 'ask' ? step.skill : undefined;
		settled = asking === undefined ? told : { ...told, chosen: new Set([...told.chosen, asking]) };
		step = next();
	}
	return step;
}

/** A question about files of the chat, for the scripts that read such: tables first, the next where one refuses. Or an overview of each of several. */
function aboutFiles(scene: Scene, message: Message): Step | null {
	const { history, request } = scene;
	const brought = broughtBy(scene, message);
	const said = framing(message);
	const isAlone = brought.length === 0 || message.payload !== null || request.toolChoice !== 'auto';
	if (isAlone || HELP.test(message.text) || isWishForChange(message.text)) return null;
	const meant = fileMeant(message, brought);
	const paths = brought.filter((path) => filesIn(message).includes(path));
	const files = meant === undefined ? (paths.length > 0 ? paths : brought) : [meant];
	const named = meant === undefined ? [] : tokenizeName(meant);
	const isOf = (word: Word) =>
		isFiller(word) ||
		isFileNoun(word.lower) ||
		brought.includes(word.text) ||
		ALL.test(word.lower) ||
		named.includes(word.stem);
	const isWhole = said.some(isOverview) && said.every((word) => isOverview(word) || isOf(word));
	if (isWhole || (files.length > 1 && OF_FILES.test(message.text))) {
		const found = files.map((file) => ({ file, step: described(scene, file) }));
		const steps = found.map(({ file, step }) => {
			const same = found.filter((each) => each.step?.skill === step?.skill).map((each) => each.file);
			// One call tells of all in a few lines.
			const [together, ...others] =
				files.length > 1 && step?.kind !== 'load' ? questionsTo(scene, same, message.text) : [];
			if (together && others.length === 0) return together;
			return step?.kind === 'load' || (isWhole && plannedIn(step))
				? step
				: (questionsTo(scene, [file], message.text)[0] ?? null);
		});
		const isNew = (step: Step | null) => history.calls.every((made) => made.arguments !== plannedIn(step)?.arguments);
		const step = steps.find((each) => plannedIn(each) && isNew(each)) ?? steps.find(plannedIn);
		return step ? { ...step, isMore: true } : null;
	}
	if (!isDataQuestion(message.text) && !isQuestion(message.text) && !said.some(isRestricting)) return null;
	if (message.attached.length === 0 && isElsewhere(scene, message)) return null;
	const isTable = (path: string) => wordsForFile(path).includes('table');
	const tried = history.calls.filter(isRefusal).map((call) => call.arguments);
	for (const file of files.toSorted((a, b) => Number(isTable(b)) - Number(isTable(a)))) {
		const first = described(scene, file);
		if (first?.kind === 'load') return first;
		const own = files.filter((path) => path === file || described(scene, path)?.skill === first?.skill);
		const skill = history.loaded.get(first?.skill ?? '');
		const asked = { ...message, attached: own, earlier: [], workspace: [] };
		// How many words it has is counted by another command.
		const read = skill && planActions(actionsOf(skill, '', request.tools), asked, SETTLED_NOTHING);
		const isOne = own.length === 1 && read?.kind === 'call' && read.strange === 0;
		const questions = isAskedOf([file], message.text) ? questionsTo(scene, own, message.text) : [];
		const [plan, ...others] = isOne && questions.length > 0 ? [{ ...read, skill: first?.skill ?? '' }] : questions;
		if (plan && others.length > 0) {
			const works = new Map([plan, ...others].map((each, at) => [own[at] ?? '', each]));
			return { kind: 'ask', ask: { about: 'work', file: null, works, isHelp: false }, points: 0 };
		}
		if (plan && !tried.some((made) => made.includes(JSON.stringify(plan.used?.action.label)))) return plan;
	}
	return null;
}

/** The call of the script that reads questions about such files, with this one; one for each, if it takes one file. */
function questionsTo(scene: Scene, files: readonly string[], text: string): (Work & { skill: string })[] {
	const { skill = '' } = described(scene, files[0] ?? '') ?? {};
	const loaded = scene.history.loaded.get(skill);
	const action = loaded && actionsOf(loaded, '', scene.request.tools).find(({ slots }) => slots.some(takesQuestion));
	const slot = action?.slots.find(({ kind }) => kind === 'file');
	if (!action || !slot) return [];
	return (slot.isRepeated ? [files] : files.map((path) => [path])).map((paths) => {
		const values = withQuestion(action, new Map([[slot, paths]]), text) ?? new Map<Slot, string[]>();
		const filled: Filled = { values, missing: [], left: [], vague: '', strange: 0 };
		return { kind: 'call', call: action.call(values), strange: 0, fit: 3, used: { action, filled, said: text }, skill };
	});
}

/** The files that came with the message, else all of the chat. */
function broughtBy({ brought }: Scene, { attached }: Message): string[] {
	return [...new Set(attached.length > 0 ? attached : brought)];
}

/** Does the message speak of what the skill is for: by a word of its name, or by more than one of its description? */
function isClear(name: string, stems: ReadonlySet<string>, message: Message): boolean {
	const telling = tellingIn(message);
	const known = telling.filter((word) => !COMMON.test(word.lower) && isAmong(word, stems));
	const isNamed = telling.some(({ stem }) => tokenizeName(name).includes(stem));
	return isNamed || (known.length > 1 && 2 * known.length > telling.length);
}

/** Does a skill that speaks of no files take it? */
function isElsewhere(scene: Scene, message: Message): boolean {
	const skills = scene.history.skills.filter(({ name, description }) => {
		const stems = new Set([...tokenizeName(name), ...tokenize(description)]);
		return ![...stems].some(isFileNoun) && isClear(name, stems, message);
	});
	const loaded = new Map([...scene.history.loaded].filter(([name]) => skills.some((each) => each.name === name)));
	const history = { ...scene.history, skills, loaded, calls: [] };
	const step = stepFor({ ...scene, history, fallback: undefined }, message, SETTLED_NOTHING);
	return step?.kind === 'load' || (step?.kind === 'call' && step.strange === 0);
}

/** What tells what is in a file. */
function described(scene: Scene, file: string): Step | null {
	const message = readMessage('Describe this file', { attached: [file], earlier: [], workspace: [] });
	return stepFor({ ...scene, fallback: undefined, asked: [] }, message, SETTLED_NOTHING);
}

/** The only file, or the only one that the message calls by a word of its name; undefined where that isn’t clear. */
function fileMeant(message: Message, files: readonly string[]): string | undefined {
	if (files.length < 2) return files[0];
	if (SEVERAL.test(message.text)) return undefined;
	const paths = filesIn(message).filter((path) => files.includes(path));
	const said = new Set(framing(message).flatMap((word) => (isFiller(word) ? [] : word.stem)));
	const isCalledSo = (path: string) => tokenizeName(path.replace(/^.*\/|\.\w+$/g, '')).some((word) => said.has(word));
	const named = paths.length > 0 ? paths : files.filter(isCalledSo);
	return named.length === 1 ? named[0] : undefined;
}

/** What nothing can be run for, though there is a file: then what can be done with it is offered, and no odd word asked about. */
function answerable(scene: Scene, step: Step | null, message: Message, told: readonly Turn[]): Step | null {
	const isHelp = HELP.test(message.text);
	const brought = broughtBy(scene, message);
	const meant = fileMeant(message, brought);
	const file = meant ?? brought.at(0);
	if (file === undefined || step?.kind === 'call' || step?.kind === 'load') return step;
	// No file has a poem.
	if (isWishForChange(message.text) && !isHelp && (step?.kind !== 'ask' || step.isOdd)) return null;
	const isSeveral = brought.length > 1 && (meant === undefined || message.attached.length > 1);
	const work = workOn(scene, file, message.attached.length > 0 ? [] : told, isHelp && !isSeveral);
	if (!work) return step;
	if (isSeveral && work.kind === 'ask' && work.ask.about === 'work') {
		const each = brought.slice(0, MAX_WORKS).map((path) => workOn(scene, path, [], false));
		const loading = each.find((step) => step?.kind === 'load');
		if (loading) return loading;
		const works = each.flatMap((step) =>
			step?.kind === 'ask' && step.ask.about === 'work' ? [...step.ask.works].slice(0, 2) : []
		);
		return { ...work, ask: { ...work.ask, file: brought.join(', '), works: new Map(works), isHelp } };
	}
	// A question of the skill that speaks of such files, where all that was said goes somewhere.
	const isOwn = step?.skill === work.skill || step?.skill === undefined;
	if (step?.kind === 'ask' && !step.isOdd && isOwn) return step;
	// What was brought earlier may not be what this is about.
	const isElsewhere = step?.kind === 'outline' || (step?.kind === 'ask' && step.points >= 0);
	if (message.attached.length === 0 && isElsewhere && !isOwn) return step;
	return work;
}

/** What the skill that speaks best of such a file does with nothing but the file, an overview first, and the questions offered since it came. */
function workOn(scene: Scene, file: string, told: readonly Turn[], isHelp: boolean): Step | null {
	const { history, request } = scene;
	const read = (text: string) => readMessage(text, { attached: [file], earlier: [], workspace: [] });
	const planned = (text: string) => stepFor({ ...scene, fallback: undefined, asked: [] }, read(text), SETTLED_NOTHING);
	const first = described(scene, file);
	if (first?.kind === 'load') return first;
	const { skill = '' } = first ?? {};
	const known = history.loaded.get(skill);
	if (!known) return null;
	const about = history.skills.find(({ name }) => name === skill)?.description ?? '';
	const works = new Map<string, Work & { skill: string }>();
	const add = (text: string, plan: Step | null) => {
		if (text === '' || plan?.kind !== 'call') return;
		const isNew = [...works.values()].every(({ call }) => call.arguments !== plan.call.arguments);
		// What is asked of no question, no question goes on with.
		const used = plan.used && [...plan.used.filled.values.keys()].some(takesQuestion) ? { used: plan.used } : {};
		if (isNew) works.set(text, { kind: 'call', call: plan.call, strange: 0, fit: 0, skill, ...used });
	};
	const asking = planned(`Describe this file ${QUESTIONS}`);
	const isListed =
		asking?.kind === 'call' && [...(asking.used?.filled.values.keys() ?? [])].some(({ flag }) => flag === QUESTIONS);
	const questions = isListed ? asking : null;
	// A script that only answers questions says itself what can be asked.
	const begin = first?.kind === 'call' ? null : (questionsTo(scene, [file], `Summarise ${file}`)[0] ?? null);
	if (isHelp && (questions ?? begin)) return questions ?? begin;
	add(`Summarise ${file}`, first);
	add(`Show how ${file} begins`, begin);
	for (const text of ownOffer({ ...history, turns: [...told] })) add(text, planned(text));
	if (works.size < 2) add(`What can I ask about ${file}?`, questions);
	for (const action of actionsOf(known, about, request.tools))
		add(
			action.purpose,
			planActions([action], read('Describe this file'), { ...SETTLED_NOTHING, ignored: new Set(['']) })
		);
	if (works.size === 0) return null;
	const ask: Ask = { about: 'work', file, works: new Map([...works].slice(0, MAX_WORKS)), isHelp };
	return { kind: 'ask', ask, points: 0, skill };
}

/** The questions that were offered first. */
function ownOffer({ turns, skills }: History): string[] {
	const offers = turns.flatMap(({ reply }) => (reply.includes(`${NEXT}\n\n- `) ? [offeredIn(reply).answers] : []));
	// A list of skills is none of questions.
	return offers.find((answers) => skills.every(({ name }) => !answers.includes(name))) ?? [];
}

/** What the next message may be an answer to. */
function askOf(step: Step | null): Ask | null {
	if (step?.kind === 'ask') return step.ask;
	return step?.others ? { about: 'skill', skills: step.others } : null;
}

function stepFor(scene: Scene, message: Message, settled: Settled): Step | null {
	const { history, request } = scene;
	if (HELP.test(message.text)) return null;
	if (lacksFile(message) && typeof request.toolChoice !== 'object')
		return { kind: 'ask', ask: { about: 'file' }, points: 0 };
	const steps: { choice: Choice; step: Step }[] = [];
	const isClean = ({ step }: { step: Step }) => step.kind === 'call' && step.strange === 0;
	/** The one that fits best and has no command; its instructions may leave the work to another skill, which they name. */
	let leading: LoadedSkill | null = null;
	for (const choice of choose(scene, message, settled)) {
		const { name, tool, points, isSure } = choice;
		if (leading && !leading.body.includes(name)) continue;
		// Another one is looked at where the better one has no answer, or is hardly better.
		if (steps.some((before) => isClean(before) && points < ALIKE * before.choice.points)) break;
		const skill = history.loaded.get(name);
		if (!tool && !skill && request.tools.some((each) => each.name === LOAD_SKILL)) return { kind: 'load', skill: name };
		const about = history.skills.find((each) => each.name === name)?.description ?? '';
		const actions = tool ? [toolAction(tool)] : skill ? actionsOf(skill, about, request.tools) : [];
		const isTried =
			choice.isFallback || (history.pinned.has(name) && actions.every((each) => !isComplete(each, message)));
		const plan = planActions(actions, isTried ? asText(message, actions) : message, settled);
		if (!plan && steps.length === 0 && !skill) return { kind: 'outline', skill: name };
		if (!plan && steps.length === 0) leading ??= skill ?? null;
		const isAgreed =
			isSure ||
			plan?.kind !== 'ask' ||
			(plan.ask.about === 'value' && plan.ask.isEither) ||
			actions.some((each) => isJob(each, message));
		if (plan && isAgreed) steps.push({ choice, step: { ...plan, skill: name } });
	}
	const [first] = steps;
	if (!first && leading) return { kind: 'outline', skill: leading.name };
	// What explains all that was said; else what fits best, with some talk around it.
	const runs = steps.filter((each) => isClean(each) || (each === first && each.step.kind === 'call'));
	const [best] = runs;
	if (best && !best.choice.tool) {
		const alike = runs.filter(({ choice }) => choice === best.choice || choice.points > ALIKE * best.choice.points);
		const fitOf = ({ step }: (typeof steps)[number]) => (step.kind === 'call' ? step.fit : 0);
		const [likely = best, ...others] = alike.filter((each) => fitOf(each) === Math.max(...alike.map(fitOf)));
		const names = [likely, ...others].map(({ choice }) => choice.name);
		if (others.length === 0) return likely.step;
		if (names.every((name) => scene.asked.includes(name))) return { ...likely.step, others: names.slice(1) };
		return { kind: 'ask', ask: { about: 'skill', skills: names }, points: 0 };
	}
	return (best ?? steps.find(({ step }) => step.kind !== 'ask' || step.points >= 0) ?? first)?.step ?? null;
}

function isComplete(action: Action, message: Message): boolean {
	return understand(action, message, new Map()).missing.length === 0;
}

/** For the only command, if a text is all that it needs: what stands after the words that call it (`Shout hello`). */
function asText(message: Message, actions: readonly Action[]): Message {
	const [needed, ...others] = actions.flatMap(({ slots }) => slots.filter(({ isRequired }) => isRequired));
	const isOnly = actions.length === 1 && others.length === 0 && needed?.kind === 'text';
	const { text, words } = message;
	if (!isOnly || words.every((word) => isFiller(word))) return message;
	const calls = (word: Word) => isFiller(word) || actions.some((action) => isNamed(word, action));
	const start = words.find((word) => !calls(word))?.start ?? 0;
	return { ...message, payload: { start, end: text.length, value: text.slice(start) } };
}

/** The skill with a script that is named word for word: nothing else is meant then. */
function ownerOf({ loaded }: History, message: Message): LoadedSkill | undefined {
	const isScriptSaid = (file: string) => filesIn(message).some((path) => isScript(path, file));
	return [...loaded.values()].findLast(({ files }) => files.some(isScriptSaid));
}

/** Best first; none where nothing fits. */
function choose(
	{ history, request, tools, fallback, asked: offered, brought }: Scene,
	message: Message,
	settled: Settled
): Choice[] {
	const { skills, loaded } = history;
	const { toolChoice } = request;
	const certain = (name: string | undefined, tool: FunctionTool | null = null) =>
		name === undefined ? [] : [{ name, tool, points: Infinity, isSure: true }];
	const wanted = typeof toolChoice === 'object' ? tools.find(({ name }) => name === toolChoice.name) : undefined;
	if (wanted) return certain(wanted.name, wanted);
	const chosen = skills.find(({ name }) => settled.chosen.has(name)) ?? ownerOf(history, message);
	if (chosen) return certain(chosen.name);
	// Of equals the caller's own tool is meant: it was sent along with this very request.
	const offers = [...tools.map((tool) => ({ ...tool, tool })), ...skills.map((skill) => ({ ...skill, tool: null }))];
	const index = createSkillIndex(offers);
	const files = [...message.attached, ...filesIn(message)];
	const extra = [...files.map(extensionOf), ...(framing(message).some(isOverview) ? OVERVIEW : [])];
	const asked = framing(message).map(({ text }) => text);
	const isOf = (word: Word) => isFiller(word) || isFileNoun(word.lower) || files.includes(word.text);
	const isWhole =
		files.length > 0 &&
		framing(message).some(isOverview) &&
		framing(message).every((word) => isOverview(word) || isOf(word));
	const isIdea = IDEAS.test(message.text) && !message.payload;
	// A name of several words is nothing else; one after “not” may be the one that isn't meant.
	const isNamed = (name: string) => framing(message).some(({ lower }) => lower === name);
	const named = skills.filter(({ name }) => (name.includes('-') || offered.includes(name)) && isNamed(name));
	if (named.length === 1 && !asked.some((word) => NEGATING.test(word.toLowerCase()))) return certain(named[0]?.name);
	const called = tools.filter(({ name }) => isSaid(name.split('_'), asked));
	if (called.length === 1) return certain(called[0]?.name, called[0]);
	// Where there is a file, `file` tells nothing.
	const telling = tellingIn(message).filter(({ lower }) => files.length === 0 || lower !== 'file');
	// What hardly speaks of the message isn't worth being read; a verb alone (`write`) says less than what it is about.
	const hasPlace = /\S (to|into) \S/.test(message.text);
	const isWorth = (name: string, stems: Set<string>) => {
		const known = telling.filter((word) => isAmong(word, stems));
		const isAbout = known.length === telling.length || hasPlace || known.some((word) => word !== message.words[0]);
		return isCalled(name, framing(message)) || telling.length === 0 || (isAbout && 3 * known.length >= telling.length);
	};
	const isWish = isWishForChange(message.text);
	const later = framing(message).filter(
		(word) => word !== message.words[0] && !isFiller(word) && word.lower !== 'file'
	);
	for (const query of [asked, [message.text]]) {
		const ranked = index
			.rank([...query, ...extra].join(' '), 3 * MAX_COMPARED)
			.map(({ skill: { name, tool, description }, score }) => {
				const stems = new Set([...tokenizeName(name), ...tokenize(description)]);
				const spoken = Math.max(...files.map((path) => speaksOf(path, stems)));
				// To look into any file is nothing that a skill does, unless it says so.
				const isAny = isWhole && spoken === 1 && !OVERVIEW.some((word) => stems.has(word)) && !history.pinned.has(name);
				const isNone = files.length === 0 && isIdea && [...stems].some(isFileNoun);
				const fit = isAny || isNone ? 0 : files.length === 0 ? 1 : spoken;
				const isFor =
					files.length > 0 &&
					fit > 1 &&
					(!isWish || 2 * later.filter((word) => isAmong(word, stems)).length > later.length);
				const isKnown = tool !== null || loaded.has(name) || isFor;
				// Where there is a file, a skill of others must be named, or most of what is said speak of it; a wish is for none that only reads such.
				const isOther =
					files.length === 0 &&
					brought.length > 0 &&
					tool === null &&
					!history.pinned.has(name) &&
					(history.calls.some(isRefusal) || brought.every((path) => speaksOf(path, stems) < 2)) &&
					!isClear(name, stems, message);
				const isRead = fit > 1 && isWish && message.attached.length > 0;
				const isMeant = !isOther && (isKnown || hasValue(message) || (!isRead && isWorth(name, stems)));
				const isSure = files.length > 0 && fit === 3;
				const isFirst = isSure && files.some((path) => isFirstOf(path, description));
				return {
					name,
					tool,
					stems,
					fit,
					isMeant,
					isSure,
					isFirst,
					points: history.pinned.has(name) ? PINNED * score : score
				};
			});
		// What speaks of such a file is meant before what speaks of others; `a spreadsheet` is one where no other says `xlsx`.
		const isExact = ranked.some(({ fit }) => fit === 3);
		const fitting = ranked
			.filter(({ fit, isMeant }) => isMeant && fit > 0 && !(isExact && fit === 2))
			.sort((a, b) => b.points - a.points);
		// Of what also speaks of such a file, beside other things, only that is read which a word calls for.
		const lead = fitting.find(({ isFirst }) => isFirst);
		const isCalledFor = (stems: Set<string>) =>
			// `md5` is a value, and speaks of its skill.
			framing(message).some((word) => !isFiller(word) && isAmong(word, stems) && !(lead && isAmong(word, lead.stems)));
		const rivals = fitting.filter((each) => !lead || each.isFirst || each.tool || isCalledFor(each.stems));
		const near = rivals.filter(({ points }) => points >= NEAR * (rivals[0]?.points ?? 0)).slice(0, MAX_COMPARED);
		if (near.length > 0) return near;
	}
	// What was begun is gone on with, also where it is in no list.
	const begun = history.calls.flatMap((call) => readSkillContent(call.output)?.name ?? []).at(-1);
	const isFollowUp = FOLLOWING.test(message.text.slice(0, 40));
	const last = [...loaded.keys()].findLast((name) => isFollowUp && skills.some((each) => each.name === name));
	const isListed = skills.some(({ name }) => name === begun);
	const known = certain(isListed ? last : (begun ?? last));
	return known.length > 0 ? known : certain(fallback).map((choice) => ({ ...choice, isFallback: true }));
}

// Of the actions of one skill the one that is meant, with its values.

function planActions(given: readonly Action[], message: Message, settled: Settled): Plan | null {
	const scripts = given.filter(({ label }) => filesIn(message).some((path) => isScript(path, label)));
	const wanted =
		scripts.length > 0
			? scripts
			: given.filter(({ label, form }) => settled.chosen.has(label) || settled.chosen.has(form));
	const actions = wanted.length > 0 ? wanted : given;
	const said = withoutAddress(message, actions);
	const rated = actions.map((action) => rate(action, said, settled));
	const textsOf = ({ filled }: Candidate) => JSON.stringify([...filled.values.values()]);
	const tools = rated.filter(({ action, isComplete }) => action.isTool && isComplete).map(textsOf);
	// Of a tool and a script that take the same, the tool.
	const candidates = rated
		.filter((each) => each.action.isTool || !each.isComplete || !tools.includes(textsOf(each)))
		.sort((a, b) => b.points - a.points);
	const best = candidates.find(({ isComplete }) => isComplete);
	const [first] = candidates;
	if (!first) return null;
	if (!best) return ask(candidates.filter((each) => first.points - each.points < LEAD / 2));
	const { action, filled, points } = best;
	const others = wanted.length > 0 ? [] : candidates.filter((each) => each !== best);
	const words = framing(said).filter((word) => !isFiller(word) && word.lower !== 'file');
	const isNearer = (each: Candidate, than = best) =>
		words.some((word) => knows(each.action, word) && !knows(than.action, word));
	// What is called by its name and lacks something is asked about, rather than that another is run by chance.
	const isWhole = words.length > 0 && words.every(isOverview);
	const rivals = isWhole
		? []
		: others.filter(
				({ named, isComplete, filled }) => !isComplete && filled.left.length === 0 && named >= Math.max(1, best.named)
			);
	const isOverall = words.some(isOverview);
	const isCalled = (each: Candidate) => each.named > best.named && !isOverall && !isNearer(best, each);
	const clear = rivals.filter((each) => isNearer(each) || isCalled(each));
	if (rivals.length > 0) return ask(clear.length > 0 ? clear : [...rivals, best]);
	const call = action.call(filled.values);
	const alike = others.filter((each) => {
		const isTie =
			points - each.points < LEAD &&
			(isNearer(each) || !isNearer(best, each)) &&
			each.action.call(each.filled.values).arguments !== call.arguments;
		const isMeant = each.filled.left.length === 0 && isNearer(each) && each.action.isTool === action.isTool;
		return (each.isComplete && isTie) || isMeant;
	});
	// A command that no word speaks of is a guess.
	const isChosen = [...filled.values.keys()].some(({ choices }) => choices.length > 0);
	// What takes the whole question is none, where no other takes all of it.
	const isOnly = [...filled.values.keys()].some(takesQuestion) && others.every(({ isComplete }) => !isComplete);
	const isGuess = others.length > 0 && !isChosen && !isOnly && !words.some((word) => knows(best.action, word));
	if (alike.length === 0 && !isGuess)
		return { kind: 'call', call, strange: filled.strange, fit: fitFor(best), used: best };
	return { kind: 'ask', ask: { about: 'action', actions: offered([best, ...(isGuess ? others : alike)]) }, points };
}

/** Words that say what is wanted: no small words, no values, and not what a thing is like (`that …`). */
function tellingIn(message: Message): Word[] {
	const values = message.pieces.filter(({ form }) => !/^(word|unit)$/.test(form));
	const words = framing(message);
	const isTelling = (word: Word) => !isFiller(word) && !isOverview(word) && !overlapsAny(word, values);
	const first = words.findIndex(isTelling);
	const end = words.findIndex(({ lower }, at) => first >= 0 && at > first && lower === 'that');
	// `ship dist to out`
	const isPlace = (at: number) => at > first && /^(to|into|from|as)$/.test(words[at - 1]?.lower ?? '');
	return words.filter((word, at) => isTelling(word) && !isPlace(at) && (end < 0 || at < end));
}

/** Does it bring something to work with? */
function hasValue({ pieces, payload }: Message): boolean {
	const isValue = ({ form, unit = '' }: Piece) => unit !== '' || /^(date|time|url|email|quote|code|span)$/.test(form);
	return payload !== null || pieces.some(isValue);
}

function isCalled(skill: string, telling: readonly Word[]): boolean {
	const name = tokenizeName(skill);
	return name.length > 0 && name.every((part) => telling.some((word) => word.stem === part));
}

/** Would a person agree that this is the job? Only then is it worth asking for what it lacks. */
function isJob(action: Action, message: Message): boolean {
	if (HOW_TO.test(message.text)) return false;
	const telling = tellingIn(message);
	const known = telling.filter((word) => isNamed(word, action) || knows(action, word)).length;
	// What it can do nothing with is no work for it: a time, where an address is needed.
	const hasWork =
		(hasValue(message) || message.pieces.some(({ form }) => form === 'file')) &&
		[...understand(action, message, new Map()).values.keys()].some(({ isRequired }) => isRequired);
	if (telling.length === 0 || isCalled(action.skill, framing(message))) return true;
	return 2 * known > telling.length || (hasWork && 2 * known === telling.length);
}

function offered(candidates: readonly Candidate[]): Action[] {
	return candidates.map(({ action }) => action).slice(0, MAX_OFFERED);
}

function ask(candidates: readonly Candidate[]): Plan {
	const [{ action, filled, points }] = candidates as [Candidate];
	const actions = offered(candidates);
	const [slot] = filled.missing;
	// It takes one: `convert 49 and 51` is two of its kind.
	const numbers = slot?.kind === 'number' ? filled.left.filter((text) => /^[+-]?\d[\d.,]*$/.test(text)) : [];
	const isEither = numbers.length > 1 && filled.left.length - numbers.length < 2;
	const wanted = slot && isEither ? { ...slot, choices: numbers } : slot;
	const value: Ask = wanted
		? { about: 'value', action, slot: wanted, isEither }
		: { about: 'left', action, left: filled.left };
	const asked: Ask = choicesOf(actions).size > 1 ? { about: 'action', actions } : value;
	const isOdd = !isEither && filled.left.length > 0;
	return { kind: 'ask', ask: asked, points: isEither ? 0 : points, isOdd };
}

function rate(action: Action, message: Message, settled: Settled): Candidate {
	const { own, slots } = action;
	const given = new Map(
		slots.flatMap((slot): [Slot, string[]][] => {
			const texts = settled.values.get(keyOf(action, slot));
			return texts ? [[slot, texts]] : [];
		})
	);
	const filled = understand(action, message, given);
	const told = [...given.values()].flat();
	const isLeft = (piece: string) =>
		!settled.ignored.has(piece) &&
		!(settled.isPicked && piece === filled.vague) &&
		!told.some((text) => text.includes(piece));
	const left = settled.ignored.has('') ? [] : filled.left.filter(isLeft);
	const said = framing(message);
	const stems = said.map((word) => word.stem);
	const named = [...own].filter((word) => stems.some((said) => isAlike(said, word))).length;
	// An option whose name stands beside its value (`page 2`) tells more than a word of the command's name.
	const isBeside = (at: number, texts: readonly string[]) =>
		[said[at - 1], said[at + 1]].some((word) => word !== undefined && texts.some((text) => word.text.includes(text)));
	const options = [...filled.values].filter(
		([{ flag }, texts]) =>
			flag !== null &&
			said.some(({ text, stem }, at) => text === flag || (tokenizeName(flag).includes(stem) && isBeside(at, texts)))
	).length;
	// Of equals the one that speaks of more words comes first.
	const known = framing(message).filter((word) => knows(action, word)).length;
	return {
		action,
		said: message.text,
		filled: { ...filled, left },
		named,
		points: 3 * (named + 2 * options) + known / 1_000 - 3 * left.length - filled.missing.length,
		isComplete: filled.missing.length === 0 && left.length === 0
	};
}
