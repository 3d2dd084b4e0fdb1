"""A horizontal bar chart as SVG: its own background, so that it is legible on a light and on a dark page."""

import math
from decimal import Decimal
from xml.sax.saxutils import escape

from .values import plain

WIDTH = 760
BAR, GAP = 24, 12
TOP, BOTTOM, RIGHT = 92, 64, 28
LONGEST_LABEL = 30
INK, MUTED, GRID, PAPER = '#1b2430', '#556270', '#e3e8ee', '#ffffff'
POSITIVE, NEGATIVE = '#2f6fde', '#d0453b'


def bar_chart(title, subtitle, value_axis, label_axis, bars, places=None):
    """The SVG text. `bars` are (label, Decimal); value labels are rounded to `places` if given."""
    labels = [shorten(label, LONGEST_LABEL) for label, _ in bars]
    texts = [plain(value, places) for _, value in bars]
    left = 56 + max([width_of(label, 13) for label in labels] + [40])
    ticks = ticks_for([float(value) for _, value in bars])
    low, high = ticks[0], ticks[-1]
    room = max([width_of(text, 12) for text in texts] + [20]) + 10
    # Labels stand outside the bars' ends, so their width is kept free on the sides where bars end.
    start = left + (room if low < 0 else 0)
    end = WIDTH - RIGHT - (room if high > 0 else 0)

    def x(value):
        return start + (end - start) * (value - low) / (high - low)

    bottom = TOP + len(bars) * (BAR + GAP)
    height = bottom + BOTTOM
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" '
        'aria-labelledby="chart-title chart-description" font-family="system-ui, -apple-system, \'Segoe UI\', sans-serif">'
        .format(w=WIDTH, h=height),
        '<title id="chart-title">{}</title>'.format(clean(title)),
        '<desc id="chart-description">{}. {}</desc>'.format(
            clean(subtitle), clean('; '.join('%s: %s' % pair for pair in zip(labels, texts)))),
        '<rect x="0.5" y="0.5" width="{}" height="{}" rx="12" fill="{}" stroke="{}"/>'.format(
            WIDTH - 1, height - 1, PAPER, GRID),
        text_at(24, 38, title if width_of(title, 20) < WIDTH - 48 else shorten(title, 62), 20, INK, weight='650'),
        text_at(24, 62, shorten(subtitle, 100), 13, MUTED),
    ]
    for tick in ticks:
        out.append('<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="{3}" stroke-width="{4}"/>'.format(
            x(tick), TOP - 8, bottom, MUTED if tick == 0 else GRID, 1.2 if tick == 0 else 1))
        out.append(text_at(x(tick), bottom + 18, tick_text(tick), 12, MUTED, anchor='middle'))
    for position, ((_, value), label, text) in enumerate(zip(bars, labels, texts)):
        y = TOP + position * (BAR + GAP)
        number = float(value)
        from_x, to_x = sorted((x(0), x(number)))
        out.append('<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" rx="3" fill="{}"/>'.format(
            from_x, y, max(to_x - from_x, 1), BAR, NEGATIVE if number < 0 else POSITIVE))
        out.append(text_at(left - 12, y + 17, label, 13, INK, anchor='end'))
        outside = (from_x - 6, 'end') if number < 0 else (to_x + 6, 'start')
        out.append(text_at(outside[0], y + 17, text, 12, INK, anchor=outside[1], weight='600'))
    out.append(text_at((start + end) / 2, bottom + 44, value_axis, 13, MUTED, anchor='middle'))
    middle = (TOP + bottom - GAP) / 2
    out.append(text_at(26, middle, shorten(label_axis, 24), 13, MUTED, anchor='middle', rotate=True))
    out.append('</svg>')
    return '\n'.join(out) + '\n'


def text_at(x, y, text, size, color, anchor='start', weight='400', rotate=False):
    turn = ' transform="rotate(-90 {:.1f} {:.1f})"'.format(x, y) if rotate else ''
    return '<text x="{:.1f}" y="{:.1f}" font-size="{}" font-weight="{}" fill="{}" text-anchor="{}"{}>{}</text>'.format(
        x, y, size, weight, color, anchor, turn, clean(text))


def clean(text):
    """Escaped, and without the control characters that XML forbids."""
    kept = ''.join(c if c >= ' ' and c not in '\ufffe\uffff' and not '\ud800' <= c <= '\udfff' else ' ' for c in text)
    return escape(kept, {'"': '&quot;'})


def shorten(text, most):
    text = ' '.join(text.split())
    return text if len(text) <= most else text[:most - 1].rstrip() + '…'


def width_of(text, size):
    """Roughly, in pixels; characters of East Asia are twice as wide."""
    return sum(1.0 if ord(character) > 0x2e7f else 0.58 for character in text) * size


def ticks_for(values):
    """Round steps (1, 2, 5 × 10ⁿ) from at or below the smallest value to at or above the largest, zero among them."""
    low, high = min(values + [0.0]), max(values + [0.0])
    if low == high:
        high = 1.0
    step = round_step((high - low) / 5)
    return [step * n for n in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]


def round_step(least):
    """The smallest of 1, 2, 5 × 10ⁿ that is not below `least`, which is above 0."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * 0.999)


def tick_text(value):
    for limit, letter in ((1e12, 'T'), (1e9, 'B'), (1e6, 'M')):
        if abs(value) >= limit:
            return '{:.6g}{}'.format(value / limit, letter)
    return plain(Decimal('{:.6g}'.format(value)))
