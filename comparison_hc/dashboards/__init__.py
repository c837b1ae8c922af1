"Live pages: settings in, pictures out."
from ..ground.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "shell": ["find_dashboard", "register_dashboard", "run_dashboard", "write_static"],
    "planted": ["planted_dashboard", "planted_data", "PlantedSettings"],
    "flat": ["flat_dashboard", "flat_data", "FlatSettings"],
    "step": ["step_dashboard", "step_data", "StepSettings"],
    "ask": ["ask_dashboard"],
    "link": ["link_dashboard", "link_data", "LinkSettings"],
})
