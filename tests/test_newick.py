"Trees as Newick text: there and back to the bit, as other programs write it, and what is refused."

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import named_trees, refusals

from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram

common = settings(deadline=None, derandomize=True, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
read = Dendrogram.from_newick


@common
@given(named_trees())
def test_round_trip(tree):
    again = read(tree.to_newick(), names=tree.names)
    assert again.same_tree(tree) and again.names == tree.names
    assert np.array_equal(again.lca_height(), tree.lca_height())  # bit for bit
    if len(set(tree.heights)) == len(tree.heights) and tree.n_leaves == tree.n_objects:
        assert np.array_equal(again.linkage_matrix, tree.linkage_matrix)
    assert tree.n_leaves == 1 or tree.height_kind != "merge order" or again.height_kind == "merge order"


NAMES = ["two words", "O'Brien", "a(b)c", "x,y;z:w", "[c]", "日本語", "🦉", "", "a_b", "line\nbreak"]


@pytest.mark.parametrize("name", [*NAMES, *"-1 \" ' #H1".split()])
def test_names(name):
    tree = Dendrogram.from_merges([(0, 1)], names=[name, "other"])
    assert read(tree.to_newick()) == tree


def test_support_and_clusters_are_written():
    tree = Dendrogram.from_merges([(0, 1), (3, 2)], names=["a", "b", "c"])
    text = tree.to_newick([0.25, 1], [1, 1, 0])
    assert text == "((a[&cluster=1]:1,b[&cluster=1]:1)0.25[&cluster=1]:1,c[&cluster=0]:2)1;" and read(text) == tree


@pytest.mark.parametrize(
    "text, names, heights, kind",
    [
        (
            " ( (Homo_sapiens:6.5 , 'Pan paniscus':6.5)0.98:1e1, [a comment, (with marks);] Gorilla:16.5 )root ;\n",
            ["Homo_sapiens", "Pan paniscus", "Gorilla"],
            [6.5, 16.5],
            "height",
        ),
        ("(((a,b),c),(d,e));", "abcde", [1, 1, 2, 3], "level"),
        ("(a,b,c,d);", "abcd", [1, 1, 1], "level"),  # many children are merged at one height
        ("((a));", "a", [], "level"),
        ("a;", "a", [], "level"),
        ("(a:1,(b:1):2);", "ab", [3], "height"),  # a node with one child is no merge
        ("(a:1,b:3);", "ab", [3], "height"),
        ("((A[x[y]z]:1,B:1):1,C:2);", "ABC", [1, 2], "merge order"),  # nested comments
        ("\ufeff(A,B);", "AB", [1], "level"),  # a byte order mark
        ("[&R] ((A:1,B:1)90:1,C:2)[a];", "ABC", [1, 2], "merge order"),
        ('(("a dog","b, c"),d);', ["a dog", "b, c", "d"], [1, 2], "level"),
        ("(A[&&NHX:S=x[1[2]]],B);", "AB", [1], "level"),
        ("('#H1',A#1);", ["#H1", "A#1"], [1], "level"),
        ("(a:1[&initial],b:1);", "ab", [1], "merge order"),  # a mark at a leaf means nothing
    ],
)
def test_what_other_programs_write(text, names, heights, kind):
    tree = read(text)
    assert tree.names == tuple(names) and tree.heights.tolist() == heights and tree.height_kind == kind


def test_objects_and_initial_clusters():
    numbered = read("((2:1,0:1):1,1:2);")
    assert numbered.names is None and numbered.children.tolist() == [[2, 0], [3, 1]]
    assert read("(a:1,b:1);", names=["b", "a"]).children.tolist() == [[1, 0]]
    assert read("(a:1,b:1);", height_kind="years").height_kind == "years"
    assert read("((a:0,b:0)x[&initial]:1,c:1);").initial_clusters == ((0, 1), (2,))
    assert read("((a:0,b:0,c:0)[&Initial]:1,d:1);").initial_clusters == ((0, 1, 2), (3,))


MALFORMED = """; (a,b (a,b) a,b; (a,b)); ((a,b); (a,,b); (,a); (); (a'b',c); (a:x,b:1); (a:,b:1); (a::1,b:1);
    (a:inf,b:1); (a:1,b); (a,a); (a,b);c (a,b);(c,d); ('a,b); ("a,b); (a[x,b); (a[x[y],b); (a:-1,b:-1); a(b,c);
    (a,b)(c,d); ((a,(b,c))[&initial],d); (a,b]); (a:1e99999,b:1); (a:nan,b:1); (a:1,b:1"""


@pytest.mark.parametrize("text", ["", *MALFORMED.split()])
def test_malformed_text_is_refused(text):
    with pytest.raises(InputError, match=r"^text must be .*; got "):
        read(text)


test_the_message_says_what_is_wrong = refusals(
    ("';' at the end", read, "(a,b)"),
    ("network", read, "((A:1,(B:1)#H1:0):1,(#H1:0,C:1):1);"),
    ("blanks", read, "(a b,c);"),
    ("as '[(]'", read, "(a,b));"),
    ("name or '[(]' after ',', at position 9", read, "(a:1,b:2,);"),
)


@pytest.mark.parametrize("names", [["a", "c"], ["a"], ["a", "a"]])
def test_names_that_do_not_fit(names):
    with pytest.raises(InputError, match="^names must be"):
        read("(a:1,b:1);", names)
    for text, kind in ((None, None), ("(a,b);", 3)):
        with pytest.raises(InputError, match="^(text|height_kind) must be"):
            read(text, height_kind=kind)


@common
@given(st.text(alphabet="(),:;ab1'\"[]& ", max_size=30))
def test_any_text_is_a_tree_or_an_input_error(text):
    try:
        tree = read(text)
    except InputError:
        return
    assert read(tree.to_newick(), names=tree.names).same_tree(tree)
