/** Test cases of a skill: saved runs with expected results (FEATURES F6). */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { CaseExpectation, CaseRun, SkillCase, skillCaseCreate } from '../../shared/try-out.ts';
import type { z } from 'zod';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { resolveScript } from '../skills/read/files.ts';
import { SkillError, type Skill } from '../skills/types.ts';
import type { Store } from '../store/store.ts';
import { runAdHoc, type AdHocParts, type AdHocResult, type AdHocWatch } from './ad-hoc.ts';
import { requireSkill, type LookupParts } from './skill-details.ts';

/** `id` is any skill id that the API accepts. */
export interface Cases {
	/** Oldest first. @throws AppError `not_found` */
	list(id: string): Promise<SkillCase[]>;
	/** @throws AppError `invalid_input` if the skill has no such script or tool */
	create(id: string, entry: z.infer<typeof skillCaseCreate>): Promise<SkillCase>;
	/** Runs it like any request, in the version that `id` means. @throws AppError if nothing ran */
	run(id: string, caseId: string, how: Pick<AdHocWatch, 'allow'> & { signal: AbortSignal }): Promise<CaseRun>;
	/** @throws AppError `not_found` */
	remove(id: string, caseId: string): Promise<void>;
}

/** Per skill. */
const MAX_CASES = 200;

export function createCases(parts: {
	store: Pick<Store, 'skillCases'>;
	adHoc: AdHocParts;
	modes: LookupParts['modes'];
}): Cases {
	const { store, adHoc, modes } = parts;
	const skillOf = (id: string) => requireSkill({ skills: adHoc.skills, modes }, null, id);
	const requireCase = async (skill: Skill, caseId: string): Promise<SkillCase> => {
		const found = await store.skillCases.get(caseId);
		if (found?.skillId === skillIdOf(skill)) return found;
		throw new AppError('not_found', `“${skill.name}” has no case with this id.`);
	};
	return {
		list: async (id) => store.skillCases.list(skillIdOf(skillOf(id))),

		async create(id, { title, script, args, tool, input, expect }) {
			const skill = skillOf(id);
			const skillId = skillIdOf(skill);
			await requirePart(skill, script, tool);
			if ((await store.skillCases.list(skillId)).length >= MAX_CASES) {
				throw new AppError('conflict', `“${skill.name}” already has ${MAX_CASES} cases. Delete one first.`);
			}
			const what = { script: script ?? null, args: args ?? [], tool: tool ?? null, input: input ?? null };
			const entry = { id: randomUUID(), skillId, title, ...what, expect, createdAt: new Date().toISOString() };
			await store.skillCases.add(entry);
			return { ...entry, lastRun: null };
		},

		async run(id, caseId, { allow, signal }) {
			const skill = skillOf(id);
			const { script, args, tool, input, expect } = await requireCase(skill, caseId);
			const asked = {
				skillName: `${skillIdOf(skill)}@${skill.version}`,
				...(script === null ? {} : { script, args }),
				...(tool === null ? {} : { tool, input: input ?? {} }),
				owner: skill.owner
			};
			const ran = await runAdHoc(adHoc, asked, signal, { allow });
			const failures = failuresOf(ran, expect);
			const isPassed = failures.length === 0;
			const at = new Date().toISOString();
			await store.skillCases.setLastRun(caseId, { isPassed, failures, executionId: ran.execution.id, at });
			return { isPassed, failures, execution: ran.execution };
		},

		async remove(id, caseId) {
			await requireCase(skillOf(id), caseId);
			await store.skillCases.remove(caseId);
		}
	};
}

async function requirePart(skill: Skill, script: string | undefined, tool: string | undefined): Promise<void> {
	if (tool !== undefined && !skill.tools.some(({ name }) => name === tool)) {
		const names = skill.tools.map(({ name }) => name).join(', ') || '(none)';
		throw new AppError('invalid_input', `tool: “${skill.name}” has no tool “${tool.slice(0, 200)}”.`, {
			hint: `Its tools: ${names}`,
			details: { field: 'tool' }
		});
	}
	if (script === undefined) return;
	await resolveScript(skill.dir, script).catch((error: unknown) => {
		if (!(error instanceof SkillError)) throw error;
		const { message, hint } = error;
		throw new AppError('invalid_input', `script: ${message}`, { hint, details: { field: 'script' } });
	});
}

/** One sentence per unmet expectation. Without an expected exit code, the run must succeed. */
function failuresOf({ execution, result }: AdHocResult, { exitCode, contains, files }: CaseExpectation): string[] {
	const { status, errorMessage } = execution;
	const failures: string[] = [];
	if (exitCode === undefined && status !== 'success') {
		failures.push(`It should succeed, but didn’t: ${errorMessage ?? status}`);
	}
	if (exitCode !== undefined && execution.exitCode !== exitCode) {
		const ended = execution.exitCode === null ? `had none (${errorMessage ?? status})` : `was ${execution.exitCode}`;
		failures.push(`The exit code should be ${exitCode}, but ${ended}.`);
	}
	const said = saidIn(result);
	for (const text of contains ?? []) {
		if (!said.some((part) => part.includes(text))) failures.push(`Its output should contain “${text}”, but doesn’t.`);
	}
	const made = new Set(execution.files.map(({ path }) => path));
	for (const path of files ?? []) {
		if (!made.has(path)) failures.push(`It should create or change the file “${path}”, but didn’t.`);
	}
	return failures;
}

/** Its output and returned value, as text or JSON. */
function saidIn(result: AdHocResult['result']): string[] {
	const { value } = result;
	const returned = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
	return 'stdout' in result ? [result.stdout, result.stderr, returned] : [returned];
}
