"""The interface of vLLM 0.33 as far as a tool parser meets it. The package itself needs a GPU's libraries to be imported."""
