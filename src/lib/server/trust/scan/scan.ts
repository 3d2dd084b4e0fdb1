/** Static security check of a skill's files: hints for a decision, never a proof (F4; SECURITY, *Skills*). */
import { posix } from 'node:path';
import type { SkillFinding } from '../../../shared/skills.ts';
import { createPace } from '../../skills/read/lean.ts';
import { CODE_RULES, type Rule, rules } from './code-rules.ts';
import type { FolderFile } from '../folder.ts';
import { blankSeen, HIDDEN_CLASS, HIDDEN_KINDS, markHidden, markOf } from '../../../shared/characters.ts';

/** Lines are checked in overlapping pieces, so that nothing hides behind a thousand spaces. */
const PIECE = 2000;
const OVERLAP = 600;
/** Number of continuation lines checked together with a line. */
const MAX_JOINED = 5;
/** Pauses are possible after each search in a longer text. */
const LONG = 400;
const MAX_FINDINGS = 300;
/** Findings of one kind per file. */
const MAX_ALIKE = 10;
/** Characters of all files together; the rest is reported as unchecked. */
const MAX_SCANNED = 1024 * 1024;
const MAX_EXCERPT = 160;
const SLICE_MS = 4;
const ORDER = { danger: 0, warning: 1, info: 2 } as const;

export interface Scanned {
	files: readonly (Pick<FolderFile, 'path' | 'kind' | 'text' | 'isProgram'> & Partial<Pick<FolderFile, 'isCut'>>)[];
	/** Why files are missing. */
	problem: string | null;
}

/** Returns findings, worst first, then by file and line. Works in slices of a few milliseconds. */
export async function scanFiles({ files, problem }: Scanned): Promise<SkillFinding[]> {
	const pace = createPace(SLICE_MS);
	const findings: SkillFinding[] = [];
	if (problem !== null) findings.push(aboutFile('danger', 'not-readable', problem, '.'));
	let room = MAX_SCANNED;
	for (const file of files) {
		findings.push(...checkFile(file));
		if (file.kind !== 'file' || file.text === null) continue;
		const text = file.text.slice(0, room);
		room -= text.length;
		if (file.isCut || text.length < file.text.length) {
			const message = 'Only partly checked: the skill has too much text';
			findings.push(aboutFile('warning', 'not-scanned', message, file.path));
		}
		const counts = new Map<string, number>();
		for (const finding of findingsIn(file.path, text)) {
			const rest = pace();
			if (rest) await rest;
			if (finding === null) continue;
			const count = (counts.get(finding.kind) ?? 0) + 1;
			counts.set(finding.kind, count);
			if (count <= MAX_ALIKE) findings.push(finding);
		}
	}
	findings.sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
	return findings.slice(0, MAX_FINDINGS);
}

/** Findings about a file, apart from its text. */
function checkFile({ path, kind, text, isProgram }: Scanned['files'][number]): SkillFinding[] {
	const found = remarksOn(path, true).map(({ severity, kind: what, message }) =>
		aboutFile(severity, what, message, path)
	);
	if (kind === 'special') found.push(aboutFile('danger', 'special-file', 'Not a file or folder', path));
	if (kind === 'link') {
		const target = text ?? '';
		const leaves = posix.isAbsolute(target) || posix.join(posix.dirname(path), target).startsWith('..');
		const message = leaves ? 'Link to a file outside the skill, which may change' : 'Link to another file of the skill';
		const finding = aboutFile(leaves ? 'danger' : 'info', 'link', message, path);
		found.push({ ...finding, excerpt: excerptOf(`→ ${target}`, 0) });
	}
	if (isProgram) found.push(aboutFile('warning', 'program', 'Compiled program that can’t be checked', path));
	return found;
}

/** Yields findings one by one, and null where the caller may pause. */
function* findingsIn(file: string, text: string): Generator<SkillFinding | null> {
	const isProse =
		/(?:^|\/)[^/]*\.(?:md|mdx|markdown|txt|rst|adoc|html?)$|(?:^|\/)[^./]+$/i.test(file) && !text.startsWith('#!');
	const rules = CODE_RULES.filter(({ in: where }) => where === undefined || (where === 'prose') === isProse);
	const phrases = PROSE_RULES.filter(({ in: where }) => where === undefined || (where === 'prose') === isProse);
	const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
	for (const [index, line] of lines.entries()) {
		const at = { file, line: index + 1 };
		for (const remark of remarksOn(index === 0 ? line.replace(/^\ufeff/, ' ') : line)) {
			yield { ...at, ...pick(remark), excerpt: excerptOf(line, remark.index) };
		}
		if (line.trim() === '') continue;
		for (const piece of piecesOf(joined(lines, index))) {
			yield* matches(rules, piece, at, line.length);
			yield null;
		}
		// A phrase may continue on the next line.
		const next = (lines[index + 1] ?? '').slice(0, 200);
		for (const piece of piecesOf(`${line} ${next}`)) {
			yield* matches(phrases, plain(piece.text).replace(/[\s*_#]+|(?<=\s)>+\s/g, ' '), at, line.length);
			yield null;
		}
	}
	yield* hiddenComments(file, text);
}

interface Piece {
	text: string;
	/** Index in its line. */
	start: number;
}

function* matches(
	rules: readonly Rule[],
	piece: Piece | string,
	at: { file: string; line: number },
	lineLength: number
): Generator<SkillFinding | null> {
	const { text, start } = typeof piece === 'string' ? { text: piece, start: 0 } : piece;
	const seen = new Set<string>();
	for (const rule of rules) {
		if (seen.has(rule.kind)) continue;
		if (text.length > LONG) yield null;
		const index = text.search(rule.pattern);
		// Matches that start on a later line are found there.
		if (index < 0 || start + index > lineLength) continue;
		if (rule.then && text.slice(index).search(rule.then) < 0) continue;
		seen.add(rule.kind);
		yield { ...at, ...pick(rule), excerpt: excerptOf(text, index) };
	}
}

/** Markdown and HTML comments that address the model; an unclosed one continues to the end. */
function* hiddenComments(file: string, text: string): Generator<SkillFinding | null> {
	if (!/\.(?:md|mdx|markdown|html?)$/i.test(file)) return;
	let line = 1;
	let counted = 0;
	for (let start = text.indexOf('<!--'); start >= 0;) {
		const close = text.indexOf('-->', start + 4);
		const end = close < 0 ? text.length : close + 3;
		line += countLines(text, counted, start);
		counted = start;
		yield* orderIn(text.slice(start, end), { file, line });
		start = text.indexOf('<!--', end);
	}
	for (const [index, each] of text.split('\n').entries()) {
		if (/^[ \t]{0,3}\[[^\]]{0,80}\]:[ \t]{0,4}#/.test(each)) yield* orderIn(each, { file, line: index + 1 });
	}
}

function* orderIn(comment: string, at: { file: string; line: number }): Generator<SkillFinding | null> {
	for (const { text } of piecesOf(comment)) {
		yield null;
		const words = plain(text.replace(/\s/g, ' '));
		const order = HIDDEN_ORDERS.exec(words);
		if (!order) continue;
		const message = 'Hidden comment that addresses the model';
		yield { severity: 'warning', kind: 'hidden-text', message, ...at, excerpt: excerptOf(words, order.index) };
		return;
	}
}

function countLines(text: string, from: number, to: number): number {
	let count = 0;
	for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
	return count;
}

/** The line with its continuation lines. */
function joined(lines: readonly string[], index: number): string {
	let whole = lines[index] ?? '';
	for (let next = index + 1; next < lines.length && next <= index + MAX_JOINED; next += 1) {
		if (!/(?:\\|\||&&)\s{0,20}$/.test(whole.slice(-40)) || whole.length > PIECE) break;
		whole = `${whole.replace(/\\\s{0,20}$/, ' ')}${(lines[next] ?? '').trimStart().slice(0, PIECE)}`;
	}
	return whole;
}

function* piecesOf(line: string): Generator<Piece> {
	for (let start = 0; start === 0 || start < line.length - OVERLAP; start += PIECE - OVERLAP) {
		yield { text: line.slice(start, start + PIECE), start };
	}
}

function pick({ severity, kind, message }: Pick<SkillFinding, 'severity' | 'kind' | 'message'>) {
	return { severity, kind, message };
}

function aboutFile(severity: SkillFinding['severity'], kind: string, message: string, file: string): SkillFinding {
	return { severity, kind, message, file, line: 1, excerpt: excerptOf(file, 0) };
}

/** The match with some context. */
function excerptOf(line: string, index: number): string {
	const start = Math.max(0, Math.min(index - 30, line.length - MAX_EXCERPT));
	const cut = line.slice(start, start + MAX_EXCERPT).toWellFormed();
	return escaped(`${start > 0 ? '…' : ''}${cut.trim()}${start + MAX_EXCERPT < line.length ? '…' : ''}`);
}

// Invisible and look-alike characters.

type Remark = Pick<SkillFinding, 'severity' | 'kind' | 'message'> & { index: number };

/** The Braille blank: fine in Braille, but not in a name or inside code. */
const BLANK = '\\u2800';

/** Searched in lines whose visible characters are blanked, so that indexes stay the same. */
const KINDS: readonly (readonly [SkillFinding['severity'], string, RegExp])[] = [
	['danger', 'Invisible text (tag characters)', HIDDEN_KINDS.tags],
	['danger', 'Text shown in a different order than it runs', HIDDEN_KINDS.directions],
	['danger', 'Invisible data (variation selectors)', HIDDEN_KINDS.selectors],
	// eslint-disable-next-line no-control-regex -- control characters are what this is about
	['danger', 'Characters that change what a terminal shows', /[\u001b\u0008\u009b\u009d]/u],
	['warning', 'Invisible characters', new RegExp(`${HIDDEN_KINDS.others.source}|${BLANK}`, 'u')]
];

/** Cyrillic, Greek and other letters that look like Latin ones. */
const CONFUSABLE =
	/[аеорсухіјѕһԁԛԝгѵАВЕКМНОРСТХІЈЅҮ\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0251\u0261\u0131\u1d00-\u1d22]|[\uff21-\uff3a\uff41-\uff5a]|[\u{1d400}-\u{1d7ff}]/u;
const ODD = new RegExp(`${CONFUSABLE.source}|[${BLANK}\\p{Co}\\p{Cn}\\p{Cs}]|(?! )\\p{Zs}`, 'gu');
const UNREAD = new RegExp(`[\\t\\n${HIDDEN_CLASS}${BLANK}]`, 'gu');
const WORD = /[\p{L}\p{N}_]{2,200}/gu;

/** Checks one line, or a name. */
function remarksOn(line: string, isName = false): Remark[] {
	const remarks: Remark[] = [];
	// Fast path: most lines are plain ASCII.
	if (/^[\t\r\x20-\x7e]*$/.test(line)) return remarks;
	const blanked = blankSeen(line);
	for (const [severity, message, pattern] of KINDS) {
		const index = blanked.search(pattern);
		if (index >= 0)
			remarks.push({ severity: isName ? 'danger' : severity, kind: 'invisible-characters', message, index });
	}
	for (const { 0: word, index } of line.matchAll(WORD)) {
		if (!CONFUSABLE.test(word)) continue;
		// A word of another language also has letters that don't look Latin.
		const looksLatin = isName && [...word].every((letter) => CONFUSABLE.test(letter) || /[^\p{L}]/u.test(letter));
		if (!looksLatin && !/[a-z]/i.test(word)) continue;
		const severity = isName ? 'danger' : 'warning';
		remarks.push({ severity, kind: 'homoglyph', message: 'Look-alike letters from another alphabet', index });
		break;
	}
	return remarks;
}

/** Marks invisible characters, and letters that look like Latin ones. */
function escaped(text: string): string {
	return markHidden(text.replaceAll('\t', ' ')).replace(ODD, markOf);
}

/** Text as the model may read it: normalised, look-alikes as Latin letters, without invisible characters. */
function plain(text: string): string {
	if (/^[\x20-\x7e]*$/.test(text)) return text;
	// Tag characters are shifted ASCII.
	const untagged = text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) =>
		String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000)
	);
	return untagged
		.normalize('NFKC')
		.replace(UNREAD, '')
		.replace(/[аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅοΟΑΕΙ]/gu, (letter) => LATIN[letter] ?? letter);
}

const LATIN: Readonly<Record<string, string>> = Object.fromEntries(
	'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw АA ВB ЕE КK МM НH ОO РP СC ТT ХX ІI ЈJ ЅS οo ΟO ΑA ΕE ΙI'
		.split(' ')
		.map(([from = '', to = '']) => [from, to])
);

// Phrases that try to command the model; data (SECURITY, *Skills*). Searched in `plain` text, ignoring case.

const danger = (message: string, sources: readonly string[]) =>
	rules({ severity: 'danger', kind: 'prompt-injection', message, flags: 'iu' }, sources);

const RULES =
	'(?:instructions?|prompts?|rules|directives?|guidelines|guardrails|commands|messages|context|restrictions|constraints|policies|policy)';
const USER = '(?:the |your |any |our )?(?:users?|humans?|operators?|people|person|owner|anyone|anybody|developer)';
const BEFORE =
	'(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|other|system|safety|default)';

const PROSE_RULES: readonly Rule[] = [
	...danger('Tells the model to ignore its instructions', [
		`\\b(?:ignore|disregard|forget|override|overrule|bypass|discard|drop|skip|neglect)\\b.{0,30}\\b${BEFORE}\\b.{0,30}\\b${RULES}\\b`,
		`\\b(?:ignore|disregard|forget|override|discard)\\b (?:all|any|every|everything|your|the|these|those)(?: of)?(?: your| the)? (?:${RULES}|you(?: have been| were|'ve been) told|training)\\b`,
		'\\bforget (?:everything|all)\\b.{0,20}\\b(?:above|before|told|said|know|learned|previous)'
	]),
	...danger('Tells the model to hide something from you', [
		`\\b(?:do not|don[’']?t|never|must not|should not|shouldn[’']?t|mustn[’']?t|avoid|without|refrain from)\\b (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|mention|mentioning|reveal|revealing|disclos(?:e|ing)|let|letting|(?<=without )asking)\\b.{0,40}\\b${USER}\\b`,
		`\\b(?:hide|conceal|keep|withhold)\\b.{0,40}\\b(?:from|secret|hidden)\\b.{0,10}\\b${USER}\\b`,
		`\\b${USER} (?:(?:must|should|may|need|can|does|do|will|shall)(?:n[’']?t| not| never)|cannot|never) (?:to )?(?:ever )?(?:know|see|notice|find out|learn|be (?:told|informed|aware|notified|asked))\\b`,
		`\\b(?:silently|secretly|covertly|quietly|in secret|behind the scenes)\\b.{0,40}\\b(?:run|execute|send|upload|post|copy|read|add|include|append|install|forward|transmit|collect|call|write|delete)\\b`,
		`\\b(?:without|before) (?:the )?(?:user|human|operator)(?:[’']?s)? (?:knowledge|consent|knowing|noticing|permission|approval|awareness)\\b`
	]),
	...danger('Tells the model to bypass safety checks', [
		'\\b(?:bypass|circumvent|evade|disable|turn off|get around|work around|skip|avoid)\\b.{0,30}\\b(?:approval|approvals|sandbox|safety|security|guardrails?|confirmation|restrictions?|permission|permissions|filters?|safeguards?|consent|content policy|moderation)\\b',
		'\\b(?:auto|automatically|always|blindly)[ -]?(?:approve|accept|confirm|allow|say yes)\\b'
	]),
	...danger('Gives the model a new role', [
		'\\byou are (?:now|no longer)\\b.{0,40}\\b(?:unrestricted|jailbroken|dan|developer mode|god mode|evil|root|admin(?:istrator)?|bound|limited|restricted|an? (?:different|new|other))\\b|\\b(?:developer|dan|god|jailbreak|sudo|debug|admin) mode (?:is )?(?:now )?(?:enabled|activated|on)\\b|\\benter (?:developer|dan|god|jailbreak|admin) mode\\b|\\bdo anything now\\b|\\bpretend (?:that )?you (?:are|have) (?:no|not|without|un)\\w*'
	]),
	...danger('Gives the model orders as if from the system', [
		'(?:^|\\s)(?:new|updated|important|urgent|real|actual|hidden|secret|system|override|priority|admin(?:istrator)?) (?:system )?(?:instructions?|prompt|message|directive|override|command)s?\\s?[:\\]]',
		'<\\/?(?:system|important|assistant|instructions?|admin|sys|prompt|available[_ ]skills|skill|skills|tool[_ ]result|function[_ ]results?|user)(?:[-_ ]?(?:message|prompt|reminder|instructions?))?>|<\\|(?:im[_ ]start|im[_ ]end|system|endoftext|start[_ ]header[_ ]id|eot[_ ]id)\\|>|\\[\\/?INST\\]|<<\\/?SYS>>|^#{1,4} ?(?:system|assistant|human|user) ?:'
	]),
	...danger('Asks for the model’s instructions', [
		'\\b(?:reveal|print|repeat|output|show|leak|dump|disclose|recite|reproduce|expose|send|include|display|return|translate)\\b.{0,40}\\b(?:system|developer|hidden|initial|original) (?:prompt|instructions?|message)s?\\b'
	]),
	...danger('Tells the model to send secrets elsewhere', [
		'\\b(?:send|post|upload|transmit|forward|exfiltrate|email|submit|leak|report|append|include|attach|put|add|pass|embed)\\b.{0,60}\\b(?:api[ _-]?keys?|passwords?|passphrases?|tokens?|secrets?|credentials?|private keys?|ssh keys?|cookies?|environment variables?|env vars?|chat history|conversation(?: history)?|session (?:history|transcript)|seed phrases?|\\.env)\\b.{0,60}\\b(?:to|at|in|as|into|with)\\b.{0,30}(?:https?:|url|endpoint|server|webhook|address|query|request|email|parameter|header|image|link|[\\w.-]{1,60}\\.(?:com|net|org|io|dev|site|xyz|ru|cn)\\b)',
		'\\bexfiltrat',
		"\\b(?:read|open|cat|collect|gather|find|copy|extract|steal|harvest|grab)\\b.{0,40}\\b(?:(?:users?|their|his|her|all|any|stored|saved) (?:[’']s? )?)?(?:api[ _-]?keys?|passwords|private keys?|ssh keys?|credentials|cookies|seed phrases?|wallets?)\\b.{0,80}\\b(?:send|post|upload|transmit|forward|include|append|encode|base64)\\b"
	]),
	...danger('Image address that can leak what the model knows', [
		'!\\[[^\\]]{0,100}\\]\\(\\s?https?:\\/\\/[^)\\s]{1,300}[?&=\\/][^)\\s]{0,100}(?:\\{|\\$|<|%7b|\\[)'
	]),
	...danger('Tells the model to follow this text above all', [
		'\\b(?:this|these|the following|skill) (?:instructions?|rules?|text|file|document|skill)?\\s?(?:take|takes|has|have|overrides?|supersedes?)\\b.{0,20}\\b(?:precedence|priority|all|any|every)\\b.{0,30}\\b(?:other|user|system|previous|instructions?|rules?|everything)\\b'
	]),
	...danger('Tells the model to ignore its instructions', [
		'\\bignor(?:iere|ez|a|e|are)\\b.{0,30}\\b(?:vorherigen|bisherigen|obigen|précédentes?|antérieures?|anteriores|previas|precedenti)\\b|(?:忽略|无视|忘记).{0,12}(?:指令|指示|提示|规则)|игнориру.{0,30}инструкци|(?:以前|前|上記)の.{0,10}指示.{0,6}無視'
	]),
	{
		severity: 'warning',
		kind: 'hidden-text',
		message: 'Text that only the model sees',
		pattern:
			/display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d])|color\s{0,3}:\s{0,3}(?:white|#fff(?:fff)?|transparent)\b/i,
		in: 'prose'
	},
	{ severity: 'info', kind: 'prompt-injection', message: 'Mentions the system prompt', pattern: /\bsystem prompt\b/i }
];

/** Words with which a hidden comment addresses the model. */
const HIDDEN_ORDERS =
	/(?<![\w-])(?:ignore|disregard|must|always|never|do not|don[’']?t|run|execute|send|upload|read|call|use|install|download|instead|secretly|silently|assistant|agent|model|you (?:are|should|will|must|may)|curl|bash|system|instructions?|password|token|key)(?![\w-])/i;
