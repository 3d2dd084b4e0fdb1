#!/usr/bin/env python3
"""Makes a new skill: SKILL.md, and if asked for a script and a tool."""

import argparse
import os
import re
import shutil
import sys
import tempfile
import unicodedata

# A skill's folder stays as it was installed.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'lib'))

from skill_templates import HANDLERS, SCRIPTS, skill_md, tools_json  # noqa: E402

NAME = re.compile(r'[a-z0-9]+(?:-[a-z0-9]+)*')
TOOL_NAME = re.compile(r'[a-z][a-z0-9_]*')
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LANGUAGES = {'python': 'python', 'py': 'python', 'node': 'node', 'javascript': 'node', 'js': 'node', 'bash': 'bash', 'sh': 'bash',
             'shell': 'bash'}


class UsageError(Exception):
    """Something in the call is not valid: exit code 2."""


class CreationError(Exception):
    """The folder cannot be made: exit code 1."""


def main(arguments):
    options = parse(arguments)
    name = checked_name(options.name)
    description = checked_description(options.description)
    language = checked_language(options.script)
    tool = checked_tool(options.tool, language)
    files = files_of(name, description, language, tool)
    folder = os.path.normpath(os.path.join(options.into, name))
    create(folder, files, options.into)
    print('Created the skill {} in {}:\n'.format(name, folder))
    for path in sorted(files):
        print('  {}/{}'.format(name, path))
    print('\nNext: fill in {}/SKILL.md, then copy the folder into skills/.'.format(folder))


def parse(arguments):
    parser = argparse.ArgumentParser(prog='create_skill.py', description=__doc__)
    parser.add_argument('name', metavar='NAME', help='lower-case letters, digits and hyphens')
    parser.add_argument('--description', metavar='TEXT', required=True, help='what it does and when to use it')
    parser.add_argument('--script', metavar='LANGUAGE', help='python, node or bash')
    parser.add_argument('--tool', metavar='TOOL_NAME', help='adds tools.json with this tool and its handler')
    parser.add_argument('--into', metavar='FOLDER', default='.', help='where the folder is made (default: here)')
    return parser.parse_args(arguments)


def checked_name(name):
    if NAME.fullmatch(name) and len(name) <= LONGEST_NAME:
        return name
    plain = unicodedata.normalize('NFKD', name).encode('ascii', 'ignore').decode().lower()
    better = '-'.join(re.findall('[a-z0-9]+', plain))[:LONGEST_NAME].strip('-')
    raise UsageError('"{}" can\'t be a skill name. Use lower-case letters, digits and single hyphens, at most {} characters.{}'.format(
                         name, LONGEST_NAME, ' Try "{}".'.format(better) if better else ''))


def checked_description(text):
    """On one line and without characters that YAML forbids."""
    text = ' '.join(''.join(' ' if unicodedata.category(c) in ('Cc', 'Cs', 'Zl', 'Zp') else c for c in text).split())
    if not text:
        raise UsageError('The description is empty. Say what the skill does and when to use it.')
    if len(text) > LONGEST_DESCRIPTION:
        raise UsageError('The description has {} characters; the maximum is {}.'.format(len(text), LONGEST_DESCRIPTION))
    return text


def checked_language(language):
    if language is None:
        return None
    if language.lower() in LANGUAGES:
        return LANGUAGES[language.lower()]
    raise UsageError('--script must be python, node or bash, not "{}".'.format(language))


def checked_tool(tool, language):
    if tool is None:
        return None
    if not TOOL_NAME.fullmatch(tool) or len(tool) > LONGEST_NAME:
        raise UsageError('"{}" can\'t be a tool name. Start with a lower-case letter and use only lower-case letters, digits and '
                         'underscores, at most {} characters.'.format(tool, LONGEST_NAME))
    if language == 'bash':
        raise UsageError('A tool needs node or python: change --script bash or leave it out.')
    return tool


def files_of(name, description, language, tool):
    """Relative path → (text, is it executable?)."""
    script = None
    files = {}
    if language and not tool:
        script = 'scripts/' + {'python': 'run.py', 'node': 'run.mjs', 'bash': 'run.sh'}[language]
        files[script] = (SCRIPTS[language], True)
    if tool:
        kind = language or 'node'
        handler = 'scripts/{}.{}'.format(tool, {'python': 'py', 'node': 'js'}[kind])
        files[handler] = (HANDLERS[kind], False)
        files['tools.json'] = (tools_json(tool, handler, description), False)
    files['SKILL.md'] = (skill_md(name, description, script, tool), False)
    return files


def create(folder, files, into):
    """All or nothing: the files are written beside the place, then moved there in one step."""
    if not os.path.isdir(into):
        raise CreationError('The folder {} doesn\'t exist.'.format(into))
    if os.path.lexists(folder):
        raise CreationError('{} already exists. Nothing was changed; choose another name.'.format(folder))
    staging = tempfile.mkdtemp(prefix='.new-skill-', dir=into)
    try:
        for path, (text, executable) in files.items():
            target = os.path.join(staging, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, 'w', encoding='utf-8', newline='\n') as file:
                file.write(text)
            os.chmod(target, 0o755 if executable else 0o644)
        os.chmod(staging, 0o755)
        os.rename(staging, folder)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


if __name__ == '__main__':
    sys.stdout.reconfigure(encoding='utf-8', errors='replace')
    sys.stderr.reconfigure(encoding='utf-8', errors='replace')
    try:
        main(sys.argv[1:])
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except (CreationError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
