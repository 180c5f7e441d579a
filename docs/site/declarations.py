"""Declarations of C and C++, from the XML that Doxygen makes of them."""
import re

WIDTH = 88  # Columns that no page of the design cuts.


def flat(element):
    yield element.text or ""
    for child in element:
        if child.tag == "sp":
            yield " "
        else:
            yield from flat(child)
        yield child.tail or ""


def tidy(text):
    """A type or a list of parameters without the spaces that Doxygen puts into `A< B >`."""
    return re.sub(r"(?<=[^<])< |<$", "<", re.sub(r" >(?!=)", ">", " ".join((text or "").split())))


def template_of(element):
    parameters = element.find("templateparamlist")
    if parameters is None:
        return ""
    shown = []
    for each in parameters.findall("param"):
        text, name = tidy("".join(flat(each.find("type")))), each.findtext("declname")
        if "enable_if_t<" in text or re.match(r"(typename )?detail::If", text):
            continue  # The comment says in words which types are accepted.
        shown.append(text if not name or re.search(rf"\b{re.escape(name)}$", text) else f"{text} {name}")
    return f"template <{', '.join(shown)}>\n" if shown else ""


def class_line(element):
    bases = [base.text for base in element.findall("basecompoundref") if base.get("prot") == "public"
             and "detail::" not in (base.text or "")]
    name = element.findtext("compoundname").rpartition("::")[2]
    after = f" : public {', '.join(bases)}" if bases else ""
    return f"{template_of(element)}{element.get('kind')} {name}{after};"


def member_line(element):
    """A member as C++ declares it, a parameter a line if it is long."""
    kind, name = element.get("kind"), element.findtext("name")
    result = tidy("".join(flat(element.find("type")))) if element.find("type") is not None else ""
    if kind == "define":
        parameters = [each.findtext("defname") for each in element.findall("param") if each.findtext("defname")]
        value = (element.findtext("initializer") or "").strip()
        shown = f" {value}" if re.fullmatch(r"[\w.-]+", value) else ""
        return f"#define {name}" + (f"({', '.join(parameters)})" if parameters else shown)
    if kind == "enum":
        strong = "class " if element.get("strong") == "yes" else ""
        return f"enum {strong}{name}" + (f" : {result}" if result else "") + ";"
    if kind == "typedef":
        definition = tidy(element.findtext("definition"))
        if result.endswith("(*"):
            return folded(f"typedef {result[:-2]} (*{name})", tidy(element.findtext("argsstring")).removeprefix(")"))
        return re.sub(r"(using )(?:\w+::)+", r"\1", definition).replace("= typedef ", "= ") + ";"
    if kind == "variable":
        array = element.findtext("argsstring") or ""
        value = " ".join((element.findtext("initializer") or "").split())
        shown = f" {value}" if value and len(value) < 40 else ""
        return f"{result} {name}{array}{shown}".strip()
    static = "static " if element.get("static") == "yes" and not result.startswith("static") else ""
    explicit = "explicit " if element.get("explicit") == "yes" else ""
    if kind == "friend":
        static = ""
    head = template_of(element) + f"{static}{explicit}{result} ".replace("  ", " ").lstrip() + name
    return folded(head, tidy(element.findtext("argsstring") or "()"))


def folded(head, arguments):
    """A declaration, a parameter a line if it is long."""
    arguments = re.sub(r"(?<=\w)=(?=[\w{\"-])", " = ", arguments)
    line = f"{head}{arguments};"
    if len(line.splitlines()[-1]) <= WIDTH:
        return line
    inner, after = split_arguments(arguments)
    return f"{head}(\n" + ",\n".join("    " + each for each in inner) + f"){after};"


def split_arguments(arguments):
    """The parameters of a list in parentheses, and what stands behind it."""
    depth, parts, current = 0, [], ""
    for at, letter in enumerate(arguments):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>" and arguments[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return [*parts, current.strip()], arguments[at + 1:]
        if letter == "," and depth == 1:
            parts.append(current.strip())
            current = ""
        elif not (at == 0 and letter == "("):
            current += letter
    return [*parts, current.strip()], ""
