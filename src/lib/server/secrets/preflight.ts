/** What a skill needs, and whether it is there: shown before it is run (FEATURES F3). */
import type { SkillNeeds } from '../../shared/skills.ts';
import { declaredVariables, isReservedVariable } from '../skills/declared-variables.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import { findNeeds, type ReadText } from '../skills/needs.ts';
import { readSkillFile } from '../skills/read-file.ts';
import { SkillError, type Skill } from '../skills/types.ts';
import type { Lookup } from './lookup.ts';
import type { Vault } from './vault.ts';

export interface Preflight {
	/** Reads the skill's files and asks for programs and modules; values of variables are never in it. */
	needsOf(skill: Skill): Promise<SkillNeeds>;
	/** Variables that it requires and nobody has set. One question to the database: cheap before every run. */
	missingVariables(skill: Skill): Promise<string[]>;
}

export interface PreflightOptions {
	vault: Pick<Vault, 'list'>;
	/** Variables that the operator offers to the skills that declare them. */
	offered: Readonly<Record<string, string>>;
	lookup: Lookup;
	/** Milliseconds, from anywhere on. */
	now?: () => number;
}

/** What was found is believed so long: somebody who installs what is missing wants to see it. */
const KEPT_MS = 20_000;
const MAX_KEPT = 500;

export function createPreflight({
	vault,
	offered,
	lookup,
	now = () => performance.now()
}: PreflightOptions): Preflight {
	const binaries = remember((names) => lookup.binaries(names), now);
	const modules = remember((names) => lookup.pythonModules(names), now);

	const readVariables = async (skill: Skill) => {
		const stored = await vault.list(skillIdOf(skill));
		const isOffered = (name: string) => Object.hasOwn(offered, name);
		return {
			stored,
			setBy(name: string, isDeclared: boolean): 'secret' | 'operator' | null {
				if (stored.some((variable) => variable.name === name && variable.problem === null)) return 'secret';
				return isDeclared && isOffered(name) ? 'operator' : null;
			}
		};
	};

	return {
		async needsOf(skill) {
			const [found, { stored, setBy }] = await Promise.all([findNeeds(skill, readerOf(skill)), readVariables(skill)]);
			const [programs, libraries] = await Promise.all([
				binaries(found.binaries.map(({ name }) => name)),
				modules(found.pythonModules.map(({ name }) => name))
			]);
			// What is stored and no longer asked for is given all the same, so it is shown.
			const more = stored.filter(({ name }) => !found.variables.some((variable) => variable.name === name));
			const variables = [
				...found.variables,
				...more.map(({ name }) => ({ name, isDeclared: false, isOptional: false }))
			];
			return {
				binaries: found.binaries.map((need) => ({ ...need, isFound: programs.has(need.name) })),
				pythonModules: found.pythonModules.map((need) => ({ ...need, isFound: libraries.has(need.name) })),
				variables: variables
					.filter(({ name }) => !isReservedVariable(name))
					.map(({ name, isDeclared, isOptional }) => {
						const by = setBy(name, isDeclared);
						const problem = stored.find((variable) => variable.name === name)?.problem;
						return { name, isDeclared, isOptional, isSet: by !== null, setBy: by, ...(problem ? { problem } : {}) };
					})
			};
		},
		async missingVariables(skill) {
			const required = declaredVariables(skill).filter(
				({ name, isOptional }) => !isOptional && !isReservedVariable(name)
			);
			if (required.length === 0) return [];
			const { setBy } = await readVariables(skill);
			return required.map(({ name }) => name).filter((name) => setBy(name, true) === null);
		}
	};
}

/** Asks for all that it does not know at once, and keeps the answers for a while. */
function remember(
	ask: (names: readonly string[]) => Promise<Set<string>>,
	now: () => number
): (names: readonly string[]) => Promise<Set<string>> {
	const answers = new Map<string, { isFound: boolean; at: number }>();
	return async (names) => {
		const known = new Map(names.map((name) => [name, answers.get(name)]));
		const unknown = names.filter((name) => (known.get(name)?.at ?? -Infinity) + KEPT_MS <= now());
		const found = unknown.length > 0 ? await ask(unknown) : new Set<string>();
		if (answers.size + unknown.length > MAX_KEPT) answers.clear();
		for (const name of unknown) answers.set(name, { isFound: found.has(name), at: now() });
		return new Set(names.filter((name) => (unknown.includes(name) ? found.has(name) : known.get(name)?.isFound)));
	};
}

function readerOf(skill: Skill): ReadText {
	return async (path, maxBytes) => {
		try {
			return (await readSkillFile(skill.dir, path, { limit: maxBytes })).text;
		} catch (error) {
			// No text, or gone meanwhile: it says nothing of what is needed.
			if (error instanceof SkillError) return null;
			throw error;
		}
	};
}
