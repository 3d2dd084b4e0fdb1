/** Phrases by which a text tries to command the model that reads it; data (SECURITY, *Skills*). Matched in text without its tricks, case and all. */
import type { Rule } from './code-rules.ts';

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
		'Tells the model to forget what it was told.',
		`\\b(?:ignore|disregard|forget|override|overrule|bypass|discard|drop|skip|neglect)\\b.{0,30}\\b${BEFORE}\\b.{0,30}\\b${RULES}\\b`
	),
	danger(
		'Tells the model to forget what it was told.',
		`\\b(?:ignore|disregard|forget|override|discard)\\b (?:all|any|every|everything|your|the|these|those)(?: of)?(?: your| the)? (?:${RULES}|you(?: have been| were|'ve been) told|training)\\b`
	),
	danger(
		'Tells the model to forget what it was told.',
		'\\bforget (?:everything|all)\\b.{0,20}\\b(?:above|before|told|said|know|learned|previous)'
	),
	danger(
		'Tells the model to keep something from people.',
		`\\b(?:do not|don[’']?t|never|must not|should not|shouldn[’']?t|mustn[’']?t|avoid|without|refrain from)\\b (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|mention|mentioning|reveal|revealing|disclos(?:e|ing)|let|letting|(?<=without )asking)\\b.{0,40}\\b${USER}\\b`
	),
	danger(
		'Tells the model to keep something from people.',
		`\\b(?:hide|conceal|keep|withhold)\\b.{0,40}\\b(?:from|secret|hidden)\\b.{0,10}\\b${USER}\\b`
	),
	danger(
		'Tells the model to keep something from people.',
		`\\b${USER} (?:(?:must|should|may|need|can|does|do|will|shall)(?:n[’']?t| not| never)|cannot|never) (?:to )?(?:ever )?(?:know|see|notice|find out|learn|be (?:told|informed|aware|notified|asked))\\b`
	),
	danger(
		'Tells the model to keep something from people.',
		`\\b(?:silently|secretly|covertly|quietly|in secret|behind the scenes)\\b.{0,40}\\b(?:run|execute|send|upload|post|copy|read|add|include|append|install|forward|transmit|collect|call|write|delete)\\b`
	),
	danger(
		'Tells the model to keep something from people.',
		`\\b(?:without|before) (?:the )?(?:user|human|operator)(?:[’']?s)? (?:knowledge|consent|knowing|noticing|permission|approval|awareness)\\b`
	),
	danger(
		'Tells the model to go round what keeps people safe.',
		'\\b(?:bypass|circumvent|evade|disable|turn off|get around|work around|skip|avoid)\\b.{0,30}\\b(?:approval|approvals|sandbox|safety|security|guardrails?|confirmation|restrictions?|permission|permissions|filters?|safeguards?|consent|content policy|moderation)\\b'
	),
	danger(
		'Tells the model to go round what keeps people safe.',
		'\\b(?:auto|automatically|always|blindly)[ -]?(?:approve|accept|confirm|allow|say yes)\\b'
	),
	danger(
		'Gives the model another role.',
		'\\byou are (?:now|no longer)\\b.{0,40}\\b(?:unrestricted|jailbroken|dan|developer mode|god mode|evil|root|admin(?:istrator)?|bound|limited|restricted|an? (?:different|new|other))\\b|\\b(?:developer|dan|god|jailbreak|sudo|debug|admin) mode (?:is )?(?:now )?(?:enabled|activated|on)\\b|\\benter (?:developer|dan|god|jailbreak|admin) mode\\b|\\bdo anything now\\b|\\bpretend (?:that )?you (?:are|have) (?:no|not|without|un)\\w*'
	),
	danger(
		'Gives the model orders in the name of the system.',
		'(?:^|\\s)(?:new|updated|important|urgent|real|actual|hidden|secret|system|override|priority|admin(?:istrator)?) (?:system )?(?:instructions?|prompt|message|directive|override|command)s?\\s?[:\\]]'
	),
	danger(
		'Gives the model orders in the name of the system.',
		'<\\/?(?:system|important|assistant|instructions?|admin|sys|prompt|available[_ ]skills|skill|skills|tool[_ ]result|function[_ ]results?|user)(?:[-_ ]?(?:message|prompt|reminder|instructions?))?>|<\\|(?:im[_ ]start|im[_ ]end|system|endoftext|start[_ ]header[_ ]id|eot[_ ]id)\\|>|\\[\\/?INST\\]|<<\\/?SYS>>|^#{1,4} ?(?:system|assistant|human|user) ?:'
	),
	danger(
		'Asks for what the model was told.',
		'\\b(?:reveal|print|repeat|output|show|leak|dump|disclose|recite|reproduce|expose|send|include|display|return|translate)\\b.{0,40}\\b(?:system|developer|hidden|initial|original) (?:prompt|instructions?|message)s?\\b'
	),
	danger(
		'Tells the model to send secrets elsewhere.',
		'\\b(?:send|post|upload|transmit|forward|exfiltrate|email|submit|leak|report|append|include|attach|put|add|pass|embed)\\b.{0,60}\\b(?:api[ _-]?keys?|passwords?|passphrases?|tokens?|secrets?|credentials?|private keys?|ssh keys?|cookies?|environment variables?|env vars?|chat history|conversation(?: history)?|session (?:history|transcript)|seed phrases?|\\.env)\\b.{0,60}\\b(?:to|at|in|as|into|with)\\b.{0,30}(?:https?:|url|endpoint|server|webhook|address|query|request|email|parameter|header|image|link|[\\w.-]{1,60}\\.(?:com|net|org|io|dev|site|xyz|ru|cn)\\b)'
	),
	danger('Tells the model to send secrets elsewhere.', '\\bexfiltrat'),
	danger(
		'Tells the model to send secrets elsewhere.',
		"\\b(?:read|open|cat|collect|gather|find|copy|extract|steal|harvest|grab)\\b.{0,40}\\b(?:(?:users?|their|his|her|all|any|stored|saved) (?:[’']s? )?)?(?:api[ _-]?keys?|passwords|private keys?|ssh keys?|credentials|cookies|seed phrases?|wallets?)\\b.{0,80}\\b(?:send|post|upload|transmit|forward|include|append|encode|base64)\\b"
	),
	danger(
		'An image whose address carries what the model fills in.',
		'!\\[[^\\]]{0,100}\\]\\(\\s?https?:\\/\\/[^)\\s]{1,300}[?&=\\/][^)\\s]{0,100}(?:\\{|\\$|<|%7b|\\[)'
	),
	danger(
		'Tells the model to obey this text above all.',
		'\\b(?:this|these|the following|skill) (?:instructions?|rules?|text|file|document|skill)?\\s?(?:take|takes|has|have|overrides?|supersedes?)\\b.{0,20}\\b(?:precedence|priority|all|any|every)\\b.{0,30}\\b(?:other|user|system|previous|instructions?|rules?|everything)\\b'
	),
	danger(
		'Tells the model to forget what it was told.',
		'\\bignor(?:iere|ez|a|e|are)\\b.{0,30}\\b(?:vorherigen|bisherigen|obigen|précédentes?|antérieures?|anteriores|previas|precedenti)\\b|(?:忽略|无视|忘记).{0,12}(?:指令|指示|提示|规则)|игнориру.{0,30}инструкци|(?:以前|前|上記)の.{0,10}指示.{0,6}無視'
	),
	{
		severity: 'warning',
		kind: 'hidden-text',
		message: 'Text that people do not see and the model reads.',
		pattern:
			/display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d])|color\s{0,3}:\s{0,3}(?:white|#fff(?:fff)?|transparent)\b/i,
		in: 'prose'
	},
	{ severity: 'info', kind: 'prompt-injection', message: 'Speaks of the system prompt.', pattern: /\bsystem prompt\b/i }
];

/** What a comment that people do not see may not say to the model. */
export const HIDDEN_ORDERS =
	/(?<![\w-])(?:ignore|disregard|must|always|never|do not|don[’']?t|run|execute|send|upload|read|call|use|install|download|instead|secretly|silently|assistant|agent|model|you (?:are|should|will|must|may)|curl|bash|system|instructions?|password|token|key)(?![\w-])/i;
