"""A server on this machine that lays files out as the public sources do, and misbehaves when it is told to."""

import functools
import gzip
import hashlib
import io
import socket
import tarfile
import threading
import time
import zipfile
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

#: What a wrong address, a captive network or a site in maintenance sends, with status 200.
PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>We are sorry</title></head><body>Down for repair.</body></html>\n"
)


OML = 'xmlns:oml="http://openml.org/openml"'


def files_in(cache):
    """Every file of a cache that a reader could be given, with its content."""
    return {
        each.name.partition("-")[2]: each.read_bytes()
        for each in (cache / "downloads").glob("*-*")
        if each.is_file()
    }


class DataServer(ThreadingHTTPServer):
    """Serves what was put there; each path may have moods, one for each request, the last of them for ever.

    Attributes
    ----------
    asked : list of (path, headers)
        Every request, in order.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.moods, self.asked, self.lists = {}, {}, [], {}
        self.lock = threading.Lock()
        self.closing = threading.Event()
        threading.Thread(target=functools.partial(self.serve_forever, 0.05), daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def close(self):
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Say nothing of clients that went away."""

    def put(self, path, content, *moods, kind="application/octet-stream"):
        """Serve a file; return its address."""
        self.files[path] = (content, kind)
        self.moods[path] = list(moods) or ["fine"]
        return self.address + path

    def paths(self):
        return [path for path, _ in self.asked]

    # --- the layouts of the public sources

    def put_openml(self, data_id, name, arff, *moods, version=1, about=None, listed=True, **more):
        """OpenML: a description in XML, a list by name, and the ARFF file under a number of its own."""
        url = self.put(f"/data/v1/download/{data_id + 50000}/{name}.arff", arff, *moods)
        description = {
            "id": data_id,
            "name": name,
            "version": version,
            "description": "**Author**: nobody",
            "format": "ARFF",
            "upload_date": "2014-04-06T23:19:28",
            "licence": "Public",
            "url": url,
            "file_id": data_id + 50000,
            "default_target_attribute": "class",
            "visibility": "public",
            "status": "active",
            "md5_checksum": hashlib.md5(arff).hexdigest(),
        } | more
        fields = "".join(
            f"<oml:{key}>{escape(str(value), quote=False)}</oml:{key}>"
            for key, values in description.items()
            for value in (values if isinstance(values, list) else [values])
        )
        self.put(
            f"/api/v1/xml/data/{data_id}",
            f"<oml:data_set_description {OML}>{fields}</oml:data_set_description>".encode(),
            *(about or ()),
            kind="text/xml",
        )
        if listed:
            fields = {"did": data_id, "name": name, "version": version, "status": "active", "format": "ARFF"}
            row = "".join(f"<oml:{key}>{value}</oml:{key}>" for key, value in fields.items())
            row += "<oml:file_id>1</oml:file_id>"
            path = f"/api/v1/xml/data/list/data_name/{name}/limit/10000/offset/0"
            self.lists[path] = self.lists.get(path, "") + f"<oml:dataset>{row}</oml:dataset>"
            self.put(path, f"<oml:data {OML}>{self.lists[path]}</oml:data>".encode(), kind="text/xml")

    def put_uci(self, number, slug, files, *moods):
        """UCI: one zip archive for a data set; a value that is a dict is an archive within it."""
        return self.put(f"/static/public/{number}/{slug}.zip", zipped(files), *moods)

    def put_github(self, repository, path, content, *moods):
        """Raw files of GitHub, as of Mulan, MEKA and the package of the paper's authors."""
        return self.put(f"/{repository}/HEAD/{path}", content, *moods)


def zipped(files):
    """Bytes of a zip archive; a dict among the values becomes a packed tar archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, tarred(content) if isinstance(content, dict) else content)
    return buffer.getvalue()


def tarred(files):
    """Bytes of a tar archive packed by gzip."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        path = unquote(self.path)
        with self.server.lock:
            self.server.asked.append((path, dict(self.headers)))
            moods = self.server.moods.get(path, ["404"])
            mood = moods.pop(0) if len(moods) > 1 else moods[0]
        content, kind = self.server.files.get(path, (b"", "text/plain"))
        self.close_connection = True
        if mood.isdigit():
            return self._error(int(mood))
        getattr(self, "_" + mood.replace(" ", "_"))(content, kind)

    def _error(self, status):
        body, kind = b"<html><body>no</body></html>", "text/html"
        if status == 412:
            message = "<oml:code>372</oml:code><oml:message>No results</oml:message>"
            body, kind = f"<oml:error {OML}>{message}</oml:error>".encode(), "text/xml"
        self._head(status, len(body), kind)
        self.wfile.write(body)

    def _head(self, status, length, kind="application/octet-stream", **headers):
        self.send_response(status)
        self.send_header("Connection", "close")
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _fine(self, content, kind):
        self._head(200, len(content), kind)
        self.wfile.write(content)

    def _slow(self, content, kind):
        self._head(200, len(content), kind)
        step = max(1, len(content) // 10)
        for start in range(0, len(content), step):
            self.wfile.write(content[start : start + step])
            self.wfile.flush()
            time.sleep(0.05)

    def _half(self, content, kind):
        """Announce all of it, send half and hang up."""
        self._head(200, len(content), kind)
        self.wfile.write(content[: len(content) // 2])

    def _half_then_silence(self, content, kind):
        self._half(content, kind)
        self.wfile.flush()
        self.server.closing.wait(20)

    def _half_in_chunks(self, content, kind):
        """Hang up before the chunk of length 0 that ends a body."""
        self._head(200, None, kind, Transfer_Encoding="chunked")
        half = content[: len(content) // 2]
        self.wfile.write(f"{len(half):x}\r\n".encode() + half + b"\r\n")

    def _in_chunks(self, content, kind):
        self._head(200, None, kind, Transfer_Encoding="chunked")
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n0\r\n\r\n")

    def _half_of_unknown_length(self, content, kind):
        """Hang up in the middle of a body that only the end of the connection ends."""
        self._head(200, None, kind)
        self.wfile.write(content[: len(content) // 2])

    def _half_as_whole(self, content, kind):
        """A broken file on the server's own disk: the length is that of the half."""
        half = content[: len(content) // 2]
        self._head(200, len(half), kind)
        self.wfile.write(half)

    def _one_byte_changed(self, content, kind):
        changed = bytearray(content)
        changed[len(changed) // 2] ^= 1
        self._fine(bytes(changed), kind)

    def _page(self, content, kind):
        self._head(200, len(PAGE), "text/html")
        self.wfile.write(PAGE)

    def _redirect(self, content, kind):
        self._head(302, 0, Location="/moved" + self.path)
        self.server.put("/moved" + unquote(self.path), content)

    def _redirect_to_page(self, content, kind):
        self.server.put("/login", b"", "page")
        self._head(302, 0, Location="/login")

    def _round(self, content, kind):
        self._head(302, 0, Location=self.path)

    def _hang_up(self, content, kind):
        self.connection.shutdown(socket.SHUT_RDWR)

    def _empty(self, content, kind):
        self._head(200, 0, kind)

    def _odd_length(self, content, kind):
        self._head(200, "\u00b2", kind)
        self.wfile.write(content)

    def _long_length(self, content, kind):
        self._head(200, "9" * 5000, kind)
        self.wfile.write(content)

    def _controls(self, content, kind):
        self.wfile.write(b"HTTP/1.1 404 \x1b[31mred\x07\r\nContent-Length: 0\r\n\r\n")

    def _packed(self, content, kind):
        packed = gzip.compress(content)
        self._head(200, len(packed), kind, Content_Encoding="gzip")
        self.wfile.write(packed)
