"""Write README.md, and the figures it shows, from nbs/index.ipynb: `python .ci/readme.py [FOLDER]`.

Cells that begin with `#| hide` are left out, other directives are not shown, text outputs become indented blocks,
SVG outputs files, and Markdown outputs part of the page. Of cells under `#| echo: false` only the outputs are shown.
"""

import json
import re
import sys
from pathlib import Path


def cell_source(cell):
    "The source without its directives, or None for a hidden cell."
    lines = "".join(cell["source"]).splitlines()
    if any(line.startswith("#| hide") for line in lines):
        return None
    return "\n".join(line for line in lines if not line.startswith("#|")).strip()


def one_folder_up(text):
    "Links that are relative to the notebook, as the page needs them."
    return re.sub(r"\]\((?!https?:|#)", "](nbs/", text)


def readme(notebook):
    "The page that a visitor of the repository sees first."
    parts, figures = [], {}
    for cell in notebook["cells"]:
        source = cell_source(cell)
        if not source:
            continue
        if cell["cell_type"] == "markdown":
            parts.append(one_folder_up(source))
            continue
        if "#| echo: false\n" not in cell["source"]:
            parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/markdown" in data:
                parts.append(one_folder_up("".join(data["text/markdown"])))
            elif "image/svg+xml" in data:
                path = f"nbs/figures/index_{len(figures) + 1}.svg"
                figures[path] = "".join(data["image/svg+xml"]).strip() + "\n"
                parts.append(f"![Output of the code above]({path})")
            else:
                text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
                parts.append("```\n" + text + "\n```")
    return "\n\n".join(parts) + "\n", figures


def main(folder):
    "Write the page and its figures below `folder`."
    text, figures = readme(json.loads((folder / "nbs/index.ipynb").read_text(encoding="utf-8")))
    for path, content in {"README.md": text, **figures}.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]))
