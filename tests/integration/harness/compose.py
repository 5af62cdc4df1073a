"""The examples of docker/: a compose file beside a weir.yaml and a service for node."""

import re
import subprocess

NAME = r"[\w-]+"
LINE = re.compile(rf"(?P<indent> *)(?P<key>{NAME}|<<):(?: (?P<anchor>&{NAME}))?(?: (?P<value>[^#&].*?))?(?:\s+#.*)?")
ITEMS = re.compile(r'"[^"]*"|[^\s,"]+')
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def value_of(text):
    """A list in brackets without nested ones, or a text; a map in braces stays a text."""
    if text.startswith("["):
        if not re.fullmatch(r'\[(?:"[^"]*"|[^\[\]"])*\]', text):
            raise AssertionError(f"not a list: {text}")
        return [item.strip('"') for item in ITEMS.findall(text[1:-1])]
    if text.startswith("{") != text.endswith("}") and not VARIABLE.match(text):
        raise AssertionError(f"not a map: {text}")
    return text.strip('"')


def read_compose(text):
    """Nested maps of the part of YAML that these files use: maps by indentation, lists in brackets, and anchors of
    maps that are merged with <<. Another line is an error."""
    root, anchors = {}, {}
    maps = [(-2, root, set())]  # the indentation of its key, the map, and the keys that are written in it
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = LINE.fullmatch(line)
        if not found or len(found["indent"]) % 2:
            raise AssertionError(f"line {number} cannot be read: {line}")
        indent = len(found["indent"])
        while maps[-1][0] >= indent:
            maps.pop()
        if indent != maps[-1][0] + 2:
            raise AssertionError(f"line {number} is indented too far: {line}")
        _, parent, written = maps[-1]
        if found["key"] in written:
            raise AssertionError(f"line {number} repeats the key {found['key']}")
        written.add(found["key"])
        if found["key"] == "<<":
            for key, value in anchors[found["value"].removeprefix("*")].items():
                parent.setdefault(key, value)
            continue
        if found["value"] is not None:
            parent[found["key"]] = value_of(found["value"])
            continue
        parent[found["key"]] = {}
        maps.append((indent, parent[found["key"]], set()))
        if found["anchor"]:
            anchors[found["anchor"][1:]] = parent[found["key"]]
    return root


def substituted(text):
    """With the defaults of its variables."""
    return VARIABLE.sub(lambda found: found[2] or "", text)


class ComposeChecks:
    """Tests of a compose file with Weir and one service for node. A subclass sets the example's directory, and the
    name of that service; its file is the only .js."""

    EXAMPLE = None
    SERVICE = None

    def setUp(self):
        self.text = (self.EXAMPLE / "compose.yaml").read_text()
        self.services = read_compose(self.text)["services"]
        self.weir = (self.EXAMPLE / "weir.yaml").read_text()
        [self.script] = self.EXAMPLE.glob("*.js")

    def mounts(self, name):
        """{path in the container: file}"""
        mounts = {}
        for volume in self.services[name]["volumes"]:
            source, target, mode = volume.split(":")
            self.assertEqual((source[:2], mode), ("./", "ro"))
            mounts[target] = self.EXAMPLE / source
        return mounts

    def ports(self, name):
        """The port of the container behind each published one, which are all on the loopback address."""
        ports = {}
        for written in self.services[name].get("ports", []):
            address, published, port = substituted(written).split(":")
            self.assertEqual(address, "127.0.0.1")
            ports[int(published)] = int(port)
        return ports

    def script_port(self):
        return int(re.search(r"process\.env\.PORT \?\? (\d+)", self.script.read_text())[1])

    def test_it_has_weir_and_the_service_locked_down(self):
        self.assertEqual(set(self.services), {"weir", self.SERVICE})
        for service in self.services.values():
            self.assertEqual(service["read_only"], "true")
            self.assertEqual(service["cap_drop"], ["ALL"])

    def test_the_files_exist_and_are_mounted_where_they_are_read(self):
        build = re.fullmatch(r"\{context: (\S+), dockerfile: (\S+)\}", self.services["weir"]["build"])
        dockerfile = self.EXAMPLE / build[1] / build[2]
        self.assertIn('CMD ["serve"]', dockerfile.read_text())  # reads /etc/weir/weir.yaml
        self.assertEqual(self.mounts("weir")["/etc/weir/weir.yaml"].resolve(), self.EXAMPLE / "weir.yaml")
        program, script = self.services[self.SERVICE]["command"]
        self.assertEqual((program, self.services[self.SERVICE]["image"].split(":")[0]), ("node", "node"))
        self.assertEqual(self.mounts(self.SERVICE)[script].resolve(), self.script)
        subprocess.run(["node", "--check", self.script], check=True)
        for name in self.services:
            for file in self.mounts(name).values():
                self.assertTrue(file.is_file(), file)

    def test_the_ports_are_those_that_are_listened_on(self):
        port = int(re.search(r"address: \$\{LISTEN:-0\.0\.0\.0:(\d+)\}", self.weir)[1])
        self.assertEqual(list(self.ports("weir").values()), [port])
        self.assertLessEqual(set(self.ports(self.SERVICE).values()), {self.script_port()})
        url = re.search(r"\$\{\w+_URL:-http://(\S+?):(\d+)\}", self.weir)
        self.assertEqual((url[1], int(url[2])), (self.SERVICE, self.script_port()))
        # The commands in the comment use the published ones.
        published = {*self.ports("weir"), *self.ports(self.SERVICE)}
        self.assertEqual({int(found) for found in re.findall(r"http://127\.0\.0\.1:(\d+)", self.text)}, published)

    def test_the_environment_variables_are_read_and_listed(self):
        for name, service in self.services.items():
            read = self.weir if name == "weir" else self.script.read_text()
            for variable in service.get("environment", {}):
                self.assertRegex(read, rf"\$\{{{variable}\b|process\.env\.{variable}\b")
        comment, _, rest = self.text.partition("\nx-")
        listed = re.search(r"Environment variables: ((?:.|\n#)+)", comment)[1]
        used = {found[0] for found in VARIABLE.findall(rest)}
        self.assertEqual(set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", listed)), used)

    def test_weir_starts_without_the_service_and_has_time_to_stop(self):
        self.assertEqual(self.services["weir"]["depends_on"], [self.SERVICE])
        grace = re.fullmatch(r"(\d+)s", self.services["weir"]["stop_grace_period"])
        self.assertNotIn("shutdown_timeout", self.weir)  # so it is 30s
        self.assertGreater(int(grace[1]), 30)
