"""Finds the column that a user means."""

import difflib

from .errors import UsageError


def find_column(wanted, names, file_name):
    """(index, note or None): exact, then without regard to case and punctuation, then a near miss. UsageError if none."""
    if wanted in names:
        return names.index(wanted), None
    plain = [simplify(name) for name in names]
    target = simplify(wanted)
    if target and plain.count(target) == 1:
        return plain.index(target), None
    near = [name for name in plain if target and (name.startswith(target) or target.startswith(name)) and len(name) > 2]
    near = near or difflib.get_close_matches(target, plain, 2, 0.8)
    if len(target) > 2 and len(near) == 1 and plain.count(near[0]) == 1:
        index = plain.index(near[0])
        return index, 'There is no column "{}", so "{}" was used.'.format(wanted, names[index])
    raise UsageError('There is no column "{}" in {}. Its columns are: {}.'.format(wanted, file_name, ', '.join(names)))


def simplify(name):
    return ''.join(character for character in name.casefold() if character.isalnum())
