"""Characters that no font has: figures are drawn without a warning, and tables have the names as they are."""

import warnings

import numpy as np
from matplotlib.figure import Figure

from experiments.figures import ranked_table, style
from experiments.figures.layout import text_width

#: Chinese, Devanagari, Egyptian, and a character that no font has.
NAMES = ["血糖", "रक्तचाप", "𓀀𓁀", "\U000f0000", "plain"]


def test_names_in_any_script_are_drawn_without_a_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = ranked_table.bars(NAMES, np.arange(5.0)[::-1], keep=2)
        files = style.save(figure, tmp_path, "bars")
        assert text_width("血糖 𓀀", 7.0) > 0
    assert [each.name for each in files] == ["bars.png", "bars.svg"]
    (axes,) = figure.axes
    assert [each.get_text() for each in axes.get_yticklabels()] == NAMES


def test_other_warnings_are_not_held_back():
    with warnings.catch_warnings(record=True) as caught, style.applied():
        warnings.simplefilter("always", append=True)
        warnings.warn("something else", UserWarning, stacklevel=1)
    assert [str(each.message) for each in caught] == ["something else"]


def test_a_font_that_is_there_stands_in(monkeypatch):
    style._other_fonts.cache_clear()
    monkeypatch.setattr(style, "_FALLBACKS", ("No such font", "DejaVu Serif"))
    with style.applied():
        text = Figure().text(0, 0, "x")
        assert text.get_fontfamily() == ["DejaVu Sans", "DejaVu Serif"]
    style._other_fonts.cache_clear()
