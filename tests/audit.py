"""One command asks tools about the package and what it rests on: `python tests/audit.py`.

Imports against `settings.ini` are compared here, without any tool. `pip check` says whether what is installed fits
together. bandit reads the code where it is installed (`pip install bandit`; it is no dependency): what it finds has to
be in `LOOKED_AT`, with the reason. A database of known faults in versions is asked with pip-audit where that is
installed and reaches one; bounds that were chosen because of such a fault are on the page on places, `09cw_everywhere`.
"""

import ast
import configparser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "comparison_hc"
LOADERS = (
    "import_module",
    "import_extra",
    "import_optional",
)  # functions of this package and Python's that import by name
IMPORTED_AS = {"scikit-learn": "sklearn", "pillow": "PIL", "vl-convert-python": "vl_convert", "myst-nb": "myst_nb"}
IMPORTED_AS["django-static-mathjax"] = "mathjax"
COMES_WITH = {  # what is imported and not declared → the reason
    "matplotlib": "for who draws a tree on axes of their own: the method says that it is missing",
    "traitlets": "what anywidget is made of",
    "pyodide_js": "is there in the browser only",
    "js": "is there in the browser only",
}
DATA = "load_dataset is this package's: from files whose digest is known, not from anybody's server"
RUNS = "starts this package's own processes, from lists of words, never through a shell"
LOOKED_AT = {  # (bandit's test, module or None for all) → why it may stand
    ("B615", None): DATA,
    ("B603", None): RUNS,
    ("B404", None): RUNS,
    ("B105", None): "sentences about a token, and the name of an option: no token",
    ("B101", None): "an assignment's test as a text for students",
}


def imported():
    "{top name of a module: the files that import it, be it by a function that is given its name}."
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in LOADERS:
                names = [each.value for each in node.args[:1] if isinstance(each, ast.Constant)]
            for name in names:
                found.setdefault(name.partition(".")[0], set()).add(path.relative_to(PACKAGE).as_posix())
    return {name: files for name, files in found.items() if name not in {*sys.stdlib_module_names, "comparison_hc"}}


def declared():
    "{package: whether everybody gets it} of `settings.ini`."
    settings = configparser.ConfigParser()
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    found = {}
    for key, text in settings["DEFAULT"].items():
        if key == "requirements" or (key.endswith("_requirements")):
            for word in text.split():
                name = re.match(r"[\w-]+", word)[0]
                found[name] = found.get(name, False) or key == "requirements"
    return found


def faults_of_imports(imports, packages):
    "What is imported and not declared, and what everybody gets and nothing imports."
    known = {IMPORTED_AS.get(name, name) for name in packages}
    missing = sorted(set(imports) - known - set(COMES_WITH))
    useless = sorted(name for name, always in packages.items() if always and IMPORTED_AS.get(name, name) not in imports)
    return [f"imported, not declared: {name}" for name in missing] + [f"never imported: {name}" for name in useless]


def unexplained(findings):
    "What bandit found and nobody has looked at."
    found = []
    for each in findings:
        module = Path(each["filename"]).resolve().relative_to(PACKAGE).as_posix()
        if not {(each["test_id"], None), (each["test_id"], module)} & set(LOOKED_AT):
            found.append(f"{each['test_id']} {module}, line {each['line_number']}: {each['issue_text']}")
    return found


def known_faults(answer):
    "(a sentence that says how many packages the database knew, known faults of their versions) of an answer in JSON."
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, KeyError):
        return "no answer, nothing is known", ["pip-audit gave no answer"]
    asked = [each for each in packages if "skip_reason" not in each and each["name"] != "comparison_hc"]
    faults = [f"{each['name']} {each['version']}: {fault['id']}" for each in asked for fault in each["vulns"]]
    unknown = f"; of the other {len(packages) - len(asked)} it knows nothing, so they were not checked"
    return f"{len(asked)} of {len(packages)} packages asked about, {len(faults)} known faults{unknown}", faults


def tool(name):
    "Its program beside this Python, or wherever the system finds it; None if nowhere."
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def main():
    failures = faults_of_imports(imported(), declared())
    print(f"imports: {len(imported())} packages imported, {len(declared())} declared")
    checked = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    print(f"pip check: {checked.stdout.strip() or checked.stderr.strip()}")
    failures += checked.stdout.splitlines() if checked.returncode else []
    bandit = tool("bandit")
    if bandit is None:
        print("bandit: not installed, nothing asked")
    else:
        said = subprocess.run([bandit, "-q", "-r", str(PACKAGE), "-f", "json"], capture_output=True, text=True).stdout
        report = json.loads(said[said.index("{") :])
        failures += unexplained(report["results"])
        lines = report["metrics"]["_totals"]["loc"]
        print(f"bandit: {lines:,} lines, {len(report['results'])} remarks, of which LOOKED_AT explains all but:")
        print("\n".join(unexplained(report["results"])) or "none")
    audit = tool("pip-audit")
    if audit is None:
        print("pip-audit: not installed, no database of faults was asked")
    else:
        words = [audit, "--progress-spinner", "off", "-f", "json"]
        sentence, known = known_faults(subprocess.run(words, capture_output=True, text=True).stdout)
        print(f"pip-audit: {sentence}")
        failures += known
    print(f"failures: {len(failures)}", *failures, sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
