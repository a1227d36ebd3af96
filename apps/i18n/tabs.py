"""The strings that tabs of one kind have in common: each kind is a base of dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n.notice import Notice
from apps.i18n.page import PageStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class TabStrings:
    """The strings of any tab.

    Attributes:
        page: The strings that it shares with other tabs.
        tab: Its title.
    """

    page: PageStrings
    tab: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TextTabStrings(TabStrings):
    """The strings of a tab that answers while somebody types.

    Attributes:
        go: The button that asks for an answer.
        waiting: Shown while a box is empty.
        long: Shown for a text that is too long to be answered while it is typed.
    """

    go: str
    waiting: Notice
    long: Notice


@dataclass(frozen=True, kw_only=True, slots=True)
class JobTabStrings(TabStrings):
    """The strings of a tab that works on an uploaded table.

    Attributes:
        file: The label of the upload box.
        go: The button that starts the work.
        download: The button that downloads the result, of some kind of file.
        about: What the tab does, and its limits.
        waiting: Shown before a file is there.
        no_file: Shown when the work cannot start without one.
        which_column: Asks for a column that is not clear by its name or content.
    """

    file: str
    go: str
    download: str
    about: str
    waiting: Notice
    no_file: Notice
    which_column: Notice
