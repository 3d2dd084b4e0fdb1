/** Decides which calls need approval, and finds the decisions (AG-UI interrupts; FEATURES C16, E30, F3, F4). */
import { randomUUID } from 'node:crypto';
import type { ApprovalDecision, ApprovalRequest, RunVerdict } from '../../shared/events.ts';
import type { Approval, Message } from '../../shared/message.ts';
import { isOfChat } from '../../shared/names.ts';
import type { TrustState } from '../../shared/skills.ts';
import type { PlannedRun } from '../skills/call/session.ts';
import { parseAllowedTools } from '../skills/read/manifest.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import type { Store } from '../store/store.ts';

/** `ask`: scripts need approval; `auto`: scripts of trusted skills don't. */
export type ApprovalMode = 'ask' | 'auto';

export interface ApprovalPolicy {
	/** `earlier` counts only while the skill's files stay the same. */
	request(run: PlannedRun, earlier: Approval | null): Promise<RunVerdict>;
	/** True if somebody has checked its current files, or its location is trusted. */
	isTrusted(skill: Skill): Promise<boolean>;
	/** Whether all its scripts run without a question: it's trusted, lacks nothing, and trusted skills needn't ask. */
	runsUnasked(skill: Skill): Promise<boolean>;
	/** The same, but trusted skills need approval, too. */
	asking(): ApprovalPolicy;
	/** Decisions about the calls an answer is waiting for, by the questions' ids. */
	decisions(conversationId: string, answer: Message): Promise<Map<string, ApprovalDecision>>;
}

export interface ApprovalPolicyOptions {
	store: Pick<Store, 'approvals'>;
	mode: ApprovalMode;
	trust: {
		/** Reads the current files; `digest` is null if it isn't needed or not all can be read. */
		judge(skill: Skill): Promise<{ state: TrustState; digest: string | null; problem: string | null }>;
		digestOf(skill: Skill): Promise<string>;
	};
	/** Variables that a skill declares and nobody has set; none by default. */
	missingVariables?: (skill: Skill) => Promise<string[]>;
	/** What a script of it can reach in the sandbox; unknown by default. */
	reachOf?: (skill: Skill) => Promise<ApprovalRequest['reach']>;
}

export function createApprovalPolicy(options: ApprovalPolicyOptions): ApprovalPolicy {
	const { store, mode, trust, missingVariables = async () => [], reachOf = async () => undefined } = options;
	const isUnasked = (state: TrustState, missing: readonly string[]) =>
		isTrusted(state) && mode === 'auto' && missing.length === 0;
	return {
		async request({ skill, script, args }, earlier) {
			const { state, digest: whole, problem } = await trust.judge(skill);
			const missing = await missingVariables(skill);
			if (isUnasked(state, missing)) return { question: null, digest: whole };
			const digest = whole ?? (await trust.digestOf(skill));
			const allowed = { question: null, digest };
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			if (isAllowed && earlier.digest === digest) return allowed;
			if (isTrusted(state)) {
				// Permanent approvals and `allowed-tools` count only for trusted skills.
				if (await store.approvals.isGranted({ skill: skill.name, script, digest })) return allowed;
				const { allowedTools, tools, files } = skill;
				const requested = { script, args, tools: tools.map(({ name }) => name), files };
				if (missing.length === 0 && isAllowedBeforehand(allowedTools, requested)) return allowed;
			}
			const reason = isAllowed
				? `The files of “${skill.name}” changed after you allowed this.`
				: reasonFor(skill.name, script, { state, problem, missing });
			const question = {
				interruptId: randomUUID(),
				skill: skill.name,
				script,
				args,
				reason,
				digest,
				reach: handlerOf(skill, script) !== null ? { hosts: null, readsServer: true } : await reachOf(skill),
				...(state === 'untrusted' || state === 'changed' ? { trust: state, skillId: skillIdOf(skill) } : {}),
				...(missing.length > 0 ? { missing, skillId: skillIdOf(skill) } : {}),
				...(isOfChat(skillIdOf(skill)) ? { skillId: skillIdOf(skill) } : {})
			};
			return { question, digest };
		},
		async isTrusted(skill) {
			return isTrusted((await trust.judge(skill)).state);
		},
		runsUnasked: async (skill) => isUnasked((await trust.judge(skill)).state, await missingVariables(skill)),
		asking: () => createApprovalPolicy({ ...options, mode: 'ask' }),
		decisions: (conversationId, answer) => store.approvals.decisions(conversationId, waitingIds(answer))
	};
}

/** The handler behind a tool, if there is one: it runs inside the server, so no sandbox limits it. */
export function handlerOf({ tools }: Pick<Skill, 'tools'>, name: string): string | null {
	const tool = tools.find((each) => each.name === name);
	return tool?.script === undefined ? (tool?.handler ?? null) : null;
}

function isTrusted(state: TrustState): boolean {
	return state === 'trusted' || state === 'builtin';
}

function reasonFor(
	skill: string,
	script: string,
	{ state, problem, missing }: { state: TrustState; problem: string | null; missing: readonly string[] }
): string {
	if (state === 'untrusted' && problem !== null) return `“${skill}” wants to run ${script}. ${problem}`;
	if (state === 'untrusted') return `“${skill}” wants to run ${script}. This skill isn’t trusted.`;
	if (state === 'changed') return `“${skill}” wants to run ${script}. The skill’s files changed since you trusted it.`;
	if (missing.length === 0) return `“${skill}” wants to run ${script}.`;
	const verb = missing.length === 1 ? 'is' : 'are';
	return `“${skill}” wants to run ${script}, but ${missing.join(', ')} ${verb} not set.`;
}

/** Ids of the questions an answer is waiting for. */
export function waitingIds(answer: Message): string[] {
	return answer.parts.flatMap((part) => {
		return part.type === 'tool' && part.status === 'waiting' && part.approval ? [part.approval.interruptId] : [];
	});
}

// Checks whether a skill's `allowed-tools` covers a run of its scripts or tools (A14); pure.

export interface RequestedRun {
	/** As the caller named it: a path, a bare name, or a tool of tools.json. */
	script: string;
	args: readonly string[];
	/** Names of the skill's tools. */
	tools: readonly string[];
	/** Files of the skill. */
	files: readonly string[];
}

/** Programs that may stand before a script in a command line. */
const PROGRAMS: readonly (readonly [extension: RegExp, programs: readonly string[]])[] = [
	[/\.py$/, ['python', 'python3']],
	[/\.(?:js|mjs|cjs)$/, ['node']],
	[/\.ts$/, ['node', 'tsx']],
	[/\.(?:sh|bash)$/, ['bash', 'sh']]
];

/**
 * `use_skill` covers everything, `Bash` and `Bash(*)` every script, `Bash(scripts/x.sh:*)` one with any arguments,
 * `Bash(python scripts/x.py)` one with exactly these, a tool's name that tool. Unreadable text covers nothing.
 */
export function isAllowedBeforehand(wish: string | undefined, run: RequestedRun): boolean {
	const isTool = run.tools.includes(run.script);
	const name = pathOf(run);
	// An ambiguous name may mean a tool or a script, so it needs an entry that covers everything.
	const isScript = !isTool || run.files.includes(name);
	return parseAllowedTools(wish).some((token) => {
		if (token === 'use_skill' || token === 'use_skill(*)') return true;
		if (isTool && !isScript) return token === run.script;
		if (isTool) return false;
		const pattern = /^(?:Bash|bash|use_skill)(?:\((.*)\))?$/s.exec(token);
		return pattern !== null && commandsOf(name, run.args).some((words) => covers(pattern[1] ?? '*', words));
	});
}

/** The file a name resolves to: at the root or in `scripts/`. */
function pathOf({ script, files }: RequestedRun): string {
	const name = withoutDot(script);
	const inScripts = `scripts/${name}`;
	return !files.includes(name) && files.includes(inScripts) ? inScripts : name;
}

function commandsOf(script: string, args: readonly string[]): string[][] {
	const programs = PROGRAMS.flatMap(([extension, names]) => (extension.test(script) ? names : []));
	return [[script, ...args], ...programs.map((program) => [program, script, ...args])];
}

/** Compares word by word; `*` alone, and `:*` or ` *` at the end, match any further words. */
function covers(pattern: string, words: readonly string[]): boolean {
	const text = pattern.trim();
	const [, start = text, more] = /^(.*?)(:\*|(?:^|\s)\*)$/s.exec(text) ?? [];
	// Don't guess at quotes, inner wildcards and the like.
	if (/["'`$*\\;&|<>(){}[\]?]/.test(start)) return false;
	const wanted = start.split(/\s+/).filter(Boolean).map(withoutDot);
	if (more === undefined && wanted.length !== words.length) return false;
	return wanted.every((word, index) => word === words[index]);
}

function withoutDot(path: string): string {
	return path.replace(/^(?:\.\/)+/, '');
}
