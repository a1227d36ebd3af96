"""Model compression: recipes of stages over match terms, teachers, plans and weight transforms."""

from typing import Any

__all__ = ["compress", "recipes"]


def __getattr__(name: str) -> Any:
    # Imported on first use: PyTorch takes seconds, and a list of recipes needs none of it.
    if name == "compress":
        from zh_albert.compression.job import compress  # noqa: PLC0415

        return compress
    if name == "recipes":
        from zh_albert.compression.recipe import recipes  # noqa: PLC0415

        return recipes
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
