"""The interface of SGLang 0.5.23 as far as a detector meets it. The package itself needs a GPU's libraries to be imported."""
