"The files of a session: its hierarchy with evidence and pictures in every form, and the responses as a table."

import numpy as np

from ..comparisons import Triplets
from ..core.validation import require
from ..evaluation.report import WRITERS, Result
from .items import as_triplets


def session_result(session):
    "The tree so far with its evidence."
    state = session.state
    items = state.items
    shown = [session.picture(item) for item in items]
    n_unsaid = sum(not answer.answer for answer in state.answers)
    notes = {
        "person": state.settings.person,
        "answers": f'{len(state.answers)}, {n_unsaid} of them "cannot say"',
        "consistency": str(state.consistency),
    }
    if state.careful:
        notes["careful stage"] = f"with p = {state.careful:.2f}"
    if state.question:
        notes["questions"] = state.left_text
    tree = state.hierarchy.to_dendrogram()
    return Result(
        tree,
        _restrict(state.triplets, items),
        f"What {state.settings.person} thinks",
        "Bayesian insertion, asking a person" if state.careful else "insertion clustering, asking a person",
        notes=notes,
        images={name: item.picture for name, item in zip(tree.names, shown) if item.is_image} or None,
    )


def _restrict(triplets, items):
    "Triplets about some of the items only, renumbered; None if there are none."
    if triplets is None:
        return None
    number = np.full(triplets.n_objects, -1)
    number[items] = np.arange(len(items))
    rows = number[triplets.array]
    rows = rows[(rows >= 0).all(axis=1)]
    return Triplets(rows, names=tuple(triplets.names[item] for item in items)) if len(rows) else None


def with_person(session):
    "The answers of a session with the name of who gave them; None if nothing was said."
    settings = session.state.settings
    return as_triplets(settings.names, [session.state.answers], [settings.person])


EXPORTS = (*WRITERS, "answers.csv")


def answers_text(triplets):
    "Answers as `comparison-hc cluster` and `read_comparisons` read them."
    require(triplets is not None, "answers", 'written after the first one that is not "cannot say"', "none")
    return triplets.to_frame().to_csv(index=False, lineterminator="\n")


def export_session(session, form):
    "A session in one of the forms. Raises `InputError` for another form, and for answers where there are none."
    require(form in EXPORTS, "form", f"one of {', '.join(EXPORTS)}", form)
    if form == "answers.csv":
        return answers_text(with_person(session))
    if form == ".nwk":
        return session.state.hierarchy.to_newick() + "\n"
    return WRITERS[form](session_result(session))
