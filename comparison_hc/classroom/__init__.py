"Assignments that check themselves, and a class's course in nbgrader."

from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "checking": [
            "Answers",
            "Assignment",
            "Checker",
            "Wrong",
            "expect",
            "expect_equal",
            "find_assignment",
            "list_assignments",
            "open_assignment",
        ],
        "grading": ["generate", "grade"],
        "source": ["new_assignment"],
    },
)
