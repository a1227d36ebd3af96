"""Notes about files: warnings, or told to the one who listens."""

from __future__ import annotations

import threading

import pytest

from zh_albert.files.notes import FileNote, listening, tell


def test_a_note_is_a_warning_unless_somebody_listens() -> None:
    with pytest.warns(FileNote, match="a.csv: read as Big5"):
        tell(FileNote("a.csv: read as Big5", "encoding", name="Big5"))
    with listening() as notes:
        tell(FileNote("a.csv: read as Big5", "encoding", name="Big5"))
    assert [(note.kind, note.facts) for note in notes] == [("encoding", {"name": "Big5"})]
    with pytest.warns(FileNote):
        tell(FileNote("b.csv: read as Big5", "encoding", name="Big5"))


def test_nobody_hears_what_another_thread_reads() -> None:
    heard: dict[str, list[str]] = {}
    together = threading.Barrier(2)

    def read(name: str) -> None:
        with listening() as notes:
            together.wait()
            tell(FileNote(name, "encoding"))
            together.wait()
        heard[name] = [str(note) for note in notes]

    threads = [threading.Thread(target=read, args=[name]) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {"a": ["a"], "b": ["b"]}


def test_a_file_cannot_say_any_number_of_notes() -> None:
    with listening() as notes:
        for line in range(1000):
            tell(FileNote("again", "repeated_header", line=line))
    assert len(notes) == 100
