"The command line `comparison-hc`: one module per group of commands."

from ._main import main, make_parser

__all__ = ["main", "make_parser"]
