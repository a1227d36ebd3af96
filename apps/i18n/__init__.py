"""The strings that several tabs share, and the types of those that a tab has.

Strings are fields of a dataclass with an instance for each language, ``CHINESE`` and ``ENGLISH``,
so the type checker finds one that is missing. A tab's own strings stand in its folder.
"""
