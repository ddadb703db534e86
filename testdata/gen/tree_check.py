"""tree_check.py TREE.root NAME NTUPLE.root NAME ...

Has uproot read trees and RNTuples of them, and compares all values. For each pair, prints a line of JSON: an
object with the branches that it could not read in the tree ("unread"), those that differ ("different"), and the number
of those that are equal ("equal"). Split branches count as those below them.
"""
import json
import math
import sys

import uproot


def plain(x):
    """Values in the form that trees and RNTuples have in common."""
    if isinstance(x, dict):  # uproot leaves out the members of TObject in trees
        return {str(k): plain(v) for k, v in x.items() if k not in ("fUniqueID", "fBits", "TObject")}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, float) and math.isnan(x):
        return "nan"
    return x


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, dict) and isinstance(b, list):  # a pair
        return same(list(a.values()), b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return bool(a) == bool(b)
    if isinstance(a, int) and isinstance(b, int):
        return a == b or -128 <= a < 0 and a + 256 == b  # uproot reads the type char of RNTuples without sign
    return a == b


def leaves(branch):
    """The branches with values below a split one."""
    return [b for sub in branch.branches for b in leaves(sub)] or [branch]


def follow(value, path):
    """The members at the end of a path of names; those of classes are passed over."""
    if not path:
        return value
    if isinstance(value, list):
        return [follow(v, path) for v in value]
    name = path[0]
    if isinstance(value, tuple):
        value = dict(zip(("first", "second"), value))
    return follow(value[name] if name in value else value, path[1:])


def members(branch):
    """The branches with values, and the paths of the members that they have."""
    for leaf in leaves(branch):
        name = leaf.name if leaf is branch else leaf.name.removeprefix(branch.name.rstrip(".") + ".")
        path = [] if leaf is branch else name.split("[")[0].split(".")
        if path[-1:] not in (["fUniqueID"], ["fBits"], ["TObject"]):
            yield leaf, path


def check(tree, ntuple):
    result = {"unread": {}, "different": {}, "equal": 0}
    for branch in tree.branches:
        try:
            field = ntuple[branch.name.replace(".", "_")].array().tolist()
        except Exception as e:  # of many types
            result["different"][branch.name] = f"{type(e).__name__}: {e}"
            continue
        for leaf, path in members(branch):
            try:
                want = plain(leaf.array().tolist())
            except Exception as e:
                result["unread"][leaf.name] = type(e).__name__
                continue
            got = plain(follow(field, path))
            if same(want, got):
                result["equal"] += 1
            elif len(want) != len(got):
                result["different"][leaf.name] = f"{len(want)} and {len(got)} entries"
            else:
                result["different"][leaf.name] = next(
                    f"entry {i}: {a!r} and {b!r}"[:200] for i, (a, b) in enumerate(zip(want, got)) if not same(a, b))
    return result


def main(args):
    for i in range(0, len(args), 4):
        tree = uproot.open(args[i])[args[i + 1]]
        ntuple = uproot.open(args[i + 2])[args[i + 3]]
        print(json.dumps(check(tree, ntuple)), flush=True)


main(sys.argv[1:])
