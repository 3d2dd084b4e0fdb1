/** Skills defined by a function instead of a folder (FEATURES E35). */
import { hash } from 'node:crypto';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { valid } from 'semver';
import type { NativeHandler } from '../run/handlers.ts';
import { SkillError, type Skill } from '../types.ts';

export interface SkillDefinition {
	/** As in a SKILL.md: lowercase letters, digits and hyphens. */
	name: string;
	/** `MAJOR.MINOR.PATCH`; 1.0.0 by default. */
	version?: string;
	/** What it does and when to use it, for the model. */
	description: string;
	/** Markdown that the model reads when it loads the skill; the description by default. */
	instructions?: string;
	tags?: readonly string[];
	/** JSON Schema of the handler's input: an object. */
	schema: { input: Record<string, unknown>; output?: Record<string, unknown> };
	handler: NativeHandler;
}

/** Source label of all such skills. */
const SOURCE = 'defined';

/** Validates a definition for `createSkillsProvider({ skills })`. @throws SkillError InvalidManifest */
export function defineSkill(definition: SkillDefinition): SkillDefinition {
	const { name, version = '1.0.0', description, schema, handler } = definition;
	const refuse = (reason: string) => {
		throw new SkillError('InvalidManifest', `Couldn’t define the skill “${String(name).slice(0, 64)}”: ${reason}.`);
	};
	if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > 64)
		refuse('its name must use a-z, 0-9 and single hyphens');
	if (valid(version) === null) refuse(`“${version}” isn’t a version such as 1.0.0`);
	if (description.trim() === '' || description.length > 1024) refuse('its description must have 1 to 1,024 characters');
	if (schema.input.type !== 'object') refuse('schema.input must be the JSON Schema of an object');
	if (typeof handler !== 'function') refuse('its handler must be a function');
	return definition;
}

/** Converts a definition to a skill with one tool. Its folder can't exist, so there are no files to read. */
export function toSkill({
	name,
	version = '1.0.0',
	description,
	instructions,
	tags = [],
	schema
}: SkillDefinition): Skill {
	const dir = join(devNull, SOURCE, `${name}@${version}`);
	const tool = name.replaceAll('-', '_');
	const inputSchema = { properties: {}, additionalProperties: false, ...schema.input };
	return {
		status: 'ready',
		name,
		description,
		version,
		metadata: {},
		extra: {},
		body: instructions ?? description,
		path: join(dir, 'SKILL.md'),
		dir,
		root: join(devNull, SOURCE),
		source: SOURCE,
		tags,
		triggers: [],
		digest: hash('sha256', JSON.stringify([name, version, description, instructions, schema])).slice(0, 16),
		tools: [{ name: tool, description, handler: handlerName(name, version), inputSchema }],
		files: [],
		scripts: [],
		issues: []
	};
}

export function handlersOf(definitions: readonly SkillDefinition[]): Record<string, NativeHandler> {
	return Object.fromEntries(
		definitions.map(({ name, version = '1.0.0', handler }) => [handlerName(name, version), handler])
	);
}

function handlerName(name: string, version: string): string {
	return `${SOURCE}/${name}@${version}`;
}
