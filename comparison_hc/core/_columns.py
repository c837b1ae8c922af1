"What columns are called: numbers and words, and the roles that names of columns tell."

import re
import shlex
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ._tables import cell_text
from .validation import InputError, check_integer, require

WIDTHS = {"triplets": 3, "quadruplets": 4, "central": 3, "odd-one-out": 3}


def words(text):
    return frozenset(text.split())


ROLES = {  # what tools call the columns, the more telling role first
    "odd": words("odd oddball oddity outlier ooo"),
    "central": words("central"),
    "left": words("left"),
    "right": words("right"),
    "middle": words("middle center centre"),
    "farther": words("""loser negative neg far farther further farthest furthest distant dissimilar different unchosen
        rejected foil unlike"""),
    "nearer": words("winner positive pos near nearer nearest close closer closest similar same match preferred"),
    "anchor": words("anchor head reference ref target probe query standard sample"),
    "answer": words("""answer answers choice choices chosen response responses selected selection picked pick decision
        judgment judgement clicked pressed resp vote preference pref result label"""),
    "shown": words("option options alternative alternatives candidate candidates comparison"),
}
NO_OBJECT = words("""time rt rts latency timestamp duration start started end ended onset date confidence sure correct
    accuracy age""")  # no object is called so, and those below may be
NO_ROLE = NO_OBJECT | words("count number type device text duplicate index trial key keys x y url html")
NEGATIONS = words("not non no less least un")
PEOPLE = """puid respondent participant subject worker user rater annotator observer subj prolific responseid person
    ppt judge coder assessor listener informant""".split()  # the more telling first
BESIDE_PEOPLE = words("id ids uid pid number no num nr name code private key hash external anonymous anon assignment")
WEIGHTS = words("weight weights count counts frequency freq")
WEAK_WORDS = words("a b c i j k l n x y one two three first second third win same no")  # that alone make no header
HEADER_WORDS = frozenset().union(*ROLES.values(), WEIGHTS, WEAK_WORDS, BESIDE_PEOPLE, PEOPLE, NO_ROLE) | words("""
    item items object objects stim stimulus stimuli image other others session block condition phase triplet out""")
SETTLING_WORDS = HEADER_WORDS - WEAK_WORDS - BESIDE_PEOPLE | {"id", "uid"}
SIGNATURES = {  # columns by which a file of a tool is known
    "jspsych": ("trial_type", "trial_index"),
    "salmon": ("head", "winner", "puid"),
    "next": ("target_center", "target_winner"),
    "psychopy": ("expName", "participant"),
    "gorilla": ("Participant Private ID",),
    "qualtrics": ("ResponseId", "RecordedDate"),
    "mturk": ("HITId", "WorkerId"),
    "inquisit": ("blockcode", "trialcode"),
    "labjs": ("sender", "sender_type"),
}
ENDING = r"\.(png|jpe?g|gif|svg|webp|bmp|tiff?|wav|mp3|ogg|mp4|webm|txt|html?)$"  # of the file of an object
MISSING_WORDS = frozenset(("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None"))
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]\d+)?"  # 1e3 may be a code; programs write 1e+03


def name_parts(name):
    "The words that a column name is made of: target_left, targetLeft and Target Left 2 are target and left."
    return [part for part in re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()) if part]


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
    "A number in one spelling, 1 for 1.0, 1.0e+00 and +1; another cell as it is."
    if re.fullmatch(r"-?[1-9]\d*|0", cell) or not re.fullmatch(NUMBER, cell):
        return cell
    value = float(cell)
    return cell_text(value) if value.is_integer() else repr(value)


def all_numbers(cells):
    "Whether all cells are numbers, and none a code such as 007."
    return bool(cells) and all(re.fullmatch(NUMBER, cell) and not re.match(r"[+-]?0\d", cell) for cell in cells)


# ---- roles


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


def _person_rank(name):
    "How clearly a column name tells that it says who answered: 0 most; None if it does not."
    parts = [part.removesuffix("id") if part.removesuffix("id") in PEOPLE else part for part in name_parts(name)]
    ranks = [PEOPLE.index(part) for part in parts if part in PEOPLE]
    if parts == ["response", "id"]:  # Qualtrics
        return len(PEOPLE)
    return min(ranks) if ranks and BESIDE_PEOPLE.issuperset(set(parts) - set(PEOPLE)) else None


def split_number(name):
    "(name without its number, number): of image2 image# and 2, of b # and b, of docA doc# and a."
    match = re.search(r"\d+|(?:^|(?<=[_. -]))[a-zA-Z]$|(?<=[a-z])[A-Z]$", name)
    if match is None:
        return name, ""
    return name[: match.start()] + "#" + name[match.end() :], match[0].lower().rjust(9)


def _in_order(columns, names):
    "Columns by their numbers or letters, if these are all that tells their names apart."
    stems, numbers = zip(*(split_number(names[c]) for c in columns)) if columns else ((), ())
    alike = len(set(stems)) == 1 and len(set(numbers)) == len(columns)
    return [c for _, c in sorted(zip(numbers, columns))] if alike else list(columns)


def _columns_by_role(names, columns):
    "{role: positions}, of columns with the fewest words; a word that all these names share does not count."
    parts = {c: name_parts(names[c]) for c in columns}
    telling = [set(words) for words in parts.values() if role_of_name(words)]
    shared = set.intersection(*telling) if len(telling) > 2 else set()
    found = {}
    for c, words in parts.items():
        role = role_of_name([word for word in words if word not in shared])
        found.setdefault(role, []).append((len(words), c))
    plain = [c for _, c in found.pop(None, [])]
    found = {role: [c for n, c in pairs if n == min(pairs)[0]] for role, pairs in found.items()}
    for candidates in (found.get("answer", []), found.get("anchor", []), plain):  # choice1, choice2; ref1, ref2
        stems = [split_number(names[c])[0] for c in candidates]
        groups = [stem for stem in dict.fromkeys(stems) if "#" in stem and stems.count(stem) in (2, 3)]
        if "shown" not in found and len(groups) == 1:
            found["shown"] = [c for c, stem in zip(candidates, stems) if stem == groups[0]]
            letters = {split_number(names[c])[1].strip(): c for c in found["shown"]}
            if letters.keys() == set("abx") and "anchor" not in found:  # X is like A or like B
                found["anchor"] = [letters["x"]]
                found["shown"].remove(letters["x"])
    found["shown"] = _in_order(found.get("shown", []), names)
    for role in ("answer", "anchor"):
        found[role] = [c for c in found.get(role, []) if c not in found["shown"]]
    return {role: columns for role, columns in found.items() if columns}


def find_column(column, argument, table):
    "Where a column is. Raises `InputError` for one that is not there, or there twice."
    if not isinstance(column, str):
        return check_integer(column, argument, 0, table.frame.shape[1] - 1)
    rule = f"one of the columns {table.names}" if table.names is not None else "a position, as the file has no header"
    found = [c for c, name in enumerate(table.names or ()) if name == unicodedata.normalize("NFC", column)]
    require(found, argument, rule, column)
    rule = f"a column that is there once, or a position ({', '.join(map(str, found))})"
    require(len(found) == 1, argument, rule, f"{column!r}, {len(found)} times")
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
    return f"columns={told} (--columns {shlex.quote(','.join(map(str, told)))})"


def told_answer(text):
    "How a user says this column of answers, or what its codes mean."
    return f"answer={text!r} (--answer {shlex.quote(text)})"


def find_roles(table, options):
    "Which column says what: as the user says, by the names, or by position. Raises `InputError` where they clash."
    n_columns, names, width = table.frame.shape[1], table.names, WIDTHS[options.kind]
    roles = {name: getattr(options, name) for name in ("answer", "weight", "respondent")}
    told = {name: find_column(c, name, table) for name, c in roles.items() if c is not None and c is not False}
    if names is not None and names[:3] == ["i", "j", "k"] and names[-1] == "weight":  # by `to_csv`
        told.setdefault("weight", n_columns - 1)
    ranks = {c: rank for c, name in enumerate(names or ()) if (rank := _person_rank(name)) is not None}
    people = sorted(ranks.keys() - told.values(), key=lambda c: (ranks[c], c))
    if options.columns is not None:
        objects = [find_column(column, "columns", table) for column in options.columns]
        if told.get("respondent") in objects and told["respondent"] in ranks:
            del told["respondent"]  # people are compared
        different = len(set(objects)) == width and not set(objects) & set(told.values())
        require(different, "columns", "different columns, without the respondent's", options.columns)
        basis = "as told" if options.format is None else f"as {options.format} writes them"
        shown = tuple(find_column(column, "columns", table) for column in options.shown)
        found = Roles(objects, told.get("answer"), basis, shown)
    else:
        numbers = [c for c in range(n_columns) if n_columns > width and _counts_rows(table, c)][:1]
        rest = [c for c in range(n_columns) if c not in (*told.values(), *numbers)]
        rest = [c for c in rest if c not in people] if len(rest) > width or len(people) == 1 else rest
        found = _roles_by_name(table, options, rest, told.get("answer"))
    who = next((c for c in people if c not in (*found.objects, found.answer)), None)
    who = told.get("respondent", who if options.respondent is None else None)
    return replace(found, respondent=who, weight=told.get("weight"))


def _roles_by_name(table, options, rest, answer):
    "`Roles` from the names of the columns in `rest`, or from their positions where names say nothing."
    kind, names, width = options.kind, table.names, WIDTHS[options.kind]
    by_role = {} if names is None else _columns_by_role(names, rest)
    picked = _only(by_role, "answer") if answer is None else answer
    finder = {"triplets": _triplet_roles, "quadruplets": _pair_roles}.get(kind, _special_roles)
    found = finder(kind, by_role, rest, picked, answer is not None)
    if found is None:
        objects = [c for c in rest if c != picked] if answer is None and len(rest) == width + 1 else rest
        if len(objects) != width:
            beside = " beside those with other roles" if len(rest) < table.frame.shape[1] else ""
            how = _likely_columns(table, kind, rest, by_role, answer) or _likely_inside(table)
            twice = [name for name in dict.fromkeys(names or ()) if name and names.count(name) > 1]
            how += "; " * bool(twice) + ", ".join(f"{name!r} is there {names.count(name)} times" for name in twice)
            shown = "" if names is None else ": " + ", ".join(names[c] for c in rest)
            text = (
                f"{table.where(0)} must be {width} columns{beside} ({how}{'' if options.format else looks_like(names)})"
            )
            raise InputError(f"{text}; got {len(rest)} columns{shown}")
        objects = objects if names is None else _in_order(objects, names)
        found = Roles(objects, answer if len(objects) == len(rest) else picked)
    if names is not None:
        _refuse_contradictions(found, by_role, kind, names)
    return found


def _likely_columns(table, kind, rest, by_role, answer):
    "What would make a file readable, by what columns are called or which of them share names; empty if unclear."
    names, width = table.names, WIDTHS[kind]
    cells = {c: table.frame[c].to_numpy() for c in rest}
    found = {c: set(cells[c]) - {"", *MISSING_WORDS} for c in rest}
    sides = [_only(by_role, "anchor", "middle"), *_sides(by_role, "left", "right")] if kind == "triplets" else [None]
    alike = _sharing(found) if None in sides else sides
    if kind == "triplets" and (special := _likely_special(cells, by_role, alike)) is not None:
        return told_special(special if names is None else names[special])
    few = [c for c in rest if c not in alike and 1 < len(found[c]) <= 3]
    if len(alike) == width + 1:
        few = [c for c in alike if np.any([cells[c] == cells[d] for d in alike if d != c], axis=0).all()]
        few = few or [c for c in by_role.get("answer", ()) if c in alike]
    named = [c for c in few if c in by_role.get("answer", ())]
    few = named if len(few) > 1 else few
    objects = [c for c in alike if c not in few]
    if len(objects) != width or answer is None and len(few) > 1:
        return ""
    text = told_columns(objects, names)
    if answer is None and not few:
        order = {"triplets": "anchor, nearer, farther"}.get(kind, "that of the kind")
        return f"use {text}, in the order {order}, if these are the objects"
    if answer is not None:
        return f"use {text}, if these are the objects shown"
    name = str(few[0] if names is None else names[few[0]])
    numbered = names is not None and len({split_number(names[c])[0] for c in objects}) == 1
    if kind == "triplets" and numbered and len(found[few[0]]) == 3:
        return told_special(name)
    return f"use {text} and {told_answer(name)}, if these are the objects shown and the answer"


def _likely_special(cells, by_role, alike):
    "The column that tells which of three was chosen, by its name or by its cells; None if there is none."
    called = _only(by_role, "odd", "central")
    if called is not None and len([c for c in alike if c != called]) == 3:
        return called
    for c in alike[::-1] if len(alike) == 4 else ():
        three = np.stack([cells[d] for d in alike if d != c], axis=1)
        if names_one_of_three(three, cells[c]):
            return c
    return None


def names_one_of_three(shown, chosen):
    "Whether cells name one of the three of their row, each of the three in a twentieth of the rows or more."
    answered = ~np.isin(chosen, ["", *MISSING_WORDS])
    is_chosen = shown[answered] == chosen[answered, None]
    return len(is_chosen) > 0 and is_chosen.any(axis=1).all() and is_chosen.mean(axis=0).min() >= 1 / 20


def told_special(name):
    "How a user says that this column tells which of three was chosen."
    kinds = ("odd-one-out", "if it is the odd one"), ("central", "if it is the most central one")
    role = role_of_name(name_parts(str(name)))
    kinds = kinds[:1] if role == "odd" else kinds[1:] if role == "central" else kinds
    said = ", or ".join(f"kind={kind!r} (--kind {kind}){f' {when}' * (len(kinds) > 1)}" for kind, when in kinds)
    return f"use {said}: {name!r} holds which of three was chosen"


def _likely_inside(table):
    "Where several answers seem to be in a row or a record, or that nothing is known."
    stems = Counter(re.sub(r"\d+", "*", name, count=1) for name in table.names or ())
    often = {role_of_name(name_parts(stem)): stem for stem, n in stems.items() if n == max(stems.values()) > 2}
    if {"anchor", "left", "right", "answer"} <= often.keys():  # all answers of a person in a row
        stars = [often[role] for role in ("anchor", "left", "right")]
        return f"use {told_columns(range(3), stars)} and {told_answer(often['answer'])}, if a row holds several answers"
    lists = (re.match(r"([^.]+)\.\d+\.", name) for name in table.names or ())
    inside = next((match[1] for match in lists if match), None)
    if inside is None or table.unit not in ("record", "line"):
        return "use columns=… (--columns …) if the file has others"
    records = f"{'*.' * (table.unit == 'record')}{inside}.*"
    return f"use records={records!r} (--records {shlex.quote(records)}) if these are the answers"


def _sharing(found):
    "The largest group of columns that share at least two cells, or none if there are several."
    groups = []
    for c, cells in found.items():
        near = [group for group in groups if any(len(cells & found[d]) > 1 for d in group)]
        groups = [group for group in groups if group not in near] + [sorted(sum(near, [c]))]
    largest = [group for group in groups if len(group) == max(map(len, groups)) > 1]
    return largest[0] if len(largest) == 1 else []


def _only(by_role, *roles):
    "The one column of the first of these roles that there is, or None."
    columns = next((by_role[role] for role in roles if role in by_role), ())
    return columns[0] if len(columns) == 1 else None


def _sides(by_role, *sides):
    "The columns of what was shown, left to right, where names tell; else with None in it."
    columns = [_only(by_role, side) for side in sides]
    return by_role.get("shown") if None in columns and len(by_role.get("shown", ())) == len(sides) else columns


def _triplet_roles(kind, by_role, rest, picked, told):
    "`Roles` of triplets, or None."
    anchor, nearer, farther = _only(by_role, "anchor", "middle"), _only(by_role, "nearer"), _only(by_role, "farther")
    pair = _sides(by_role, "left", "right")
    if None not in (anchor, nearer, farther):
        if told:
            return Roles([anchor, nearer, farther], picked, "by name")
        return Roles([anchor, nearer, farther], None, "by name", () if None in pair else tuple(pair), picked)
    chosen = nearer if picked is None else picked
    if None not in (*pair, chosen):
        others = [c for c in rest if c not in (*pair, chosen)]
        anchor = others[0] if anchor is None and len(others) == 1 else anchor
        return None if anchor is None else Roles([anchor, *pair], chosen, "by name")
    others = [c for c in rest if c not in (anchor, picked)]
    if None not in (anchor, picked) and nearer is farther is None and len(others) == 2:
        return Roles([anchor, *others], picked, "by name") if told or len(rest) == 4 else None
    known = [anchor, chosen, farther]
    missing = [c for c in rest if c not in known]
    if not told and (None not in known or len(rest) == 3 and len(missing) == known.count(None) == 1):
        return Roles([missing[0] if c is None else c for c in known], None, "by name")
    return None


def _special_roles(kind, by_role, rest, picked, told):
    "`Roles` of the most central or the odd one of three, or None."
    three = _sides(by_role, "left", "middle", "right")
    special = _only(by_role, "odd") if kind == "odd-one-out" else _only(by_role, "central", "middle")
    special = None if special in three else special
    chosen = special if picked is None else picked
    others = [c for c in rest if c != chosen]
    if chosen is not None and (None not in three or len(others) == 3):
        return Roles(three if None not in three else others, chosen, "by name")
    others = others if len(others) == 2 else by_role.get("shown", ())
    return Roles([special, *others], None, "by name") if special is not None and not told and len(others) == 2 else None


def _pair_roles(kind, by_role, rest, picked, told):
    "`Roles` of quadruplets, or None."
    nearer, farther, left, right = (by_role.get(role, ()) for role in ("nearer", "farther", "left", "right"))
    if len(nearer) == len(farther) == 2 and not told:
        return Roles([*nearer, *farther], None, "by name")
    return Roles([*left, *right], picked, "by name") if len(left) == len(right) == 2 and picked is not None else None


IN_TRIPLET = ("anchor", "nearer", "farther")  # roles of the places in a triplet
OF_OTHERS = {  # roles that contradict a kind
    "triplets": ("odd", "central"),
    "quadruplets": ("odd", "central", "anchor"),
    "central": ("odd", "nearer", "farther"),
    "odd-one-out": ("central", "nearer", "farther"),
}


def _refuse_contradictions(found, by_role, kind, names):
    "Raise `InputError` where names of columns say something else than they are read as."
    role_of = {c: role for role, columns in by_role.items() for c in columns}
    strange = next((c for c in found.objects if NO_OBJECT.intersection(name_parts(names[c]))), None)
    if strange is not None:
        rule = f"given (--columns …), as {names[strange]!r} seems to name no objects, and would be read as one of"
        require(False, "columns", rule, [names[c] for c in found.objects])
    clash = next((c for c in (*found.objects, found.answer) if role_of.get(c) in OF_OTHERS[kind]), None)
    if clash is not None:
        meant = {"odd": "odd-one-out", "central": "central"}.get(role_of[clash], "triplets")
        rule = f"given, as a column is called {names[clash]!r}: kind={meant!r} (--kind {meant}), or "
        require(False, "kind", rule + told_columns(found.objects, names), kind)
    chosen = next((c for c in found.objects if role_of.get(c) == "answer"), found.objects[0])
    if kind in ("central", "odd-one-out") and found.basis == "by position" and chosen != found.objects[0]:
        likely = told_columns([chosen, *(c for c in found.objects if c != chosen)], names)
        require(
            False, "columns", f"given with the chosen one first, such as {likely}", [names[c] for c in found.objects]
        )
    if kind != "triplets":
        return
    roles = [{"middle": "anchor"}.get(role_of.get(c), role_of.get(c)) for c in found.objects]
    places = IN_TRIPLET if found.answer is None else IN_TRIPLET[:1]
    clash = any(role in IN_TRIPLET and role != place for role, place in zip(roles, places))
    clash |= found.basis == "by position" and (roles[0] in ("left", "right") or "answer" in (roles[0], roles[2]))
    if clash or found.basis == "by position" and any(len(by_role.get(role, ())) > 1 for role in IN_TRIPLET):
        order = [IN_TRIPLET.index(role) if role in IN_TRIPLET else 1 for role in roles]
        likely = [c for _, c in sorted(zip(order, found.objects), key=lambda pair: pair[0])]
        rule = f"given in the order anchor, nearer, farther, such as {told_columns(likely, names)}"
        require(
            False, "columns", rule, ", ".join(f"{names[c]!r} ({role or '?'})" for c, role in zip(found.objects, roles))
        )
