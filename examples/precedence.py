"""Which operator binds first?  Learned from a treebank that everyone has: Python's standard library.

Expressions are read with `ast` and written without brackets: a + b * c is x + x * x.  A grammar in which any
operation may be an operand of any other has many trees for that.  Weights for its rules are learned from the
trees that Python has; then expressions of other files are parsed back.

python examples/precedence.py
"""

import ast
import sysconfig
from itertools import product
from pathlib import Path

import oneslack
from oneslack import Tree

WORDS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Not: "not",
    ast.And: "and", ast.Or: "or", ast.USub: "-", ast.Invert: "~", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.In: "in",
}  # fmt: skip
X = Tree("x", "x")


def tree_of(node) -> Tree:
    """Operations with their operands; all else is x."""
    match node:
        case ast.BinOp(left, op, right):
            parts = [left, op, right]
        case ast.UnaryOp(op, operand):
            parts = [op, operand]
        case ast.BoolOp(op, values):
            parts = [part for value in values for part in (op, value)][1:]
        case ast.Compare(left, ops, others):
            op, parts = node, [left, *(part for pair in zip(ops, others, strict=True) for part in pair)]
        case _:
            return X
    if not all(isinstance(part, ast.expr) or type(part) in WORDS for part in parts):
        return X
    leaves = [WORDS.get(type(part)) for part in parts]
    children = [Tree(leaf, leaf) if leaf else tree_of(part) for leaf, part in zip(leaves, parts, strict=True)]
    return Tree(type(op).__name__, children)


def expressions(files, longest=15) -> list[Tree]:
    """The different ones that have several operations and are written without brackets."""
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_bytes())))
    trees = {tree_of(node): None for node in nodes if isinstance(node, ast.expr)}
    some = [tree for tree in trees if len(tree.spans()) > 1 and len(tree.words()) <= longest]
    return [tree for tree in some if python_tree(tree.words()) == tree]


def python_tree(words):
    try:
        return tree_of(ast.parse(" ".join(words), mode="eval").body)
    except SyntaxError:  # as in x * not x, which needs brackets
        return None


def nestings(trees) -> list[Tree]:
    """Every operation as an operand of every other, whatever its precedence."""
    nodes = [node for tree in trees for node in tree.nodes() if not node.is_tag]
    flat = {Tree(node.label, [child if child.is_tag else X for child in node.children[:3]]) for node in nodes}
    return [
        Tree(outer.label, [*outer.children[:k], inner, *outer.children[k + 1 :]])
        for outer, inner in product(sorted(flat, key=str), repeat=2)
        for k, child in enumerate(outer.children)
        if child == X
    ]


def share_right(parser, trees):
    predicted = parser.predict([tree.words() for tree in trees])
    return sum(a == b for a, b in zip(predicted, trees, strict=True)) / len(trees)


def main(n_files=200, tol=1e-2):
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:n_files]
    train = expressions(file for k, file in enumerate(files) if k % 4)
    test = [tree for tree in expressions(files[::4]) if tree not in set(train)]
    other = nestings(train)  # they give rules to the grammar, but teach nothing: their weight is 0
    parser = oneslack.GrammarParser(C=1.0, horizontal=0, min_count=1, frequencies=False, tol=tol)
    parser.fit(train + other, sample_weight=[1.0] * len(train) + [0.0] * len(other))
    print(parser.result_)
    learned = share_right(parser, test)
    w, parser.coef_ = parser.coef_, 0 * parser.coef_
    unlearned, parser.coef_ = share_right(parser, test), w
    print(f"{len(train)} expressions to learn from; of {len(test)} others {learned:.1%} are parsed right,")
    print(f"{unlearned:.1%} without weights\n")
    words = ["x", "or", "not", "x", "+", "x", "*", "x", "**", "x", "==", "x"]
    print(" ".join(words), parser.predict([words])[0].draw(), sep="\n")
    return parser, learned, unlearned


if __name__ == "__main__":
    main()
