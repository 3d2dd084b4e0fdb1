/** Commands that stand in a skill's instructions: text, unless the host lets them run when the skill is loaded (FEATURES D45). */
import type { ExecutionContext, Executor } from './executor.ts';
import { SkillError, type Skill, type SkillExecutionResult } from './types.ts';

/** ``!`command` ``, at the beginning of a line or after a blank. */
const INLINE = /(?<=^|\s)!`([^`\n]{1,1000})`/g;
const MAX_COMMANDS = 10;
/** Of one command's output. */
const MAX_CHARACTERS = 4000;

/** The skill with what its commands printed in their place; as it is where it has none, or they may not run. */
export async function expandInline(
	skill: Skill,
	context: ExecutionContext & { executor: Pick<Executor, 'mayRunInline' | 'runInline'> }
): Promise<Skill> {
	const commands = [...skill.body.matchAll(INLINE)].slice(0, MAX_COMMANDS);
	if (commands.length === 0) return skill;
	const files = await context.executor.mayRunInline(skill);
	if (!files) return skill;
	const allowed = files.digest === null ? context : { ...context, allowed: files.digest };
	let body = '';
	let end = 0;
	for (const match of commands) {
		body += skill.body.slice(end, match.index) + (await outputOf(skill, match[1] ?? '', allowed));
		end = match.index + match[0].length;
	}
	return { ...skill, body: body + skill.body.slice(end) };
}

async function outputOf(
	skill: Skill,
	command: string,
	{ executor, ...context }: ExecutionContext & { executor: Pick<Executor, 'runInline'> }
): Promise<string> {
	try {
		// It is a part of the instructions, not a step of its own.
		const { onEvent: _unseen, ...quiet } = context;
		return shown(command, await executor.runInline(skill, command, quiet));
	} catch (error) {
		if (!(error instanceof SkillError)) throw error;
		return `[${command}: ${error.message}]`;
	}
}

function shown(command: string, { success, stdout, stderr, message }: SkillExecutionResult): string {
	if (!success) return `[${command}: ${message ?? 'it failed'} ${stderr.slice(0, 500).trim()}]`;
	const text = stdout.trimEnd();
	return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
