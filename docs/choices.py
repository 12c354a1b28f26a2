"""For mkdocs: of choices in braces the reference is to show the default that the docstring states.

griffe takes the first choice for the default, as numpydoc has it where none is stated; here it is always stated,
as in scikit-learn: ``{"f1", "hamming"}, default="hamming"``.
"""

import re

import griffe


class StatedDefaults(griffe.Extension):
    """Takes the braces off choices with a default of their own."""

    def on_object(self, *, obj, **_):
        """Change an object's docstring before it is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^(\s*\w+ : )\{(.+)\}(, default=)", r"\1\2\3", obj.docstring.value, flags=re.M
            )
