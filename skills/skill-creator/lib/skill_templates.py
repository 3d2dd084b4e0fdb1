"""The texts that a new skill starts with. Each script and handler runs as it is."""

import json


def skill_md(name, description, script=None, tool=None):
    """`script` is a path in the skill, `tool` the name of a tool; either may be None."""
    title = name.replace('-', ' ').capitalize()
    # A JSON string is a YAML string: no colon, quote or hash in a description can break the front matter.
    lines = ['---', 'name: ' + as_yaml(name), 'description: ' + as_yaml(description), '---', '', '# ' + title, '']
    if tool:
        lines += ['Call the tool `{}` with the text that the user gave, and answer with its result.'.format(tool), '']
    if script:
        lines += ['Run the script with the text that the user gave:', '', '```', script + ' "TEXT"', '```', '']
    if not tool and not script:
        lines += ['1. Say here what to do first.', '2. And then what.', '']
    lines += ['## When something fails', '', 'Say here what can go wrong and what to do about it.', '']
    return '\n'.join(lines)


def as_yaml(text):
    # Plain names stay plain; `123`, `on` or `null` as a name would be read as something else.
    plain = all(part.isalpha() for part in text.split('-')) and text.isascii() and text.islower()
    if plain and text not in ('true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n'):
        return text
    return json.dumps(text, ensure_ascii=False)


def tools_json(tool, handler, description):
    entry = {
        'name': tool,
        'description': description,
        'script': handler,
        'parameters': {'text': {'type': 'string', 'description': 'The text to work on'}},
    }
    return json.dumps([entry], ensure_ascii=False, indent='\t') + '\n'


PYTHON_SCRIPT = '''#!/usr/bin/env python3
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
'''

NODE_SCRIPT = '''#!/usr/bin/env node
/** Works on a text. Replace the body of work() with what the skill is for. */

const USAGE = 'Usage: run.mjs "TEXT"';

function work(text) {
	return `Received ${[...text].length} characters: ${text}`;
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
'''

BASH_SCRIPT = '''#!/usr/bin/env bash
# Works on a text. Replace the body of work with what the skill is for.
set -euo pipefail

work() {
	printf 'Received %s characters: %s\\n' "${#1}" "$1"
}

case ${1:-} in
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
'''

SCRIPTS = {'python': PYTHON_SCRIPT, 'node': NODE_SCRIPT, 'bash': BASH_SCRIPT}

NODE_HANDLER = '''/** Replace the body with what the tool is for. `args` holds its parameters; what is returned must be JSON. */
export default async function handler(args) {
	const { text } = args;
	if (typeof text !== 'string') throw new TypeError('"text" must be a string.');
	return { characters: [...text].length, text };
}
'''

PYTHON_HANDLER = '''"""Replace the body of handler() with what the tool is for. It takes the parameters and returns what JSON can hold."""

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
'''

HANDLERS = {'node': NODE_HANDLER, 'python': PYTHON_HANDLER}
