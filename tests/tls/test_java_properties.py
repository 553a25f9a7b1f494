"""The properties of ZooKeeper's Java client for TLS: zksh-security(7) lists them all, and zksh does with each what it says there."""
import os
import re
import subprocess

from certificates import openssl
from tls_case import TlsCase, main
from fetch_servers import cache
from server import class_path

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "man", "zksh-security.7.in")
PREFIX = "zookeeper.ssl."
# What prints the names that ZooKeeper's own classes have.
NAMES = """import org.apache.zookeeper.common.ClientX509Util;
public class Names {
  public static void main(String[] words) throws Exception {
    ClientX509Util util = new ClientX509Util();
    for (var method : ClientX509Util.class.getMethods())
      if (method.getName().matches("get.*Property") && method.getParameterCount() == 0)
        System.out.println(method.invoke(util));
  }
}
"""


def listed():
    """What the page says of each property, by its name without the prefix."""
    with open(PAGE, encoding="utf-8") as page:
        table = re.search(r"\n\.TS\n.*?\n(.*?)\.TE\n", page.read(), re.DOTALL)[1]
    return dict(re.findall(r"(\S+)\tT\{\n(.*)\nT\}\n", table))


class JavaProperties(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = cls.authority.issue("client")
        cls.right = cls.server(cls.authority.issue("server"), cls.ca)
        cls.crl = cls.revocations("none")

    @classmethod
    def revocations(cls, name, *revoked):
        """A file with the authority and its list, which has these certificates."""
        path = os.path.join(cls.directory, name)
        index = cls.file(f"{name}.index", "")
        cls.file(f"{name}.index.attr", "")
        config = cls.file(f"{name}.cnf", f"[ca]\ndefault_ca=x\n[x]\ndatabase={index}\ncrlnumber={cls.file(f'{name}.number', '01')}\n"
                                         "default_md=sha256\ndefault_crl_days=1\n")
        authority = ["-config", config, "-cert", cls.ca, "-keyfile", cls.authority.key]
        for certificate in revoked:
            openssl("ca", *authority, "-revoke", certificate)
        openssl("ca", *authority, "-gencrl", "-out", f"{path}.crl")
        text = ""
        for part in (cls.ca, f"{path}.crl"):
            with open(part, encoding="utf-8") as file:
                text += file.read()
        return cls.file(f"{name}.pem", text)

    def options(self, **properties):
        lines = {"keyStore.location": self.client, "trustStore.location": self.ca, **properties}
        text = "zookeeper.client.secure=true\n" + "".join(f"{PREFIX}{key}={value}\n" for key, value in lines.items())
        return ["-s", self.right.secure, "-client-configuration", self.file("java.properties", text)]

    def test_the_list_is_whole(self):
        source = self.file("Names.java", NAMES)
        homes = [home for version in ("3.8.0", "3.9.3") if os.path.isdir(home := os.path.join(cache(), version))]
        paths = {class_path() + ":/usr/share/java/netty-handler.jar"} | {os.path.join(home, "lib", "*") for home in homes}
        for path in paths:
            with self.subTest(path):
                done = subprocess.run(["java", "-cp", path, source], capture_output=True, text=True, check=False, timeout=120)
                names = {line.removeprefix(PREFIX) for line in done.stdout.split() if line.startswith(PREFIX)}
                self.assertGreater(len(names), 15, done.stderr)
                self.assertEqual(set(), names - set(listed()))

    def test_each_does_what_the_list_says(self):
        """A value with which zksh connects, and one with which it does not, with the status and the text of that."""
        password = "hunter2-Kw7"
        right = self.file("right", password + "\n")
        store = os.path.join(self.directory, "client.p12")
        openssl("pkcs12", "-export", "-in", self.client, "-passout", f"pass:{password}", "-out", store)
        trust = os.path.join(self.directory, "trust.p12")
        openssl("pkcs12", "-export", "-in", self.ca, "-nokeys", "-passout", f"pass:{password}", "-out", trust)
        no_switch = (2, "its value is neither true nor false")
        stores = {"keyStore.location": store, "trustStore.location": trust,
                  "keyStore.password": password, "trustStore.password": password}
        obeyed = {
            "ciphersuites": ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", 3, "protocol version"),
            "crl": ("false", "true", 2, "append them (PEM) to the file of the authorities"),
            "enabledProtocols": ("TLSv1.1,TLSv1.2", "TLSv1.1", 2, "zksh has TLSv1.2 and TLSv1.3 alone"),
            "hostnameVerification": ("True ", "yes", *no_switch),
            "keyStore.location": (self.client, "/nonexistent", 2, "No such file"),
            "keyStore.password": (password, "wrong", 2, "its password is another one"),
            "keyStore.passwordPath": (right, "/nonexistent", 2, "No such file"),
            "keyStore.type": ("PEM", "BCFKS", 2, "keytool -importkeystore"),
            "protocol": ("TLSv1.2", "TLSv1.3", 3, "protocol version"),
            "trustStore.location": (self.ca, "/nonexistent", 2, "No such file"),
            "trustStore.password": (password, "wrong", 2, "its password is another one"),
            "trustStore.passwordPath": (right, "/nonexistent", 2, "No such file"),
            "trustStore.type": ("pkcs12", "y", 2, "it is JKS, PEM, PKCS12 or BCFKS"),
        }
        refused = {"allowReverseDnsLookup": "true", "context.supplier.class": "org.example.Supplier", "ocsp": "TRUE"}
        for name, effect in listed().items():
            others = stores if "password" in name else {}
            with self.subTest(name):
                if effect.startswith("obeyed"):
                    good, bad, status, text = obeyed[name]
                    self.works(*self.options(**{**others, name: good}), "ls", "/")
                    self.assertNotIn(password, self.fails(status, text, *self.options(**{**others, name: bad}), "ls", "/"))
                elif effect.startswith("refused"):
                    self.fails(2, f"sets {PREFIX}{name}: ", *self.options(**{name: refused[name]}), "ls", "/")
                    if "if true" in effect:
                        self.works(*self.options(**{name: "false"}), "ls", "/")
                else:
                    self.assertRegex(effect, "^of (servers|Java)")
                    self.works(*self.options(**{name: "anything"}), "ls", "/")

    def test_a_name_that_nobody_knows(self):
        self.fails(2, f"no such property; did you mean {PREFIX}ciphersuites?", *self.options(cipherSuites="x"), "ls", "/")

    def test_revoked_certificates(self):
        """Also without a word of Java's: a file of authorities with lists is checked against these."""
        self.works(*self.options(**{"trustStore.location": self.crl, "crl": "true"}), "ls", "/")
        self.works("-s", self.right.secure, "--tls-ca", self.crl, "ls", "/")
        revoked = self.revocations("one", os.path.join(self.directory, "server.crt"))
        for options in (self.options(**{"trustStore.location": revoked, "crl": "true"}), ["-s", self.right.secure, "--tls-ca", revoked]):
            self.assertNotIn("authorities to trust", self.fails(3, "certificate is refused: certificate revoked", *options, "ls", "/"))

    def test_suites_that_no_version_has(self):
        self.fails(2, "has none that OpenSSL uses", *self.options(ciphersuites="TLS_AES_128_GCM_SHA256", protocol="TLSv1.2"), "ls", "/")
        self.fails(2, "OpenSSL has no TLS_NONE", *self.options(ciphersuites="TLS_NONE"), "ls", "/")

    def test_files_that_others_may_read(self):
        options = self.options(**{"keyStore.password": "hunter2-Kw7"})
        os.chmod(options[-1], 0o644)
        status, _, err, _ = self.zksh(*options, "ls", "/")
        self.assertEqual((0, f"zksh: warning: other users can read or write the credentials in {options[-1]} (mode 644); use chmod 600\n"), (status, err))
        self.assertNotIn("hunter2", err)


if __name__ == "__main__":
    main()
