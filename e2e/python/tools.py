"""The tools of all Python clients: plain functions with type hints and a docstring, which really run."""


def get_weather(city: str) -> str:
    """Get the current weather of a city."""
    return f"It is 18 degrees and sunny in {city}."


def add_numbers(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


def echo(text: str) -> str:
    """Say a text back."""
    return text


TOOLS = {tool.__name__: tool for tool in (get_weather, add_numbers, echo)}
