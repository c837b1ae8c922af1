"What commands print: visible text, and warnings as lines of the error stream."

import sys
import warnings

from .validation import visible_text


def say(text, file=None):
    "Print for a screen, which obeys control characters: a name may hold some."
    print(visible_text(text), file=file)


class warnings_to_stderr(warnings.catch_warnings):
    "A context that collects users' warnings and prints them as lines of the error stream at its end."

    def __init__(self):
        super().__init__(record=True)

    def __enter__(self):
        self.found = super().__enter__()
        warnings.simplefilter("always", UserWarning)
        return self.found

    def __exit__(self, kind, *problem):
        super().__exit__(kind, *problem)
        for warning in self.found if kind is None else ():
            if issubclass(warning.category, UserWarning):
                say(f"comparison-hc: warning: {warning.message}", sys.stderr)
