/** A skill made of a schema and the name of a native handler, as the OmniRoute document installs it (FEATURES E5, D37). */
import { AppError } from '../../shared/errors.ts';
import type { CustomSkill, SkillOrigin } from '../../shared/install.ts';
import { parseManifest } from '../skills/manifest.ts';
import { skillFiles } from '../skills/scaffold.ts';
import { isInstallableName } from './inspection.ts';
import type { Fetch } from './installer.ts';

const ORIGIN: SkillOrigin = { provider: 'custom', source: null, url: null, commit: null, path: '', revision: null };

/** Writes the folder: the handler's tool in tools.json, and a SKILL.md. @throws AppError `invalid_input` with the field named */
export function fetchCustom(skill: CustomSkill): Fetch {
	const files = Object.entries(customFiles(skill));
	return async (into) => {
		for (const [path, text] of files) await into.add(path, Buffer.from(text));
		return { folders: [''], originOf: () => ORIGIN, notes: [] };
	};
}

function customFiles({ name, version, description, schema, handlerCode }: CustomSkill): Record<string, string> {
	if (!isInstallableName(name)) {
		throw refused('name', 'must be 1 to 64 lower-case letters, digits and single hyphens, such as reverse-text');
	}
	if (description.trim() === '') throw refused('description', 'must not be blank');
	if (handlerCode.trim() === '') throw refused('handlerCode', 'must be the name of a handler');
	const tool = /^[a-z]/.test(name) ? name.replaceAll('-', '_') : `tool_${name.replaceAll('-', '_')}`.slice(0, 64);
	const { input, output } = schema;
	const manifest = JSON.stringify(
		[{ name: tool, description, handler: handlerCode, parameters: parametersOf(input), ...(output ? { output } : {}) }],
		null,
		'\t'
	);
	const [issue] = parseManifest(manifest).issues;
	if (issue)
		throw refused('schema.input', `${issue.field.replace(/^tools\.json\[0\.?|\]$/g, '')} ${issue.message}`.trim());
	const body = `Call the tool \`${tool}\` and answer with its result.`;
	const text = skillFiles({ name, description, body })['SKILL.md'] ?? '';
	return {
		'SKILL.md': text.replace(/\n---\n/, `\nmetadata:\n  version: ${JSON.stringify(version)}\n---\n`),
		'tools.json': `${manifest}\n`
	};
}

/** A JSON Schema of an object, as tools.json writes parameters: what is not required is `optional`. */
function parametersOf(input: Record<string, unknown>): Record<string, unknown> {
	const { type = 'object', properties = {}, required = [] } = input;
	if (type !== 'object') throw refused('schema.input.type', 'must be “object”');
	if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
		throw refused('schema.input.properties', 'must be an object');
	}
	if (!Array.isArray(required) || !required.every((key) => typeof key === 'string' && Object.hasOwn(properties, key))) {
		throw refused('schema.input.required', 'must list names of properties');
	}
	return Object.fromEntries(
		Object.entries(properties).map(([key, schema]: [string, unknown]) => {
			if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
				throw refused(`schema.input.properties.${key}`, 'must be a schema');
			}
			return [key, required.includes(key) ? schema : { ...schema, optional: true }];
		})
	);
}

function refused(field: string, message: string): AppError {
	return new AppError('invalid_input', `${field}: ${message}`, { details: { field } });
}
