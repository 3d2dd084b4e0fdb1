"""Numbers summed up by the values of one or more columns."""

from collections import defaultdict
from decimal import Decimal

from .errors import DataError, UsageError
from .values import is_missing, month_number, parse_date

MOST_GROUPS = 50_000
MISSING_KEY = '(missing)'
PERIODS = ('day', 'month', 'quarter', 'year')
MEASURES = ('sum', 'mean', 'count', 'min', 'max')


class Cell:
    """One number column within one group."""

    __slots__ = ('count', 'sum', 'min', 'max')

    def __init__(self):
        self.count = 0
        self.sum = Decimal(0)
        self.min = self.max = None

    def add(self, numbers):
        """Takes at least one number."""
        self.count += len(numbers)
        self.sum += sum(numbers)
        low, high = min(numbers), max(numbers)
        self.min = low if self.min is None else min(self.min, low)
        self.max = high if self.max is None else max(self.max, high)

    def measure(self, name):
        """sum, mean, count, min or max; None when there is no value to take it from."""
        if name == 'count':
            return Decimal(self.count)
        if not self.count:
            return None
        if name == 'sum':
            return self.sum
        if name == 'mean':
            return self.sum / self.count
        return self.min if name == 'min' else self.max


class Groups:
    """`by` are column indexes; `period` makes days into months, quarters or years."""

    def __init__(self, by, columns, period=None):
        self.by = by
        self.columns = columns
        self.period = period
        self.rows = {}
        self.cells = {}

    def add(self, texts, numbers):
        """Takes a block: for each column its stripped cells, and its numbers or None."""
        members = defaultdict(list)
        for position, key in enumerate(zip(*[self._keys(texts[index], index) for index in self.by])):
            members[key].append(position)
        for key, positions in members.items():
            cells = self.cells.get(key)
            if cells is None:
                if len(self.cells) == MOST_GROUPS:
                    raise DataError('There are more than {} groups by {}; choose a column with fewer values.'.format(
                        MOST_GROUPS, self.title()))
                cells = self.cells[key] = [Cell() for _ in self.columns]
                self.rows[key] = 0
            self.rows[key] += len(positions)
            for cell, column in zip(cells, numbers):
                found = [column[position] for position in positions if column[position] is not None]
                if found:
                    cell.add(found)

    def _keys(self, texts, index):
        keys = {text: self._key(text, index) for text in set(texts)}
        return [keys[text] for text in texts]

    def _key(self, text, index):
        if is_missing(text):
            return MISSING_KEY
        if not self.period:
            return text
        day = parse_date(text)
        if day is None and self.period == 'month' and month_number(text):
            return text
        if day is None:
            raise UsageError('--period needs dates such as 2025-01-31, but the column "{}" holds "{}".'.format(
                self.columns[index].name, text))
        if self.period == 'year':
            return str(day.year)
        if self.period == 'quarter':
            return '{}-Q{}'.format(day.year, (day.month + 2) // 3)
        return day.isoformat()[:7] if self.period == 'month' else day.isoformat()

    def title(self):
        name = ', '.join(self.columns[index].name for index in self.by)
        return '{} ({})'.format(name, self.period) if self.period and self.period != name.lower() else name

    @property
    def in_order(self):
        """Dates, numbers and the names of months keep their own order; other names are ordered by size."""
        first = [key[0] for key in self.cells if key[0] != MISSING_KEY]
        return (self.period is not None or self.columns[self.by[0]].type in ('date', 'integer', 'number')
                or (len(first) > 0 and all(month_number(name) for name in first)))

    def ordered(self, value=None, measure='sum'):
        """Keys: dates, numbers and months ascending, others by `measure` of the column at index `value`, largest first."""
        if self.in_order:
            return sorted(self.cells, key=lambda key: tuple(natural(part) for part in key))

        def size(key):
            if value is None:
                return Decimal(self.rows[key])
            found = self.cells[key][value].measure(measure)
            return Decimal('-Infinity') if found is None else found

        return sorted(sorted(self.cells), key=size, reverse=True)


def natural(text):
    """Sorts days, then numbers, then months, then words, and what is missing last."""
    if text == MISSING_KEY:
        return (4, 0, '')
    day = parse_date(text)
    if day:
        return (0, day.toordinal(), text)
    try:
        return (1, float(text.replace(',', '')), text)
    except ValueError:
        month = month_number(text)
        return (2, month, text) if month else (3, 0, text)
