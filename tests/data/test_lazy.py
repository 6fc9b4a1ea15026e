import pytest

from oneslack.data.lazy import lazy


def test_a_lazy_value_is_found_once():
    class Asked:
        count = 0

        @lazy
        def value(self):
            """What is asked for."""
            self.count += 1
            return "found"

    asked = Asked()
    assert (asked.value, asked.value, asked.count) == ("found", "found", 1)
    assert vars(asked)["value"] == "found"
    assert Asked.value.__doc__ == "What is asked for."


def test_what_could_not_be_found_is_looked_for_again():
    class Asked:
        tries = 0

        @lazy
        def value(self):
            self.tries += 1
            if self.tries == 1:
                raise ValueError("not yet")
            return 7

    asked = Asked()
    with pytest.raises(ValueError, match="not yet"):
        asked.value  # noqa: B018
    assert asked.value == 7
