/** The OmniRoute document's form: each skill is a tool, named `name@version` (B10, C11). */
import { createToolNames } from '../../hosts/adapters.ts';
import { parseReference } from '../../registry/references.ts';
import { numberArgument, recordArgument, type CallArguments, type SkillOperation } from '../operations.ts';
import { isLong } from '../../prompt.ts';
import { LOAD_OFFSET } from '../tools.ts';
import type { Skill, ToolDefinition } from '../../types.ts';
import { type Dialect, full } from './openrouter.ts';

const PARAMETERS = {
	type: 'object',
	properties: {
		script: { type: 'string', description: 'A script of the skill to run; without it the instructions are returned' },
		tool: { type: 'string', description: 'A tool of the skill to call with `input`' },
		args: { type: 'array', items: { type: 'string' }, description: 'Arguments of the script' },
		input: { type: 'object', description: 'Arguments of the tool' }
	},
	required: []
};

export const omniroute: Dialect = {
	tools(skills) {
		const names = namesFor(skills);
		return skills.map((skill): ToolDefinition => {
			return {
				type: 'function',
				name: names.toWire(identityOf(skill)),
				description: skill.description,
				parameters: isLong(skill)
					? { ...PARAMETERS, properties: { ...PARAMETERS.properties, offset: LOAD_OFFSET } }
					: PARAMETERS
			};
		});
	},
	read(name, args, skills) {
		const identity = namesFor(skills).fromWire(name);
		const { name: bare, range } = parseReference(identity);
		// A bare name may be any tool: a skill's has a version, or is the name of an available skill.
		if (range === null && !skills.some((skill) => skill.name === bare)) return null;
		return readSkillCall(identity, args, skills);
	},
	render: full.render,
	renderFailure: full.renderFailure
};

/** Reads a call of a skill. With the arguments of its only tool, it means that tool. */
function readSkillCall(skill: string, args: CallArguments, skills: readonly Skill[]): SkillOperation {
	if (typeof args.script === 'string' && args.script !== '') {
		return { kind: 'run', skill, script: args.script, args: args.args, argStyle: args.arg_style };
	}
	if (typeof args.tool === 'string' && args.tool !== '') {
		return { kind: 'tool', skill, tool: args.tool, args: recordArgument(args, 'input') };
	}
	const found = skills.find(({ name }) => name === parseReference(skill).name);
	const offset = found && isLong(found) && Object.keys(args).length === 1 ? numberArgument(args, 'offset') : undefined;
	if (offset !== undefined) return { kind: 'load', skill, offset };
	const tools = found?.tools ?? [];
	const [only] = tools.length === 1 ? tools : [];
	if (only && Object.keys(args).length > 0) {
		const input = args.input === undefined ? { ...args } : recordArgument(args, 'input');
		return { kind: 'tool', skill, tool: only.name, args: input };
	}
	return { kind: 'load', skill };
}

function namesFor(skills: readonly Skill[]): ReturnType<typeof createToolNames> {
	return createToolNames(skills.map(identityOf));
}

function identityOf({ name, version }: Skill): string {
	return `${name}@${version}`;
}
