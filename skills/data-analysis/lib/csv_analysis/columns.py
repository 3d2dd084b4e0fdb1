"""One column summed up while its cells go by in blocks: type, missing cells, values, statistics."""

import random
from array import array
from collections import Counter
from decimal import Decimal

from .values import decimals_of, is_missing, parse_date, parse_number

MOST_QUANTILE_VALUES = 200_000
MOST_DIFFERENT_VALUES = 10_000
#: After so many filled cells of which fewer than half are numbers, a column is text and no longer parsed.
ENOUGH_TO_JUDGE = 20_000
BOOLEANS = frozenset(('true', 'false', 'yes', 'no'))


class Parsed(dict):
    """text → parsed value or None; remembers a bounded number of texts, since most columns repeat theirs."""

    def __init__(self, parse):
        super().__init__()
        self._parse = parse

    def __missing__(self, text):
        value = self._parse(text)
        if len(self) < MOST_DIFFERENT_VALUES:
            self[text] = value
        return value


class Column:
    def __init__(self, name, decimal_comma=False):
        self.name = name
        self.filled = self.missing = self.numbers = self.dates = self.booleans = 0
        self.sum = self.squares = Decimal(0)
        self.min = self.max = self.first_date = self.last_date = None
        self.decimals = 0
        self.counts = {}
        self.more_values = False
        self.odd = None
        self._number_of = Parsed(lambda text: parse_number(text, decimal_comma))
        self._date_of = Parsed(parse_date)
        self._values = array('d')
        self._random = random.Random(0)

    def add(self, texts):
        """Takes a block of stripped cells; for each its number, or None."""
        if self.filled > ENOUGH_TO_JUDGE and self.numbers * 2 < self.filled:
            numbers = [None] * len(texts)
        else:
            number_of = self._number_of
            numbers = [number_of[text] for text in texts]
        found = [number for number in numbers if number is not None]
        if found:
            self._add_numbers(found)
        times_of = Counter(texts)
        others = times_of if not found else ()
        if 0 < len(found) < len(texts):
            others = {text for text, number in zip(texts, numbers) if number is None}
        counts = self.counts
        for text, times in times_of.items():
            if is_missing(text):
                self.missing += times
                continue
            self.filled += times
            if text in counts:
                counts[text] += times
            elif len(counts) < MOST_DIFFERENT_VALUES:
                counts[text] = times
            else:
                self.more_values = True
            if text in others:
                self._add_other(text, times)
        return numbers

    def _add_numbers(self, found):
        before = self.numbers
        self.numbers += len(found)
        total = sum(found)
        self.sum += total
        self.squares += sum([number * number for number in found])
        low, high = min(found), max(found)
        self.min = low if self.min is None else min(self.min, low)
        self.max = high if self.max is None else max(self.max, high)
        # An exact sum has as many decimals as the longest of its parts.
        self.decimals = max(self.decimals, decimals_of(total))
        room = MOST_QUANTILE_VALUES - len(self._values)
        self._values.extend(map(float, found[:room]))
        for position, number in enumerate(found[room:], before + room):
            place = int(self._random.random() * (position + 1))
            if place < MOST_QUANTILE_VALUES:
                self._values[place] = float(number)

    def _add_other(self, text, times):
        self.odd = self.odd or text
        if text.lower() in BOOLEANS:
            self.booleans += times
        day = self._date_of[text]
        if day:
            self.dates += times
            self.first_date = day if self.first_date is None else min(self.first_date, day)
            self.last_date = day if self.last_date is None else max(self.last_date, day)

    @property
    def type(self):
        if self.filled == 0:
            return 'empty'
        if self.is_number:
            return 'number' if self.decimals else 'integer'
        if self.dates == self.filled:
            return 'date'
        return 'yes/no' if self.booleans == self.filled else 'text'

    @property
    def is_number(self):
        """At least nine in ten filled cells are numbers; the others are reported, not added."""
        return self.numbers > 0 and self.numbers * 10 >= self.filled * 9

    @property
    def places(self):
        """Digits after the point for what has to be rounded: means, quantiles, deviations."""
        return max(2, self.decimals)

    @property
    def sampled(self):
        return self.numbers > MOST_QUANTILE_VALUES

    def sorted_values(self):
        return sorted(self._values)

    def mean(self):
        return self.sum / self.numbers

    def deviation(self):
        """Standard deviation of a sample, or None below two values."""
        if self.numbers < 2:
            return None
        spread = self.squares - self.sum * self.sum / self.numbers
        return max(Decimal(0), spread / (self.numbers - 1)).sqrt()


def quantile(ordered, share):
    """Between the two nearest values, in proportion (as spreadsheets do); `ordered` is sorted and not empty."""
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    below, above = Decimal(repr(ordered[low])), Decimal(repr(ordered[high]))
    return below + (above - below) * Decimal(repr(place - low))
