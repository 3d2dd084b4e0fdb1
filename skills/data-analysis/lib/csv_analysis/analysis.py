"""One pass over a table: its columns, its groups, and what was odd about its rows."""

import sys

from .columns import Column
from .groups import Groups

BLOCK_ROWS = 10_000
PROGRESS_ROWS = 250_000
#: A field over so many lines is more likely a quotation mark that was never closed.
LONG_FIELD_LINES = 50


class Analysis:
    """`columns`, `groups` (or None), `rows` and `notes` of a table that has been read to its end."""

    def __init__(self, table, by=None, period=None):
        self.columns = [Column(name, table.decimal_comma) for name in table.columns]
        self.groups = Groups(by, self.columns, period) if by else None
        self.rows = 0
        self._short, self._long, self._tall = [], [], []
        self._read(table)
        self.notes = list(self._find_notes(table))

    def _read(self, table):
        width = len(self.columns)
        block = []
        last_line, row = None, []
        for line, row in table.rows():
            if len(row) != width:
                (self._short if len(row) < width else self._long).append(line)
                cells = row[:width] + [''] * (width - len(row))
            else:
                cells = row
            if last_line is not None and line - last_line > LONG_FIELD_LINES:
                self._tall.append(line)
            last_line = line
            block.append(cells)
            if len(block) == BLOCK_ROWS:
                self._add(block)
                block = []
        if block:
            self._add(block)
        self._unclosed = bool(row) and '\n' in row[-1] and not table.ends_with_quote()

    def _add(self, block):
        # By column, not by cell: most of the work then happens inside Python's own loops.
        texts = [[cell.strip() for cell in cells] for cells in zip(*block)]
        numbers = [column.add(cells) for column, cells in zip(self.columns, texts)]
        if self.groups:
            self.groups.add(texts, numbers)
        self.rows += len(block)
        if self.rows % PROGRESS_ROWS == 0:
            print('{} rows read …'.format(self.rows), file=sys.stderr, flush=True)

    def _find_notes(self, table):
        if table.encoding_note:
            yield table.encoding_note
        if not table.header:
            yield 'The first row holds data, not names, so the columns are called column1, column2, ….'
        if self._short:
            yield '{} shorter than the header; their last cells count as missing ({}).'.format(
                rows_are(self._short), lines_of(self._short))
        if self._long:
            yield '{} longer than the header; their extra cells were left out ({}).'.format(
                rows_are(self._long), lines_of(self._long))
        if self._unclosed:
            yield 'A quotation mark is never closed: the end of the file was read as one cell, and its rows are missing from the figures.'
        if self._tall:
            yield 'A field spans more than {} lines ({}); a quotation mark may never be closed.'.format(
                LONG_FIELD_LINES, lines_of(self._tall))
        for column in self.columns:
            if column.is_number and column.missing:
                yield 'In "{}" {} missing and left out of its figures.'.format(column.name, values_are(column.missing))
            if column.is_number and column.numbers < column.filled:
                yield 'In "{}" {} not a number and left out of its figures, for example "{}".'.format(
                    column.name, values_are(column.filled - column.numbers), column.odd)
            if column.is_number and column.sampled:
                yield 'The quantiles of "{}" come from a random sample of 200,000 values (≈).'.format(column.name)


def rows_are(lines):
    return '1 row is' if len(lines) == 1 else '{} rows are'.format(len(lines))


def values_are(count):
    return '1 value is' if count == 1 else '{} values are'.format(count)


def lines_of(lines):
    shown = ', '.join(str(line) for line in lines[:5])
    return '{} {}{}'.format('line' if len(lines) == 1 else 'lines', shown, ', …' if len(lines) > 5 else '')
