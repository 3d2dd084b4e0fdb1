"""Opens a delimited text file: which encoding, which delimiter, which names the columns have."""

import codecs
import csv
import os
import stat
from collections import Counter

from .errors import DataError
from .values import ONLY_COMMA, ONLY_POINT, is_missing, parse_date, parse_number

SAMPLE_CHARACTERS = 64 * 1024
SAMPLE_ROWS = 200
BLOCK = 1024 * 1024
LONGEST_FIELD = 1024 * 1024
DELIMITER_NAMES = {',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'vertical bar'}
KNOWN_FORMATS = (
    (b'PK\x03\x04', 'a ZIP archive or an Excel workbook (.xlsx)'),
    (b'\xd0\xcf\x11\xe0', 'an old Excel workbook (.xls)'),
    (b'%PDF', 'a PDF document'),
    (b'\x1f\x8b', 'a gzip archive'),
)


class Table:
    """Facts about the file (`columns`, `encoding`, `delimiter`, …); `rows()` reads it from the start."""

    def __init__(self, path, encoding=None, delimiter=None, header=None):
        self.path = path
        self.name = os.path.basename(path)
        self.size = check_file(path)
        if encoding and encoding.lower() in ('utf-8', 'utf8'):
            encoding = 'utf-8-sig'
        self.encoding, self.encoding_note = (encoding, None) if encoding else find_encoding(path, self.name)
        csv.field_size_limit(LONGEST_FIELD)
        try:
            with self._open() as file:
                sample = file.read(SAMPLE_CHARACTERS)
        except LookupError:
            raise DataError('Unknown encoding "{}".'.format(encoding))
        except UnicodeError as error:
            raise self._wrong_encoding(error)
        if not sample.strip():
            raise DataError('{} contains only blanks.'.format(self.name))
        self._skip_lines = 1 if sample[:4].lower() == 'sep=' else 0
        if self._skip_lines and not delimiter:
            delimiter = sample[4:5]
        lines = sample.splitlines(True)[self._skip_lines:]
        # The last line of a sample may be cut off in the middle.
        lines = lines[:-1] if len(sample) == SAMPLE_CHARACTERS and len(lines) > 1 else lines
        self.delimiter = delimiter or find_delimiter(lines)
        rows = sample_rows(lines, self.delimiter)
        if not rows:
            raise DataError('{} has no rows.'.format(self.name))
        self.decimal_comma = uses_decimal_comma(rows, self.delimiter)
        self.header = has_header(rows) if header is None else header
        self.columns = column_names(rows[0]) if self.header else ['column%d' % n for n in range(1, len(rows[0]) + 1)]
        first = rows[1] if self.header and len(rows) > 1 else rows[0]
        #: Names of the columns whose first cell is a date.
        self.dates = [name for name, cell in zip(self.columns, first) if parse_date(cell.strip())]

    def _open(self):
        # Strict: with an encoding that does not fit, wrong text must not be counted as data.
        return open(self.path, encoding=self.encoding, newline='')

    def delimiter_name(self):
        return DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))

    def rows(self):
        """(line number, cells) of each data row; lines without a single filled cell are skipped."""
        with self._open() as file:
            for _ in range(self._skip_lines):
                file.readline()
            reader = csv.reader(file, delimiter=self.delimiter)
            skip = self.header
            try:
                for row in reader:
                    if not any(map(str.strip, row)):
                        continue
                    if skip:
                        skip = False
                        continue
                    yield reader.line_num, row
            except csv.Error as error:
                raise DataError('Line {} of {} cannot be read ({}). A quotation mark may never be closed.'.format(
                    reader.line_num, self.name, error))
            except UnicodeError as error:
                raise self._wrong_encoding(error)

    def _wrong_encoding(self, error):
        return DataError('{} is not written in {} ({}).'.format(self.name, self.encoding, error))

    def ends_with_quote(self):
        with open(self.path, 'rb') as file:
            file.seek(max(0, self.size - 16))
            return file.read().rstrip(b'\0 \t\r\n').endswith(b'"')


def check_file(path):
    """The size in bytes of a readable regular file that has any."""
    name = os.path.basename(path) or path
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        raise DataError('There is no file {}.{}'.format(path, hint_of_files(os.path.dirname(path))))
    except OSError as error:
        raise DataError('{} cannot be opened: {}.'.format(path, error.strerror))
    if not stat.S_ISREG(facts.st_mode):
        raise DataError('{} is not a file.{}'.format(path, hint_of_files(path)))
    if facts.st_size == 0:
        raise DataError('{} is empty (0 bytes), so there\'s nothing to analyze.'.format(name))
    return facts.st_size


def hint_of_files(folder):
    try:
        names = sorted(n for n in os.listdir(folder or '.') if n.lower().endswith(('.csv', '.tsv', '.txt', '.tab')))
    except OSError:
        return ''
    return ' There is: {}.'.format(', '.join(names[:10])) if names else ''


def find_encoding(path, name):
    """(encoding, note or None): UTF-8 or UTF-16 by its mark, UTF-8 if all of it is valid, else Western European."""
    with open(path, 'rb') as file:
        start = file.read(BLOCK)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return 'utf-16', None
        for magic, what in KNOWN_FORMATS:
            if start.startswith(magic):
                raise DataError('{} is {}, not CSV text. Save or export it as CSV first.'.format(name, what))
        if b'\0' in start:
            raise DataError('{} is a binary file, not CSV text. Save or export it as CSV first.'.format(name))
        for encoding, note in (
            ('utf-8-sig', None),
            ('cp1252', 'The file is not valid UTF-8; it was read as Western European (Windows-1252).'),
        ):
            file.seek(0)
            if decodes(file, encoding):
                return encoding, note
    return 'latin-1', 'The file is not valid UTF-8; it was read as Western European (Latin-1).'


def decodes(file, encoding):
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in iter(lambda: file.read(BLOCK), b''):
            decoder.decode(block)
        decoder.decode(b'', True)
    except UnicodeDecodeError:
        return False
    return True


def sample_rows(lines, delimiter):
    rows = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) == SAMPLE_ROWS:
                break
    except csv.Error:
        return rows
    return rows


def find_delimiter(lines):
    """The candidate that divides most rows into the same number of cells, more than one."""
    best, best_score = ',', 0
    for candidate in DELIMITER_NAMES:
        widths = Counter(len(row) for row in sample_rows(lines, candidate))
        if not widths:
            continue
        width, rows = widths.most_common(1)[0]
        if width < 2:
            continue
        score = (rows / sum(widths.values())) + min(width, 50) / 1000
        if score > best_score:
            best, best_score = candidate, score
    return best


def uses_decimal_comma(rows, delimiter):
    if delimiter == ',':
        return False
    commas = sum(1 for row in rows for cell in row if ONLY_COMMA.fullmatch(cell.strip()))
    points = sum(1 for row in rows for cell in row if ONLY_POINT.fullmatch(cell.strip()))
    return commas > points


def has_header(rows):
    """False only when the first row is clearly data: it holds a number (not a year) or a date where the second does too."""
    if len(rows) < 2:
        return True
    for first, second in zip(rows[0], rows[1]):
        first, second = first.strip(), second.strip()
        is_year = len(first) == 4 and first[:2] in ('19', '20')
        number = parse_number(first) is not None and not is_year and parse_number(second) is not None
        if number or (parse_date(first) and parse_date(second)):
            return False
    return True


def column_names(cells):
    """Header cells as names that are neither empty nor twice there."""
    names = []
    for position, cell in enumerate(cells, 1):
        name = ' '.join(cell.split())
        if is_missing(name):
            name = 'column%d' % position
        twin, number = name, 2
        while name in names:
            name = '{} ({})'.format(twin, number)
            number += 1
        names.append(name)
    return names
