"The class: assignments that check themselves, their student versions, and grading that trusts nobody."

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
        "grading": ["grade_folder", "grade_notebook"],
        "sandbox": ["Limits"],
        "source": [
            "find_source",
            "generate",
            "new_assignment",
            "read_notebook",
            "solution_mark",
            "student_version",
            "tests_mark",
        ],
    },
)
