"""Checks that the links of a built site (its folder is the argument) point to existing files and anchors."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


root = Path(sys.argv[1]).resolve()
# The links of the 404 page start at a server's root; the printed book repeats the other pages.
pages = {path: Page(path) for path in root.rglob("*.html") if path.name not in ("404.html", "print.html", "toc.html")}
n_links, broken = 0, []
for path, page in pages.items():
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        n_links += 1
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            broken.append(f"{path.relative_to(root)}: {link}")
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            broken.append(f"{path.relative_to(root)}: no place {link}")
print(f"{len(pages)} pages, {n_links} links, {len(broken)} broken")
sys.exit("\n".join(broken) or 0)
