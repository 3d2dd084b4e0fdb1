/** The texts that a new skill starts with. Each script and handler runs as it is. */

/** `script` is a path in the skill, `tool` the name of a tool; either may be undefined. */
export function skillMd(name, description, script, tool) {
	const title = name[0].toUpperCase() + name.slice(1).replaceAll('-', ' ');
	// A JSON string is a YAML string: no colon, quote or hash in a description can break the front matter.
	const lines = ['---', `name: ${asYaml(name)}`, `description: ${asYaml(description)}`, '---', '', `# ${title}`, ''];
	if (tool) lines.push(`Call the tool \`${tool}\` with the text that the user gave, and answer with its result.`, '');
	if (script) lines.push('Run the script with the text that the user gave:', '', '```', `${script} "TEXT"`, '```', '');
	if (!tool && !script) lines.push('1. Say here what to do first.', '2. And then what.', '');
	lines.push('## When something fails', '', 'Say here what can go wrong and what to do about it.', '');
	return lines.join('\n');
}

function asYaml(text) {
	// Plain names stay plain; `123`, `on` or `null` as a name would be read as something else.
	const isPlain = /^[a-z]+(-[a-z]+)*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/.test(text);
	return isPlain ? text : JSON.stringify(text);
}

export function toolsJson(name, script, description) {
	const parameters = { text: { type: 'string', description: 'The text to work on' } };
	return `${JSON.stringify([{ name, description, script, parameters }], null, '\t')}\n`;
}

export const SCRIPTS = {
	python: `#!/usr/bin/env python3
"""Works on a text. Replace the body of work() with what the skill is for."""

import argparse
import sys


def work(text):
    return 'Received {} characters: {}'.format(len(text), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('text', metavar='TEXT', help='the text to work on')
    options = parser.parse_args()
    if not options.text.strip():
        print('The text is empty.', file=sys.stderr)
        return 2
    print(work(options.text))
    return 0


if __name__ == '__main__':
    sys.exit(main())
`,
	node: `#!/usr/bin/env node
/** Works on a text. Replace the body of work() with what the skill is for. */

const USAGE = 'Usage: run.mjs "TEXT"';

function work(text) {
	return \`Received \${[...text].length} characters: \${text}\`;
}

const [text, ...others] = process.argv.slice(2);
if (text === '--help' || text === '-h') {
	console.log(USAGE);
} else if (!text?.trim() || others.length > 0) {
	console.error(USAGE);
	process.exitCode = 2;
} else {
	console.log(work(text));
}
`,
	bash: `#!/usr/bin/env bash
# Works on a text. Replace the body of work with what the skill is for.
set -euo pipefail

work() {
	printf 'Received %s characters: %s\\n' "\${#1}" "$1"
}

case \${1:-} in
--help | -h)
	echo 'Usage: run.sh "TEXT"'
	;;
'')
	echo 'Usage: run.sh "TEXT"' >&2
	exit 2
	;;
*)
	work "$1"
	;;
esac
`
};

export const HANDLERS = {
	node: `/** Replace the body with what the tool is for. \`args\` holds its parameters; what is returned must be JSON. */
export default async function handler(args) {
	const { text } = args;
	if (typeof text !== 'string') throw new TypeError('"text" must be a string.');
	return { characters: [...text].length, text };
}
`,
	python: `"""Replace the body of handler() with what the tool is for. It takes the parameters and returns what JSON can hold."""

import json
import sys


def handler(args):
    text = args.get('text')
    if not isinstance(text, str):
        raise TypeError('"text" must be a string.')
    return {'characters': len(text), 'text': text}


if __name__ == '__main__':
    arguments = json.loads(sys.argv[1]) if len(sys.argv) > 1 else json.load(sys.stdin)
    print(json.dumps(handler(arguments), ensure_ascii=False))
`
};
