"""Spreadsheets and files of R, written for a test."""

import numpy as np
import openpyxl
import rdata
from rdata.conversion import to_r

REAL, VEC = to_r.RObjectType.REAL, to_r.RObjectType.VEC


def sheets(content):
    book = openpyxl.Workbook()
    for name, rows in content.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save("t.xlsx")


class RTimes:
    """A vector of numbers that R takes for dates or the like."""

    def __init__(self, kind, values):
        self.kind, self.values = kind, np.array(values, dtype=float)


class RFrame:
    """A data frame of R with such columns."""

    def __init__(self, **columns):
        self.columns = columns


def write_r(**elements):
    """Write an R data file; what rdata makes of these classes is built here, as R does it."""

    def vector(data, converter):
        attributes = converter.convert_to_r_attributes({"class": data.kind})
        return to_r.build_r_object(REAL, value=data.values, is_object=True, attributes=attributes)

    def frame(data, converter):
        # Symbols are numbered in the order in which they are written, and attributes come last.
        columns = [converter.convert_to_r_object(each) for each in data.columns.values()]
        n_rows = len(next(iter(data.columns.values())).values)
        attributes = converter.convert_to_r_attributes(
            {
                "names": np.array(list(data.columns)),
                "class": "data.frame",
                "row.names": np.arange(1, n_rows + 1, dtype=np.int32),
            }
        )
        return to_r.build_r_object(VEC, value=columns, is_object=True, attributes=attributes)

    kinds = {RTimes: vector, RFrame: frame, **to_r.DEFAULT_CLASS_MAP}
    rdata.write_rda("t.RData", {"t": elements}, constructor_dict=kinds)
