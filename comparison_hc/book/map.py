"""Rows and arcs: which page needs which, as a picture of lines and links that needs no script."""

from html import escape

ROW, LEFT, WIDTH, LONGEST = 40, 92, 640, 72  # height of a row, room for arcs, width, letters of a title


def arcs(needs):
    "Arcs from short to long, each in the innermost lane that is free from its one end to the other."
    lanes, placed = {}, []
    pairs = sorted(((up, low) for low, rows in enumerate(needs) for up in rows), key=lambda arc: (arc[1] - arc[0], arc))
    for up, low in pairs:
        lane = 0
        while any(not (low <= a or b <= up) for a, b in lanes.get(lane, ())):
            lane += 1
        lanes.setdefault(lane, []).append((up, low))
        placed.append((up, low, lane))
    return placed


def _short(title):
    "A title that fits."
    return title if len(title) <= LONGEST else title[: LONGEST - 1].rstrip() + "…"


def _link(href, text, x, y, style):
    return f'<a href="{escape(href)}"><text x="{x}" y="{y}" class="{style}">{escape(text)}</text></a>'


def arc_map(rows, needs, label):
    "Pages in a column, and an arrow from each to those that need it."
    placed = arcs(needs)
    most = max([lane for *_, lane in placed], default=0)
    step = (LEFT - 18) / (most + 1)
    parts = []
    for up, low, lane in placed:
        x, top, bottom = LEFT - 12 - step * (lane + 0.7), ROW * up + 18, ROW * low + 12
        path = f"M{LEFT - 10} {top}H{x + 5:.1f}q-5 0 -5 5V{bottom - 5}q0 5 5 5H{LEFT - 10}"
        parts.append(f'<path d="{path}"><title>{escape(f"{rows[low][0]} needs {rows[up][0]}")}</title></path>')
    for low in sorted({low for _, low, _ in placed}):
        tip, y = LEFT - 11, ROW * low + 12
        parts.append(f'<polygon points="{tip},{y} {tip - 8},{y - 3.5} {tip - 8},{y + 3.5}"/>')
    for place, (number, title, address, others) in enumerate(rows):
        y = ROW * place + 20
        parts.append(f'<circle cx="{LEFT - 8}" cy="{y - 5}" r="3.5"/>')
        parts.append(_link(address, f"{number}  {_short(title)}", LEFT, y, "page"))
        x = LEFT
        if others:
            parts.append(f'<text x="{x}" y="{y + 15}" class="also">also needs</text>')
            x += 66
        for other, where in others:
            parts.append(_link(where, other, x, y + 15, "also"))
            x += 7 * len(other) + 9
    height = ROW * len(rows) + 8
    begin = f'<svg class="map" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">'
    return "\n".join([begin, *parts, "</svg>"])


def room_map(book, needs, room, address):
    "The map of a room."
    pages = book.of_room(room)
    place = {page.path: i for i, page in enumerate(pages)}
    order = {page.path: i for i, page in enumerate(book.reading_path)}
    rows, inside = [], []
    for page in pages:
        inside.append({place[path] for path in needs[page.path] if path in place})
        others = sorted((path for path in needs[page.path] if path not in place), key=order.get)
        rows.append(
            (
                page.number,
                page.title,
                address(page.path),
                [(book.by_path[path].number, address(path)) for path in others],
            )
        )
    return f'<div class="map">\n{arc_map(rows, inside, "Which page needs which")}\n</div>'
