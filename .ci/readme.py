"Write README.md, and the figure that it shows, from nbs/index.ipynb: `python .ci/readme.py`."

import re
from pathlib import Path

import nbformat
from nbconvert import MarkdownExporter
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
notebook = nbformat.read(ROOT / "nbs/index.ipynb", 4)
notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith("#| hide")]
for cell in notebook.cells:
    if cell.cell_type == "markdown":
        cell.source = re.sub(r"\]\((?!https?:|#)", "](nbs/", cell.source).replace("](nbs/../", "](")
notebook.metadata.language_info = {"name": "python"}
settings = Config(ExtractOutputPreprocessor=dict(output_filename_template="{unique_key}_1{extension}"))
where = dict(unique_key="index", output_files_dir="nbs/figures")
text, found = MarkdownExporter(config=settings).from_notebook_node(notebook, where)
text = re.sub(r"\n *(?:\n *)+\n", "\n\n", text).replace("![svg]", "![Output of the code above]")
(ROOT / "README.md").write_text(text.strip() + "\n", encoding="utf-8")
for name, content in found["outputs"].items():
    (ROOT / name).parent.mkdir(exist_ok=True)
    (ROOT / name).write_bytes(content.strip() + b"\n")
