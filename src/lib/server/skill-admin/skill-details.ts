/** Everything of one skill that somebody needs to decide about it, and the deciding (FEATURES E30, F3, F4, D35). */
import { relative, sep } from 'node:path';
import type { z } from 'zod';
import type { WorkspaceFile } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { SkillDetail, SkillNeeds, skillPatch, SkillSummary, TrustState } from '../../shared/skills.ts';
import { fromSkillId, isServerTool, toSkillId } from '../../shared/names.ts';
import { findSkill, parseReference } from '../skills/registry/references.ts';
import type { SkillRegistry, SkillSnapshot } from '../skills/registry/registry.ts';
import { ownerOf, viewOf } from '../skills/registry/visibility.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { type BrokenSkill, type Skill, SkillError, toolFactsOf } from '../skills/types.ts';
import { openInside } from '../safe-path.ts';
import type { ModeSubject, StoredSkillModes } from '../trust/skill-modes.ts';
import { isOwned, type SkillUsageCounts, type InstallIndex } from './skill-counts.ts';

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
	network: {
		declared(skill: Skill): string[];
		granted(skillId: string): Promise<string[]>;
		grant(skillId: string, domains: readonly string[], now: string): Promise<void>;
	};
}

/** @throws AppError `not_found` */
export async function describeSkill(parts: SkillDetailParts, id: string): Promise<SkillDetail> {
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) return describeBuiltin(builtin, parts);
	const skill = requireListed(parts, null, id);
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
		network: { declared, granted: granted.filter((domain) => declared.includes(domain)) },
		allowedTools: skill.allowedTools ?? null,
		...toolFactsOf(skill)
	};
}

/** Its files and what is wrong with it: nothing of it can run, so it needs and may do nothing. */
async function describeBroken(parts: SkillDetailParts, skill: BrokenSkill): Promise<SkillDetail> {
	return {
		...summaryOf(skill, brokenIdOf(skill), parts),
		mode: 'auto',
		...(await parts.trust.review(skill)),
		skillId: skillIdOf(skill),
		version: '',
		needs: { binaries: [], pythonModules: [], variables: [] },
		network: { declared: [], granted: [] },
		allowedTools: null,
		toolDescriptions: {},
		inputSchemas: {}
	};
}

/**
 * All of it or, where something is refused, nothing of what comes after it: what may be refused comes first.
 * @throws AppError `not_found`, `conflict` for files that have changed since, `invalid_input` for a domain that is not
 * declared, and for anything but the mode of a built-in skill
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
	const foreign = network?.find((domain) => !parts.network.declared(skill).includes(domain));
	if (foreign !== undefined) {
		throw new AppError('invalid_input', `network: “${skill.name}” doesn’t request ${foreign}, so it can’t be granted.`);
	}
	if (trust?.isTrusted === true) await parts.trust.trust(skill, trust.digest, now);
	if (trust?.isTrusted === false) await parts.trust.revoke(skill);
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

// The skill that an id of the API means (FEATURES A28, A37–A39).

export interface LookupParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
}

/**
 * `name` is the version in use, or where all are switched off the newest; `name@range`, `source/name` and
 * `source/name@range` work as in every tool. Written exactly: what is changed must not be one that is only written alike.
 * `apiKeyId` is whose skills count beside the system's, its own first; null for whoever manages the server, and sees all.
 * @throws AppError `not_found`, `invalid_input` for a range that is none
 */
export function requireSkill(parts: LookupParts, apiKeyId: string | null, id: string): Skill {
	const found = lookUp(parts, apiKeyId, fromSkillId(id));
	if (found) return found;
	const broken = findBroken(parts, apiKeyId, id) ?? findFolder(parts, apiKeyId, id);
	if (!broken) throw new AppError('not_found', `Skill not found: “${id.slice(0, 200)}”.`);
	throw new AppError('conflict', `“${broken.name}” is broken, so it can’t be used.`, {
		hint: 'Fix the problems listed on its page.'
	});
}

/** The same, and of those that are broken `source/folder`. @throws AppError as `requireSkill` */
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

/** By its folder as somebody may write it, where no id is written so. */
function findFolder({ skills }: LookupParts, apiKeyId: string | null, id: string): BrokenSkill | undefined {
	return skills.registry.snapshot().broken.find((skill) => folderOf(skill) === id && isSeenBy(apiKeyId, skill));
}

/** Is it one that this key sees? Whoever manages the server (null) sees all. */
export function isSeenBy(apiKeyId: string | null, { source }: Pick<Skill, 'source'>): boolean {
	return apiKeyId === null || !isOwned(source) || source === ownerOf(apiKeyId);
}

/**
 * The id of a skill that is broken: its folder below its root. A `~` in it is written `~~`, and an `@`, which stands
 * before a version in the id of one that is not broken, `~:`, which is in no name: no other skill has this id.
 */
export function brokenIdOf(skill: Pick<BrokenSkill, 'source' | 'root' | 'dir'>): string {
	return toSkillId(folderOf(skill).replace(/[~@]/g, (sign) => (sign === '@' ? '~:' : '~~')));
}

function folderOf({ source, root, dir }: Pick<BrokenSkill, 'source' | 'root' | 'dir'>): string {
	return `${source}/${relative(root, dir).split(sep).join('/') || '.'}`;
}

/** The id that the list gives a skill: its name where that means it and no skill of the server, else with source and version. */
export function idOf(skill: Skill, isFirst: boolean): string {
	return toSkillId(isFirst && !isServerTool(skill.name) ? skill.name : `${skillIdOf(skill)}@${skill.version}`);
}

/** Is it the one that its name means, for whoever manages the server? */
export function isFirst(parts: LookupParts, skill: Skill): boolean {
	return lookUp(parts, null, skill.name) === skill;
}

/** Of skills of one name, those of this caller in its order: as `viewOf` has them, and all of them. */
export function rivalsFor(
	{ modes }: Pick<LookupParts, 'modes'>,
	apiKeyId: string | null,
	named: readonly Skill[]
): { library: SkillSnapshot; all: SkillSnapshot } {
	const seen = named.filter((skill) => isSeenBy(apiKeyId, skill));
	const all = { skills: seen.slice(0, 1), shadowed: seen.slice(1), broken: [], revision: '' };
	// Whose it is does not matter to whoever manages it.
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

// The skills that this server brings itself, as the library shows them (FEATURES D27–D31, B6).

/** What there is to show of one. */
export interface BuiltinSkill {
	/** Name of its one tool as well. */
	name: string;
	description: string;
	/** JSON Schema of its tool's input. */
	parameters: Record<string, unknown>;
	/** Why it is not offered, in a sentence; null when it is. */
	unavailable(): string | null;
}

export interface BuiltinParts {
	modes: Pick<StoredSkillModes, 'modeOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
}

/** Source and provider of all of them. */
export const BUILTIN = 'builtin';
const VERSION = '1.0.0';

/** By its id, `builtin/name`, as it is written. */
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

/** It has no files, and needs and may do nothing that somebody could decide about. */
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
		needs: { binaries: [], pythonModules: [], variables: [] },
		network: { declared: [], granted: [] },
		allowedTools: null,
		toolDescriptions: { [builtin.name]: builtin.description },
		inputSchemas: { [builtin.name]: builtin.parameters }
	};
}

// A skill as the API lists it: with its diagnostics, where it came from, whose it is and how often it ran (FEATURES E2).

export interface SummaryParts {
	trust: { statesOf(skills: readonly (Skill | BrokenSkill)[]): Promise<TrustState[]> };
	modes: Pick<StoredSkillModes, 'modeOf'>;
	installs: Pick<InstallIndex, 'providerOf' | 'ownerOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
}

/** In their order. Whether files are trusted costs more than the rest: ask for what is shown, not for all. */
export async function summariseSkills(
	listed: readonly { id: string; skill: Skill | BrokenSkill }[],
	parts: SummaryParts
): Promise<SkillSummary[]> {
	const states = await parts.trust.statesOf(listed.map(({ skill }) => skill));
	return listed.map(({ id, skill }, index) => ({
		...summaryOf(skill, id, parts),
		trust: states[index] ?? 'untrusted',
		mode: modeOf(skill, parts)
	}));
}

/** A broken one has no mode that somebody chose: it is never offered. */
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
		status,
		path,
		version,
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

/** `metadata.icon`, if it is one emoji and nothing else. */
function iconOf({ metadata }: Skill): string | null {
	const icon = metadata.icon?.trim() ?? '';
	const isEmoji = icon.length <= 32 && /^\p{Extended_Pictographic}/u.test(icon);
	return isEmoji && [...new Intl.Segmenter().segment(icon)].length === 1 ? icon : null;
}

// A message that a skill brings to show what it does, and the files that go with it (`metadata.example`, `examples/`).

const EXAMPLES = 'examples/';
/** Of more, these are the first. */
const MAX_EXAMPLE_FILES = 5;

function exampleOf({ example, files }: Skill): SkillSummary['example'] {
	if (example === undefined) return null;
	const found = files.filter((path) => path.startsWith(EXAMPLES) && !path.slice(EXAMPLES.length).includes('/'));
	return { prompt: example, files: found.slice(0, MAX_EXAMPLE_FILES).map((path) => path.slice(EXAMPLES.length)) };
}

interface Workspace {
	list(conversationId: string): Promise<WorkspaceFile[]>;
	write(conversationId: string, path: string, body: ReadableStream<Uint8Array>): Promise<WorkspaceFile>;
}

/**
 * Puts the files of a skill's example into a conversation's workspace; what is there already stays as it is.
 * @throws AppError `not_found` for a skill without an example, and as `write`
 */
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
