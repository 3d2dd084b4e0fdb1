/** Describes a skill for review, and changes its mode, trust and network access (E30, F3, F4, D35). */
import { basename, relative, sep } from 'node:path';
import type { z } from 'zod';
import type { WorkspaceFile } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { SkillDetail, SkillNeeds, skillPatch, SkillSummary, TrustState } from '../../shared/skills.ts';
import { fromSkillId, isServerTool, toSkillId } from '../../shared/names.ts';
import { parseDomain } from '../skills/needs/hosts.ts';
import { findSkill, parseReference } from '../skills/registry/references.ts';
import type { SkillRegistry, SkillSnapshot } from '../skills/registry/registry.ts';
import { isOwned, ownerOf, viewOf } from '../skills/registry/visibility.ts';
import { statesVersion } from '../skills/read/skill-loader.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { type BrokenSkill, type Skill, SkillError, toolFactsOf } from '../skills/types.ts';
import { openInside } from '../safe-path.ts';
import type { ModeSubject, StoredSkillModes } from '../trust/skill-modes.ts';
import type { SkillEdits } from './skill-edits.ts';
import { type SkillUsageCounts, type InstallIndex } from './skill-counts.ts';

type SkillReview = Pick<SkillDetail, 'trust' | 'isTrustedByPlace' | 'digest' | 'files' | 'findings' | 'changes'>;

export interface SkillDetailParts extends Pick<SummaryParts, 'installs' | 'usage'> {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	builtins: { builtins: readonly BuiltinSkill[] };
	trust: {
		review(skill: Skill | BrokenSkill): Promise<SkillReview>;
		trust(skill: Skill, digest: string, now: string): Promise<void>;
		revoke(skill: Skill): Promise<void>;
	};
	modes: StoredSkillModes;
	preflight: { needsOf(skill: Skill): Promise<SkillNeeds> };
	edits?: Pick<SkillEdits, 'hadName' | 'forgetTrust'>;
	network: {
		declared(skill: Skill): string[];
		granted(skillId: string): Promise<string[]>;
		grant(skillId: string, domains: readonly string[], now: string): Promise<void>;
	};
}

/** Also by a name that it had, unless another skill has that by now. @throws AppError `not_found` */
export async function describeSkill(parts: SkillDetailParts, id: string): Promise<SkillDetail> {
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) return describeBuiltin(builtin, parts);
	const skill = await findNowOrOnce(parts, id);
	if (skill.status === 'broken') return describeBroken(parts, skill);
	const ownId = idOf(skill, isFirst(parts, skill));
	const skillId = skillIdOf(skill);
	const declared = parts.network.declared(skill);
	const [review, needs, granted] = await Promise.all([
		parts.trust.review(skill),
		parts.preflight.needsOf(skill),
		parts.network.granted(skillId)
	]);
	return {
		...summaryOf(skill, ownId, parts),
		mode: parts.modes.modeOf(skill),
		...review,
		skillId,
		version: skill.version,
		needs,
		network: { declared, granted },
		allowedTools: skill.allowedTools ?? null,
		...toolFactsOf(skill)
	};
}

async function findNowOrOnce(parts: SkillDetailParts, id: string): Promise<Skill | BrokenSkill> {
	try {
		return requireListed(parts, null, id);
	} catch (error) {
		if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
		const { source, name } = parseReference(fromSkillId(id));
		const { skills, shadowed, broken } = parts.skills.registry.snapshot();
		const all = [...skills, ...shadowed, ...broken].filter((skill) => source === null || source === skill.source);
		if (all.some((skill) => skill.name === name)) throw error;
		for (const skill of all) {
			if (basename(skill.dir) === name || (await parts.edits?.hadName(skill.dir, name))) return skill;
		}
		throw error;
	}
}

const NOTHING_NEEDED = {
	needs: { binaries: [], packages: [], hosts: [], variables: [], skills: [] },
	network: { declared: [], granted: [] },
	allowedTools: null
};

/** A broken skill can’t run, so it has no requirements. */
async function describeBroken(parts: SkillDetailParts, skill: BrokenSkill): Promise<SkillDetail> {
	return {
		...summaryOf(skill, brokenIdOf(skill), parts),
		mode: 'auto',
		...(await parts.trust.review(skill)),
		skillId: skillIdOf(skill),
		version: '',
		...NOTHING_NEEDED,
		toolDescriptions: {},
		inputSchemas: {}
	};
}

/**
 * Checks before it changes anything.
 * @throws AppError `not_found`, `conflict` if the files have changed, `invalid_input` for an invalid domain, and for
 * anything but the mode of a built-in skill
 */
export async function changeSkill(
	parts: SkillDetailParts,
	id: string,
	patch: z.infer<typeof skillPatch>,
	now: string
): Promise<SkillDetail> {
	const { trust, network } = patch;
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) {
		if (trust !== undefined || network !== undefined) {
			throw new AppError('invalid_input', `“${builtin.name}” is built in, so you can only change its mode.`);
		}
		await changeMode(parts.modes, `builtin/${builtin.name}`, patch);
		return describeBuiltin(builtin, parts);
	}
	const skill = requireSkill(parts, null, id);
	const skillId = skillIdOf(skill);
	const bad = network?.map(parseDomain).find(({ problem }) => problem !== undefined);
	if (bad?.problem !== undefined) throw new AppError('invalid_input', bad.problem);
	if (trust?.isTrusted === true) await parts.trust.trust(skill, trust.digest, now);
	if (trust?.isTrusted === false) {
		await parts.trust.revoke(skill);
		await parts.edits?.forgetTrust(skill.dir);
	}
	if (network !== undefined) await parts.network.grant(skillId, network, now);
	await changeMode(parts.modes, skill, patch);
	return describeSkill(parts, id);
}

async function changeMode(
	modes: StoredSkillModes,
	subject: ModeSubject,
	{ mode, enabled }: Pick<z.infer<typeof skillPatch>, 'mode' | 'enabled'>
): Promise<void> {
	if (mode !== undefined) await modes.setMode(subject, mode);
	if (enabled !== undefined) await modes.setEnabled(subject, enabled);
}

// Looks skills up by the ids of the API (A28, A37–A39).

export interface LookupParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
}

/**
 * `name` means the version in use, or the newest if all are off; `name@range`, `source/name` and `source/name@range` work
 * too. Names must match exactly, so that a change can’t hit a similar name. An API key sees its own skills first, then
 * the system’s; null is the operator, who sees all.
 * @throws AppError `not_found`, `invalid_input` for an invalid range, `conflict` for a broken skill
 */
export function requireSkill(parts: LookupParts, apiKeyId: string | null, id: string): Skill {
	const found = lookUp(parts, apiKeyId, fromSkillId(id));
	if (found) return found;
	const broken = findBroken(parts, apiKeyId, id) ?? findFolder(parts, apiKeyId, id);
	if (!broken) throw new AppError('not_found', `Skill not found: “${id.slice(0, 200)}”.`);
	const hint = 'Fix the problems listed on its page.';
	throw new AppError('conflict', `“${broken.name}” is broken, so it can’t be used.`, { hint });
}

/** Also finds broken skills, by `source/folder`. @throws AppError as `requireSkill` */
export function requireListed(parts: LookupParts, apiKeyId: string | null, id: string): Skill | BrokenSkill {
	return (
		findBroken(parts, apiKeyId, id) ??
		(lookUp(parts, apiKeyId, fromSkillId(id)) ? undefined : findFolder(parts, apiKeyId, id)) ??
		requireSkill(parts, apiKeyId, id)
	);
}

function findBroken({ skills }: LookupParts, apiKeyId: string | null, id: string): BrokenSkill | undefined {
	const wanted = toSkillId(id);
	return skills.registry.snapshot().broken.find((skill) => brokenIdOf(skill) === wanted && isSeenBy(apiKeyId, skill));
}

/** By its folder in plain form, which isn’t an id; else by what it’s found by while it can be read. */
function findFolder({ skills }: LookupParts, apiKeyId: string | null, id: string): BrokenSkill | undefined {
	const seen = skills.registry.snapshot().broken.filter((skill) => isSeenBy(apiKeyId, skill));
	const { source, name } = parseReference(fromSkillId(id));
	const isMeant = (skill: BrokenSkill) => skill.name === name && (source === null || skill.source === source);
	return seen.find((skill) => folderOf(skill) === id) ?? seen.find(isMeant);
}

/** Whether this API key sees the skill. null is the operator, who sees all. */
export function isSeenBy(apiKeyId: string | null, { source }: Pick<Skill, 'source'>): boolean {
	return apiKeyId === null || !isOwned(source) || source === ownerOf(apiKeyId);
}

/** The id of a broken skill: its folder below its root, with `~` as `~~` and `@` as `~:`, so that it can’t equal another id. */
export function brokenIdOf(skill: Pick<BrokenSkill, 'source' | 'root' | 'dir'>): string {
	return toSkillId(folderOf(skill).replace(/[~@]/g, (sign) => (sign === '@' ? '~:' : '~~')));
}

/** `source/folder`, below its root. */
export function folderOf({ source, root, dir }: Pick<BrokenSkill, 'source' | 'root' | 'dir'>): string {
	return `${source}/${relative(root, dir).split(sep).join('/') || '.'}`;
}

/** The id in lists: the name if that means this skill, else with source and version. */
export function idOf(skill: Skill, isFirst: boolean): string {
	return toSkillId(isFirst && !isServerTool(skill.name) ? skill.name : `${skillIdOf(skill)}@${skill.version}`);
}

/** Whether the name alone means this skill, for the operator. */
export function isFirst(parts: LookupParts, skill: Skill): boolean {
	return lookUp(parts, null, skill.name) === skill;
}

/** Skills of one name that the caller sees: those in its library (`viewOf`), and all. */
export function rivalsFor(
	{ modes }: Pick<LookupParts, 'modes'>,
	apiKeyId: string | null,
	named: readonly Skill[]
): { library: SkillSnapshot; all: SkillSnapshot } {
	const seen = named.filter((skill) => isSeenBy(apiKeyId, skill));
	const all = { skills: seen.slice(0, 1), shadowed: seen.slice(1), broken: [], revision: '' };
	// The operator may use any owner’s skill.
	const owner = apiKeyId === null ? seen[0]?.owner : ownerOf(apiKeyId);
	return { library: viewOf(all, { owner, ...modes }).library, all };
}

function lookUp(parts: LookupParts, apiKeyId: string | null, id: string): Skill | undefined {
	const { skills, shadowed } = parts.skills.registry.snapshot();
	const { source, name } = parseReference(id);
	const isExact = (skill: Skill) => skill.name === name && (source === null || skill.source === source);
	const { library, all } = rivalsFor(parts, apiKeyId, [...skills, ...shadowed].filter(isExact));
	try {
		return findSkill(library, id) ?? findSkill(all, id);
	} catch (error) {
		if (error instanceof SkillError) throw new AppError('invalid_input', error.message, { hint: error.hint });
		throw error;
	}
}

// Built-in skills in the library (D27–D31, B6).

export interface BuiltinSkill {
	name: string;
	description: string;
	parameters: Record<string, unknown>;
	/** Why it isn’t offered, as a sentence; null if it is. */
	unavailable(): string | null;
}

export interface BuiltinParts {
	modes: Pick<StoredSkillModes, 'modeOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
}

export const BUILTIN = 'builtin';
const VERSION = '1.0.0';

/** By its id, `builtin/name`. */
export function findBuiltin(builtins: readonly BuiltinSkill[], id: string): BuiltinSkill | null {
	return builtins.find(({ name }) => id === `${BUILTIN}/${name}`) ?? null;
}

export function summariseBuiltin(
	{ name, description, unavailable }: BuiltinSkill,
	{ modes, usage }: BuiltinParts
): SkillSummary {
	const id = `${BUILTIN}/${name}` as const;
	const reason = unavailable();
	return {
		id,
		name,
		description,
		status: 'ready',
		path: '',
		scripts: [],
		tools: [name],
		icon: null,
		example: null,
		diagnostics: reason === null ? [] : [{ severity: 'warning', field: '_', message: reason }],
		trust: 'builtin',
		mode: modes.modeOf(id),
		version: VERSION,
		source: BUILTIN,
		provider: BUILTIN,
		owner: 'system',
		usage: usage.of(id)
	};
}

function describeBuiltin(builtin: BuiltinSkill, parts: BuiltinParts): SkillDetail {
	const summary = summariseBuiltin(builtin, parts);
	return {
		...summary,
		skillId: summary.id,
		version: VERSION,
		digest: '',
		isTrustedByPlace: false,
		files: [],
		findings: [],
		changes: null,
		...NOTHING_NEEDED,
		toolDescriptions: { [builtin.name]: builtin.description },
		inputSchemas: { [builtin.name]: builtin.parameters }
	};
}

// Summaries for lists (E2).

export interface SummaryParts {
	trust: {
		statesOf(skills: readonly (Skill | BrokenSkill)[]): Promise<TrustState[]>;
		risksOf(skill: Skill): number | null;
	};
	modes: Pick<StoredSkillModes, 'modeOf'>;
	installs: Pick<InstallIndex, 'providerOf' | 'ownerOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
}

/** Keeps the order. Trust is expensive to check, so pass only what is shown. */
export async function summariseSkills(
	listed: readonly { id: string; skill: Skill | BrokenSkill }[],
	parts: SummaryParts
): Promise<SkillSummary[]> {
	const states = await parts.trust.statesOf(listed.map(({ skill }) => skill));
	return listed.map(({ id, skill }, index) => {
		const trust = states[index] ?? 'untrusted';
		const isToCount = skill.status === 'ready' && trust !== 'trusted';
		const risks = isToCount ? (parts.trust.risksOf(skill) ?? undefined) : undefined;
		return { ...summaryOf(skill, id, parts), trust, risks, mode: modeOf(skill, parts) };
	});
}

/** A broken skill is never offered, so it has no chosen mode. */
export function modeOf(skill: Skill | BrokenSkill, { modes }: Pick<SummaryParts, 'modes'>): SkillSummary['mode'] {
	return skill.status === 'ready' ? modes.modeOf(skill) : 'auto';
}

function summaryOf(
	skill: Skill | BrokenSkill,
	id: string,
	{ installs, usage }: Pick<SummaryParts, 'installs' | 'usage'>
): Omit<SkillSummary, 'trust' | 'mode'> {
	const { name, description, status, path, source, issues } = skill;
	const skillId = skillIdOf(skill);
	const isReady = skill.status === 'ready';
	const version = isReady ? skill.version : null;
	return {
		id,
		name,
		description,
		...(isReady && skill.tags.length > 0 ? { tags: [...skill.tags] } : {}),
		status,
		path,
		version,
		...(isReady && { statesVersion: statesVersion(skill) }),
		source,
		scripts: isReady ? [...skill.scripts] : [],
		tools: isReady ? skill.tools.map((tool) => tool.name) : [],
		icon: isReady ? iconOf(skill) : null,
		example: isReady ? exampleOf(skill) : null,
		diagnostics: [...issues],
		provider: installs.providerOf(skillId, version),
		owner: installs.ownerOf(source),
		usage: usage.of(skillId)
	};
}

/** `metadata.icon`, if it is a single emoji. */
function iconOf({ metadata }: Skill): string | null {
	const icon = metadata.icon?.trim() ?? '';
	const isEmoji = icon.length <= 32 && /^\p{Extended_Pictographic}/u.test(icon);
	return isEmoji && [...new Intl.Segmenter().segment(icon)].length === 1 ? icon : null;
}

// Examples: a message and its files (`metadata.example`, `examples/`).

const EXAMPLES = 'examples/';
const MAX_EXAMPLE_FILES = 5;
const MAX_EXAMPLE_TITLE = 60;

function exampleOf({ example, files, metadata }: Skill): SkillSummary['example'] {
	if (example === undefined) return null;
	const found = files.filter((path) => path.startsWith(EXAMPLES) && !path.slice(EXAMPLES.length).includes('/'));
	const title = metadata['example-title']?.trim() || example;
	const isShort = title.length <= MAX_EXAMPLE_TITLE;
	return {
		title: isShort ? title : example,
		prompt: example,
		files: found.slice(0, MAX_EXAMPLE_FILES).map((path) => path.slice(EXAMPLES.length))
	};
}

interface Workspace {
	list(conversationId: string): Promise<WorkspaceFile[]>;
	write(conversationId: string, path: string, body: ReadableStream<Uint8Array>): Promise<WorkspaceFile>;
}

/** Copies the example’s files into a conversation’s workspace, without overwriting. @throws AppError `not_found`; as `write` */
export async function copyExample(
	parts: LookupParts & { workspaces: Workspace },
	id: string,
	conversationId: string
): Promise<{ prompt: string; files: WorkspaceFile[] }> {
	const skill = requireSkill(parts, null, id);
	const example = exampleOf(skill);
	if (!example) throw new AppError('not_found', `“${skill.name}” has no example.`);
	const there = new Map((await parts.workspaces.list(conversationId)).map((file) => [file.path, file]));
	const files: WorkspaceFile[] = [];
	for (const name of example.files) {
		files.push(there.get(name) ?? (await copyFile(skill.dir, name)));
	}
	return { prompt: example.prompt, files };

	async function copyFile(dir: string, name: string): Promise<WorkspaceFile> {
		const { file } = await openInside(dir, EXAMPLES + name);
		try {
			return await parts.workspaces.write(conversationId, name, file.readableWebStream() as ReadableStream<Uint8Array>);
		} finally {
			await file.close();
		}
	}
}
