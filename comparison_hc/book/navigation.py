"""Every page of the site shows the list of all pages. It is made once and put into place, not made again for each."""

import posixpath
import re

TAG = re.compile(r"<(/?)(ul|li|a)\b([^>]*)>")
TARGET = re.compile(r'href="([^"#]*)(#[^"]*)?"')


def placed(tree, address):
    "The list of all pages for one of them: links begin at its folder, and it is marked."
    folder, parts, end = posixpath.dirname(address), [], 0
    are_open = []  # places in `parts` of the lists and entries around what comes next
    for tag in TAG.finditer(tree):
        closes, name, rest = tag.groups()
        parts.append(tree[end : tag.start()])
        end = tag.end()
        parts.append(tag[0])
        if name == "a":
            target = None if closes else TARGET.search(rest)
            if target is None:
                continue
            if target[1] == address and not target[2]:
                parts[-1] = tag[0].replace(target[0], 'href="#"').replace('class="', 'class="current ', 1)
                for place in are_open:
                    parts[place] = marked(parts[place])
            elif target[1] and "://" not in target[1]:
                begins = posixpath.relpath(target[1], folder or ".")
                parts[-1] = tag[0].replace(target[0], f'href="{begins}{target[2] or ""}"')
        elif closes:
            are_open.pop()
        else:
            are_open.append(len(parts) - 1)
    return "".join([*parts, tree[end:]])


def marked(tag):
    "The tag with the class of what the current page is in; marked once."
    if tag == "<ul>":
        return '<ul class="current">'
    return tag if re.search(r'current"', tag) else tag.replace('">', ' current">')


def setup(app):
    "Called by Sphinx: all pages share one list of pages; between a parameter and its words there is a dash."
    made = {}  # the theme's wishes → the list from the top

    def share(app, pagename, templatename, context, doctree):
        if "toctree" in context:
            context["toctree"] = shared(app.builder, pagename, context["toctree"], made)

    app.connect("html-page-context", share, priority=400)  # before the theme's own, at 500
    app.connect("doctree-read", lambda app, doctree: dashes(doctree))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def dashes(doctree):
    "Sphinx writes two hyphens between a parameter and what it is for."
    for text in [node for node in doctree.findall() if node == " -- "]:
        text.parent.replace(text, type(text)(" – "))


def shared(builder, pagename, usual, made):
    "The list for one page, from the one that was made before."
    from sphinx.environment.adapters.toctree import global_toctree_for_doc

    def toctree(**wishes):
        if wishes.get("collapse", True):  # then lists differ in what they unfold
            return usual(**wishes)
        key = tuple(sorted(wishes.items()))
        if key not in made:
            first = builder.config.root_doc
            whole = global_toctree_for_doc(builder.env, first, builder, tags=builder.tags, **wishes)
            made[key] = builder.render_partial(whole)["fragment"]
        return placed(made[key], builder.get_target_uri(pagename))

    return toctree
