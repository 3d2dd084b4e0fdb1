"""Turns the text of a cell into a number or a date, and numbers back into text without noise."""

import re
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal

MISSING = frozenset(('', 'na', 'n/a', 'nan', 'null', '-', '--'))
LONGEST_MISSING = 4

#: Wide enough that sums and sums of squares of ordinary data stay exact.
EXACT = Context(prec=60, rounding=ROUND_HALF_UP)

# A leading zero means an identifier (007, 01234), not a number.
POINT = re.compile(r'[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?', re.ASCII)
POINT_GROUPED = re.compile(r'[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?', re.ASCII)
COMMA = re.compile(r'[+-]?(?:0|[1-9]\d*)(?:,\d+)?', re.ASCII)
COMMA_GROUPED = re.compile(r'[+-]?[1-9]\d{0,2}(?:[. \u00a0\u202f]\d{3})+(?:,\d+)?', re.ASCII)
ONLY_COMMA = re.compile(r'[+-]?\d+,(?:\d{1,2}|\d{4,})', re.ASCII)
ONLY_POINT = re.compile(r'[+-]?\d+\.(?:\d{1,2}|\d{4,})', re.ASCII)
UNITS = '$€£¥%'

ISO_DATE = re.compile(r'(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?', re.ASCII)
POINT_DATE = re.compile(r'(\d{1,2})\.(\d{1,2})\.(\d{4})', re.ASCII)
MONTHS = ('january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november',
          'december')


def is_missing(text):
    return len(text) <= LONGEST_MISSING and text.lower() in MISSING


def parse_number(text, decimal_comma=False):
    """The exact value of a stripped cell, or None when it is no number."""
    plain = COMMA if decimal_comma else POINT
    if plain.fullmatch(text):
        return Decimal(text.replace(',', '.') if decimal_comma else text)
    bare = text.strip(UNITS).strip()
    if len(text) > 1 and text[0] in '+-' and text[1] in UNITS:
        bare = text[0] + text[1:].strip(UNITS).strip()
    if plain.fullmatch(bare):
        return Decimal(bare.replace(',', '.') if decimal_comma else bare)
    if decimal_comma and COMMA_GROUPED.fullmatch(bare):
        return Decimal(re.sub(r'[. \u00a0\u202f]', '', bare).replace(',', '.'))
    if not decimal_comma and POINT_GROUPED.fullmatch(bare):
        return Decimal(bare.replace(',', ''))
    return None


def month_number(text):
    """1 to 12 for the name of a month (January, Jan, Jan.), or None."""
    name = text.rstrip('.').lower()
    found = [number for number, month in enumerate(MONTHS, 1) if len(name) >= 3 and month.startswith(name)]
    return found[0] if found else 9 if name == 'sept' else None


def parse_date(text):
    """The day of an ISO (2025-01-31) or dotted (31.1.2025) date, or None."""
    match = ISO_DATE.fullmatch(text)
    parts = match.groups()[:3] if match else None
    if parts is None:
        match = POINT_DATE.fullmatch(text)
        parts = match.groups()[::-1] if match else None
    if parts is None:
        return None
    try:
        return date(int(parts[0]), int(parts[1]), int(parts[2]))
    except ValueError:
        return None


def decimals_of(number):
    """How many digits stand after the point."""
    return max(0, -number.as_tuple().exponent)


def plain(number, places=None):
    """A Decimal as people write it: 1234.5, never 1234.5000001 or 1E+3; rounded only to `places` if given."""
    if places is not None and decimals_of(number) > places:
        number = number.quantize(Decimal(1).scaleb(-places), context=EXACT)
    if not number:
        return '0'
    if not -12 < number.adjusted() < 24:
        return '{:.6e}'.format(number)
    text = '{:f}'.format(number)
    return text.rstrip('0').rstrip('.') if '.' in text else text
