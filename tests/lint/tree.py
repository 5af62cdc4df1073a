"""The files of the project by name. A check reads them through a Tree, so that its tests can pass a few made-up
files."""

import functools
import re


class Tree:
    def __init__(self, names, read):
        """`names`: paths from the root with slashes; `read(name)` returns the text of one."""
        self.names = sorted(names)
        self.text = functools.cache(read)
        self._derived = {}
        self._known = set(self.names)
        for name in self.names:
            while "/" in name:
                name = name.rpartition("/")[0]
                self._known.add(name)

    def has(self, name):
        """True for a file, and for a directory that has files."""
        return name in self._known

    def matches(self, pattern):
        """True if the whole name of a file or directory matches."""
        return any(re.fullmatch(pattern, name) for name in self._known)

    def below(self, directory, *suffixes):
        """The files below a directory that end in one of the suffixes, in order."""
        return [name for name in self.names
                if name.startswith(directory + "/") and (not suffixes or name.endswith(suffixes))]

    def derived(self, what, name, function):
        """`function` of the text of a file, computed once for each `what`."""
        key = (what, name)
        if key not in self._derived:
            self._derived[key] = function(self.text(name))
        return self._derived[key]


def line_of(text, position):
    """The number of the line that has this position of the text."""
    return text.count("\n", 0, position) + 1
