"Build the package from settings.ini, the one place where its name, version and requirements are written."

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
config = ConfigParser(delimiters=["="])
config.read(here / "settings.ini", encoding="utf-8")
settings = config["DEFAULT"]
extras = {key.removesuffix("_requirements"): settings[key].split() for key in settings if key.endswith("_requirements")}

setup(
    name=settings["lib_name"],
    version=settings["version"],
    description=settings["description"],
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    keywords=settings["keywords"].split(),
    author=settings["author"],
    author_email=settings["author_email"],
    license="Apache-2.0",
    url=settings["git_url"],
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Science/Research",
        "Intended Audience :: Education",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering",
    ],
    packages=find_packages(include=["comparison_hc", "comparison_hc.*"]),
    include_package_data=True,
    python_requires=f">={settings['min_python']}",
    install_requires=settings["requirements"].split(),
    extras_require=extras,
    entry_points={"console_scripts": [settings["console_scripts"]]},
    zip_safe=False,
)
