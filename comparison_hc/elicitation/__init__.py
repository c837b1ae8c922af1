"Asking people: sessions in a terminal or on a page, their logs, several people together, and crowd statistics."

from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "items": ["Item", "read_items"],
        "session": ["Session", "SessionState", "read_journal"],
        "pool": ["Pool", "pool_journals"],
        "crowd": ["crowd_table", "crowd_weights"],
        "groups": ["compare_groups"],
    },
)
