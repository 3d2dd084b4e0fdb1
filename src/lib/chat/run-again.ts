/** A run that was, in the form that runs by hand: by its id in an address, so that no address can say what is to be run. Pure. */
import type { SkillExecution } from '../shared/try-out.ts';
import type { SkillDetail } from '../shared/skills.ts';
import { cleanText } from './clean-text.ts';
import { runnablesOf } from './scripts.ts';
import { skillPage } from './trust.ts';

/** How the form begins. */
export interface RunPreset {
	/** Into what `runnablesOf` gives. */
	index: number;
	/** Arguments one a line, or the input of a tool as JSON; null for what cannot be written so, or not be seen. */
	text: string | null;
}

const PREFIX = '#run?execution=';

/** The form on the page of a skill; with an execution, as that began. */
export function runPage(skillId: string, executionId?: string): string {
	return skillPage(skillId) + (executionId === undefined ? '#run' : PREFIX + encodeURIComponent(executionId));
}

/** The execution that an address names by its hash; null where it names none. */
export function executionOfHash(hash: string): string | null {
	if (!hash.startsWith(PREFIX)) return null;
	return new URLSearchParams(hash.slice('#run?'.length)).get('execution') || null;
}

/** Null for a run of another skill, and of what this one has no more. */
export function presetOf(
	execution: Pick<SkillExecution, 'skillId' | 'script' | 'tool' | 'argv' | 'input'>,
	skill: Pick<SkillDetail, 'skillId' | 'scripts' | 'tools'>
): RunPreset | null {
	const { tool, script } = execution;
	const index = runnablesOf(skill).findIndex(({ kind, name }) =>
		tool === null ? kind === 'script' && name === script : kind === 'tool' && name === tool
	);
	if (execution.skillId !== skill.skillId || index < 0) return null;
	const text = tool === null ? printLines(execution.argv) : printInput(execution.input);
	return { index, text: text === null || cleanText(text) === text ? text : null };
}

function printLines(args: readonly string[]): string | null {
	return args.some((arg) => arg === '' || arg.includes('\n')) ? null : args.join('\n');
}

/** The record may have cut off a long one. */
function printInput(input: string | null): string | null {
	try {
		return input === null ? null : JSON.stringify(JSON.parse(input), null, 2);
	} catch {
		return null;
	}
}
