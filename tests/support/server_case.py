"""Shared by tests with a server: one for a class, and a directory and a root of its own for each test."""
import faulthandler
import os
import tempfile
import unittest

from server import Server
from znodes import Znodes


faulthandler.dump_traceback_later(880)  # shows where a test hangs, before ctest ends it after 900 s


class ServerTest(unittest.TestCase):
    """Whoever stops the server gets it back for the next test."""
    config = {}  # of zoo.cfg

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(cls.config))
        cls.roots = 0

    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="zksh-test-"))
        self.addCleanup(self.server_is_back)
        self.new_root()

    def new_root(self):
        type(self).roots += 1
        self.root = f"/t{self.roots}"
        self.connect = self.server.address + self.root
        self.connect_znodes()
        self.znodes.create(self.root)

    def connect_znodes(self):
        """Again, after the server was killed."""
        self.znodes = Znodes(self.server.address)
        self.addCleanup(lambda znodes=self.znodes: znodes.connection.close())  # the one it has then

    def file(self, name, text=None, mode=0o600):
        """The path of a file in the test's directory; the file is written if a text is given."""
        path = os.path.join(self.directory, name)
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, mode)
        return path

    def fifo(self, name):
        os.mkfifo(self.file(name))
        return self.file(name)

    def text(self, name):
        with open(self.file(name), encoding="utf-8") as file:
            return file.read()

    def server_is_back(self):
        if self.server.process is None:
            self.server.start()
        self.server.thaw()
