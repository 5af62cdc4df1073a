"""Random files of limits for the rate limit service, and requests for them."""

from .rls_messages import descriptor, request

KEYS = ["user", "team", "path", "host"]
# A "_" could make two keys of the reference in Redis equal.
VALUES = ["a", "ab", "abc", "b", "b-c", "/v1/x", "x y", "\u00fc", "10.0.0.1", "A", "%", ""]
PATTERNS = ["a*", "ab*", "b*", "/*", "*"]
NEWER_PATTERNS = ["a*c", "*b", "*b*", "/*/x"]
UNITS = ["hour", "day", "week", "month", "year", "HOUR", "Day"]
NAMES = ["one", "two", "three"]
# Limits that requests state themselves, by their value. Each value has one unit, because the reference counts an hour
# and a day together if both begin at the same time.
STATED = {"a": ([1, 2, 4], "HOUR"), "b": ([3, 9], "DAY"), "c": ([0], "YEAR")}


class RandomLimits:
    """`newer`: with what the pinned version of the reference does not have or does differently."""

    def __init__(self, random, newer=False):
        self.random = random
        self.newer = newer
        self.file = {"domain": "d", "descriptors": self.level(3)}

    def sometimes(self, share):
        return self.random.random() < share

    def level(self, depth):
        made = {}
        for _ in range(self.random.randint(2, 6)):
            one = self.descriptor(depth)
            made.setdefault((one["key"], one.get("value")), one)
        return list(made.values())

    def descriptor(self, depth):
        random = self.random
        one = {"key": random.choice(KEYS)}
        if self.sometimes(0.7):
            patterns = PATTERNS + (NEWER_PATTERNS if self.newer else [])
            one["value"] = random.choice(patterns if self.sometimes(0.4) else VALUES[:-1])
            if "*" in one["value"] and self.sometimes(0.5):
                one["share_threshold"] = True
        elif self.sometimes(0.1):
            one["key"] = random.choice(["us*", "h*"])
        if self.sometimes(0.8):
            one["rate_limit"] = self.limit()
            for name in ["shadow_mode", "detailed_metric"] + ["quota_mode"] * self.newer:
                if self.sometimes(0.15):
                    one[name] = self.sometimes(0.8)
        if self.sometimes(0.2):
            one["value_to_metric"] = True
        if depth > 1 and self.sometimes(0.5):
            one["descriptors"] = self.level(depth - 1)
        return one

    def limit(self):
        if self.sometimes(0.1):
            return {"unlimited": True}
        made = {"unit": self.random.choice(UNITS), "requests_per_unit": self.random.choice([0, 1, 2, 5, 10, 30])}
        if self.sometimes(0.3):
            made["name"] = self.random.choice(NAMES)
        if self.sometimes(0.2):
            made["replaces"] = [{"name": name} for name in NAMES
                                if name != made.get("name") and self.sometimes(0.5)]
        return made

    def entries(self):
        """Most follow the descriptors of the file, so that they find limits."""
        level, found = self.file["descriptors"], []
        for _ in range(self.random.choice([1, 1, 2, 2, 3, 4])):
            key, value = self.random.choice(KEYS), self.random.choice(VALUES)
            node = self.random.choice(level) if level and self.sometimes(0.85) else {}
            if node:
                key = node["key"].replace("*", self.random.choice(["", "er", "ost"]))
                value = node.get("value", value).replace("*", self.random.choice(["", "x", "c", "y/x"]))
            found.append((key, value))
            if "rate_limit" in node and self.sometimes(0.7):
                break
            level = node.get("descriptors", [])
        return found

    def request(self):
        random = self.random
        made = []
        for _ in range(random.choice([1, 1, 1, 2, 2, 3, 4])):
            hits = random.choice([0, 1, 2, 3]) if self.sometimes(0.2) else None
            if self.sometimes(0.1):
                value = random.choice(list(STATED))
                counts, unit = STATED[value]
                made.append(descriptor(("stated", value), limit=(random.choice(counts), unit), hits_addend=hits))
            else:
                made.append(descriptor(*self.entries(), hits_addend=hits))
        if self.sometimes(0.05):
            made.append(made[0])
        domain = random.choice(["", "other"]) if self.sometimes(0.02) else "d"
        hits = random.choice([0, 1, 2, 5]) if self.sometimes(0.2) else None
        return request(domain, *(made if not self.sometimes(0.01) else []), hits_addend=hits)
