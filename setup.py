"Build the package from settings.ini, the one place where its name, version and requirements are written."

from configparser import ConfigParser
from pathlib import Path
from shutil import copyfile

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

here = Path(__file__).parent
config = ConfigParser(delimiters=["="])
config.read(here / "settings.ini", encoding="utf-8")
settings = config["DEFAULT"]
extras = {key.removesuffix("_requirements"): settings[key].split() for key in settings if key.endswith("_requirements")}


class BuildWithAssignments(build_py):
    "Puts the notebooks from which assignments are made into the package: a checkout has them in the book only."

    def run(self):
        super().run()
        if getattr(self, "editable_mode", False):
            return  # an editable install reads the book
        target = Path(self.build_lib) / "comparison_hc" / "classroom" / "sources"
        target.mkdir(parents=True, exist_ok=True)
        for path in sorted((here / "nbs" / "classroom").glob("7[1-9]_*.ipynb")):
            copyfile(path, target / path.name)


setup(
    cmdclass={"build_py": BuildWithAssignments},
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
