"""Proofs that zksh tells of a server's files what the server itself makes of them."""
import glob
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

from load import Load

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from server import Server, class_path, die_with_parent, four_letter_word, judged_release, needs, server_version  # noqa: E402
from waiting import wait_until  # noqa: E402

ZKSH = os.environ.get("ZKSH", str(HERE.parents[1] / "build" / "zksh"))
CONFIG = {"tickTime": "500", "snapCount": "150", "preAllocSize": "64", "extendedTypesEnabled": "true", "minSessionTimeout": "1000",
          "maxSessionTimeout": "60000", "znode.container.checkIntervalMs": "500"}
PERMISSIONS = "rwcda"


def modern():
    return server_version() >= (3, 5, 3)


class ServerTrees:
    """ServerTree.java in a JVM, which answers for one directory after another."""

    def __init__(self, directory):
        classes = f"{directory}/classes"
        path = f"{class_path()}:/usr/share/java/zookeeper-jute.jar"
        subprocess.run(["javac", "-cp", path, "-d", classes, HERE / "ServerTree.java"], check=True)
        flags = ["-Dzookeeper.extendedTypesEnabled=true", "-Xmx512m", "-XX:+UseSerialGC"]
        self.process = subprocess.Popen(["java", *flags, "-cp", f"{classes}:{path}", "ServerTree"], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def load(self, data, out, zxids=()):
        """The last zxid, and those whose digest the server found to be another; None and why not."""
        self.process.stdin.write(f"{data}\t{out}\t{','.join(map(str, zxids))}\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().rstrip("\n").split("\t")
        return (None, words[1]) if words[0] == "failed" else (int(words[0]), [int(word) for word in words[1:]])


def zxid_of(path):
    return int(os.path.basename(path).split(".")[1], 16)


def files(data, kind):
    return sorted(glob.glob(f"{data}/version-2/{kind}.*"), key=zxid_of)


def zksh(*words, status=(0,)):
    done = subprocess.run([ZKSH, *words], capture_output=True, text=True, check=False, timeout=300)
    if done.returncode not in status:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}{done.stdout[-2000:]}")
    return done


def owner_kind(owner):
    if owner == 0:
        return "persistent"
    if owner == -2 ** 63:
        return "container"
    return f"ttl={owner & 0xffffffffff}" if owner >> 40 & 0xffffff == 0xff0000 else "ephemeral"


def server_tree(file, top):
    """Path → kind, ACL and value; without ephemerals, and without /zookeeper below /, as a dump."""
    tree = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            path, owner, acl, data = line.rstrip("\n").split("\t")
            within = path == top or path.startswith(top.rstrip("/") + "/")
            if not within or top == "/" and (path + "/").startswith("/zookeeper/") or owner_kind(int(owner)) == "ephemeral":
                continue
            tree[path] = (owner_kind(int(owner)), acl, None if data == "null" else bytes.fromhex(data).decode())
    return tree


def zksh_tree(data, zxid, top):
    done = zksh("dump", "-o", "json", "--in", data, "--at", hex(zxid), top, status=(0, 1))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if not lines or not lines[-1].get("end"):
        raise AssertionError(f"dump of {data} at {hex(zxid)}: {done.stderr}")
    tree = {}
    for line in lines[1:-1]:
        path = top.rstrip("/") + line["path"] if line["path"] != "/" else top
        kind = line["kind"] + (f"={line['ttl']}" if "ttl" in line else "")
        acl = ",".join(f"{entry['scheme']}:{entry['id']}:{sum(1 << PERMISSIONS.index(one) for one in entry['perms'])}" for entry in line["acl"])
        tree[path] = (kind, acl, line["data"])
    return tree


def no_tree(data, zxid):
    """Why zksh has no tree of files that a server refuses, unless it is that they do not tell the ACL of a node."""
    try:
        zksh_tree(data, zxid, "/")
    except AssertionError as problem:
        return "" if "the files do not tell the ACL of " in str(problem) else str(problem)
    return ""


def differences(own, servers):
    """A server may lack an ACL that zksh finds in the log, and then fails requests for the node."""
    for path, (kind, acl, data) in servers.items():
        if acl == "unknown" and path in own:
            servers[path] = (kind, own[path][1], data)
    return [f"{path}: zksh {own.get(path)}, server {servers.get(path)}" for path in sorted({*own, *servers}) if own.get(path) != servers.get(path)]


def record(directory, snapshots, seed, config=None):
    """The data of a server under load, which was killed after it had written so many snapshots after the first, and transactions after each."""
    with Server({**CONFIG, **(config or {})}) as server:
        data = server.directory + "/data"
        with Load([server.address], seed, modern=modern()):
            # One snapshot more, which may be unfinished: a server begins it when the one before is whole.
            wait_until(lambda: len(files(data, "snapshot")) > snapshots + 1, 600)
            server.kill()
        shutil.copytree(data, directory)
    return directory


def cut(data, target, snapshot):
    """A directory with one snapshot and what a server reads with it."""
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(f"{target}/version-2")
    logs = files(data, "log")
    before = [log for log in logs if zxid_of(log) <= zxid_of(snapshot)]
    for file in (snapshot, *before[-1:], *(log for log in logs if zxid_of(log) > zxid_of(snapshot))):
        os.link(file, f"{target}/version-2/{os.path.basename(file)}")
    return target


def prove_snapshots(scratch, count, moments, seed, say=print, far=2000):
    """Of each snapshot, at several moments, up to so many transactions after it. Returns what differs."""
    data = record(f"{scratch}/data", count, seed)
    dice = random.Random(seed)
    failures, compared, fuzzy, refused = [], 0, 0, 0
    with ServerTrees(scratch) as trees:
        last, problem = trees.load(data, f"{scratch}/tree")
        if last is None:  # the server refuses its own files, as below
            say(f"a server does not start: {problem}")
            last = max(map(zxid_of, files(data, "snapshot")))
        for number, snapshot in enumerate(files(data, "snapshot")[1:count + 1]):
            place = cut(data, f"{scratch}/cut", snapshot)
            failures += compare_check(place, trees, scratch)[3]
            first = zxid_of(snapshot) + 1  # ServerTree sees the tree after a transaction
            reach = min(last, first + far)
            zxids = sorted({*(dice.randrange(first, reach + 1) for _ in range(moments // 2)),
                            *(min(reach, first + dice.randrange(60)) for _ in range(moments - moments // 2))})
            loaded = trees.load(place, f"{scratch}/tree", zxids)
            if loaded[0] is None:  # since CVE-2024-23944 was mended, a server may refuse its own fuzzy snapshot
                say(f"{os.path.basename(snapshot)}: a server does not start: {loaded[1]}")
                refused += 1
                failures += [problem for zxid in zxids if (problem := no_tree(place, zxid))]
                continue
            for zxid in zxids:
                tops = ["/", "/zookeeper"] if compared % 4 == 0 else ["/"]
                for top in tops:
                    try:
                        found = differences(zksh_tree(place, zxid, top), server_tree(f"{scratch}/tree.{zxid}", top))
                    except AssertionError as problem:
                        found = [str(problem)]
                    failures += [f"{os.path.basename(snapshot)} at {hex(zxid)}: {one}" for one in found[:3]]
                os.unlink(f"{scratch}/tree.{zxid}")
                compared += 1
            fuzzy += "fuzzy" in zksh("dump", "--in", place, "--at", hex(first), "/", status=(0, 1, 7)).stdout[:1000]
            if number % 50 == 49:
                say(f"{number + 1} snapshots, {compared} moments, {fuzzy} fuzzy, {len(failures)} differences")
    say(f"{count} snapshots, {compared} moments, {fuzzy} fuzzy at their beginning, {refused} refused by servers, {len(failures)} differences")
    return failures


def without_acl(file):
    """The nodes whose ACL the server does not know: it fails requests for them."""
    with open(file, encoding="utf-8") as lines:
        return [line.split("\t")[0] for line in lines if line.split("\t")[2] == "unknown"]


def compare_check(data, trees, scratch):
    """What --check says; what a server makes of the files, as ServerTrees.load; and where they differ."""
    said = zksh("txns", "--in", data, "--check", status=(0, 1)).stdout
    checked = json.loads(zksh("txns", "--in", data, "--check", "-o", "json", status=(0, 1)).stdout.splitlines()[-1])
    end = int(checked["zxid"], 16)
    last, mismatches = trees.load(data, f"{scratch}/tree", [end])
    starts = judged_release() in checked["versions"]
    if last is None:  # since CVE-2024-23944 was mended, a server may refuse its own fuzzy snapshot
        return checked, None, mismatches, [f"{data}: a server does not start: {mismatches}; {said}"] if starts else []
    failures = []
    if not starts or end != last:
        failures.append(f"{data}: a server starts with {hex(last)}: {said}")
    lost = without_acl(f"{scratch}/tree.{end}")
    os.unlink(f"{scratch}/tree.{end}")
    named = re.search(r"(\d+) nodes? ha(?:s|ve) an ACL that is in no list, as (\S+): ", said)
    if (int(named.group(1)), named.group(2)) != (len(lost), min(lost)) if named else lost:
        failures.append(f"{data}: a server does not know the ACLs of {lost}: {said}")
    if checked["problemCount"] > bool(lost) and checked["starts"]:  # else they may be those of other versions
        failures.append(f"{data}: a server finds {[hex(one) for one in mismatches]}: {said}")
    return checked, last, mismatches, failures


def check_agrees(data, trees, scratch, say):
    """Compares --check with a server that starts on a copy. Returns what differs."""
    copy = f"{scratch}/copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(data, f"{copy}/data")
    checked, last, mismatches, failures = compare_check(f"{copy}/data", trees, scratch)
    if last is None:
        say(f"a server does not start: {mismatches}")
        return failures
    server = Server({**CONFIG, "4lw.commands.whitelist": "*"})
    server.directory = copy
    answers = {}

    def answered():
        answers.update({word: four_letter_word(server.port, word) for word in ("mntr", "srvr") if not answers.get(word)})
        return all(answers.values())

    try:
        server.start(300)
        wait_until(answered, 300)
    finally:
        server.remove()
    zxid = int(re.search(r"Zxid: 0x(\w+)", answers["srvr"]).group(1), 16)
    found = re.search(r"zk_digest_mismatches_count\t(\d+)", answers["mntr"])
    told = int(found.group(1)) if found else 0
    # It also counts those of transactions of its own, as it ends the sessions that were left.
    if told < len(mismatches) or (told > len(mismatches) and zxid == last):
        failures.append(f"{data}: the server found {told} digests that differ, its classes {mismatches}")
    say(f"{checked['zxid']}: digests compared {checked['digests']}, problems {checked['problemCount']}; "
        f"differing in the server {[hex(one) for one in mismatches]}")
    return failures


def prove_kills(scratch, count, seed, say=print, keep=None):
    """Kills a server that writes, again and again. Returns where --check and the server's own start differ."""
    failures = []
    dice = random.Random(seed)
    with ServerTrees(scratch) as trees, Server(CONFIG) as server:
        for number in range(count):
            with Load([server.address], seed + number, modern=modern()) as load:
                least = dice.randrange(20, 3000)
                wait_until(lambda: load.requests() > least, 120)
                time.sleep(dice.random() / 10)  # at any moment
                server.kill()
            found = check_agrees(server.directory + "/data", trees, scratch, say)
            if found and keep:
                shutil.copytree(server.directory + "/data", f"{keep}/kill-{seed}-{number}")
            failures += found
            if dice.random() < 0.2 or trees.load(server.directory + "/data", f"{scratch}/none")[0] is None:  # a new beginning
                shutil.rmtree(server.directory + "/data")
            server.start(300)
    return failures
