"""What the page says: a file a tab, each with the same strings in Chinese and in English.

A tab's strings are the fields of a dataclass, so that the type checker finds a missing one.
"""
