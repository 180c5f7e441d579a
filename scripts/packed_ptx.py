"""PTX as the library holds it: without what no assembler needs, and with names that compress.

A compiler numbers registers and labels; two copies of the same code differ in all numbers. The packed form names a
register or a label by how many others of its kind have been named since it was named last, so that similar code is
similar text. A form feed begins a function, in which nothing has been named yet. docs/design/kernels.md has the
grammar; crates/driver/src/launch/packed_ptx.rs unpacks it, too.

    scripts/packed_ptx.py FILE.ptx.lzma     prints the PTX of a committed file
"""

import lzma
import re
import sys

# Registers by kind, as NVRTC names them, and labels.
NAME = re.compile(r"%(rs|rd|r|fd|f|p)\d+\b|\$L(?:__BB\d+_)?\d+\b")
PACKED_NAME = re.compile(r"\f|(%(?:rs|rd|r|fd|f|p)|\$L)(!|\d+)")
FUNCTION = re.compile(r"^(?=(?:\.visible |\.weak )?\.(?:entry|func)\b)", re.MULTILINE)
GLOBAL = re.compile(r"\.global .*?(\w+)(?:\[\d+\])?(?: = .*)?;")


def strip(ptx):
    """The text without comments, empty lines and variables that nothing uses (those of NVRTC's own headers)."""
    lines = [line.rstrip() for line in re.sub(r"//.*", "", ptx).split("\n")]
    words = re.findall(r"\w+", "\n".join(lines))
    count = {}
    for word in words:
        count[word] = count.get(word, 0) + 1
    def is_used(line):
        variable = GLOBAL.fullmatch(line)
        return not variable or count[variable[1]] > 1
    return "\n".join(line for line in lines if line and is_used(line)) + "\n"


def pack(ptx):
    """The packed form. Numbers of registers and labels are lost: unpacked, they are counted in order."""
    def pack_function(text):
        named = {}
        def pack_name(name):
            kind = "%" + name[1] if name[1] else "$L"
            recent = named.setdefault(kind, [])
            if name[0] in recent:
                place = recent.index(name[0])
                recent.insert(0, recent.pop(place))
                return f"{kind}{place}"
            recent.insert(0, name[0])
            return f"{kind}!"
        return NAME.sub(pack_name, text)
    if PACKED_NAME.search(NAME.sub("", ptx)):
        raise SystemExit("the PTX has names of the packed form")
    return "\f".join(map(pack_function, FUNCTION.split(ptx)))


def unpack(packed):
    """PTX that an assembler takes."""
    named = {}
    def unpack_name(match):
        if match[0] == "\f":
            named.clear()
            return ""
        recent = named.setdefault(match[1], [])
        number = len(recent) + 1 if match[2] == "!" else recent.pop(int(match[2]))
        recent.insert(0, number)
        return f"{match[1]}{number}"
    return PACKED_NAME.sub(unpack_name, packed)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        sys.stdout.write(unpack(lzma.decompress(file.read(), lzma.FORMAT_ALONE).decode()))
