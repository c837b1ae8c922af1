"""A telephone does not show the legend of a wide chart; the site has a second picture, with the legend on top."""

import html
import re
from dataclasses import dataclass

SEEN = 350  # pixels of a chart that the narrowest telephone shows

GROUP = re.compile(r'<g\b((?:"[^"]*"|[^">])*)>|</g>')
MOVED = re.compile(r'transform="translate\((-?[\d.]+),(-?[\d.]+)\)"')
EXTENT = re.compile(r'<path class="background"[^>]* d="M-?[\d.]+,-?[\d.]+h([\d.]+)v([\d.]+)h')


@dataclass(frozen=True)
class Legend:
    "A legend of a picture: the place of its text in the picture's, and its place and size in pixels."

    start: int  # where it begins in the picture's text
    end: int  # where it ends there
    x: float  # of its left edge, in pixels
    y: float  # of its upper edge, in pixels
    width: float  # pixels
    height: float  # pixels
    is_scale: bool = False  # colours that run into one another, with numbers
    title: str = ""  # its text, or that of all its entries if it has none

    @property
    def right(self):
        "Its right edge, in pixels."
        return self.x + self.width


def find_legends(svg):
    "All legends of a picture that Vega drew."
    found, whole, top = [], None, (0.0, 0.0)
    around = []  # (where the tag ends, x, y, where a legend starts or None)
    for tag in GROUP.finditer(svg):
        if tag[0] == "</g>":
            inside, x, y, start = around.pop()
            if start is not None:
                moved = GROUP.search(svg, inside)  # its place is that of the group in it
                by, size = MOVED.search(moved[0]), EXTENT.search(svg, moved.end(), tag.start())
                if by and size:
                    place = x + float(by[1]), y + float(by[2])
                    text = svg[start : tag.end()]
                    titles = re.findall(r"role-legend-title.*?<text[^>]*>(.*?)</text>", text)
                    title = " ".join(titles or re.findall("<text[^>]*>(.*?)</text>", text))
                    about = dict(is_scale="role-legend-gradient" in text, title=title)
                    found.append(Legend(start, tag.end(), *place, float(size[1]), float(size[2]), **about))
            if not around and whole is None:
                whole, top = (inside, tag.start()), (x, y)
            continue
        _, x, y, _ = around[-1] if around else (0, 0.0, 0.0, None)
        by = MOVED.search(tag[1])
        if by:
            x, y = x + float(by[1]), y + float(by[2])
        is_legend = 'class="mark-group role-legend"' in tag[1]
        around.append((tag.end(), x, y, tag.start() if is_legend else None))
    return found, whole, top


GAP = 12  # pixels between legends, and below them


def laid_out(legends, width=SEEN):
    "Legends from left to right, in lines; one that is wider than a line has a line of its own."
    places, x, y, tallest = [], 0.0, 0.0, 0.0
    for legend in legends:
        if x and x + legend.width > width:
            x, y, tallest = 0.0, y + tallest + GAP, 0.0
        places.append((x, y))
        x, tallest = x + legend.width + GAP, max(tallest, legend.height)
    return places, y + tallest


def movable(legends):
    "Legends that may leave their place: a kind of which several look alike belongs to the panels beside them."
    scales = [legend for legend in legends if legend.is_scale]
    others = [legend for legend in legends if not legend.is_scale]
    titles = {legend.title for legend in others}
    return scales * (len(scales) == 1) + others * (len(titles) == len(others))


def legends_first(svg, seen=SEEN):
    "A picture with its legends on top, for a screen that is too narrow for them."
    every, whole, top = find_legends(svg)
    can = movable(every)
    legends = [legend for legend in can if legend.right > seen]
    if not legends or len(legends) < len(can):  # one stays where it is: each stands in the panel that it is about
        return None, 0.0
    places, height = laid_out(legends, seen)
    height = round(height + GAP)
    moved, rest, at = [], [], whole[0]
    for legend, (x, y) in zip(legends, places):
        text = svg[legend.start : legend.end]
        inner = MOVED.search(text)  # of the group in it, which has the legend's place
        text = text.replace(inner[0], 'transform="translate(0,0)"', 1)
        moved.append(f'<g transform="translate({x + 5 - top[0]:g},{y + 5 - top[1]:g})">{text}</g>')
        rest.append(svg[at : legend.start])
        at = legend.end
    rest.append(svg[at : whole[1]])
    body = f'{"".join(moved)}<g transform="translate(0,{height})">{"".join(rest)}</g>'
    return taller(svg[: whole[0]], height) + body + svg[whole[1] :], max(legend.right for legend in legends)


def taller(head, by):
    "The size of a picture, at its two or three places, with more height."
    head = re.sub(r'\bheight="([\d.]+)"', lambda found: f'height="{float(found[1]) + by:g}"', head)
    box = r'viewBox="0 0 ([\d.]+) ([\d.]+)"'
    return re.sub(box, lambda found: f'viewBox="0 0 {found[1]} {float(found[2]) + by:g}"', head)


IMAGE = re.compile(r'<img [^>]*\bsrc="([^"]*?_images/[0-9a-f]+)\.svg"[^>]*>')
AROUND = 40  # pixels of a page beside a chart on a narrow screen
ROOM = 700  # pixels of a chart that are seen between sidebars; below the last width it is always the other picture
LAST = 1278


def with_narrow(page, edges):
    "A page whose charts have their legends first where the screen is narrow."

    def both(image):
        edge = edges.get(image[1].rpartition("/")[2])
        if edge is None:
            return image[0]
        most = LAST if edge > ROOM else round(edge) + AROUND
        source = f'media="screen and (max-width: {most}px)" srcset="{html.escape(image[1])}.narrow.svg"'
        return f"<picture><source {source} />{image[0]}</picture>"

    return IMAGE.sub(both, page)


def add_narrow(folder):
    "Beside each picture whose legends a telephone would not show, one with the legends on top."
    edges = {}
    for path in sorted((folder / "_images").glob("*.svg")):
        other, edge = legends_first(path.read_text(encoding="utf-8"))
        if other is not None and re.fullmatch("[0-9a-f]+", path.stem):
            path.with_suffix(".narrow.svg").write_text(other, encoding="utf-8")
            edges[path.stem] = edge
    for path in sorted(folder.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        if (other := with_narrow(page, edges)) != page:
            path.write_text(other, encoding="utf-8")
    return len(edges)
