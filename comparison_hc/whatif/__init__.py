"Sweeps over the papers' models, and plans for studies: how many answers are enough, and who should be asked what."

from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "sweep": ["WhatIf", "whatif"],
        "forecast": ["StudyForecast", "forecast_study", "halves_of_study"],
        "study": ["StudyPlan", "plan_chart", "plan_lists", "plan_sentences", "plan_study"],
        "pilot": ["fit_pilot", "predicted_agreement"],
        "plan_command": ["plan_page", "write_plan"],
    },
)
