"The dashboards of `comparison-hc dashboard`: each with its settings, computation and page, and the server of all."

from ..core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "framework": ["find_dashboard", "register_dashboard", "write_static"],
        "server": ["run_dashboard", "serve_dashboard"],
        "planted": ["planted_data"],
        "planted_settings": ["PlantedSettings"],
        "planted_page": ["planted_dashboard"],
        "flat": ["flat_data"],
        "flat_settings": ["FlatSettings"],
        "flat_page": ["flat_dashboard"],
        "step": ["step_data"],
        "record": ["StepSettings"],
        "step_page": ["step_dashboard"],
        "ask_page": ["ask_dashboard"],
        "link": ["link_data"],
        "tasks": ["LinkSettings"],
        "link_page": ["link_dashboard"],
        "plan": ["PlanSettings", "plan_data"],
        "plan_page": ["plan_dashboard"],
        "additive": ["AdditiveSettings", "additive_data"],
        "additive_page": ["additive_dashboard"],
    },
)
