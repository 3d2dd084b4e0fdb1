"""What was found, as Markdown."""

import unicodedata
from decimal import Decimal

from .columns import quantile
from .values import plain

MOST_ROWS = 60
LONGEST_CELL = 60
QUANTILES = (('25 %', 0.25), ('median', 0.5), ('75 %', 0.75))


def markdown_table(headers, rows, numeric):
    """`numeric` says per column whether it is aligned to the right."""
    lines = [' | '.join([''] + [cell(header) for header in headers] + ['']).strip()]
    lines.append('|' + '|'.join('---:' if right else '---' for right in numeric) + '|')
    lines.extend('| ' + ' | '.join(cell(value) for value in row) + ' |' for row in rows)
    return '\n'.join(lines)


def cell(value):
    text = ''.join(' ' if unicodedata.category(character)[0] == 'C' else character for character in str(value))
    text = ' '.join(text.split())
    text = text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL - 1] + '…'
    return text.replace('\\', '\\\\').replace('|', '\\|')


def group_report(groups, values, first, measure, total_rows):
    """A table by group for each number column of `values` (indexes), `first` leading; when there are several, a table of all sums before."""
    parts = []
    if not values:
        keys = groups.ordered()
        rows = [[' · '.join(key), groups.rows[key], share(Decimal(groups.rows[key]), Decimal(total_rows))] for key in keys]
        parts.append('## Rows by {}\n'.format(cell(groups.title())))
        parts.append(limited([groups.title(), 'rows', 'share'], rows, ['**All**', total_rows, '100 %']))
    if len(values) > 1:
        keys = groups.ordered(first, 'sum')
        rows = [[' · '.join(key), groups.rows[key]] + sums_of(groups.cells[key], values) for key in keys]
        total = ['**All**', total_rows] + [plain(groups.columns[value].sum) for value in values]
        parts.append('## Sums by {}\n'.format(cell(groups.title())))
        parts.append(limited([groups.title(), 'rows'] + [groups.columns[v].name for v in values], rows, total))
    for value in sorted(values, key=lambda index: index != first):
        column = groups.columns[value]
        rows = []
        one_sign = column.min is not None and column.min >= 0 and column.sum > 0
        for key in groups.ordered(value, measure):
            found = groups.cells[key][value]
            row = [' · '.join(key), groups.rows[key]] + numbers_of(found, column)
            rows.append(row + [share(found.sum, column.sum)] if one_sign else row)
        total = ['**All**', total_rows, column.numbers, plain(column.sum), plain(column.mean(), column.places),
                 plain(column.min), plain(column.max)] + (['100 %'] if one_sign else [])
        name = cell(column.name)
        title = name[:1].upper() + name[1:]
        parts.append('{}## {} by {}\n'.format('\n' if parts else '', title, cell(groups.title())))
        headers = [groups.title(), 'rows', 'count', 'sum', 'mean', 'min', 'max'] + (['share of sum'] if one_sign else [])
        parts.append(limited(headers, rows, total))
    return '\n'.join(parts)


def sums_of(cells, values):
    return [plain(cells[value].sum) if cells[value].count else '–' for value in values]


def numbers_of(found, column):
    if not found.count:
        return [0, '–', '–', '–', '–']
    mean = plain(found.measure('mean'), column.places)
    return [found.count, plain(found.sum), mean, plain(found.min), plain(found.max)]


def share(part, whole):
    return plain(part * 100 / whole, 1) + ' %' if whole else '–'


def limited(headers, rows, total):
    table = markdown_table(headers, rows[:MOST_ROWS] + [total], [False] + [True] * (len(headers) - 1))
    left_out = len(rows) - MOST_ROWS
    return table if left_out <= 0 else '{}\n\n{} more groups are not shown; **All** includes them.'.format(table, left_out)


def column_report(columns):
    rows = [[c.name, c.type, c.filled, c.missing, different(c), contents(c)] for c in columns]
    return '## Columns\n\n' + markdown_table(
        ['column', 'type', 'filled', 'missing', 'different', 'contents'], rows, [False, False, True, True, True, False])


def different(column):
    return '{}+'.format(len(column.counts)) if column.more_values else len(column.counts)


def contents(column):
    if column.is_number:
        return '{} to {}'.format(plain(column.min), plain(column.max))
    if column.type == 'date':
        return '{} to {}'.format(column.first_date, column.last_date)
    top = sorted(column.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
    return ', '.join('{} ({})'.format(text if len(text) <= 16 else text[:15] + '…', count) for text, count in top)


def number_report(columns):
    """The statistics of every number column; '' when there is none."""
    numbers = [column for column in columns if column.is_number]
    if not numbers:
        return ''
    rows = []
    for column in numbers:
        ordered = column.sorted_values()
        mark = '≈' if column.sampled else ''
        middle = [mark + plain(quantile(ordered, part), column.places) for _, part in QUANTILES]
        deviation = column.deviation()
        rows.append([column.name, column.numbers, plain(column.sum), plain(column.mean(), column.places),
                     '–' if deviation is None else plain(deviation, column.places), plain(column.min)]
                    + middle + [plain(column.max)])
    headers = ['column', 'count', 'sum', 'mean', 'std. deviation', 'min'] + [name for name, _ in QUANTILES] + ['max']
    return '## Numbers\n\n' + markdown_table(headers, rows, [False] + [True] * (len(headers) - 1))
