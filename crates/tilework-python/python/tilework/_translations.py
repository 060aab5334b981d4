"""What `tilework.translate` answers where it is asked for several notations."""

from __future__ import annotations

__all__ = ["Translations"]


class Translations(dict[str, str]):
    """A layout in several notations: the text in each that can say it, by the notation's name.

    >>> import tilework as tw
    >>> texts = tw.translate("f32[3,5]{0,1}")
    >>> texts["numpy"]
    'float32 (3, 5) strides (4, 12)'
    """

    __module__ = "tilework"

    reasons: dict[str, str]
    """Why each of the other notations cannot say it, in a sentence.

    >>> import tilework as tw
    >>> tw.translate("f32[3,5]{1,0:T(2,2)}", ["xla", "directml"]).reasons.keys()
    dict_keys(['directml'])
    """

    def __init__(self, texts: dict[str, str], reasons: dict[str, str]) -> None:
        super().__init__(texts)
        self.reasons = reasons
