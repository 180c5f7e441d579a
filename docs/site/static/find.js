// The search of the reference's first page, over the names that reference.py wrote into it.
(function () {
  const field = document.getElementById("find"), list = document.getElementById("found");
  if (!field) return;
  const names = JSON.parse(document.getElementById("names").textContent);  // name, link, first sentence
  const texts = names.map((each) => (each[0] + " " + each[2]).toLowerCase());
  function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word);
    list.textContent = "";
    if (!words.length) return;
    const found = [];
    texts.forEach((text, at) => {
      if (!words.every((word) => text.includes(word))) return;
      const name = names[at][0].toLowerCase();
      const inName = words.filter((word) => name.includes(word)).length;
      found.push([name === words.join(" ") ? -1000 : name.length - 100 * inName, at]);
    });
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [, at] of found.slice(0, 50)) {
      const item = document.createElement("li"), link = document.createElement("a"), code = document.createElement("code");
      code.textContent = names[at][0];
      link.href = names[at][1];
      link.append(code);
      item.append(link, " " + names[at][2]);
      list.append(item);
    }
    if (!found.length) list.textContent = "No name and no first sentence has all of these words.";
    if (found.length > 50) list.append("… and " + (found.length - 50) + " more");
  }
  field.addEventListener("input", search);
  search();
})();
