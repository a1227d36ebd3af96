"""Write the manifest of each bundled model, after a file of one was changed.

A folder that `zh-albert export` wrote has its manifest already; this is for changes by hand, such
as a score in `config.json`.

    python docs/recipes/bundled_manifests.py
"""

from __future__ import annotations

import argparse

from zh_albert.checkpoints.manifest import MANIFEST, write_manifest
from zh_albert.checkpoints.resolve import BUNDLED, bundled_models
from zh_albert.files.textio import atomic_write


def main() -> None:
    """Write the manifests that have changed, and print their paths."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    for name in bundled_models():
        files = {path.name: path.read_bytes() for path in (BUNDLED / name).iterdir()}
        path, content = BUNDLED / name / MANIFEST, write_manifest(files)
        if files.get(MANIFEST) != content:
            with atomic_write(path) as file:
                file.write(content)
            print(path)


if __name__ == "__main__":
    main()
