#!/usr/bin/env python3
"""Analyses a CSV file: a table by group, every column, statistics, and a bar chart as SVG."""

import argparse
import decimal
import os
import sys
import unicodedata

# A skill's folder stays as it was installed.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'lib'))

from csv_analysis.analysis import Analysis  # noqa: E402
from csv_analysis.drawing import draw  # noqa: E402
from csv_analysis.errors import DataError, UsageError  # noqa: E402
from csv_analysis.groups import MEASURES, PERIODS  # noqa: E402
from csv_analysis.naming import find_column, simplify  # noqa: E402
from csv_analysis.reading import Table  # noqa: E402
from csv_analysis.report import column_report, group_report, number_report  # noqa: E402
from csv_analysis.values import EXACT  # noqa: E402

SYNONYMS = {'total': 'sum', 'average': 'mean', 'avg': 'mean', 'minimum': 'min', 'maximum': 'max'}
DELIMITERS = {'\\t': '\t', 'tab': '\t', 'comma': ',', 'semicolon': ';'}
LIKELY_VALUES = ('revenue', 'sales', 'amount', 'total', 'turnover', 'income', 'value', 'price', 'cost')


def main(arguments):
    options = parse(arguments)
    decimal.setcontext(EXACT)
    if os.path.isfile(options.file):
        print('Reading {} ({}) …\n'.format(options.file, bytes_text(os.path.getsize(options.file))), flush=True)
    table = Table(options.file, options.encoding, options.delimiter, False if options.no_header else None)
    notes = []
    read_period(options, table, notes)
    by = find_group_columns(options.group_by, table, notes)
    wanted = None
    if options.value:
        wanted, note = find_column(options.value, table.columns, table.name)
        notes += [note] if note else []
    if options.period and not by:
        raise UsageError('--period needs --group-by with a column of dates.')
    chart = chart_path(options, table, by)
    analysis = Analysis(table, by, options.period)
    notes += analysis.notes
    numbers = [i for i, column in enumerate(analysis.columns) if column.is_number and i not in (by or ())]
    if wanted is not None and not analysis.columns[wanted].is_number and analysis.rows:
        raise UsageError('The column "{}" does not hold numbers. {}'.format(
            table.columns[wanted], 'These do: {}.'.format(', '.join(table.columns[i] for i in numbers)) if numbers
            else 'No column does.'))
    if wanted is not None:
        numbers = [wanted] if analysis.columns[wanted].is_number else []
    value = wanted if wanted is not None else likely_value(analysis.columns, numbers)
    if analysis.groups and analysis.rows:
        shown = numbers if options.details or value is None else [value]
        print(group_report(analysis.groups, shown, value, options.measure, analysis.rows), end='\n\n')
    if analysis.rows:
        what = draw(chart, table, analysis, value, options.measure)
        print('Chart: {} ({}).\n'.format(chart, what))
    else:
        notes.append('There\'s a header but not a single row of data, so there\'s no chart.')
    print('**{}**: {} {}, {} {}, divided by {}, {}.\n'.format(
        table.name, analysis.rows, 'row' if analysis.rows == 1 else 'rows', len(table.columns),
        'column' if len(table.columns) == 1 else 'columns', table.delimiter_name(), encoding_name(table.encoding)))
    # Whoever asked for groups has them above.
    if options.details or not analysis.groups:
        print(column_report(analysis.columns))
        statistics = number_report(analysis.columns)
        if statistics:
            print('\n' + statistics)
    if notes:
        print('\n## Notes\n\n' + '\n'.join('- ' + note for note in notes))


def parse(arguments):
    parser = argparse.ArgumentParser(prog='analyze_csv.py', description=__doc__)
    parser.add_argument('file', metavar='FILE', help='the CSV or TSV file')
    parser.add_argument('--group-by', metavar='COLUMN', action='append', help='one line for each value of this column')
    parser.add_argument('--value', metavar='COLUMN', help='the number column to add up and draw')
    parser.add_argument('--measure', metavar='NAME', default='sum', type=lambda name: SYNONYMS.get(name.lower(), name.lower()),
                        choices=MEASURES, help='sum (the default), mean, count, min or max')
    parser.add_argument('--period', metavar='NAME', choices=PERIODS, help='day, month, quarter or year of a date column')
    parser.add_argument('--details', action='store_true', help='with --group-by: every number by group, every column, statistics')
    parser.add_argument('--chart', metavar='FILE', help='name of the SVG file')
    parser.add_argument('--delimiter', metavar='CHAR', help='what stands between the cells')
    parser.add_argument('--encoding', metavar='NAME', help='such as utf-8 or latin-1')
    parser.add_argument('--no-header', action='store_true', help='the first row is data')
    options = parser.parse_args(arguments)
    if options.delimiter:
        options.delimiter = DELIMITERS.get(options.delimiter, options.delimiter)
        if len(options.delimiter) != 1 or options.delimiter in '"\r\n':
            parser.error('--delimiter must be one character')
    return options


def read_period(options, table, notes):
    """`--group-by month` means the months of the dates, where there is one column of dates and none called month."""
    period = options.group_by[0].lower() if options.group_by and not options.period else None
    if period in PERIODS and len(table.dates) == 1 and period not in map(simplify, table.columns):
        notes.append('There is no column "{}"; the dates in "{}" were grouped by {}.'.format(period, table.dates[0], period))
        options.period, options.group_by = period, table.dates


def find_group_columns(wanted, table, notes):
    """Indexes of the columns to group by; a name is tried whole before it is divided at its commas."""
    indexes = []
    for name in wanted or []:
        whole = name in table.columns or ',' not in name
        for part in [name] if whole else name.split(','):
            index, note = find_column(part.strip(), table.columns, table.name)
            notes += [note] if note else []
            if index not in indexes:
                indexes.append(index)
    return indexes or None


def likely_value(columns, numbers):
    """The number column that a reader most likely means: by its name, else the first that has decimals, else the first."""
    for word in LIKELY_VALUES:
        for index in numbers:
            if word in simplify(columns[index].name):
                return index
    decimals = [index for index in numbers if columns[index].decimals]
    return next(iter(decimals or numbers), None)


def chart_path(options, table, by):
    """A path inside the working directory that replaces nothing but an older chart."""
    base = slug(os.path.splitext(table.name)[0]) or 'data'
    if options.chart:
        path = options.chart if options.chart.lower().endswith('.svg') else options.chart + '.svg'
    elif by:
        names = [options.period] if options.period else [slug(table.columns[index]) or 'group' for index in by]
        path = '{}-by-{}.svg'.format(base, '-'.join(names))
    else:
        path = base + '-summary.svg'
    here = os.path.realpath('.')
    real = os.path.realpath(path)
    if os.path.commonpath([here, real]) != here:
        raise UsageError('The chart must be in the working directory, but {} isn\'t.'.format(path))
    if os.path.exists(real) and os.path.samefile(real, options.file):
        raise UsageError('The chart can\'t replace the analyzed file ({}).'.format(path))
    return path


def slug(text):
    plain = unicodedata.normalize('NFKD', text).encode('ascii', 'ignore').decode().lower()
    words = ''.join(character if character.isalnum() else ' ' for character in plain).split()
    return '-'.join(words)[:60].strip('-')


def bytes_text(size):
    for limit, unit in ((1024 ** 3, 'GB'), (1024 ** 2, 'MB'), (1024, 'KB')):
        if size >= limit:
            return '{:.1f} {}'.format(size / limit, unit)
    return '{} bytes'.format(size)


def encoding_name(encoding):
    return {'utf-8-sig': 'UTF-8', 'utf-16': 'UTF-16', 'cp1252': 'Windows-1252', 'latin-1': 'Latin-1'}.get(encoding, encoding)


if __name__ == '__main__':
    # Pipes may come with an encoding that cannot hold every name in a table.
    sys.stdout.reconfigure(encoding='utf-8', errors='replace')
    sys.stderr.reconfigure(encoding='utf-8', errors='replace')
    try:
        main(sys.argv[1:])
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except (DataError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
