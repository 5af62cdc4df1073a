"""docs/openapi.yaml, and what an answer has to be by it."""

import json
from pathlib import Path

from .debian import package

FILE = Path(__file__).resolve().parents[3] / "docs" / "openapi.yaml"
METHODS = ("get", "head", "put", "post", "delete", "options", "patch", "trace")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class OpenApi:
    def __init__(self):
        self.text = FILE.read_text()
        self.document = package("yaml").safe_load(self.text)
        self._validator = package("jsonschema").Draft202012Validator

    def operations(self):
        """{(path, method): operation}"""
        return {(path, method): operation for path, item in self.document["paths"].items()
                for method, operation in item.items() if method in METHODS}

    def methods(self):
        """{path: its methods, as Allow has them}"""
        found = {}
        for path, method in self.operations():
            found.setdefault(path, set()).add(method.upper())
        return found

    def outcomes(self):
        """Each (path, method, status), where a status may be a range such as 4XX."""
        return {(*key, status) for key, operation in self.operations().items() for status in operation["responses"]}

    def is_public(self, path, method):
        return self.operations()[path, method].get("security") == []

    def parameters(self, path, method):
        """The names of the parameters of the query."""
        both = self.document["paths"][path].get("parameters", []), self.operations()[path, method].get("parameters", [])
        return [self.resolved(one)["name"] for parameters in both for one in parameters]

    def resolved(self, value):
        while "$ref" in value:
            value = self.at(value["$ref"])
        return value

    def at(self, reference):
        """The part of the document that a reference names."""
        place, value = reference.split("/"), self.document
        if place.pop(0) != "#":
            raise AssertionError(f"{reference} is not in this document")
        for step in place:
            value = value[step.replace("~1", "/").replace("~0", "~")]
        return value

    def schemas(self):
        """Each schema, with the place where it is."""
        for name, schema in self.document["components"]["schemas"].items():
            yield f"components.schemas.{name}", schema
        for key, operation in self.operations().items():
            for status, response in operation["responses"].items():
                for kind, content in self.resolved(response).get("content", {}).items():
                    yield f"{key} {status} {kind}", content["schema"]

    def problems(self, schema, value):
        """Why the value does not fit; empty if it does."""
        whole = {"$schema": DIALECT, "components": self.document["components"], "allOf": [schema]}
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
                for error in self._validator(whole).iter_errors(value)]

    def check_schema(self, schema):
        self._validator.check_schema(schema)

    def key_of(self, path, method, status):
        """The status, or the range that it is in; None if the operation has neither."""
        responses = self.operations()[path, method]["responses"]
        return next((key for key in (str(status), f"{status // 100}XX") if key in responses), None)

    def check(self, path, method, response):
        """Fails unless the answer is as the document describes it. Returns its (path, method, status)."""
        what = f"{method.upper()} {path} {response.status}"
        key = self.key_of(path, method, response.status)
        if key is None:
            raise AssertionError(f"{what} is not in the document: {response.body}")
        described = self.resolved(self.operations()[path, method]["responses"][key])
        problems = [f"{name}: {why}" for name, header in described.get("headers", {}).items()
                    for why in self.problems(header["schema"], response[name])]
        content = described.get("content", {})
        kind = response["Content-Type"]
        if not content:
            problems += [f"a body: {response.body}"] if response.body else []
        elif kind not in content:
            problems += [f"Content-Type {kind}, not {', '.join(content)}"]
        else:
            text = response.body.decode()
            problems += self.problems(content[kind]["schema"], json.loads(text) if "json" in kind else text)
        for name, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")):
            problems += [f"{name}: {response[name]}"] if response[name] != value else []
        problems += [] if "Date" in response.fields else ["no Date"]
        if problems:
            raise AssertionError(what + ": " + "\n".join(problems) + f"\n{response.body[:4000]}")
        return path, method, key
