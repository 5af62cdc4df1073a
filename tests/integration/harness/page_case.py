"""The status page in a browser, and what it shows."""

from .browser import Browser
from .case import Case
from .waiting import eventually


class PageCase(Case):
    browser = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.stop)

    def url(self, weir):
        return "http://%s:%d/" % weir.admin_address

    def open(self, weir, **options):
        page = self.browser.open(self.url(weir), **options)
        self.addCleanup(page.close)
        return page

    def live(self, weir, **options):
        """A page that shows the numbers of an event."""
        page = self.open(weir, **options)
        self.await_live(page)
        return page

    def await_live(self, page):
        eventually(lambda: page.text("#feed") == "live", "the page is live")

    def send(self, weir, target, count):
        with weir.connect() as client:
            return [client.get(target).status for _ in range(count)]

    def cell(self, page, table, row, column):
        cells = page.rows(table).get(row)
        return cells and cells[page.columns(table).index(column)]

    def await_cell(self, page, table, row, column, value):
        eventually(lambda: self.cell(page, table, row, column) == value,
                   f"{table}: {column} of {row} is {value}")

    def assert_clean(self, page):
        self.assertEqual(page.violations(), [])
        self.assertEqual(page.problems(), [])
