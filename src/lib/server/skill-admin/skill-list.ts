/** Lists skills for the API: usable, shadowed, broken, then built-in ones; and scores them for a text (E2). */
import type { z } from 'zod';
import type { CatalogSize, SkillQuery, SkillSummary, scoreRequest, SkillScoreList } from '../../shared/skills.ts';
import { estimateTokens } from '../../shared/characters.ts';
import { renderCatalog } from '../skills/prompt.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { SkillRegistry, SkillSnapshot } from '../skills/registry/registry.ts';
import { createPace } from '../skills/read/lean.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import { viewOf, ownerOf } from '../skills/registry/visibility.ts';
import {
	brokenIdOf,
	BUILTIN,
	type BuiltinSkill,
	idOf,
	isSeenBy,
	rivalsFor,
	summariseBuiltin,
	modeOf,
	summariseSkills,
	type SummaryParts
} from './skill-details.ts';
import { CATALOG_TOKENS } from '../turns/instructions.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import type { Settings } from '../../shared/settings.ts';
import { createAutoScorer, pickScored, type ScoredSkill, createScorer } from '../skills/find/scores.ts';
import type { SkillUsageCounts } from './skill-counts.ts';

export interface SkillListParts extends SummaryParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	builtins: { builtins: readonly BuiltinSkill[] };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
}

export interface SkillLister {
	/**
	 * Matches of `query` in a stable order, in pages from 1. An API key sees its own skills and the system’s, without
	 * paths; null is the operator.
	 */
	list(query: SkillQuery, page: { page: number; limit: number }, apiKeyId: string | null): Promise<SkillPage>;
	/** Token count of the catalog in the prompt, cached by revision. */
	catalog(revision: string): CatalogSize;
}

interface SkillPage {
	data: SkillSummary[];
	total: number;
}

type Listed = Skill | BrokenSkill | BuiltinSkill;

/** Cached until the library changes. */
interface ReadLibrary {
	snapshot: SkillSnapshot;
	all: Listed[];
	/** Skills that share a name; which one the name means can change without the library. */
	rivals: Map<string, Skill[]>;
}

export function createSkillLister(parts: SkillListParts): SkillLister {
	const texts = new WeakMap<Listed, string>();
	let read: ReadLibrary | null = null;
	let counted: { revision: string; size: CatalogSize } | null = null;

	const library = (): ReadLibrary => {
		const snapshot = parts.skills.registry.snapshot();
		if (read?.snapshot !== snapshot) read = readLibrary(snapshot, parts.builtins.builtins);
		return read;
	};
	const textOf = (listed: Listed): string => {
		const known = texts.get(listed);
		if (known !== undefined) return known;
		const tags = 'tags' in listed ? listed.tags : [];
		const text = [listed.name, listed.description, ...tags].join('\n').toLowerCase();
		texts.set(listed, text);
		return text;
	};

	return {
		async list(query, { page, limit }, apiKeyId) {
			const { all, rivals } = library();
			const isWanted = testFor(apiKeyId === null ? query : { ...query, apiKeyId }, parts, textOf);
			const found = isWanted ? await filterInSlices(all, isWanted) : all;
			const shown = found.slice((page - 1) * limit, page * limit);
			const data = await summarise(shown, rivals, parts, apiKeyId);
			return { data: apiKeyId === null ? data : data.map(withoutPlaces), total: found.length };
		},

		catalog(revision) {
			if (counted?.revision !== revision) {
				const { skills } = viewOf(parts.skills.registry.snapshot(), parts.modes).library;
				const tokens = estimateTokens(renderCatalog(skills, { hasGuidance: true }));
				counted = { revision, size: { tokens, budgetTokens: CATALOG_TOKENS } };
			}
			return counted.size;
		}
	};
}

function readLibrary(snapshot: SkillSnapshot, builtins: readonly BuiltinSkill[]): ReadLibrary {
	const rivals = new Map<string, Skill[]>();
	for (const skill of snapshot.shadowed) rivals.set(skill.name, [...(rivals.get(skill.name) ?? []), skill]);
	for (const skill of snapshot.skills) {
		const others = rivals.get(skill.name);
		if (others) rivals.set(skill.name, [skill, ...others]);
	}
	return { snapshot, all: [...snapshot.skills, ...snapshot.shadowed, ...snapshot.broken, ...builtins], rivals };
}

/** null if everything matches. */
function testFor(
	query: SkillQuery,
	parts: SkillListParts,
	textOf: (listed: Listed) => string
): ((listed: Listed) => boolean) | null {
	const { mode, source, status, apiKeyId } = query;
	const words = query.q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
	const tests: ((listed: Listed) => boolean)[] = [];
	if (status !== undefined) tests.push((listed) => (isBuiltin(listed) ? 'ready' : listed.status) === status);
	if (mode !== undefined) {
		tests.push((listed) =>
			isBuiltin(listed) ? parts.modes.modeOf(`${BUILTIN}/${listed.name}`) === mode : modeOf(listed, parts) === mode
		);
	}
	if (source !== undefined) tests.push((listed) => placeOf(listed) === source || providerOf(listed, parts) === source);
	if (apiKeyId !== undefined) tests.push((listed) => isSeenBy(apiKeyId, { source: placeOf(listed) }));
	if (words.length > 0) tests.push((listed) => words.every((word) => textOf(listed).includes(word)));
	return tests.length === 0 ? null : (listed) => tests.every((test) => test(listed));
}

function isBuiltin(listed: Listed): listed is BuiltinSkill {
	return 'unavailable' in listed;
}

function placeOf(listed: Listed): string {
	return isBuiltin(listed) ? BUILTIN : listed.source;
}

function providerOf(listed: Listed, { installs }: SkillListParts): string {
	if (isBuiltin(listed)) return BUILTIN;
	return installs.providerOf(skillIdOf(listed), listed.status === 'ready' ? listed.version : null);
}

async function filterInSlices(all: readonly Listed[], isWanted: (listed: Listed) => boolean): Promise<Listed[]> {
	const pace = createPace();
	const found: Listed[] = [];
	for (const listed of all) {
		const rest = pace();
		if (rest) await rest;
		if (isWanted(listed)) found.push(listed);
	}
	return found;
}

async function summarise(
	shown: readonly Listed[],
	rivals: ReadLibrary['rivals'],
	parts: SkillListParts,
	apiKeyId: string | null
): Promise<SkillSummary[]> {
	const folders = shown.flatMap((listed) =>
		isBuiltin(listed) ? [] : [{ id: idIn(listed, rivals, parts, apiKeyId), skill: listed }]
	);
	const builtins = shown.filter(isBuiltin).map((builtin) => summariseBuiltin(builtin, parts));
	return [...(await summariseSkills(folders, parts)), ...builtins];
}

/** The name if that means this skill (like `requireSkill`), else with source and version. */
function idIn(
	skill: Skill | BrokenSkill,
	rivals: ReadLibrary['rivals'],
	parts: SkillListParts,
	apiKeyId: string | null
): string {
	if (skill.status === 'broken') return brokenIdOf(skill);
	const { library, all } = rivalsFor(parts, apiKeyId, rivals.get(skill.name) ?? [skill]);
	return idOf(skill, (library.skills[0] ?? all.skills[0]) === skill);
}

/** Only the operator may see paths, which error messages of the system quote. */
function withoutPlaces(summary: SkillSummary): SkillSummary {
	const diagnostics = summary.diagnostics.map((each) => ({
		...each,
		message: each.message.replaceAll(/'(?:\/|[A-Za-z]:[\\/]|\\\\)[^']*[\\/]([^'\\/]*)'/g, "'$1'")
	}));
	return { ...summary, path: '', diagnostics };
}

// Explains which skills are selected for a text: scores of both scorers, by signal (B7, B8, F2).

export interface ScoreParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	usage: Pick<SkillUsageCounts, 'of'>;
	settings: { current(): Pick<Settings, 'autoMaxSkills' | 'autoMinScore'> };
}

/** Scores the version in use of each name, also if off. Ties: most recently used first, then by name. */
export async function scoreSkills(
	parts: ScoreParts,
	{ text, apiKeyId, provider, backgroundReason, limit }: z.infer<typeof scoreRequest>
): Promise<SkillScoreList> {
	const { autoMaxSkills, autoMinScore } = parts.settings.current();
	const score = createScorer(text);
	const scoreAuto = createAutoScorer({ messages: [text], provider, backgroundReason });
	const pace = createPace();
	const scored = [];
	for (const skill of candidates(parts, ownerOf(apiKeyId))) {
		const rest = pace();
		if (rest) await rest;
		const asked = asScored(skill, parts);
		const mode = parts.modes.modeOf(skill);
		scored.push({ name: skill.name, mode, asked, ...score(skill), omniroute: scoreAuto(asked) });
	}
	const rivals = scored.filter(({ mode }) => mode === 'auto');
	const picked = pickScored(
		rivals.map((rival) => ({ rival, skill: rival.asked, score: rival.omniroute.score })),
		{ maxSkills: autoMaxSkills, minScore: autoMinScore }
	);
	const isPicked = new Set(picked.map(({ rival }) => rival));
	scored.sort(
		(a, b) => b.score - a.score || (b.asked.lastUsedAt ?? 0) - (a.asked.lastUsedAt ?? 0) || (a.name < b.name ? -1 : 1)
	);
	const data = scored.slice(0, limit).map((one) => ({
		id: one.name,
		name: one.name,
		mode: one.mode,
		score: one.score,
		signals: one.signals,
		omniroute: { ...one.omniroute, isPicked: one.mode === 'on' || isPicked.has(one) }
	}));
	return { data, total: scored.length, autoMaxSkills, autoMinScore };
}

function candidates({ skills, modes }: ScoreParts, owner: string | undefined): Skill[] {
	const { library, off } = viewOf(skills.registry.snapshot(), { owner, ...modes });
	const names = new Set(library.skills.map(({ name }) => name));
	const isFirst = ({ name }: Skill) => !names.has(name) && names.add(name);
	return [...library.skills, ...off.filter(isFirst)];
}

function asScored(skill: Skill, { usage }: ScoreParts): ScoredSkill {
	const { name, description, tags } = skill;
	const { lastUsedAt } = usage.of(skillIdOf(skill));
	return { name, description, tags, lastUsedAt: lastUsedAt === null ? undefined : Date.parse(lastUsedAt) };
}
