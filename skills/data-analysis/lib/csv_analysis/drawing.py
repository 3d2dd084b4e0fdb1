"""Chooses what the chart of an analysis shows, and writes it."""

import math
import os
from decimal import Decimal

from .chart import bar_chart, round_step
from .values import plain

MOST_BARS = 30
BINS = 10


def draw(path, table, analysis, value, measure):
    """Writes the SVG; says in a few words what it shows. `value` is the index of a number column or None."""
    column = None if value is None else analysis.columns[value]
    if analysis.groups:
        title, subtitle, axis, labels, bars = by_group(analysis, value, column, measure)
        places = column.places if column and measure == 'mean' else None
    elif column:
        title, subtitle, axis, labels, bars = by_size(analysis, column)
        places = None
    else:
        title, subtitle, axis, labels = 'Filled cells in each column', 'Cells that are not missing', 'filled cells', 'column'
        bars = [(column.name, Decimal(column.filled)) for column in analysis.columns][:MOST_BARS]
        places = None
    title = title[:1].upper() + title[1:]
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        rows = '{} {}'.format(analysis.rows, 'row' if analysis.rows == 1 else 'rows')
        file.write(bar_chart(title, '{} · {} of {}'.format(subtitle, rows, table.name), axis, labels, bars, places))
    return title


def by_group(analysis, value, column, measure):
    groups = analysis.groups
    if column is None:
        pairs = [(key, Decimal(groups.rows[key])) for key in groups.ordered()]
        title, subtitle, axis = 'Rows by ' + groups.title(), 'Number of rows', 'rows'
    else:
        pairs = [(key, groups.cells[key][value].measure(measure)) for key in groups.ordered(value, measure)]
        title = '{}{} by {}'.format('' if measure == 'sum' else measure + ' of ', column.name, groups.title())
        subtitle, axis = '{} of {}'.format(measure.capitalize(), column.name), '{} ({})'.format(column.name, measure)
    bars = [(' · '.join(key), number) for key, number in pairs if number is not None]
    if len(bars) > MOST_BARS:
        subtitle += ', the {} {} of {} groups'.format('last' if groups.in_order else 'largest', MOST_BARS, len(bars))
        bars = bars[-MOST_BARS:] if groups.in_order else bars[:MOST_BARS]
    return title, subtitle, axis, groups.title(), bars


def by_size(analysis, column):
    """How many values of a number column fall into each of about ten ranges with round ends."""
    ordered = column.sorted_values()
    step = round_step((ordered[-1] - ordered[0]) / BINS or 1.0)
    lowest = math.floor(ordered[0] / step)
    counts = [0] * (math.floor(ordered[-1] / step) - lowest + 1)
    for number in ordered:
        counts[math.floor(number / step) - lowest] += 1
    ends = [plain(Decimal('{:.10g}'.format(step * (lowest + n)))) for n in range(len(counts) + 1)]
    bars = [('{} to under {}'.format(ends[n], ends[n + 1]), Decimal(count)) for n, count in enumerate(counts)]
    sampled = ' (a sample)' if column.sampled else ''
    return 'How {} is spread'.format(column.name), 'Values in each range' + sampled, 'number of values', column.name, bars
