"""Cookies that services find in different ways."""

from harness import web_services
from harness.look_alikes import LookAlikes, limited_by


class Cookies(LookAlikes):
    def test_a_look_alike_of_a_cookie_identity_is_refused(self):
        self.behind(web_services.Php, **limited_by({"cookie": "session_id"}))
        for other in ("session.id", "session id", "session%5Fid", "%73ession_id", "session[id",
                      "session_id[]", "session_id[x]", "session_id%00x", "%20session_id"):
            self.assert_dodges_refused(
                'a cookie may be read as "session_id", which identifies the client',
                {"fields": {"Cookie": f"{other}=mine; session_id=random"}},
                {"fields": {"Cookie": f"session_id=victim; {other}=mine"}},
                {"fields": [("Cookie", "a=b"), ("Cookie", f"{other}=mine")]})
        for key in ("random", "victim", "mine"):
            cookie = f"session_id={key}; Session_Id=1; session=2; session_id2=3"
            seen = self.assert_served(fields={"Cookie": cookie})
            self.assertEqual(seen["cookies"]["session_id"], key)

    def test_the_first_or_the_last_counts_where_the_service_takes_it(self):
        for kind, repeated, pair in [(web_services.Gunicorn, "last", "sid=random; sid=mine"),
                                     (web_services.Php, "first", "sid=mine; sid=random")]:
            with self.subTest(kind.__name__):
                self.behind(kind, **limited_by({"cookie": "sid", "repeated": repeated}))
                self.assertEqual(self.assert_served(fields={"Cookie": pair})["cookies"],
                                 {"sid": "mine"})
                self.assertEqual(self.send(fields={"Cookie": "sid=mine"}).status, 429)


class CookieFields(LookAlikes):
    """Fields in which some services find no cookie: their client is anonymous there."""

    MALFORMED = ("sid=r1;x", ";;sid=r1", "%;sid=r1")

    def test_a_malformed_field_is_refused(self):
        service = self.behind(web_services.Gunicorn, **limited_by({"cookie": "sid"}))
        for cookie in self.MALFORMED:
            self.assertEqual(service.read(fields={"Cookie": cookie})["cookies"], {})
            self.assert_refused("with a part that is not NAME=VALUE", fields={"Cookie": cookie})
        # Without the cookie all services agree, and a semicolon may end a field.
        self.assert_served(2, fields={"Cookie": "x"})
        self.assert_served(fields={"Cookie": "x=1; sid=r1;"})

    def test_a_malformed_field_may_be_accepted(self):
        self.behind(web_services.Node, **limited_by({"cookie": "sid", "malformed": "accept"}))
        self.assertEqual(self.assert_served(fields={"Cookie": "sid=r1; x"})["cookies"],
                         {"sid": "r1"})
        for cookie in self.MALFORMED:
            self.assertEqual(self.send(fields={"Cookie": cookie}).status, 429)

    def test_other_routes_accept_malformed_fields(self):
        routes = [{"match": {"path": "/limited"}, "upstream": "main",
                   "limits": [{"policy": "p", "key": "who"}]}, {"upstream": "main"}]
        self.behind(web_services.Node, **limited_by({"cookie": "sid"}, routes=routes))
        self.assert_served(fields=[("Cookie", "x; sid=a"), ("Cookie", "y=1")])

    def test_more_cookies_than_services_read_are_refused(self):
        service = self.behind(web_services.Php, **limited_by({"cookie": "sid"}))
        cookie = "a=1;" * 1200 + "sid=r1"
        self.assertNotIn("sid", service.read(fields={"Cookie": cookie})["cookies"])
        self.assert_refused("more than 1000 cookies", fields={"Cookie": cookie})
        self.assert_served(fields={"Cookie": "a=1;" * 999 + "sid=r1"})

    def test_several_fields_are_refused(self):
        for kind in (web_services.Php, web_services.Gunicorn):
            service = self.behind(kind, **limited_by({"cookie": "sid"}))
            fields = [("Cookie", "x=1"), ("Cookie", "sid=r1")]
            self.assertNotIn("sid", service.read(fields=fields)["cookies"])
            for several in (fields, fields[::-1], [("Cookie", "sid=r1"), ("Cookie", "y")]):
                self.assert_refused("one of several Cookie fields", fields=several)
            self.assert_served(2, fields=[("Cookie", "x=1"), ("Cookie", "y=1")])
            self.assert_served(fields={"Cookie": "x=1; sid=r1"})
