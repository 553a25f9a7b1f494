"""A transaction log, read and printed: zksh txns beside Apache's TxnLogToolkit."""
import os
import struct
import zlib

from contest import Contestant
from server import class_path

LOGGER = "/usr/share/java/slf4j-simple.jar"
VALUE = 450  # bytes


def text(data):
    return struct.pack(">i", len(data)) + data


def write_log(path, size):
    """A log of about `size` bytes of writes to 5000 nodes, as a server would leave it."""
    value = os.urandom(VALUE // 2).hex().encode()
    with open(path, "wb") as log:
        log.write(b"ZKLG" + struct.pack(">iq", 2, 0))
        zxid = 0
        while log.tell() < size:
            zxid += 1
            body = (struct.pack(">qiqqi", 0x100000000000001, zxid, zxid, 1700000000000 + zxid, 5)
                    + text(b"/app/node-%06d" % (zxid % 5000)) + text(value) + struct.pack(">i", zxid) + struct.pack(">iq", 2, zxid))
            log.write(struct.pack(">Qi", zlib.adler32(body), len(body)) + body + b"B")


def past(contest, _server):
    directory = os.path.join(contest.directory, "past")
    os.makedirs(directory)
    log = os.path.join(directory, "log.1")
    write_log(log, contest.options.log_mib << 20)
    size = os.path.getsize(log) / (1 << 20)

    def printed_nowhere(name, *words):
        return Contestant(name, ["sh", "-c", 'exec "$@" >/dev/null', "sh", *words])

    zksh = printed_nowhere("zksh txns", contest.options.zksh, "txns", "--in", log)
    plain = printed_nowhere("zksh txns -o plain", contest.options.zksh, "txns", "--in", log, "-o", "plain")
    json = printed_nowhere("zksh txns -o json", contest.options.zksh, "txns", "--in", log, "-o", "json")
    toolkit = printed_nowhere("TxnLogToolkit", "java", "-cp", f"{class_path()}:{LOGGER}",
                              "org.apache.zookeeper.server.persistence.TxnLogToolkit", log)
    for number in range(contest.options.log_rounds):
        for contestant in (zksh, plain, json, toolkit) if number % 2 else (toolkit, json, plain, zksh):
            contest.time(contestant)
    print(f"past: a log of {size:.0f} MiB, printed line by line")
    print("\n".join(str(contestant) for contestant in (zksh, plain, json, toolkit)))
    for contestant in (zksh, plain, json, toolkit):
        print(f"  {'MiB of log a second, ' + contestant.name:<52}{size / min(contestant.times) * 1000:9.0f}")
    contest.bound("time of TxnLogToolkit / zksh", toolkit.median / zksh.median, 10, at_most=False)
    contest.bound("MB of log a second", size * 1.048576 / min(plain.times) * 1000, 300, at_most=False)
    contest.bound("MB of log a second, JSON", size * 1.048576 / min(json.times) * 1000, 250, at_most=False)
    contest.bound("peak memory of zksh, MiB", max(zksh.memory, json.memory), 64, at_most=True)
