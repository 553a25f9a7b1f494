"""Creates certificates for tests with openssl: authorities, and certificates that they sign."""
import os
import subprocess

FOR_LOCALHOST = "DNS:localhost,IP:127.0.0.1"


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, stdin=subprocess.DEVNULL)


class Authority:
    """A certificate authority, its files in a directory."""

    def __init__(self, directory, name):
        self.directory = directory
        self.certificate = os.path.join(directory, f"{name}.pem")
        self.key = os.path.join(directory, f"{name}.key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def issue(self, name, alternative=FOR_LOCALHOST, days=2):
        """A file with a key and its certificate, which are also in NAME.key and NAME.crt."""
        path = os.path.join(self.directory, name)
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                "-keyout", f"{path}.key", "-out", f"{path}.csr")
        with open(f"{path}.ext", "w", encoding="utf-8") as file:
            file.write(f"subjectAltName={alternative}\n")
        openssl("x509", "-req", "-in", f"{path}.csr", "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", str(days), "-extfile", f"{path}.ext", "-out", f"{path}.crt")
        with open(f"{path}.pem", "w", encoding="utf-8") as both:
            for part in ("key", "crt"):
                with open(f"{path}.{part}", encoding="utf-8") as file:
                    both.write(file.read())
        return f"{path}.pem"
