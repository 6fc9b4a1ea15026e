"""Random trees over random words, for tests of trees, grammars and parsers."""

from hypothesis import strategies as st

from oneslack.trees import Tree

#: Marks that binarised symbols are written with are labels too.
LABELS = ["S", "NP", "A^B", "X|<Y-Z>", "NN", ""]
TAGS = ["NN", "VB", "-LRB-", ",", "a|b"]
WORDS = ["time", "flies", "(", ",", "é", "1.5", "New-York"]

leaves = st.builds(lambda tag, word: Tree(tag, [word]), st.sampled_from(TAGS), st.sampled_from(WORDS))
#: Trees whose words all have a tag.
tagged_trees = st.recursive(
    leaves,
    lambda below: st.builds(Tree, st.sampled_from(LABELS[:-1]), st.lists(below, min_size=1, max_size=4)),
    max_leaves=12,
)
#: Trees with words anywhere.
any_trees = st.recursive(
    leaves,
    lambda below: st.builds(
        Tree,
        st.sampled_from(LABELS[:-1]),
        st.lists(st.one_of(below, st.sampled_from(WORDS)), min_size=1, max_size=4),
    ),
    max_leaves=12,
)


def comb(depth, right=True):
    """A tree so deep that recursion would fail."""
    tree = Tree("NN", ["end"])
    for k in range(depth):
        leaf = Tree("NN", [f"w{k % 7}"])
        tree = Tree("NP", [leaf, tree] if right else [tree, leaf])
    return tree


def tower(depth):
    """A word below many phrases."""
    tree = Tree("NN", ["word"])
    for _ in range(depth):
        tree = Tree("NP", [tree])
    return tree
