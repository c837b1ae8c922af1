"Live pages: settings in, pictures out."
from ..ground.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "shell": ["find_dashboard", "register_dashboard", "run_dashboard", "write_static"],
    "server": ["serve_dashboard"],
    "planted": ["planted_data", "PlantedSettings"],
    "planted_page": ["planted_dashboard"],
    "flat": ["flat_data", "FlatSettings"],
    "flat_page": ["flat_dashboard"],
    "step": ["step_data", "StepSettings"],
    "step_page": ["step_dashboard"],
    "ask": [],
    "ask_page": ["ask_dashboard"],
    "link": ["link_data", "LinkSettings"],
    "link_page": ["link_dashboard"],
})
