"""Where things are on a figure: nothing may lie on anything else, nothing may be cut off."""

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def drawn(figure):
    """Draw a figure once and return the renderer."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    return renderer


def parts(figure):
    """Boxes of title, small print, legend and every pair of axes with its ticks and labels."""
    renderer = drawn(figure)
    found = {text.get_gid() or text.get_text(): text.get_window_extent(renderer) for text in figure.texts}
    found |= {
        f"legend {place}": each.get_window_extent(renderer) for place, each in enumerate(figure.legends)
    }
    found |= {f"axes {place}": each.get_tightbbox(renderer) for place, each in enumerate(figure.axes)}
    return found


def assert_tidy(figure, slack=1.0):
    """Every part lies inside the figure, and no two overlap (by more than ``slack`` pixels)."""
    found, whole = parts(figure), figure.bbox
    for name, box in found.items():
        assert whole.x0 - slack <= box.x0 and box.x1 <= whole.x1 + slack, f"{name} is cut off"
        assert whole.y0 - slack <= box.y0 and box.y1 <= whole.y1 + slack, f"{name} is cut off"
    for (name, a), (other, b) in itertools.combinations(found.items(), 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert wide <= slack or high <= slack, f"{name} lies on {other}"


def assert_ticks_apart(axes):
    """Tick labels of an axis do not touch each other."""
    renderer = drawn(axes.figure)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        boxes = [label.get_window_extent(renderer) for label in labels if label.get_text()]
        for a, b in itertools.combinations(boxes, 2):
            assert min(a.x1, b.x1) - max(a.x0, b.x0) <= 0.5 or min(a.y1, b.y1) - max(a.y0, b.y0) <= 0.5


def texts(figure):
    """All words on a figure."""
    return " ".join(each.get_text() for each in figure.findobj(Text) if each.get_text())


def by_gid(parent):
    """What was drawn, by the names it was given."""
    return {each.get_gid(): each for each in parent.findobj(lambda artist: artist.get_gid() is not None)}
