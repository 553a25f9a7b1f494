"""A Kerberos realm for tests: a KDC of MIT Kerberos with files and a port of its own."""
import os
import shutil
import signal
import subprocess

from server import die_with_parent, free_port
from waiting import wait_until

REALM = "ZKSH.TEST"
os.environ["PATH"] += ":/usr/sbin:/sbin"


class Realm:
    """Serves until it is closed. Its files, all in one directory, are named by `environment`."""

    def __init__(self, directory):
        self.directory = directory
        self.port = free_port()
        self.config = self._write("krb5.conf", f"""[libdefaults]
  default_realm = {REALM}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
[realms]
  {REALM} = {{
    kdc = 127.0.0.1:{self.port}
  }}
[domain_realm]
  localhost = {REALM}
""")
        self._write("kdc.conf", f"""[kdcdefaults]
  kdc_listen = 127.0.0.1:{self.port}
  kdc_tcp_listen = 127.0.0.1:{self.port}
[realms]
  {REALM} = {{
    database_name = {directory}/principal
    key_stash_file = {directory}/stash
    max_life = 1h
  }}
[logging]
  kdc = FILE:{directory}/kdc.log
""")
        self.environment = {"KRB5_CONFIG": self.config, "KRB5_KDC_PROFILE": os.path.join(directory, "kdc.conf")}
        self.run("kdb5_util", "create", "-s", "-W", "-P", "master")
        self.process = subprocess.Popen([shutil.which("krb5kdc"), "-n"], env={**os.environ, **self.environment},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=die_with_parent)

    def _write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, *words, **more):
        return subprocess.run(words, env={**os.environ, **self.environment, **more}, stdin=subprocess.DEVNULL, check=True,
                              capture_output=True)

    def close(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def keytab(self, principal):
        """Adds a principal; returns a file with its key."""
        path = os.path.join(self.directory, principal.replace("/", "-") + ".keytab")
        self.run("kadmin.local", "-r", REALM, "ank", "-randkey", principal)
        self.run("kadmin.local", "-r", REALM, "ktadd", "-k", path, principal)
        return path

    def ticket(self, principal, keytab, lifetime="1h"):
        """Gets a ticket, as kinit does; returns the value of KRB5CCNAME."""
        cache = "FILE:" + os.path.join(self.directory, f"cache-{principal}")

        def get():
            try:
                self.run("kinit", "-l", lifetime, "-k", "-t", keytab, principal, KRB5CCNAME=cache)
                return True
            except subprocess.CalledProcessError:
                return False
        wait_until(get)  # it takes the KDC a moment to start
        return cache
