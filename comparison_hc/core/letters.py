"""Powers, indices and Greek letters of a plain text, as a reader of a table sees them."""



import re

_LETTERS = dict(
    zip("alpha beta delta epsilon eta theta lam mu sigma tau snr N0".split(), "α β δ ε η θ λ μ σ τ δ/σ N₀".split())
)
_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}
_AS_IT_IS = re.compile(r"(`[^`]*`|\$[^$]*\$)")  # code and formulas
_POWER = re.compile(r"\^(?:\(([^()]*)\)|([−-]?\w+(?:\.\d+)?))")
_INDEX = re.compile(r"(?<!\w)([A-Za-z])_(min|max|in|out)(?!\w)")


def set_letters(text):
    "Powers such as n^(k+1) raised, indices such as n_min lowered, but in code and formulas; <= alone as one sign."
    if text in _SIGNS:
        return _SIGNS[text]
    parts = _AS_IT_IS.split(text)
    for k in range(0, len(parts), 2):
        raised = _POWER.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", parts[k])
        parts[k] = _INDEX.sub(r"\1<sub>\2</sub>", raised)
    return "".join(parts)


def heading_text(name):
    "The name of a column as one reads it: letters for their names, words apart."
    lowered = set_letters(str(name))
    if not str(name).isidentifier() or lowered != name:
        return lowered
    return " ".join(_LETTERS.get(word, word) for word in name.split("_"))
