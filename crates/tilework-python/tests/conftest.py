"""How the random tests run: the same numbers each time, unless more are asked for."""

from hypothesis import settings

settings.register_profile("house", derandomize=True, deadline=None, max_examples=200, database=None)
# pytest --hypothesis-profile=explore: other numbers every time, and more of them.
settings.register_profile("explore", deadline=None, max_examples=5000, database=None)
settings.load_profile("house")
