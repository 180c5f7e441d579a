#!/usr/bin/env python3
"""Writes the pages of the C and C++ reference from the XML that Doxygen makes of include/sconce.

    reference.py XML PAGES    scripts/build-site runs it before Sphinx

A page has what belongs to one noun: the header include/sconce/c/<noun>.h, and the C++ headers that are named after the
noun, or that HEADERS and FOLDERS give it. The pages are Markdown, so they have the design, the menu and the search of
the guide. Doxygen's own warnings ensure that every public name has a comment.
"""
import itertools
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

from declarations import class_line, flat, member_line

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Titles of pages whose noun is an abbreviation, or is not enough.
TITLES = {
    "backward": "Backward passes",
    "blas": "Products (cuBLAS)",
    "c10_compat": "Code written for c10",
    "comm": "Collective operations",
    "comm_tensors": "Tensors of several devices",
    "context": "Settings of the process",
    "copy": "Copies",
    "device": "Devices",
    "dlpack": "DLPack",
    "dnn": "Convolutions (cuDNN)",
    "dtype": "Data types",
    "event": "Events",
    "fft": "Fourier transforms (cuFFT)",
    "graph": "CUDA graphs",
    "host_memory": "Pinned memory",
    "ipc": "Memory of other processes",
    "library": "The library: versions, errors, messages",
    "memory": "Device memory",
    "module": "Modules and kernels",
    "nvtx": "Profiling marks (NVTX)",
    "parallel": "Threads of the CPU",
    "random": "Random numbers",
    "sim": "The simulator",
    "store": "The store of a job",
    "stream": "Streams",
    "tensor": "Tensors",
    "torch": "Compiled models and kernel libraries",
}
# Nouns of C++ headers, and of files of src/, whose own name is none.
HEADERS = {
    "backend": "library",
    "buffer": "memory",
    "complex_parts": "dtype",
    "data_parallel": "comm_tensors",
    "dim_vector": "tensor",
    "error": "library",
    "fftn": "fft",
    "fwd": "library",
    "generator": "random",
    "guard": "stream",
    "half_limits": "dtype",
    "int_array_ref": "tensor",
    "kernel": "module",
    "kernel_arguments": "module",
    "log": "library",
    "memory_format": "tensor",
    "memory_observers": "memory",
    "op": "torch",
    "operand": "memory",
    "scalar": "tensor",
    "scalar_type": "dtype",
    "sconce": "library",
    "sconce_torch": "torch",
    "simulator": "sim",
    "span": "memory",
    "sconce_all": "library",
    "tape": "backward",
}
# Folders of headers that are on one page.
FOLDERS = {"compat": "c10_compat", "sim": "sim", "torch": "torch"}
DEVICE_HEADER = "device.cuh"  # Random numbers in kernels.
# The file whose comment says what holds for every function of C.
RULES = "sconce/c/library.h"
PARAGRAPH = "\n\n"
# How the entries of a C function's comment begin that say the same of each function.
LABELS = re.compile(r"^(Errors|Ordering|Ownership|Safety|Threads|torch):")


class Reference:
    def __init__(self, folder):
        self.parsed = [ElementTree.parse(path).getroot() for path in sorted(folder.glob("*.xml"))]
        self.compounds = {each.get("id"): each for root in self.parsed for each in root.findall("compounddef")}
        self.nouns = {path.stem for path in (ROOT / "include/sconce/c").glob("*.h")} | TITLES.keys()
        self.names, self.index = {}, []
        self.entries = self.collected()
        self.label_all()

    def noun(self, name, file):
        """The page of a name that a file declares."""
        path = pathlib.PurePath(file)
        folder, stem = path.parent.name, path.stem
        if path.name == DEVICE_HEADER:
            return "random"
        # The file's own name, that with the folder's, then what they begin with.
        parts = [f"{folder}_{stem}", stem, *beginnings(stem), folder]
        for part in [*map(FOLDERS.get, path.parts), *parts]:
            if part in HEADERS or part in self.nouns:
                return HEADERS.get(part, part)
        sys.exit(f"reference.py: {name} of {file} has no page: give {stem} a noun in HEADERS, or in TITLES")

    def collected(self):
        """All documented names: (noun, is C, file, line, scope, name, elements). Overloads are one entry."""
        entries = {}
        for compound in self.compounds.values():
            kind, scope = compound.get("kind"), compound.findtext("compoundname")
            if kind in ("struct", "class") and compound.get("prot") == "public" and "<" not in scope:
                self.put(entries, compound, scope.rpartition("::")[0], scope.rpartition("::")[2])
            if kind in ("file", "namespace"):
                for member in compound.iter("memberdef"):
                    self.put(entries, member, scope if kind == "namespace" else "", member.findtext("name"))
        return sorted(entries.values(), key=lambda entry: (entry["noun"], not entry["is_c"], entry["file"], entry["line"]))

    def put(self, entries, element, scope, name):
        place = element.find("location")
        file, line = place.get("file"), int(place.get("line"))
        is_c = file.endswith(".h")
        if not words(element) or not file.startswith("sconce/"):
            return
        key = (scope, name, "type" if element.tag == "compounddef" else "member", is_c)
        if is_c and element.get("kind") == "typedef" and f"struct{name.replace('_', '__')}" in self.compounds:
            return  # The struct has the comment.
        entry = entries.setdefault(key, {"noun": self.noun(name, file), "is_c": is_c, "file": file, "line": line,
                                         "scope": scope, "name": name, "elements": []})
        if element not in entry["elements"]:
            entry["elements"].append(element)

    def label_all(self):
        """Gives each name an anchor, and finds the names that comments may link."""
        used = set()

        def label(scope, name):
            base = "api-" + re.sub(r"[^a-z0-9]+", "-", f"{scope} {name}".lower()).strip("-")
            own = next(each for number in itertools.count(1)
                       if (each := base if number == 1 else f"{base}-{number}") not in used)
            used.add(own)
            return own

        for entry in self.entries:
            entry["label"] = label(entry["scope"], entry["name"])
            self.names.setdefault(entry["name"], set()).add(entry["label"])
            for element in entry["elements"]:
                for value in element.findall("enumvalue"):
                    self.names.setdefault(value.findtext("name"), set()).add(entry["label"])
            entry["members"] = self.members(entry) if entry["elements"][0].tag == "compounddef" else []
            for member in entry["members"]:
                member["label"] = label(f"{entry['scope']}::{entry['name']}", member["name"])

    def members(self, entry):
        """The public, documented members of a class, overloads together."""
        found = {}
        for member in entry["elements"][0].iter("memberdef"):
            if member.get("prot") == "public" and words(member):
                found.setdefault(member.findtext("name"), []).append(member)
        return [{"name": name, "elements": elements} for name, elements in found.items()]

    # Text of comments as Markdown.

    def code(self, text, own):
        """A name as code, with a link to it unless the comment is the name's own."""
        targets = self.names.get(text.removesuffix("()").removeprefix("sconce::cuda::").removeprefix("sconce::"), set())
        fence = "``" if "`" in text else "`"
        quoted = f"{fence}{text}{fence}"
        # Another lower-case word is rather a parameter than the function of that name.
        is_name = re.match(r"sconce_|[A-Z]", text) or "::" in text or text.endswith("()")
        if is_name and len(targets) == 1 and own not in targets:
            return f"[{quoted}](#{next(iter(targets))})"
        return quoted

    def inline(self, element, own):
        parts = [escaped(element.text)]
        for child in element:
            if child.tag in ("computeroutput", "ref"):
                text = " ".join("".join(child.itertext()).split())
                parts.append(self.code(text, own) if child.tag == "computeroutput" else escaped(text))
            elif child.tag in ("bold", "emphasis"):
                mark = "**" if child.tag == "bold" else "*"
                parts.append(mark + self.inline(child, own).strip() + mark)
            elif child.tag == "sp":
                parts.append(" ")
            elif child.tag in ("lsquo", "rsquo"):
                parts.append("'")
            elif child.tag not in ("itemizedlist", "parameterlist", "simplesect", "programlisting", "verbatim"):
                sys.exit(f"reference.py: a comment has <{child.tag}>, which has no form here")
            parts.append(escaped(child.tail))
        return re.sub(r"\s+", " ", "".join(parts))

    def blocks(self, element, own):
        """The paragraphs and lists of a description."""
        for para in element.findall("para"):
            text = self.inline(para, own).strip()
            if text:
                yield text
            for child in para:
                if child.tag == "itemizedlist":
                    items = [" ".join(self.blocks(item, own)) for item in child.findall("listitem")]
                    yield "\n".join("- " + LABELS.sub(r"**\1:**", item) for item in items)
                elif child.tag == "parameterlist":
                    for item in child.findall("parameteritem"):
                        name = "".join(item.find("parameternamelist").itertext()).strip()
                        about = " ".join(self.blocks(item.find("parameterdescription"), own))
                        yield f"Throws `{name}` {about}" if child.get("kind") == "exception" else f"`{name}`: {about}"
                elif child.tag == "simplesect":
                    yield "Returns " + " ".join(self.blocks(child, own))
                elif child.tag == "programlisting":
                    lines = ["".join(flat(line)) for line in child.findall("codeline")]
                    yield "```cpp\n" + "\n".join(lines) + "\n```"
                elif child.tag == "verbatim":
                    yield "```text\n" + (child.text or "").strip("\n") + "\n```"

    def comment(self, element, own):
        found = [block for part in ("briefdescription", "detaileddescription")
                 for block in self.blocks(element.find(part), own)]
        return PARAGRAPH.join(found)

    # Pages.

    def declaration(self, entry):
        lines = []
        for element in entry["elements"]:
            if element.tag == "compounddef":
                lines.append(class_line(element))
            else:
                lines.append(member_line(element))
        return "```cpp\n" + "\n".join(dict.fromkeys(lines)) + "\n```"

    def entry(self, entry, level, shown):
        """The section of a name, and of the members of a class."""
        own = entry["label"]
        texts = list(dict.fromkeys(self.comment(each, own) for each in entry["elements"]))
        self.index.append((shown, entry, summary(texts[0])))
        yield f"({own})=\n{'#' * level} {escaped(shown)}"
        yield self.declaration(entry)
        yield from texts
        for element in entry["elements"]:
            values = [(f"{value.findtext('name')} {value.findtext('initializer') or ''}".strip(), value)
                      for value in element.findall("enumvalue")]
            if values:
                yield "\n".join(f"- `{text}`: {' '.join(self.comment(value, own).split())}" for text, value in values)
        fields = [member for member in entry.get("members", []) if member["elements"][0].get("kind") == "variable"]
        if fields:
            yield "\n".join(f"- `{member_line(field['elements'][0])}`: "
                            f"{' '.join(self.comment(field['elements'][0], own).split())}" for field in fields)
        for member in entry.get("members", []):
            if member not in fields:
                yield from self.entry({**member, "noun": entry["noun"]}, level + 1, f"{entry['name']}::{member['name']}")

    def page(self, noun, entries):
        yield f"# {title(noun)}"
        for language, is_c in (("C", True), ("C++", False)):
            own = [entry for entry in entries if entry["is_c"] == is_c]
            if not own:
                continue
            yield f"## {language}"
            about = [(file, comment) for file in dict.fromkeys(entry["file"] for entry in own) if file != RULES
                     for comment in self.file_comment(file)]
            if len(about) == 1:
                yield f"`{about[0][0]}`: {about[0][1]}"
            elif about:
                yield "\n".join(f"- `{file}`: {comment.partition(PARAGRAPH)[0]}" for file, comment in about)
            for scope in dict.fromkeys(entry["scope"] for entry in own):
                here = [entry for entry in own if entry["scope"] == scope]
                if scope:
                    yield f"In the namespace `{scope}`:"
                for entry in sorted(here, key=lambda each: each["elements"][0].get("kind") == "define"):
                    yield from self.entry(entry, 3, entry["name"])

    def file_comment(self, file):
        for compound in self.compounds.values():
            if compound.get("kind") == "file" and compound.find("location").get("file") == file:
                comment = self.comment(compound, None)
                if comment:
                    yield comment

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.md"):
            old.unlink()
        rows = []
        nouns = sorted({entry["noun"] for entry in self.entries}, key=lambda each: title(each).lower())
        for noun in nouns:
            entries = [entry for entry in self.entries if entry["noun"] == noun]
            (folder / f"{noun}.md").write_text(PARAGRAPH.join(self.page(noun, entries)) + "\n")
            files = ", ".join(f"`{file}`" for file in dict.fromkeys(entry["file"] for entry in entries))
            rows.append(f"| [{title(noun)}]({noun}.md) | {sum(e['is_c'] for e in entries)} | "
                        f"{sum(not e['is_c'] for e in entries)} | {files} |")
        (folder / "index.md").write_text(self.front(rows, nouns))
        return len(rows), len(self.index)

    def front(self, rows, pages):
        names = [[shown, f"{entry['noun']}.html#{entry['label']}", about] for shown, entry, about in self.index]
        data = json.dumps(names, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        return INDEX.format(data=data, rows="\n".join(rows), rules=next(self.file_comment(RULES)), toctree="\n".join(pages))


INDEX = """# Reference

All names of the C API and of the C++ headers over it, a page a noun. Type a part of a name, or words of what it does:

```{{toctree}}
:hidden:

{toctree}
```

```{{raw}} html
<input id="find" type="search" placeholder="stream wait" autocomplete="off" aria-label="Search the reference"
  style="width:100%;font-size:1rem;padding:0.4em;box-sizing:border-box">
<ul id="found" aria-live="polite"></ul>
<script id="names" type="application/json">{data}</script>
```

| page | names in C | names in C++ | headers |
|---|---|---|---|
{rows}

## What holds for every C function

{rules}
"""


def beginnings(name):
    """`a_b` and `a` of `a_b_c`."""
    parts = name.split("_")
    return ["_".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def title(noun):
    return TITLES.get(noun, noun.replace("_", " ").capitalize())


def words(element):
    """Whether a name has a comment."""
    return any("".join(part.itertext()).strip() for part in (element.find("briefdescription"),
                                                             element.find("detaileddescription")) if part is not None)


def escaped(text):
    """Text in which Markdown sees no marks. An underscore within a word is none."""
    return re.sub(r"([\\`*\[\]<>#|$~{}]|(?<!\w)_|_(?!\w))", r"\\\1", text or "")


def summary(comment):
    """The first sentence of a comment, as plain text."""
    plain = re.sub(r"\]\(#[^)]*\)|[\[`]|\\(?=[^\w\s])", "", comment.split(PARAGRAPH)[0]).replace("]", "")
    sentence = re.match(r"(?:e\.g\.|i\.e\.|[^.]|\.(?!\s))*\.?", plain, re.DOTALL)
    return " ".join(sentence.group(0).split())[:200]


def main():
    xml, pages = (pathlib.Path(argument) for argument in sys.argv[1:])
    count, names = Reference(xml).write(pages)
    print(f"the reference has {names} names on {count} pages")


if __name__ == "__main__":
    main()
