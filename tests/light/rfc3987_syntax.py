"""In place of a package that takes seconds to import.

It belongs to Jupyter, which asks it whether a text is an international address. jsonschema, and with it altair, imports
it wherever it is installed, so that every process that draws a chart, every server and every kernel would compile its
38 grammars. jsonschema does without it.
"""

raise ImportError("not in the tests")
