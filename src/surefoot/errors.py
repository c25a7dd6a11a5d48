"""The one error that surefoot raises on purpose: its text says what came, what was expected and what to do."""


class SurefootError(ValueError):
    """Bad input, said in a sentence that the command line prints as it is."""


def unknown(kind: str, names: list[str] | tuple[str, ...], valid: list[str] | tuple[str, ...]) -> SurefootError:
    """The error for names that do not exist: it lists the ones that do."""
    wrong = ", ".join(map(repr, names))
    return SurefootError(f"unknown {kind} {wrong}; valid: {', '.join(valid)}.")
