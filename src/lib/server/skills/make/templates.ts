/** The files of a new skill, as text; pure (D25, E21). */
import { withoutBlankLines } from '../read/front-matter.ts';
import { isPortableName, lineOf } from '../read/fields.ts';
import { SkillError } from '../types.ts';

/** Marks skills made by `define_tool`: `remove_tool` may remove only these (D26). */
export const DEFINE_TOOL = 'define_tool';

/** Contents by path, relative to the skill's folder. */
export type SkillFiles = Record<string, string>;

export interface NewSkill {
	name: string;
	description: string;
	/** Markdown; a short outline by default. */
	body?: string;
	/** Texts of `metadata`. */
	metadata?: Record<string, string>;
}

export interface NewTool {
	/** `^[a-z][a-z0-9_]*$` (D15). */
	name: string;
	description: string;
	/** Definitions as in tools.json. */
	parameters: Record<string, unknown>;
	/** Body of an async function that receives `args`, or a whole module with a default export. */
	code: string;
}

/** `fetch_weather` → `fetch-weather` (D25). */
export function skillNameOf(toolName: string): string {
	return toolName.replace(/_+/g, '-').replace(/^-|-$/g, '').slice(0, 64);
}

/** A skill with only instructions. @throws SkillError InvalidArgs for an invalid name or description */
export function skillFiles({ name, description, body, metadata = {} }: NewSkill): SkillFiles {
	if (!isPortableName(name)) {
		throw new SkillError(
			'InvalidArgs',
			`“${name}” isn’t a valid skill name.`,
			'Use 1 to 64 lowercase letters, digits and single hyphens, such as invoice-reader.'
		);
	}
	const line = description.replace(/\s+/g, ' ').trim();
	if (line === '' || [...line].length > 1024) {
		throw new SkillError(
			'InvalidArgs',
			'The description must have 1 to 1,024 characters.',
			'Say what the skill does and when to use it.'
		);
	}
	const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');
	// A JSON string is a YAML string, so no name or description can break the front matter.
	const head = [
		'---',
		`name: ${/^[a-z][a-z-]*$/.test(name) ? name : JSON.stringify(name)}`,
		`description: ${JSON.stringify(line)}`,
		...(Object.keys(metadata).length > 0 ? ['metadata:'] : []),
		...Object.entries(metadata).map(([key, value]) => `  ${lineOf(key, value)}`),
		'---'
	];
	return { 'SKILL.md': [...head, '', `# ${title}`, '', withoutBlankLines(body ?? OUTLINE), ''].join('\n') };
}

/** A skill that provides one tool, in the layout of Skill Tools §8. @throws SkillError InvalidArgs */
export function toolFiles({ name, description, parameters, code }: NewTool): SkillFiles {
	if (!/^[a-z][a-z0-9_]{0,63}$/.test(name)) {
		throw new SkillError(
			'InvalidArgs',
			`“${name}” isn’t a valid tool name.`,
			'Start with a lowercase letter, then use letters, digits and underscores, at most 64.'
		);
	}
	if (code.trim() === '')
		throw new SkillError(
			'InvalidArgs',
			'The code is empty.',
			'Write the body of the function, e.g. return args.a + args.b;'
		);
	const script = `scripts/${name}.js`;
	const body = `Call the tool \`${name}\` and answer with its result.`;
	const manifest = [{ name, description, script, parameters }];
	return {
		...skillFiles({ name: skillNameOf(name), description, body, metadata: { generator: DEFINE_TOOL } }),
		'tools.json': `${JSON.stringify(manifest, null, '\t')}\n`,
		[script]: handlerModule(code)
	};
}

function handlerModule(code: string): string {
	if (/^\s*export\s+default\b/m.test(code)) return `${code.trim()}\n`;
	const body = code.trim().replace(/^/gm, '\t');
	return `export default async function handler(args) {\n${body}\n}\n`;
}

const OUTLINE = `1. Describe the first step.
2. Describe the next step.

## When something fails

Describe what can go wrong and what to do about it.`;

// The starter files of a new skill, by kind; each works and passes the strict check (F8); pure.

/** `instructions`: only a SKILL.md; `script`: with a script to run; `tools`: with a tool the model calls. */
type TemplateName = 'instructions' | 'script' | 'tools';
/** What the script or tool is given. */
type Input = 'text' | 'number' | 'file' | 'nothing';

interface TemplateOptions {
	name: string;
	description: string;
	template: TemplateName;
	/** A question that the skill answers, which “Try in chat” sends; by default one that fits what it takes. */
	example?: string | undefined;
	/** Default: text. */
	takes?: Input | undefined;
}

interface InputWords {
	/** In the default example, after the skill's name. */
	example: string;
	/** Of the usage line. */
	placeholder: string;
	/** Follows “Run the script” and “Call the tool”. */
	given: string;
	script: string;
	parameters: Record<string, unknown>;
	tool: string;
}

const INPUTS: Record<Input, InputWords> = {
	text: {
		example: ' with “hello world”',
		placeholder: ' TEXT',
		given: ' with the text that is asked about',
		script: `const given = process.argv.slice(2).join(' ');
if (given === '') {
	console.error('Give a text as an argument.');
	process.exit(1);
}
console.log(\`This starter script repeats what it’s given: \${given}\`);`,
		parameters: { text: { type: 'string', description: 'The text to process' } },
		tool: 'return { text: args.text, characters: args.text.length };'
	},
	number: {
		example: ' with 42',
		placeholder: ' NUMBER',
		given: ' with the number that is asked about',
		script: `const given = Number(process.argv[2]);
if (Number.isNaN(given)) {
	console.error('Give a number as an argument.');
	process.exit(1);
}
console.log(\`This starter script repeats what it’s given: \${given}\`);`,
		parameters: { number: { type: 'number', description: 'The number to process' } },
		tool: 'return { number: args.number, double: args.number * 2 };'
	},
	file: {
		example: ' with sample.txt',
		placeholder: ' FILE',
		given: ' with the file that is asked about',
		script: `import { readFileSync } from 'node:fs';

const [file] = process.argv.slice(2);
if (file === undefined) {
	console.error('Give the path of a file as an argument.');
	process.exit(1);
}
console.log(\`This starter script repeats what it’s given: \${readFileSync(file, 'utf8')}\`);`,
		parameters: { file: { type: 'string', description: 'The path of the file to process' } },
		tool: `const text = await readFile(args.file, 'utf8');
	return { text, characters: text.length };`
	},
	nothing: {
		example: '',
		placeholder: '',
		given: '',
		script: "console.log('This starter script was given nothing, and says hello.');",
		parameters: {},
		tool: "return { text: 'This starter tool was given nothing, and says hello.' };"
	}
};

/** @throws SkillError InvalidArgs for an invalid name or description */
export function templateFiles({ name, description, template, example, takes = 'text' }: TemplateOptions): SkillFiles {
	if (template === 'instructions') return skillFiles({ name, description, metadata: example ? { example } : {} });
	const input = INPUTS[takes];
	// What “Try in chat” sends; Demo mode understands the default, too.
	const metadata = { example: example ?? `Use ${name}${input.example}` };
	// Goes with the example.
	const samples: SkillFiles = takes === 'file' ? { 'examples/sample.txt': 'hello world\n' } : {};
	if (template === 'script') {
		const body = scriptBody(input, takes);
		const script = `#!/usr/bin/env node\n/** Describe what this script does. */\n${input.script}\n`;
		return { ...skillFiles({ name, description, body, metadata }), 'scripts/run.mjs': script, ...samples };
	}
	const tool = toolNameOf(name);
	const script = `scripts/${tool}.mjs`;
	const about = description.replace(/\s+/g, ' ').trim();
	const manifest = [{ name: tool, description: about, script, parameters: input.parameters }];
	const body = `Call the tool \`${tool}\`${input.given}, and answer with its result.`;
	return {
		...skillFiles({ name, description, body, metadata }),
		'tools.json': `${JSON.stringify(manifest, null, '\t')}\n`,
		[script]: toolModule(input, takes),
		...samples
	};
}

/** `invoice-reader` → `invoice_reader`; a tool's name starts with a letter. */
function toolNameOf(name: string): string {
	const tool = name.replaceAll('-', '_').slice(0, 60);
	const isTool = /^[a-z]/.test(tool) && skillNameOf(tool) !== '';
	return isTool ? tool : `run_${tool}`;
}

function scriptBody({ placeholder, given }: InputWords, takes: Input): string {
	const ask = takes === 'nothing' ? 'Say what it printed' : 'Ask for the missing input, then run it again';
	return `1. Run the script${given}:

   \`\`\`
   node scripts/run.mjs${placeholder}
   \`\`\`

2. Answer with its output.

## When something fails

The script prints the error to stderr and ends with exit code 1. ${ask}.`;
}

function toolModule({ tool }: InputWords, takes: Input): string {
	return `${takes === 'file' ? "import { readFile } from 'node:fs/promises';\n\n" : ''}/** Describe what this tool does. The model reads what it returns. */
export default async function handler(${takes === 'nothing' ? '' : 'args'}) {
	${tool}
}
`;
}
