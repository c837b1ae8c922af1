"""The dashboard `step`: a run becomes a list of frames with all their texts, and the page goes through them."""

from html import escape
from math import log2

from ..core.plotting import tree_layout
from .framework import Page, no_step, page_texts, several
from .pictures import MARKS, chart_spec, edges, look_channels
from .step import LETTERS, StepSettings, chart_lines, watch


def item_picture(vertices):
    "The tree before an insertion: lines, and HTML with vertices and names."
    leaves = [v for v, left, _ in vertices if left < 0]
    inner = [row for row in reversed(vertices) if row[1] >= 0]  # children before parents
    order = leaves + [v for v, *_ in inner]
    number = {v: at for at, v in enumerate(order)}
    layout = tree_layout([[number[left], number[right]] for _, left, right in inner])
    wide, high = max(1, len(leaves) - 1), max(1, layout.x[-1])
    x = {v: layout.y[number[v]] / wide for v in order}
    y = {v: 1 - layout.x[number[v]] / high for v in order}
    parents = layout.parents
    place = {v: at for at, (v, *_) in enumerate(vertices)}
    names = [v for v, *_ in vertices]
    parent = [place[order[parents[number[v]]]] for v in names]
    lines = edges([x[v] for v in names], [y[v] for v in names], parent, upright=True)
    tree = dict(html="".join(f'<path data-edge="{names[at]}" d="{line}"/>' for at, line in lines.items()))
    dots = "".join(
        f'<i class="chc-dot" data-vertex="{v}" style="left:{100 * x[v]:.2f}%;top:{100 * y[v]:.2f}%"></i>' for v in names
    )
    letters = "".join(
        f'<b class="chc-leaf" data-vertex="{v}" style="left:{100 * x[v]:.2f}%">{LETTERS[v]}</b>' for v in leaves
    )
    return dict(tree=tree, overlay=dots + letters)


def parts_of(vertices, pivot):
    "Right of the pivot, left of it, and elsewhere: the left-out item is not where x is."
    kids = {v: (left, right) for v, left, right in vertices}
    left, right = (below(vertices, side) for side in kids[pivot])
    return right, left, set(kids) - left - right


def below(vertices, top):
    "A vertex and all below it."
    found = {top}
    for v, left, right in vertices:  # parents first
        if v in found and left >= 0:
            found |= {left, right}
    return found


def _named(items):
    "Items in letters."
    letters = [LETTERS[v] for v in sorted(items)]
    return letters[0] if len(letters) == 1 else f"{{{', '.join(letters)}}}"


class Frames:
    "All frames of a run."

    def __init__(self, settings):
        self.settings = settings
        self.exact = settings.p == 1
        insertions, learned, hidden = watch(settings)
        self.right = learned == hidden
        self.frames = []
        self.firsts = []  # number of the first frame of every item
        self.total = 0  # questions so far
        for at, insertion in enumerate(insertions):
            self.firsts.append(len(self.frames))
            for number in range(len(insertion.questions)):
                self._question(at, insertion, number)
            self._end(at, insertion, is_last=at == len(insertions) - 1)
        self.counts = [len(each.questions) for each in insertions]
        self.items = [item_picture(each.vertices) for each in insertions]
        for number, frame in enumerate(self.frames):
            frame["keys"] = self._keys(number, frame["item"])

    def _keys(self, number, item):
        "The frame to which each key leads: half a question on or back, or the first frame of an item."
        last, first = len(self.frames) - 1, self.firsts[item]
        before = first if number > first else self.firsts[max(0, item - 1)]
        after = self.firsts[item + 1] if item + 1 < len(self.firsts) else last
        return dict(ArrowLeft=max(0, number - 1), ArrowRight=min(last, number + 1), PageUp=before, PageDown=after)

    def _remains(self, insertion, row):
        shares = insertion.shares[row]
        if self.exact:
            left = sum(share > 0 for share in shares)
            return f"{several(left, 'candidate is', 'candidates are')} left of {len(shares)}."
        return f"The most likely vertex has a share of {round(100 * max(shares), 2):g}%."

    def _add(self, at, insertion, shares, named=(), pivot=None, asked=(), answer="", wrong=False, **texts):
        m = insertion.item + 1
        names = [v for v, *_ in insertion.vertices]
        parent = {kid: v for v, left, right in insertion.vertices for kid in (left, right)}
        thick = [v for v in names if v in named and (parent.get(v) in named or parent.get(v) == pivot)]
        show = dict(
            item=f"{LETTERS[insertion.item]}, number {m} of {self.settings.n}",
            cost=f"{self.total:,}; n log₂ n = {m * log2(m):.0f} for {m} items",
            answer={"html": answer, "class": f"chc-answer{' chc-wrong' * wrong}"},
            **texts,
        )
        show["label"] = f"Tree of {insertion.item} items. {texts['words']} {answer} {texts['candidates']}"
        frame = dict(item=at, thick=thick, shares=shares, pivot=pivot, asked=list(asked), show=show)
        self.frames.append(frame | dict(cost=dict(n=m, q=self.total)))

    def _question(self, at, insertion, number):
        "Asked, and answered."
        q = insertion.questions[number]
        a, b = (LETTERS[v] for v in q.items[:2])
        x = LETTERS[insertion.item]
        parts = parts_of(insertion.vertices, q.pivot)
        before, after = insertion.shares[number : number + 2]
        counts = []
        for part in (parts[1], parts[0], parts[2]):
            inside = [share for (v, *_), share in zip(insertion.vertices, before) if v in part]
            counts.append(f"{sum(share > 0 for share in inside)}" if self.exact else f"{100 * sum(inside):.0f}%")
        said = f"{number + 1}{f' of {len(insertion.questions)}' if self.exact else ''}"
        same = dict(
            words=f"Which two of {a}, {b} and the new item {x} belong together?",
            parts=f"{', '.join(counts)} {'candidates' if self.exact else 'of the probability'}",
        )
        view = dict(pivot=q.pivot, asked=q.items[:2], **same)
        texts = dict(question=f"{said}, asked", candidates=self._remains(insertion, number))
        self._add(at, insertion, _thousandths(before), **view, **texts)
        self.total += 1
        kept = (b, a)[q.answer] if q.answer < 2 else ""
        pair = f"{a} and {b}" if q.answer == 2 else f"{x} and {kept}"
        side = ("right of the pivot, with ", "left of the pivot, with ", "elsewhere: above the pivot or outside it")
        wrong = q.answer != q.truth
        answer = f"{pair}. So {x} belongs {side[q.answer]}{kept}.{' This answer is wrong.' * wrong}"
        texts = dict(question=f"{said}, answered", candidates=self._remains(insertion, number + 1))
        looks = dict(named=parts[q.answer], answer=answer, wrong=wrong)
        self._add(at, insertion, _thousandths(after), **view, **texts, **looks)

    def _end(self, at, insertion, is_last):
        "The item in its place."
        vertices, n_asked = insertion.vertices, len(insertion.questions)
        whole = below(vertices, insertion.sibling)
        items = {v for v, left, _ in vertices if left < 0 and v in whole}
        answer = ""
        if is_last:
            answer = f"The tree is complete, and it is {'' if self.right else 'not '}the hidden tree."
        remains = "One candidate is left."
        if not self.exact:
            remains = f"The chosen vertex has a share of {round(100 * max(insertion.shares[-1]), 2):g}%."
        self._add(
            at,
            insertion,
            [1000 * (v == insertion.sibling) for v, *_ in vertices],
            named=whole,
            words=f"{LETTERS[insertion.item]} becomes the sibling of {_named(items)}.",
            answer=answer,
            question=f"done, after {several(n_asked, 'question', 'questions')}",
            candidates=remains,
            parts="",
        )


def _thousandths(shares):
    "Shares for the page, in thousandths; 1000 only for a share of at least 0.9995."
    return [round(1000 * share) if share < 0.9995 else 1000 for share in shares]


LOOKS = [
    ("#000000", [6, 4], None),
    ("#7a7a7a", [6, 4], None),
    ("#D55E00", [6, 4], None),
    ("#D55E00", [2, 3], None),
    ("#009E73", [6, 4], None),
    ("#E69F00", [6, 4], None),
    ("#E69F00", [1, 0], "square"),
    ("#CC79A7", [1, 0], "diamond"),
    ("#009E73", [1, 0], "triangle-up"),
    ("#0072B2", [1, 0], "circle"),
]  # in the order of `chart_lines`


def cost_chart():
    "Questions against n."
    import altair as alt

    power = "'10' + (datum.value < 1e5 ? '⁴' : datum.value < 1e7 ? '⁶' : '⁸')"
    x_axis = alt.Axis(values=[4, 16, 64, 256, 1024], format="d")
    label = f"datum.value < 1e3 ? format(datum.value, 'd') : {power}"
    y_axis = alt.Axis(values=[1, 1e2, 1e4, 1e6, 1e8], labelExpr=label)
    x = alt.X("n:Q", title="items n", axis=x_axis).scale(type="log", base=2, domain=[3, 1024], nice=False)
    y = alt.Y("q:Q", title="questions in total", axis=y_axis).scale(type="log", domain=[1, 10**8.4], nice=False)
    colours, dashes, shapes = zip(*((colour, dash, shape or "circle") for colour, dash, shape in LOOKS))
    looks = dict(Color=colours, StrokeDash=dashes, Shape=shapes)
    colour, dash, shape = look_channels("line", range(len(LOOKS)), **looks)
    lines = alt.Chart(alt.NamedData("lines"))
    marks = lines.transform_filter("!datum.bound").mark_point(filled=True, size=60, opacity=1)
    here = alt.Chart(alt.NamedData("here")).transform_filter("datum.q > 0")
    cross = here.mark_point(shape="M-1 -1L1 1M1 -1L-1 1", size=150, strokeWidth=3, color="#000").encode(x, y)
    layers = alt.layer(
        lines.mark_line(strokeWidth=1.8, clip=True).encode(x, y, colour, dash), marks.encode(x, y, colour, shape), cross
    )
    return chart_spec(layers.properties(width="container", height=215))


def legend_html(lines):
    "A list of names with their lines."
    found = []
    for line, (colour, dash, shape) in zip(lines, LOOKS):
        mark = f'<path d="{MARKS[shape]}" fill="{colour}" transform="translate(15 6)"/>' if shape else ""
        stroke = f'd="M1 6H29" stroke="{colour}" stroke-width="2" stroke-dasharray="{" ".join(map(str, dash))}"'
        absent = ' class="chc-absent"' if not line["n"] else ""
        swatch = f'<svg width="30" height="12" style="flex:none" aria-hidden="true"><path {stroke}/>{mark}</svg>'
        found.append(f"<li{absent}>{swatch}<span>{escape(line['name'])}</span></li>")
    return "".join(found)


EXACT_WORDS = (
    "Dashed: bounds. Solid: measured for this shape. Cross: the run shown. The insertions for wrong answers are shown"
    " if p < 1."
)
NOISY_WORDS = (
    "Dashed: bounds. Solid: measured for this shape, p = {p:g} and δ = {delta:g} (insertion and quick clustering: with"
    " right answers only). Cross: the run shown."
)


def chart_event(settings):
    "Lines, legend and caption."
    lines = chart_lines(settings.shape, settings.p, settings.delta)
    rows = [
        dict(line=at, bound=line["bound"], n=n, q=q)
        for at, line in enumerate(lines)
        for n, q in zip(line["n"], line["q"])
    ]
    words = EXACT_WORDS if settings.p == 1 else NOISY_WORDS.format(p=settings.p, delta=settings.delta)
    label = f"Questions against n: {'; '.join(line['name'] for line in lines if line['n'])}"
    costs = dict(rows=dict(lines=rows), label=label)
    show = dict(costs=costs, legend=legend_html(lines)) | {"costs-words": escape(words)}
    return dict(kind="chart", show=show, drawn=True)


def step_events(settings, step=no_step, memory=None):
    "The run and the chart for one setting."
    step("asking")
    run = Frames(settings)
    rows = [dict(settings.columns(), item=at, questions=count) for at, count in enumerate(run.counts, 3)]
    yield dict(kind="run", items=run.items, frames=run.frames, firsts=run.firsts, begin=run.firsts[-1], rows=rows)
    yield chart_event(settings)


PAGE = Page(settings=StepSettings, work=step_events, charts=lambda: dict(costs=cost_chart()), **page_texts("step"))
step_dashboard = PAGE.widget
