"What columns are called: numbers and words, headers, and the roles that names of columns tell."

import re
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np

from ._tables import cell_text
from .validation import InputError, check_integer, require

WIDTHS = {"triplets": 3, "quadruplets": 4, "central": 3, "odd-one-out": 3}
MISSING_WORDS = frozenset(("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None"))

# ---- words


def words(text):
    return frozenset(text.split())


ROLES = {  # what tools call the columns, the more telling role first
    "odd": words("odd oddball oddity outlier"),
    "central": words("central"),
    "left": words("left"),
    "right": words("right"),
    "middle": words("middle center centre"),
    "farther": words(
        "loser negative neg far farther further farthest furthest distant dissimilar different unchosen"
        " rejected foil unlike"
    ),
    "nearer": words("winner positive pos near nearer nearest close closer closest similar same match preferred"),
    "anchor": words("anchor head reference ref target probe query standard sample"),
    "answer": words(
        "answer answers choice choices chosen response responses selected selection picked pick decision"
        " judgment judgement clicked"
    ),
    "shown": words("option options alternative alternatives candidate candidates comparison"),
}
NO_ROLE = words("""time rt rts latency timestamp duration start started end ended onset date confidence sure correct
    accuracy count number type device text duplicate age index trial key keys x y url html""")
NEGATIONS = words("not non no less least un")
PEOPLE = (
    "puid",
    "respondent",
    "participant",
    "subject",
    "worker",
    "user",
    "rater",
    "annotator",
    "observer",
    "subj",
    "prolific",
    "responseid",
    "person",
    "ppt",
)  # the more telling first
BESIDE_PEOPLE = words("id ids uid pid number no num nr name code private key hash external anonymous anon")
WEIGHTS = words("weight weights count counts frequency freq")
PLACES = words("""choice chosen answer response resp side position pos place button key selected selection pick picked
    click clicked index option pressed odd central decision judgment judgement winner""")
WEAK_WORDS = words("a b c i j k l n one two three first second third win same no")  # that alone make no header
HEADER_WORDS = frozenset().union(*ROLES.values(), WEIGHTS, WEAK_WORDS, BESIDE_PEOPLE, PEOPLE, NO_ROLE) | words("""
    item items object objects stim stimulus stimuli image other others session block condition phase triplet out""")
SETTLING_WORDS = HEADER_WORDS - WEAK_WORDS - BESIDE_PEOPLE - words("x y") | {"id", "uid"}


def name_parts(name):
    "The words that a column name is made of: target_left, targetLeft and Target Left 2 are target and left."
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return [part for part in re.split(r"[^a-z]+", words.lower()) if part]


def is_whole_number(cell):
    "Whether a cell is a whole number, in any spelling."
    return re.fullmatch(r"[+-]?\d{1,4000}", cell) is not None  # `int` reads all of these, and not much more


def as_number(cell, other=None):
    "A cell as a number as other programs write it: Python's 1_000 is none."
    try:
        return other if "_" in cell else float(cell)
    except ValueError:
        return other


def is_word(cell):
    "Whether a cell has letters and is no number: 1_000 and - are neither."
    return as_number(cell) is None and any(map(str.isalpha, cell))


def sorted_names(names):
    "Names in numerical order if all are whole numbers, else in alphabetical order."
    names = sorted(names)
    return sorted(names, key=int) if all(map(is_whole_number, names)) else names


def plain_number(cell):
    "A number in one spelling: 1.0, 1e0 and +1 are 1."
    value = as_number(cell, inf)
    if not isfinite(value) or re.fullmatch(r"-?[1-9]\d*|0", cell):
        return cell
    return cell_text(value) if value.is_integer() else repr(value)


# ---- headers

FEW_ROWS = 19  # below which a first line that occurs nowhere else is a header with less than 95% certainty


def judge_header(rows, objects=None, width=3):
    "(whether the first row names the columns, what makes that doubtful or None)."
    import pandas as pd

    cells = np.asarray(rows, dtype=object)
    first, later = [cell.lstrip("# ") for cell in cells[0]], cells[1:]
    if re.fullmatch("i,j,k(,l)?(,respondent)?(,weight)?", ",".join(first)):  # by `to_csv`
        return True, None
    if objects is not None:
        known = sum(cell in objects for cell in first)
        if known == 0 or known >= width:
            return known == 0, None
    if not len(later) or all(map(is_whole_number, first)):
        return False, None
    codes, found = pd.factorize(later.ravel())
    again = not set(first).isdisjoint(found)
    if names_columns(first, later):
        others = later[(later != cells[0]).any(axis=1)]
        is_object = again and len(first) == width and not set(first).isdisjoint(others.ravel())
        return True, "its words name columns, but also occur in other rows" if is_object else None
    if again or any(map(is_whole_number, first)):
        return False, None
    if all(map(is_whole_number, found)):
        return True, None
    lonely = int((np.bincount(codes)[codes].reshape(later.shape) == 1).all(axis=1).sum())
    if lonely:
        others = f"{lonely:,} more rows are" if lonely > 1 else "one more row is"
        return False, f"none of its names occurs in another row, but {others} so too"
    few = f"its names occur nowhere else, but there are only {len(later)} rows below it"
    return True, few if len(later) < FEW_ROWS else None


def names_columns(first, later):
    "Whether the words of a first row settle that it is a header."
    parts = [name_parts(cell) for cell in first]
    people = any(_person_rank(cell) is not None for cell in first)
    settled = any(part in SETTLING_WORDS for words in parts for part in words)
    n_roles = sum(role_of_name(words) is not None for words in parts)
    known = settled and all(words and HEADER_WORDS.issuperset(words) for words in parts)
    if not (people or known or n_roles > 2 or looks_like(first)):
        return False
    others = later[(later != np.array(first, dtype=object)).any(axis=1)]  # a header may come again
    return bool(len(others)) and not any((column == cell).any() for cell, column in zip(first, others.T))


# ---- roles

SIGNATURES = {  # columns by which a file of a tool is known
    "jspsych": ("trial_type", "trial_index"),
    "salmon": ("head", "winner", "puid"),
    "next": ("target_center", "target_winner"),
    "psychopy": ("expName", "participant"),
    "gorilla": ("Participant Private ID",),
    "qualtrics": ("ResponseId", "RecordedDate"),
    "mturk": ("HITId", "WorkerId"),
    "labjs": ("sender", "sender_type"),
}


def looks_like(names):
    "What to say of a file whose columns look like those of a tool."
    tool = next((tool for tool, signs in SIGNATURES.items() if set(signs) <= set(names or ())), None)
    return "" if tool is None else f"; it looks like a file of {tool}: format={tool!r} (--format {tool})"


@dataclass(frozen=True)
class Roles:
    "Positions of the columns that are read."

    objects: list  # in the order of the kind, or as they were shown
    answer: int | None = None  # who was chosen of those that were shown
    basis: str = "by position"  # what settled the order of the objects
    shown: tuple = ()  # two columns in which the nearer and the farther must be, too
    same: int | None = None  # a column that must repeat the nearer
    respondent: int | None = None  # who answered
    weight: int | None = None  # how often, or how much it counts


def role_of_name(parts):
    "The role that the words of a column name tell, or None."
    if NO_ROLE.intersection(parts):
        return None
    if NEGATIONS.intersection(parts) and (ROLES["nearer"] | ROLES["answer"]).intersection(parts):
        return "farther"
    return next((role for role, words in ROLES.items() if words.intersection(parts)), None)


def _columns_by_role(names, columns):
    "{role: positions}, of columns with the fewest words; a word that all these names share does not count."
    parts = {c: name_parts(names[c]) for c in columns}
    telling = [set(words) for words in parts.values() if role_of_name(words)]
    shared = set.intersection(*telling) if len(telling) > 2 else set()
    found = {}
    for c, words in parts.items():
        role = role_of_name([word for word in words if word not in shared])
        if role is not None:
            found.setdefault(role, []).append((len(words), c))
    found = {role: [c for n, c in pairs if n == min(pairs)[0]] for role, pairs in found.items()}
    stems = [re.sub(r"\d+", "", names[c]) for c in found.get("answer", ())]
    numbered = [c for c, stem in zip(found.get("answer", ()), stems) if stems.count(stem) > 1]
    if numbered:  # choice1, choice2
        found.setdefault("shown", numbered)
        found["answer"] = [c for c in found["answer"] if c not in numbered]
    plain = [c for c in parts if c not in {c for columns in found.values() for c in columns}]
    stems = [re.sub(r"\d+|(?<=[_. -])[a-cA-C]$", "#", names[c]) for c in plain]
    groups = [stem for stem in dict.fromkeys(stems) if "#" in stem and stems.count(stem) in (2, 3)]
    if "shown" not in found and len(groups) == 1:  # image1, image2
        found["shown"] = [c for c, stem in zip(plain, stems) if stem == groups[0]]
    return found


def _person_rank(name):
    "How clearly a column name tells that it says who answered: 0 most; None if it does not."
    parts = [part.removesuffix("id") if part.removesuffix("id") in PEOPLE else part for part in name_parts(name)]
    ranks = [PEOPLE.index(part) for part in parts if part in PEOPLE]
    if name_parts(name) == ["response", "id"]:  # Qualtrics
        return len(PEOPLE)
    return min(ranks) if ranks and all(part in PEOPLE or part in BESIDE_PEOPLE for part in parts) else None


def find_column(column, argument, table):
    "Where a column is. Raises `InputError` for one that is not there, or there twice."
    if not isinstance(column, str):
        return check_integer(column, argument, 0, table.frame.shape[1] - 1)
    rule = f"one of the columns {table.names}" if table.names is not None else "a position, as the file has no header"
    found = [c for c, name in enumerate(table.names or ()) if name == column]
    require(found, argument, rule, column)
    require(len(found) == 1, argument, "a column that is there once, or a position", f"{column!r}, {len(found)} times")
    return found[0]


def _counts_rows(table, c):
    "Whether a column without a name of its own numbers the rows."
    if table.names is not None and table.names[c].lower() not in ("", "unnamed: 0", "x", "index", "rownames"):
        return False
    cells = table.frame[c].tolist()
    return len(cells) > 1 and cells in ([str(i) for i in range(s, len(cells) + s)] for s in (0, 1))


def told_columns(columns, names):
    "How a user says these columns."
    plain = names is not None and all("," not in names[c] and names.count(names[c]) == 1 for c in columns)
    told = [names[c] if plain else c for c in columns]
    return f"columns={told} (--columns {','.join(map(str, told))})"


def find_roles(table, options):
    "Which column says what: as the user says, by the names, or by position. Raises `InputError` where they clash."
    n_columns, names, width = table.frame.shape[1], table.names, WIDTHS[options.kind]
    told = {}
    for argument in ("answer", "weight", "respondent"):
        column = getattr(options, argument)
        if column is not None and column is not False:
            told[argument] = find_column(column, argument, table)
    if names is not None and names[:3] == ["i", "j", "k"] and names[-1] == "weight":  # by `to_csv`
        told.setdefault("weight", n_columns - 1)
    ranks = {c: _person_rank(name) for c, name in enumerate(names or ()) if c not in told.values()}
    people = sorted((c for c in ranks if ranks[c] is not None), key=ranks.get)
    if options.columns is not None:
        objects = [find_column(column, "columns", table) for column in options.columns]
        if (
            told.get("respondent") in objects
            and names is not None
            and _person_rank(names[told["respondent"]]) is not None
        ):
            del told["respondent"]  # people are compared
        different = len(set(objects)) == width and not set(objects) & set(told.values())
        require(different, "columns", "different columns, without the respondent's", options.columns)
        basis = "as told" if options.format is None else f"as {options.format} writes them"
        shown = tuple(find_column(column, "columns", table) for column in options.shown)
        found = Roles(objects, told.get("answer"), basis, shown)
    else:
        numbers = [c for c in range(n_columns) if n_columns > width and _counts_rows(table, c)][:1]
        rest = [c for c in range(n_columns) if c not in (*told.values(), *numbers)]
        rest = [c for c in rest if c not in people] if len(rest) > width else rest
        found = _roles_by_name(
            table, options.kind, rest, told.get("answer"), "" if options.format else looks_like(names)
        )
    if options.respondent is None and "respondent" not in told:
        who = next((c for c in people if c not in (*found.objects, found.answer)), None)
    else:
        who = told.get("respondent")
    return replace(found, respondent=who, weight=told.get("weight"))


def _roles_by_name(table, kind, rest, answer, hint):
    "`Roles` from the names of the columns in `rest`, or from their positions where names say nothing."
    names, width = table.names, WIDTHS[kind]
    by_role = {} if names is None else _columns_by_role(names, rest)
    picked = by_role["answer"][0] if len(by_role.get("answer", ())) == 1 and answer is None else answer
    finder = {"triplets": _triplet_roles, "quadruplets": _pair_roles}.get(kind, _special_roles)
    found = finder(kind, by_role, rest, picked, answer is not None)
    if found is None and picked is not None and answer is None and len(rest) == width + 1:
        found = Roles([c for c in rest if c != picked], picked)
    if found is None:
        beside = " beside those with other roles" if len(rest) < table.frame.shape[1] else ""
        how = "say columns=… (--columns …) or respondent=… (--respondent …) if the file has others"
        shown = "" if names is None else ": " + ", ".join(names[c] for c in rest[:12]) + " …" * (len(rest) > 12)
        if len(rest) != width:
            text = f"{table.where(0)} must be {width} columns{beside} ({how}{hint})"
            raise InputError(f"{text}; got {len(rest)} columns{shown}")
        found = Roles(rest, answer)
    if names is not None:
        _refuse_contradictions(found, by_role, kind, names)
    return found


def _only(by_role, *roles):
    "The one column of the first of these roles that there is, or None."
    columns = next((by_role[role] for role in roles if role in by_role), ())
    return columns[0] if len(columns) == 1 else None


def _shown(by_role, *sides):
    "The columns of what was shown, left to right, where names tell."
    columns = [_only(by_role, side) for side in sides]
    return by_role.get("shown") if None in columns and len(by_role.get("shown", ())) == len(sides) else columns


def _triplet_roles(kind, by_role, rest, picked, told):
    "`Roles` of triplets, or None."
    anchor, nearer, farther = _only(by_role, "anchor", "middle"), _only(by_role, "nearer"), _only(by_role, "farther")
    pair = _shown(by_role, "left", "right")
    if None not in (anchor, nearer, farther) and not told:
        shown = () if None in pair else tuple(pair)
        return Roles([anchor, nearer, farther], None, "by name", shown, picked)
    chosen = nearer if picked is None else picked
    if None not in (*pair, chosen):
        others = [c for c in rest if c not in (*pair, chosen)]
        anchor = others[0] if anchor is None and len(others) == 1 else anchor
        return None if anchor is None else Roles([anchor, *pair], chosen, "by name")
    if anchor is not None and picked is not None and (told or len(rest) == 4) and nearer is farther is None:
        others = [c for c in rest if c not in (anchor, picked)]
        return Roles([anchor, *others], picked, "by name") if len(others) == 2 else None
    known = [anchor, chosen, farther]
    missing = [c for c in rest if c not in known]
    if not told and (None not in known or len(rest) == 3 and len(missing) == known.count(None) == 1):
        return Roles([missing[0] if c is None else c for c in known], None, "by name")
    return None


def _special_roles(kind, by_role, rest, picked, told):
    "`Roles` of the most central or the odd one of three, or None."
    three = _shown(by_role, "left", "middle", "right")
    special = _only(by_role, "odd") if kind == "odd-one-out" else _only(by_role, "central", "middle")
    special = None if special in three else special
    chosen = special if picked is None else picked
    others = [c for c in rest if c != chosen]
    if chosen is not None and (None not in three or len(others) == 3):
        return Roles(list(three) if None not in three else others, chosen, "by name")
    others = others if len(others) == 2 else by_role.get("shown", ())
    if special is not None and not told and len(others) == 2:
        return Roles([special, *others], None, "by name")
    return None


def _pair_roles(kind, by_role, rest, picked, told):
    "`Roles` of quadruplets, or None."
    nearer, farther, left, right = (by_role.get(role, ()) for role in ("nearer", "farther", "left", "right"))
    if len(nearer) == len(farther) == 2 and not told:
        return Roles([*nearer, *farther], None, "by name")
    if len(left) == len(right) == 2 and picked is not None:
        return Roles([*left, *right], picked, "by name")
    return None


IN_TRIPLET = ("anchor", "nearer", "farther")  # roles of the places in a triplet


def _refuse_contradictions(found, by_role, kind, names):
    "Raise `InputError` where names of columns say something else than they are read as."
    role_of = {c: role for role, columns in by_role.items() for c in columns}
    others = {"triplets": ("odd", "central"), "quadruplets": ("odd", "central", "anchor")}
    others |= {"central": ("odd", "nearer", "farther"), "odd-one-out": ("central", "nearer", "farther")}
    for c in (*found.objects, found.answer):
        role = role_of.get(c)
        if role in others[kind]:
            meant = {"odd": "odd-one-out", "central": "central"}.get(role, "triplets")
            rule = f"told, as a column is called {names[c]!r}: kind={meant!r} (--kind {meant}), or "
            require(False, "kind", rule + told_columns(found.objects, names), kind)
    if kind != "triplets":
        return
    roles = [{"middle": "anchor"}.get(role_of.get(c), role_of.get(c)) for c in found.objects]
    wanted = ("anchor", *(IN_TRIPLET[1:] if found.answer is None else ("", "")))
    clash = any(role in IN_TRIPLET and role != place and place for role, place in zip(roles, wanted))
    if clash or (found.basis == "by position" and any(len(by_role.get(role, ())) > 1 for role in IN_TRIPLET)):
        order = [role_of.get(c) for c in found.objects]
        likely = sorted(
            found.objects, key=lambda c: IN_TRIPLET.index(role_of[c]) if role_of.get(c) in IN_TRIPLET else 1
        )
        rule = f"told in the order anchor, nearer, farther, such as {told_columns(likely, names)}"
        require(False, "columns", rule, ", ".join(f"{names[c]!r} ({r or '?'})" for c, r in zip(found.objects, order)))
