/** Finds invisible and look-alike characters, and phrases that command the model; pure (SECURITY, *Skills*). */
import { blankSeen, HIDDEN_CLASS, HIDDEN_KINDS, markHidden, markOf } from '../../../shared/characters.ts';
import type { SkillFinding } from '../../../shared/skills.ts';
import { type Rule, rules } from './code-rules.ts';

export type Remark = Pick<SkillFinding, 'severity' | 'kind' | 'message'> & { index: number };

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
export function remarksOn(line: string, isName = false): Remark[] {
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
export function escaped(text: string): string {
	return markHidden(text.replaceAll('\t', ' ')).replace(ODD, markOf);
}

/** Text as the model may read it: normalised, look-alikes as Latin letters, without invisible characters. */
export function plain(text: string): string {
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

export const PROSE_RULES: readonly Rule[] = [
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
export const HIDDEN_ORDERS =
	/(?<![\w-])(?:ignore|disregard|must|always|never|do not|don[’']?t|run|execute|send|upload|read|call|use|install|download|instead|secretly|silently|assistant|agent|model|you (?:are|should|will|must|may)|curl|bash|system|instructions?|password|token|key)(?![\w-])/i;
