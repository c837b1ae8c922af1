"The class: assignments that check themselves, their student versions, and grading that trusts nobody."

from ..ground.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "checking": ["Answers", "Assignment", "Checker", "Wrong", "expect", "expect_equal", "open_assignment"],
    },
)
