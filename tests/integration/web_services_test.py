"""Application servers read some names, paths and methods differently from what was sent.

Nothing here goes through Weir: these are the readings that the other tests protect against.
"""

from harness import web_services
from harness.case import Case


class Readings(Case):
    def reading_of(self, kind, **request):
        service = kind()
        self.addCleanup(service.stop)
        return service.read(**request)

    def test_all_echo_an_ordinary_request_alike(self):
        for kind in web_services.ALL:
            with self.subTest(kind.__name__):
                seen = self.reading_of(kind, method="POST", target="/a/b?key=1&other=",
                                       fields={"X-Api-Key": "mine", "Cookie": "a=1; b=2"},
                                       body=b"body")
                self.assertEqual(seen["method"], "POST")
                self.assertEqual((seen["path"], seen["decoded_path"]), ("/a/b", "/a/b"))
                self.assertEqual(seen["query"], {"key": ["1"], "other": [""]})
                self.assertEqual(seen["cookies"], {"a": "1", "b": "2"})
                self.assertEqual(set(seen), {"method", "path", "decoded_path", "parsed_paths", "query", "fields",
                                             "cookies"})
                self.assertIn("mine", [seen["fields"].get(name)
                                       for name in ("HTTP_X_API_KEY", "x-api-key")])

    def test_encoded_slashes(self):
        for kind, path in [(web_services.Gunicorn, "/a/b"), (web_services.Uvicorn, "/a/b"),
                           (web_services.Php, "/a%2Fb"), (web_services.Node, "/a%2Fb")]:
            with self.subTest(kind.__name__):
                seen = self.reading_of(kind, target="/a%2Fb")
                self.assertEqual((seen["path"], seen["decoded_path"]), (path, "/a/b"))

    def test_php_folds_names(self):
        seen = self.reading_of(
            web_services.Php, target="/?%20api.key=1&b[]=2&b[x]=3&c%00d=4&e+f=5",
            fields=[("X.Api.Key", "1"), ("Cookie", "a.b=1; %63=2")])
        self.assertEqual(seen["fields"]["HTTP_X_API_KEY"], "1")
        self.assertEqual(seen["query"], {"api_key": ["1"], "b": ["2", "3"], "c": ["4"],
                                         "e_f": ["5"]})
        self.assertEqual(seen["cookies"]["a_b"], "1")

    def test_wsgi_folds_field_names_and_upper_cases_methods(self):
        seen = self.reading_of(web_services.Gunicorn, method="post",
                               fields=[("X_Api_Key", "1"), ("X-Api-Key", "2")])
        self.assertEqual(seen["fields"]["HTTP_X_API_KEY"], "1,2")
        self.assertEqual(seen["method"], "POST")

    def test_repeated_parameters_are_the_first_or_the_last(self):
        target = "/?key=1&key=2"
        self.assertEqual(self.reading_of(web_services.Php, target=target)["query"],
                         {"key": ["2"]})
        self.assertEqual(self.reading_of(web_services.Node, target=target)["query"],
                         {"key": ["1", "2"]})

    def test_cookies_are_the_first_or_the_last(self):
        fields = {"Cookie": "key=1; key=2"}
        for kind, value in [(web_services.Php, "1"), (web_services.Node, "1"),
                            (web_services.Gunicorn, "2")]:
            with self.subTest(kind.__name__):
                self.assertEqual(self.reading_of(kind, fields=fields)["cookies"], {"key": value})
