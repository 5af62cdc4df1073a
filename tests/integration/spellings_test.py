"""Spellings of one value."""

from harness import web_services
from harness.look_alikes import LookAlikes, limited_by


class Spellings(LookAlikes):
    """Values that a service reads as one are one client."""

    def test_cookies(self):
        for kind in (web_services.Php, web_services.Gunicorn):
            self.behind(kind, **limited_by({"cookie": "sid"}))
            self.assert_served(fields={"Cookie": "sid=abc"})
            for value in ("%61bc", "a%62c", "%61%62%63", '"abc"', "abc%20"):
                self.assertEqual(self.send(fields={"Cookie": f"sid={value}"}).status, 429, value)
            self.assert_refused("has a backslash", fields={"Cookie": 'sid="\\141bc"'})

    def test_query_parameters(self):
        self.behind(web_services.Php, **limited_by({"query": "key"}))
        self.assert_served(target="/?key=abc")
        for value in ("%61bc", "+abc", "abc%20%20", "%09abc%00"):
            self.assertEqual(self.send(target=f"/?key={value}").status, 429, value)

    def test_blanks_that_services_strip(self):
        spellings = ("abc%C2%A0", "%C2%A0abc", "abc%C2%85", "abc%1c", "%1Fabc", "abc%E1%9A%80",
                     "abc%E2%80%83", "abc%E2%80%A8", "abc%E2%80%AF", "abc%E2%81%9F", "abc%E3%80%80")
        for kind, more in ((web_services.Gunicorn, ()), (web_services.Node, ("abc%EF%BB%BF",))):
            service = self.behind(kind, **limited_by({"query": "key"}))
            self.assert_served(target="/?key=abc")
            for value in (*spellings, *more):
                seen = service.read(target=f"/?key={value}")["query"]["key"][0]
                self.assertEqual(seen.strip().strip("\ufeff"), "abc")
                self.assertEqual(self.send(target=f"/?key={value}").status, 429, value)
        self.behind(web_services.Php, **limited_by({"cookie": "sid"}))
        self.assert_served(fields={"Cookie": "sid=abc"})
        for value in spellings:
            self.assertEqual(self.send(fields={"Cookie": f"sid={value}"}).status, 429, value)
        self.assert_served(target="/", fields={"Cookie": "sid=abc%E2%80%8B"})

    def test_schemes_of_credentials(self):
        self.behind(web_services.Gunicorn, **limited_by({"header": "authorization"}))
        self.assert_served(fields={"Authorization": "Bearer abc"})
        for value in ("bearer abc", "BEARER abc", "Bearer   abc", "bEaReR \t abc", "Token abc",
                      "x abc", "abc", 'Token token="abc", nonce="1"', "Token token=abc"):
            self.assertEqual(self.send(fields={"Authorization": value}).status, 429, value)
        self.assert_served(fields={"Authorization": "Bearer ABC"})

    def test_credentials_of_several_words(self):
        """A service that takes one of the words would serve them all with one key."""
        service = self.behind(web_services.Gunicorn, **limited_by({"header": "authorization"}))
        values = ("Bearer mine x1", "Bearer\xa0mine", "Bearer\x85mine", "Bearer mine\xa0x",
                  "Bearer mine\tx")
        for value in values:
            seen = service.read(fields={"Authorization": value})["fields"]["HTTP_AUTHORIZATION"]
            self.assertEqual(seen.split()[1], "mine", value)
        for value in (*values, "Bearer mine,x", "Bearer mine;x", 'Bearer "mine"', "Token mine x",
                      "Bearer token=mine", "Token mine, x=1"):
            self.assert_refused('the header "authorization", which identifies the client, has '
                                "credentials that services read in different ways",
                                fields={"Authorization": value})
        for value in ("Bearer mine", 'Digest username="a b", realm="c", nc=00000001',
                      "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=c;d, Signature=e",
                      "Bearer 1|aBc==", "SharedKey a:b="):
            self.assert_served(fields={"Authorization": value})
