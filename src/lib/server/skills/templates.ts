/** The files that a new skill begins with, by kind; each works and passes the strict check as it is; pure (FEATURES F8). */
import { skillFiles, skillNameOf, type SkillFiles } from './scaffold.ts';

/** `instructions`: a SKILL.md alone; `script`: with a program that it runs; `tools`: with a tool that the model calls. */
type TemplateName = 'instructions' | 'script' | 'tools';

interface TemplateOptions {
	name: string;
	description: string;
	template: TemplateName;
}

/** @throws SkillError InvalidArgs when the name or the description would not be valid */
export function templateFiles({ name, description, template }: TemplateOptions): SkillFiles {
	if (template === 'instructions') return skillFiles({ name, description });
	if (template === 'script') {
		return { ...skillFiles({ name, description, body: SCRIPT_BODY }), 'scripts/run.mjs': SCRIPT };
	}
	const tool = toolNameOf(name);
	const script = `scripts/${tool}.mjs`;
	const parameters = { text: { type: 'string', description: 'What to work on', required: true } };
	const manifest = [{ name: tool, description: description.replace(/\s+/g, ' ').trim(), script, parameters }];
	return {
		...skillFiles({ name, description, body: `Call the tool \`${tool}\` with the text, and answer with its result.` }),
		'tools.json': `${JSON.stringify(manifest, null, '\t')}\n`,
		[script]: TOOL
	};
}

/** `invoice-reader` → `invoice_reader`; a tool's name begins with a letter. */
function toolNameOf(name: string): string {
	const tool = name.replaceAll('-', '_').slice(0, 60);
	const isTool = /^[a-z]/.test(tool) && skillNameOf(tool) !== '';
	return isTool ? tool : `run_${tool}`;
}

const SCRIPT_BODY = `1. Run \`scripts/run.mjs\` with what is to be worked on as its arguments.
2. Answer with what it prints.

## When something fails

It says on stderr what was wrong, and ends with exit code 1. Ask for what is missing, then run it again.`;

const SCRIPT = `#!/usr/bin/env node
/** Say here what this program does. */
const given = process.argv.slice(2);
if (given.length === 0) {
	console.error('Give at least one argument.');
	process.exit(1);
}
console.log(given.join(' '));
`;

const TOOL = `/** Say here what this tool does. What it returns is the result that the model reads. */
export default async function handler(args) {
	return { text: args.text, characters: args.text.length };
}
`;
