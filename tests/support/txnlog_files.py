"""Writes transaction logs and snapshots as servers do, sound ones and damaged ones."""
import struct
import zlib

CREATE, DELETE, SET, SET_ACL, CHECK, MULTI, CREATE_CONTAINER, ERROR, CREATE_SESSION = 1, 2, 5, 7, 13, 14, 19, -1, -10
OPEN_ACL = struct.pack(">ii", 1, 31) + b"\0\0\0\5world\0\0\0\6anyone"
LOG_HEADER = b"ZKLG" + struct.pack(">iq", 2, 0)


def text(value):
    """A ustring or a buffer."""
    value = value.encode() if isinstance(value, str) else value
    return struct.pack(">i", len(value)) + value


def body(zxid, kind, fields, session=0x1000):
    return struct.pack(">qiqqi", session, 1, zxid, 1_000_000 + zxid, kind) + fields


def create(zxid, path, data="x", kind=CREATE, acl=OPEN_ACL, session=0x1000, ephemeral=False):
    return body(zxid, kind, text(path) + text(data) + acl + (bytes([ephemeral]) if kind == CREATE else b"") + struct.pack(">i", -1), session)


def set_data(zxid, path, data="y", version=1):
    return body(zxid, SET, text(path) + text(data) + struct.pack(">i", version))


def delete(zxid, path):
    return body(zxid, DELETE, text(path))


def record(content, end=b"B"):
    return struct.pack(">qi", zlib.adler32(content), len(content)) + content + end


def log(*records, zeros=1024, header=LOG_HEADER):
    """Of bodies, or of tuples with the bytes of a record."""
    return header + b"".join(one[0] if isinstance(one, tuple) else record(one) for one in records) + bytes(zeros)


def node(path, data="x", acl=-1, owner=0):
    return text(path) + text(data) + struct.pack(">qqqqqiiiqq", acl, 1, 1, 1000, 1000, 0, 0, 0, owner, 1)


def seal(content, wrong=0):
    return content + struct.pack(">q", zlib.adler32(content) ^ wrong) + text("/")


def snapshot(*nodes, acls=(), sessions=(), wrong=0):
    """Of nodes as `node` makes them, after the root and its /zookeeper. `acls`: numbers and encoded lists."""
    content = b"ZKSN" + struct.pack(">iqi", 2, -1, len(sessions)) + b"".join(struct.pack(">qi", one, 30000) for one in sessions)
    content += struct.pack(">i", len(acls)) + b"".join(struct.pack(">q", number) + acl for number, acl in acls)
    content += b"".join([node("", ""), node("/zookeeper", ""), node("/zookeeper/quota", ""), *nodes]) + text("/")
    return seal(content, wrong)
