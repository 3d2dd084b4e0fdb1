/** Characters that people do not see or take for others; pure (SECURITY, *Skills*). */
import { blankSeen, HIDDEN_CLASS, HIDDEN_KINDS, markHidden, markOf } from '../../../shared/characters.ts';
import type { SkillFinding } from '../../../shared/skills.ts';
import type { Rule } from './code-rules.ts';

export type Remark = Pick<SkillFinding, 'severity' | 'kind' | 'message'> & { index: number };

/** Shown as a blank, which is as it should be in Braille: not in a name, or in the midst of code. */
const BLANK = '\\u2800';

/** Characters that are to be seen are left out, so that the index of what remains is that in the line. */
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

/** Of one line, or of a name. */
export function remarksOn(line: string, isName = false): Remark[] {
	const remarks: Remark[] = [];
	// Most lines are ASCII without anything of this.
	if (/^[\t\r\x20-\x7e]*$/.test(line)) return remarks;
	const blanked = blankSeen(line);
	for (const [severity, message, pattern] of KINDS) {
		const index = blanked.search(pattern);
		if (index >= 0)
			remarks.push({ severity: isName ? 'danger' : severity, kind: 'invisible-characters', message, index });
	}
	for (const { 0: word, index } of line.matchAll(WORD)) {
		if (!CONFUSABLE.test(word)) continue;
		// A word of another language has letters that look like no Latin ones.
		const looksLatin = isName && [...word].every((letter) => CONFUSABLE.test(letter) || /[^\p{L}]/u.test(letter));
		if (!looksLatin && !/[a-z]/i.test(word)) continue;
		const severity = isName ? 'danger' : 'warning';
		remarks.push({
			severity,
			kind: 'homoglyph',
			message: 'Look-alike letters from another alphabet',
			index
		});
		break;
	}
	return remarks;
}

/** What cannot be seen, marked; letters of other alphabets that look like Latin ones as well. */
export function escaped(text: string): string {
	return markHidden(text.replaceAll('\t', ' ')).replace(ODD, markOf);
}

/** As the model may read it: compatibility forms and what looks like Latin folded, invisible characters out. */
export function plain(text: string): string {
	if (/^[\x20-\x7e]*$/.test(text)) return text;
	// Tag characters are ASCII, shifted.
	const untagged = text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) =>
		String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000)
	);
	return untagged
		.normalize('NFKC')
		.replace(UNREAD, '')
		.replace(/[аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅοΟΑΕΙ]/gu, (letter) => LATIN[letter] ?? letter);
}

const LATIN: Readonly<Record<string, string>> = Object.fromEntries(
	[
		'аa',
		'еe',
		'оo',
		'рp',
		'сc',
		'уy',
		'хx',
		'іi',
		'јj',
		'ѕs',
		'һh',
		'ԁd',
		'ԛq',
		'ԝw',
		'АA',
		'ВB',
		'ЕE',
		'КK',
		'МM',
		'НH'
	]
		.concat(['ОO', 'РP', 'СC', 'ТT', 'ХX', 'ІI', 'ЈJ', 'ЅS', 'οo', 'ΟO', 'ΑA', 'ΕE', 'ΙI'])
		.map(([from = '', to = '']) => [from, to])
);

// Phrases by which a text tries to command the model that reads it; data (SECURITY, *Skills*). Matched in text without its tricks, case and all.

const danger = (message: string, source: string): Rule => {
	return { severity: 'danger', kind: 'prompt-injection', message, pattern: new RegExp(source, 'iu') };
};

const RULES =
	'(?:instructions?|prompts?|rules|directives?|guidelines|guardrails|commands|messages|context|restrictions|constraints|policies|policy)';
const USER = '(?:the |your |any |our )?(?:users?|humans?|operators?|people|person|owner|anyone|anybody|developer)';
const BEFORE =
	'(?:previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|other|system|safety|default)';

export const PROSE_RULES: readonly Rule[] = [
	danger(
		'Tells the model to ignore its instructions',
		`\\b(?:ignore|disregard|forget|override|overrule|bypass|discard|drop|skip|neglect)\\b.{0,30}\\b${BEFORE}\\b.{0,30}\\b${RULES}\\b`
	),
	danger(
		'Tells the model to ignore its instructions',
		`\\b(?:ignore|disregard|forget|override|discard)\\b (?:all|any|every|everything|your|the|these|those)(?: of)?(?: your| the)? (?:${RULES}|you(?: have been| were|'ve been) told|training)\\b`
	),
	danger(
		'Tells the model to ignore its instructions',
		'\\bforget (?:everything|all)\\b.{0,20}\\b(?:above|before|told|said|know|learned|previous)'
	),
	danger(
		'Tells the model to hide something from you',
		`\\b(?:do not|don[’']?t|never|must not|should not|shouldn[’']?t|mustn[’']?t|avoid|without|refrain from)\\b (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|mention|mentioning|reveal|revealing|disclos(?:e|ing)|let|letting|(?<=without )asking)\\b.{0,40}\\b${USER}\\b`
	),
	danger(
		'Tells the model to hide something from you',
		`\\b(?:hide|conceal|keep|withhold)\\b.{0,40}\\b(?:from|secret|hidden)\\b.{0,10}\\b${USER}\\b`
	),
	danger(
		'Tells the model to hide something from you',
		`\\b${USER} (?:(?:must|should|may|need|can|does|do|will|shall)(?:n[’']?t| not| never)|cannot|never) (?:to )?(?:ever )?(?:know|see|notice|find out|learn|be (?:told|informed|aware|notified|asked))\\b`
	),
	danger(
		'Tells the model to hide something from you',
		`\\b(?:silently|secretly|covertly|quietly|in secret|behind the scenes)\\b.{0,40}\\b(?:run|execute|send|upload|post|copy|read|add|include|append|install|forward|transmit|collect|call|write|delete)\\b`
	),
	danger(
		'Tells the model to hide something from you',
		`\\b(?:without|before) (?:the )?(?:user|human|operator)(?:[’']?s)? (?:knowledge|consent|knowing|noticing|permission|approval|awareness)\\b`
	),
	danger(
		'Tells the model to bypass safety checks',
		'\\b(?:bypass|circumvent|evade|disable|turn off|get around|work around|skip|avoid)\\b.{0,30}\\b(?:approval|approvals|sandbox|safety|security|guardrails?|confirmation|restrictions?|permission|permissions|filters?|safeguards?|consent|content policy|moderation)\\b'
	),
	danger(
		'Tells the model to bypass safety checks',
		'\\b(?:auto|automatically|always|blindly)[ -]?(?:approve|accept|confirm|allow|say yes)\\b'
	),
	danger(
		'Gives the model a new role',
		'\\byou are (?:now|no longer)\\b.{0,40}\\b(?:unrestricted|jailbroken|dan|developer mode|god mode|evil|root|admin(?:istrator)?|bound|limited|restricted|an? (?:different|new|other))\\b|\\b(?:developer|dan|god|jailbreak|sudo|debug|admin) mode (?:is )?(?:now )?(?:enabled|activated|on)\\b|\\benter (?:developer|dan|god|jailbreak|admin) mode\\b|\\bdo anything now\\b|\\bpretend (?:that )?you (?:are|have) (?:no|not|without|un)\\w*'
	),
	danger(
		'Gives the model orders as if from the system',
		'(?:^|\\s)(?:new|updated|important|urgent|real|actual|hidden|secret|system|override|priority|admin(?:istrator)?) (?:system )?(?:instructions?|prompt|message|directive|override|command)s?\\s?[:\\]]'
	),
	danger(
		'Gives the model orders as if from the system',
		'<\\/?(?:system|important|assistant|instructions?|admin|sys|prompt|available[_ ]skills|skill|skills|tool[_ ]result|function[_ ]results?|user)(?:[-_ ]?(?:message|prompt|reminder|instructions?))?>|<\\|(?:im[_ ]start|im[_ ]end|system|endoftext|start[_ ]header[_ ]id|eot[_ ]id)\\|>|\\[\\/?INST\\]|<<\\/?SYS>>|^#{1,4} ?(?:system|assistant|human|user) ?:'
	),
	danger(
		'Asks for the model’s instructions',
		'\\b(?:reveal|print|repeat|output|show|leak|dump|disclose|recite|reproduce|expose|send|include|display|return|translate)\\b.{0,40}\\b(?:system|developer|hidden|initial|original) (?:prompt|instructions?|message)s?\\b'
	),
	danger(
		'Tells the model to send secrets elsewhere',
		'\\b(?:send|post|upload|transmit|forward|exfiltrate|email|submit|leak|report|append|include|attach|put|add|pass|embed)\\b.{0,60}\\b(?:api[ _-]?keys?|passwords?|passphrases?|tokens?|secrets?|credentials?|private keys?|ssh keys?|cookies?|environment variables?|env vars?|chat history|conversation(?: history)?|session (?:history|transcript)|seed phrases?|\\.env)\\b.{0,60}\\b(?:to|at|in|as|into|with)\\b.{0,30}(?:https?:|url|endpoint|server|webhook|address|query|request|email|parameter|header|image|link|[\\w.-]{1,60}\\.(?:com|net|org|io|dev|site|xyz|ru|cn)\\b)'
	),
	danger('Tells the model to send secrets elsewhere', '\\bexfiltrat'),
	danger(
		'Tells the model to send secrets elsewhere',
		"\\b(?:read|open|cat|collect|gather|find|copy|extract|steal|harvest|grab)\\b.{0,40}\\b(?:(?:users?|their|his|her|all|any|stored|saved) (?:[’']s? )?)?(?:api[ _-]?keys?|passwords|private keys?|ssh keys?|credentials|cookies|seed phrases?|wallets?)\\b.{0,80}\\b(?:send|post|upload|transmit|forward|include|append|encode|base64)\\b"
	),
	danger(
		'Image address that can leak what the model knows',
		'!\\[[^\\]]{0,100}\\]\\(\\s?https?:\\/\\/[^)\\s]{1,300}[?&=\\/][^)\\s]{0,100}(?:\\{|\\$|<|%7b|\\[)'
	),
	danger(
		'Tells the model to follow this text above all',
		'\\b(?:this|these|the following|skill) (?:instructions?|rules?|text|file|document|skill)?\\s?(?:take|takes|has|have|overrides?|supersedes?)\\b.{0,20}\\b(?:precedence|priority|all|any|every)\\b.{0,30}\\b(?:other|user|system|previous|instructions?|rules?|everything)\\b'
	),
	danger(
		'Tells the model to ignore its instructions',
		'\\bignor(?:iere|ez|a|e|are)\\b.{0,30}\\b(?:vorherigen|bisherigen|obigen|précédentes?|antérieures?|anteriores|previas|precedenti)\\b|(?:忽略|无视|忘记).{0,12}(?:指令|指示|提示|规则)|игнориру.{0,30}инструкци|(?:以前|前|上記)の.{0,10}指示.{0,6}無視'
	),
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

/** What a comment that people do not see may not say to the model. */
export const HIDDEN_ORDERS =
	/(?<![\w-])(?:ignore|disregard|must|always|never|do not|don[’']?t|run|execute|send|upload|read|call|use|install|download|instead|secretly|silently|assistant|agent|model|you (?:are|should|will|must|may)|curl|bash|system|instructions?|password|token|key)(?![\w-])/i;
