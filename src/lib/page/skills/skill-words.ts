/** Words for trust, findings, sandbox and provider of a skill; its pages, tabs and kind; advice on a new one. Pure. */
import { cleanText } from '../text/clean-text.ts';
import type { Health } from '../../shared/api.ts';
import type {
	FileChanges,
	SkillDetail,
	SkillFinding,
	SkillNeeds,
	SkillProvider,
	SkillSummary,
	TrustState
} from '../../shared/skills.ts';
import {
	toSkillId,
	MAX_SKILL_DESCRIPTION,
	MAX_SKILL_NAME,
	SKILL_NAME,
	type ScriptInput,
	type SkillTemplate
} from '../../shared/names.ts';

export const TRUST_WORDS: Record<TrustState, string> = {
	builtin: 'Built in',
	trusted: 'Trusted',
	changed: 'Changed',
	untrusted: 'Not trusted'
};

export const TRUST_MEANING: Record<TrustState, string> = {
	builtin: 'Part of this server.',
	trusted: 'Scripts run without asking.',
	changed: 'The skill’s files changed since you trusted it, so its scripts ask before they run.',
	untrusted: 'Scripts ask before each run.'
};

/** Whether a change of its files or its name ends its trust: not where its folder is trusted. */
export function losesTrust({ trust, isTrustedByPlace }: Pick<SkillDetail, 'trust' | 'isTrustedByPlace'>): boolean {
	return trust === 'trusted' && !isTrustedByPlace;
}

/** When a skill is offered. */
export const MODE_WORDS: Record<SkillSummary['mode'], string> = { on: 'Always', auto: 'Automatic', off: 'Off' };

export const SEVERITY_WORDS: Record<SkillFinding['severity'], string> = {
	danger: 'Risks',
	warning: 'Worth a look',
	info: 'Good to know'
};

/** What a skill does, and when it is used: most descriptions say both, in this order. */
export function partsOf(description: string): { does: string; when: string } {
	const [does = '', ...when] = description.split(
		/(?<=[.!?]) +(?=Use (?:(?:it|this|this skill) )?(?:when|whenever|if|for|to)\b)/
	);
	return { does, when: when.join(' ') };
}

/** Up to the mark that ends it: not the one of "e.g." or "v1.2". */
export function firstSentence(text: string): string {
	const [first = ''] = text
		.trim()
		.split(/(?<=[.!?]["”’)]*)(?<!(?<![\p{L}\d])(?:e\.g|i\.e|vs|cf|\p{L})\.)\s+(?=\P{Ll})|(?<=[。！？])/u, 1);
	return first;
}

/** Characters that fit into an empty message box. */
const MOST_ASKED = 60;

/** A sentence that says more than a row of a list can show. */
const LONG_SENTENCE = 80;

/** What a skill does, for a list: one sentence; of a long one, what stands before its dash. */
export function shortOf(description: string): string {
	const sentence = firstSentence(partsOf(description).does);
	const [head = ''] = sentence.split(/ [-–—]+ /, 1);
	return sentence.length > LONG_SENTENCE && head.includes(' ') && head !== sentence ? `${head}.` : sentence;
}

/** Why it’s broken, in a sentence: `The description is missing.` */
export function problemOf({ diagnostics }: Pick<SkillSummary, 'diagnostics'>): string {
	const fault = diagnostics.find(({ severity }) => severity === 'error');
	if (!fault) return 'Its SKILL.md can’t be read.';
	const { field, message } = fault;
	const [first = ''] = cleanText(message).split(/, so |(?<=[^.])\.\s/, 1);
	return `${field === '_' ? 'SKILL.md' : `The ${cleanText(field)}`} ${first.replace(/\.$/, '')}.`;
}

/** What to type when it’s tried: what its description says it’s asked, or its name. */
export function askFor({ name, description }: Pick<SkillSummary, 'name' | 'description'>): string {
	const { when } = partsOf(description);
	const [, asked = ''] =
		/\bwhen(?:ever)? (?:the |a )?(?:user|someone|somebody|anyone|people|you) asks? ([^,;:.]+)/.exec(when) ?? [];
	return asked === '' || asked.length > MOST_ASKED ? `Ask ${name} anything` : `Ask ${asked}`;
}

/** How many serious ones there are. */
export const risksOf = (findings: readonly Pick<SkillFinding, 'severity'>[]): number =>
	findings.filter(({ severity }) => severity === 'danger').length;

export const countRisks = (count: number): string => (count === 1 ? '1 risk' : `${count} risks`);

/** The security check in one line. */
export function verdictOf(findings: readonly Pick<SkillFinding, 'severity' | 'message'>[]): string {
	const risks = findings.filter(({ severity }) => severity === 'danger');
	if (risks.length === 0) return findings.length === 0 ? 'No risks found' : 'No serious risks found';
	const [first] = risks;
	const what = first ? first.message.replace(/\.$/, '') : '';
	return `${countRisks(risks.length)}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
}

/** Address of a skill's page; the slash in `source/name` stays. */
export function skillPage(id: string): string {
	return `/skills/${pathOf(id)}`;
}

/** Told beside its “Undo”. */
export function deletedWords(name: string): string {
	return `Deleted “${cleanText(name)}”`;
}

/** A new chat that begins with the skill's example, or with the skill. */
export function tryPage({ name, example }: Pick<SkillSummary, 'name' | 'example'>): string {
	return `/?${example ? 'example' : 'skill'}=${encodeURIComponent(name)}`;
}

/** An answer in a chat, by one of its calls. */
export interface AnswerPlace {
	chat: string;
	call: string;
}

/** The Evals tab, with an eval of this answer begun. */
export function answerEvalPage(skill: string, { chat, call }: AnswerPlace): string {
	return `${skillPage(skill)}#evals?${new URLSearchParams({ chat, call })}`;
}

/** The answer that such an address names; null if it names none. */
export function answerInHash(hash: string): AnswerPlace | null {
	const query = new URLSearchParams(hash.startsWith('#evals?') ? hash.slice('#evals?'.length) : '');
	const [chat, call] = [query.get('chat'), query.get('call')];
	return chat && call ? { chat, call } : null;
}

/** Address of a file in a skill’s Files tab, or of a line in it. */
export function filePage(id: string, file: string, line: number | null = null): string {
	return `${skillPage(id)}?file=${encodeURIComponent(file)}#${line === null ? 'files' : `L${line}`}`;
}

/** Where the API serves the file itself. `version` only keeps caches from showing an older one. */
export function skillFileUrl(id: string, file: string, version: string): string {
	return `/api/skills/${pathOf(id)}/file?${new URLSearchParams({ path: file, format: 'file', v: version })}`;
}

/** The line that `#L12` names; null if it names none. */
export function lineOf(hash: string): number | null {
	const line = Number(/^#?L?(\d{1,7})$/.exec(hash)?.[1] ?? 0);
	return line > 0 ? line : null;
}

/** Where the catalogs are searched for a skill. */
export function catalogPage(name: string): string {
	return `/skills/install?find=${encodeURIComponent(name)}#catalogs`;
}

/** Address of the editor; opens SKILL.md by default. `chat` is the one to go back to, `line` counts from 1, `run` is run once more there. */
export function editorPage(
	id: string,
	file?: string,
	{ chat, line, run }: { chat?: string | null; line?: number | null; run?: string | null } = {}
): string {
	const query = Object.entries({ file, chat, line, run }).flatMap(([name, value]) =>
		value ? [`${name}=${encodeURIComponent(value)}`] : []
	);
	return `/skills/edit/${pathOf(id)}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

/** A broken skill’s id has `~:` where its folder has `@`; the folder’s name reads better in an address, and finds it as well. */
function pathOf(id: string): string {
	return toSkillId(id.replace(/(?<!~)~:/g, '@'))
		.split('/')
		.map((part) => encodeURIComponent(part).replaceAll('%40', '@'))
		.join('/');
}

export function describeSandbox({ name, isolation }: Pick<Health['sandbox'], 'name' | 'isolation'>): string {
	const where = name === 'process' ? 'as plain processes' : 'in a sandbox';
	return isolation.files
		? `Scripts run ${where}. They can’t read other files${isolation.network ? ', and reach only hosts you allow' : ', but can use the network'}.`
		: `Scripts run ${where} and can read files on this computer.`;
}

/** A folder or a name of what other scripts import, and nobody runs. */
const PART =
	/(?:^|\/)(?:(?:lib|libs|vendor|node_modules|utils?|helpers?|tests?|__pycache__)\/|_[^/]*$|(?:utils?|helpers?)\.\w+$)|\.test\.\w+$/;

/**
 * Scripts that a person or a model calls: those in `scripts/`, if there are any, without what they import. All, if that
 * leaves none.
 */
export function ownScripts(scripts: readonly string[]): readonly string[] {
	const called = scripts.filter((path) => !PART.test(path));
	const own = called.filter((path) => path.startsWith('scripts/'));
	return [own, called, scripts].find(({ length }) => length > 0) ?? [];
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/** Which skill it is, what it has to run, and whether it's used. */
export function factsOf({
	version,
	provider,
	scripts,
	tools,
	usage
}: Pick<SkillSummary, 'version' | 'provider' | 'scripts' | 'tools' | 'usage'>): string[] {
	const parts = [
		...(scripts.length > 0 ? [counted(ownScripts(scripts).length, 'script')] : []),
		...(tools.length > 0 ? [counted(tools.length, 'tool')] : [])
	];
	return [
		...(version && !isFirstVersion(version) ? [`Version ${version}`] : []),
		provider === 'builtin' ? 'Built in' : provider === 'bundled' ? 'Bundled' : fromWords(provider),
		parts.join(', ') || 'Instructions only',
		usage.executions === 0 ? 'Not used yet' : `Used ${counted(usage.executions, 'time')}`
	];
}

/** Why nothing of a skill runs: skills are off on the server, it's off itself, or evals need its trust. */
export type Obstacle = 'server' | 'off' | 'untrusted';

/** To be said before anyone tries; null without one. */
export function obstacleTo(
	what: 'run' | 'evals',
	{ mode, trust }: Pick<SkillSummary, 'mode' | 'trust'>,
	areSkillsOn: boolean
): Obstacle | null {
	if (trust === 'builtin') return null;
	if (!areSkillsOn) return 'server';
	if (mode === 'off') return 'off';
	return what === 'evals' && trust !== 'trusted' ? 'untrusted' : null;
}

/** What a skill has that doesn't say which one it is: nothing worth showing. */
export const isFirstVersion = (version: string): boolean => version === '1.0.0';

/** Where versions are looked at: one that its SKILL.md says, or one that isn’t the first. */
export function shownVersion({
	version,
	statesVersion
}: Pick<SkillSummary, 'version' | 'statesVersion'>): string | null {
	return version && (statesVersion || !isFirstVersion(version)) ? version : null;
}

const CHANGE_WORDS = { changed: 'changed', added: 'added', removed: 'deleted' };
const MOST_NAMED = 3;

/** `Changed SKILL.md and a.md, added b.md`; of many files, how many; of a SKILL.md alone, what in it. */
export function changesIn(files: FileChanges['files']): string {
	const [file] = files;
	if (files.length === 1 && file?.parts && file.parts.length <= MOST_NAMED) {
		const parts = new Intl.ListFormat('en').format(file.parts.map(cleanText));
		return `Changed the ${parts} in ${cleanText(file.path)}`;
	}
	const renamed = files.filter(({ from }) => from !== undefined);
	const moved = new Set(renamed.flatMap(({ path, from }) => [path, from]));
	const others = files.filter(({ path }) => !moved.has(path));
	const names = renamed.map(({ path, from = '' }) => `${cleanText(from)} to ${cleanText(path)}`);
	const rest = (['changed', 'added', 'removed'] as const).flatMap((kind) => {
		const paths = others.filter((file) => file.kind === kind).map(({ path }) => cleanText(path));
		if (paths.length === 0) return [];
		const what = paths.length > MOST_NAMED ? `${paths.length} files` : new Intl.ListFormat('en').format(paths);
		return [`${CHANGE_WORDS[kind]} ${what}`];
	});
	const said = [
		...(names.length > MOST_NAMED ? [`renamed ${names.length} files`] : names.map((each) => `renamed ${each}`)),
		...rest
	];
	return said.join(', ').replace(/^./, (first) => first.toUpperCase());
}

/** `+3 −1`; empty if that can’t be told, or no line changed. */
export function linesIn({ lines }: Pick<FileChanges, 'lines'>): string {
	return lines && lines.added + lines.removed > 0 ? `+${lines.added} −${lines.removed}` : '';
}

export function draftPage(id: string): string {
	return `/skills/drafts/${encodeURIComponent(id)}`;
}

export function isInstalled({ provider }: Pick<SkillSummary, 'provider'>): boolean {
	return provider !== 'local' && provider !== 'bundled' && provider !== 'builtin';
}

/** Follow "from". */
export const PROVIDER_WORDS: Record<SkillProvider, string> = {
	github: 'GitHub',
	skillssh: 'skills.sh',
	skillsmp: 'SkillsMP',
	'well-known': 'a website',
	zip: 'a zip file',
	folder: 'a folder',
	draft: 'a draft',
	inline: 'text',
	custom: 'a handler',
	bundled: 'this app',
	local: 'your skills folder',
	builtin: 'this server'
};

export const fromWords = (provider: SkillProvider): string =>
	`${provider === 'draft' ? 'Saved from' : provider === 'local' ? 'In' : 'From'} ${PROVIDER_WORDS[provider]}`;

/** The first match in the name counts, otherwise in the first sentence of the description. */
const KINDS = [
	['data', /\b(data|csv|excel|xlsx|spreadsheets?|charts?|sql|statistics)\b/i],
	['weather', /\b(weather|forecasts?)\b/i],
	['message', /\b(discord|slack|e?mails?|messages?|chat)\b/i],
	['picture', /\b(images?|pictures?|photos?|svg|diagrams?)\b/i],
	['document', /\b(pdfs?|docx?|documents?|slides|pptx|reports?)\b/i],
	['review', /\b(reviews?|diffs?|tests?|lint)\b/i],
	['deploy', /\b(deploy|ship|release|publish)\b/i],
	['make', /\b(creat(e|or)|scaffold|template)\b/i],
	['code', /\b(code|git|skills?|build|scripts?)\b/i],
	['web', /\b(web|http|urls?|sites?|search|browser)\b/i],
	['text', /\b(words?|texts?|writing|translate|summar\w+)\b/i]
] as const;

export type SkillKind = (typeof KINDS)[number][0] | 'skill';
/** Examples with an immediately visible result come first. */
export const KIND_ORDER: readonly SkillKind[] = [...KINDS.map(([kind]) => kind), 'skill'];

export function kindOf(name: string, description: string): SkillKind {
	const fits = (words: string) => KINDS.find(([, pattern]) => pattern.test(words))?.[0];
	return fits(name.replaceAll('-', ' ')) ?? fits(firstSentence(description)) ?? 'skill';
}

export interface Advice {
	message: string;
	/** The skill can't be created like this. */
	isWrong: boolean;
}

/** Shorter descriptions can't say what a skill is for. */
const FEW_CHARACTERS = 40;

export function adviseOnName(name: string, taken: ReadonlySet<string>): Advice | null {
	if (name === '') return null;
	if (!SKILL_NAME.test(name) || name.length > MAX_SKILL_NAME)
		return { message: 'Use only lowercase letters, digits and single hyphens.', isWrong: true };
	if (taken.has(name)) return { message: 'A skill with this name already exists.', isWrong: true };
	return { message: 'Looks good', isWrong: false };
}

/** The closest valid name; empty if there is none. */
export function suggestName(typed: string): string {
	const plain = typed.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
	return plain
		.replace(/[^a-z0-9]+/g, '-')
		.slice(0, MAX_SKILL_NAME)
		.replace(/^-+|-+$/g, '');
}

export function adviseOnDescription(description: string): Advice | null {
	const given = description.trim();
	if (given === '') return null;
	if (given.length > MAX_SKILL_DESCRIPTION)
		return { message: 'Too long: the limit is 1,024 characters.', isWrong: true };
	if (given.length < FEW_CHARACTERS)
		return { message: 'Say more: the model chooses skills by this text alone.', isWrong: false };
	if (!/\b(?:when|whenever|if|for)\b/i.test(given))
		return { message: 'Say when to use it: “Use when someone asks about…”', isWrong: false };
	return { message: 'Says what it does and when to use it', isWrong: false };
}

/** Paths relative to the skills folder. */
export function filesOfTemplate(name: string, template: SkillTemplate, takes: ScriptInput): string[] {
	const folder = name === '' ? 'your-skill' : name;
	const samples = takes === 'file' ? ['examples/sample.txt'] : [];
	const files = {
		instructions: [],
		script: ['scripts/run.mjs', ...samples],
		tools: ['tools.json', `scripts/${toolOf(folder)}.mjs`, ...samples]
	};
	return ['SKILL.md', ...files[template]].map((path) => `${folder}/${path}`);
}

/** What the question hands to a script: what it quotes is a text. */
export function inputIn(question: string): ScriptInput {
	if (/["“”«»]/.test(question)) return 'text';
	if (/(?<![\w/])[\w-]+\.[a-z][a-z0-9]{1,4}\b/i.test(question)) return 'file';
	return /(?<![\w.-])-?\d[\d.,]*(?!\w)/.test(question) ? 'number' : 'text';
}

/** The same as on the server. */
export const INPUT_WORDS: Record<ScriptInput, { label: string; usage: string; example: string }> = {
	text: { label: 'Text', usage: ' TEXT', example: ' with “hello world”' },
	number: { label: 'A number', usage: ' NUMBER', example: ' with 42' },
	file: { label: 'A file', usage: ' FILE', example: ' with sample.txt' },
	nothing: { label: 'Nothing', usage: '', example: '' }
};

/** The same rule as on the server. */
function toolOf(name: string): string {
	const tool = name.replaceAll('-', '_').slice(0, 60);
	return /^[a-z]/.test(tool) ? tool : `run_${tool}`;
}

const SKILL_TABS = ['overview', 'instructions', 'files', 'run', 'evals', 'versions'] as const;
export type SkillTab = (typeof SKILL_TABS)[number];

/** Older addresses, and parts of a tab. */
const ALIASES = new Map<string, SkillTab>([
	['doctor', 'overview'],
	['problems', 'overview'],
	['cases', 'run'],
	['trust', 'overview'],
	['findings', 'overview'],
	['changes', 'overview'],
	['needs', 'overview'],
	['secrets', 'overview'],
	['network', 'overview']
]);

/** The tab named by a hash such as `#files`, `#run?…` or `#L12`, a line of a file; null if none. */
export function tabOf(hash: string): SkillTab | null {
	if (hash.startsWith('#L') && lineOf(hash) !== null) return 'files';
	const name = hash.replace(/^#/, '').replace(/\?.*$/, '');
	return SKILL_TABS.find((tab) => tab === name) ?? ALIASES.get(name) ?? null;
}

/** What a skill still needs, as far as it's known; or, of `before`, what is listed there, whether it's there by now or not. */
export function openNeeds(needs: SkillNeeds, before?: SkillNeeds): SkillNeeds {
	const pick = <Need extends { name: string }>(
		list: readonly Need[],
		isOpen: (need: Need) => boolean,
		had?: readonly { name: string }[]
	) => list.filter((need) => (had ? had.some(({ name }) => name === need.name) : isOpen(need)));
	return {
		binaries: pick(needs.binaries, ({ isFound, isDeclared }) => isDeclared && !isFound, before?.binaries),
		packages: pick(needs.packages, ({ isFound }) => !isFound, before?.packages),
		hosts: pick(needs.hosts, ({ isGranted }) => !isGranted, before?.hosts),
		variables: pick(needs.variables, ({ isSet, isOptional }) => !isSet && !isOptional, before?.variables),
		skills: pick(needs.skills, ({ state, isDeclared }) => isDeclared && state !== 'on', before?.skills)
	};
}

/** Nothing is missing that it needs to run; hosts are allowed or not. */
export function hasWhatItNeeds(needs: SkillNeeds): boolean {
	const { binaries, packages, variables, skills } = openNeeds(needs);
	return (
		binaries.length + packages.length + variables.length + skills.length === 0 &&
		!needs.variables.some(({ problem }) => problem)
	);
}
