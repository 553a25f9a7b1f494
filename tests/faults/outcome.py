"""Compares the outcomes of writes that zksh reports with the final state on the servers."""
import collections
import json
import threading

OK, FAILED, UNKNOWN = "acknowledged", "failed", "unknown"
NO_CONNECTION, EXPIRED, IN_DOUBT = 3, 9, 10  # exit statuses


def of_status(status):
    """Of a write that was alone. A killed zksh says nothing."""
    if status == 0:
        return OK
    return UNKNOWN if status in (IN_DOUBT, -9) else FAILED


def of_lines(lines, ended):
    """Of each of a script's lines, written with `-o json`: (outcome, the answer or None).

    Every line that was done has an answer, in order, and every failure names its line. What has neither
    was not sent.
    """
    answers = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{") and line.endswith("}")]
    errors = {}
    for line in ended.err.splitlines():
        if line.startswith('{"error"'):
            error = json.loads(line)
            errors.setdefault(error.get("line", len(answers) + 1), error["status"])
    outcomes = []
    for number in range(1, lines + 1):
        if number in errors:
            outcomes.append((of_status(errors[number]), None))
        elif answers:
            outcomes.append((OK, answers.pop(0)))
        else:
            outcomes.append((UNKNOWN if ended.status == -9 else FAILED, None))
    return outcomes


class Book:
    """What was written, and what is to be found. From any thread."""

    def __init__(self):
        self._lock = threading.Lock()
        self._creates = {}  # path → (outcome, value)
        self._counts = collections.defaultdict(lambda: collections.defaultdict(list))

    def created(self, path, outcome, value):
        with self._lock:
            self._creates[path] = (outcome, value)

    def counted(self, path, outcome, value=None):
        """One was added to a number; `value`: what it was said to be then."""
        with self._lock:
            self._counts[path][outcome].append(value)

    def number(self, outcome):
        with self._lock:
            return (sum(found == outcome for found, _ in self._creates.values()) +
                    sum(len(counts[outcome]) for counts in self._counts.values()))

    def counters(self):
        with self._lock:
            return list(self._counts)

    def violations(self, nodes, numbers):
        """`nodes`: path → value of all that is where creates went; `numbers`: path → number."""
        for path, (outcome, value) in self._creates.items():
            if outcome == OK and nodes.get(path) != value:
                yield f"lost: {path} was created with {value!r}, and is {nodes.get(path)!r}"
            if outcome == FAILED and path in nodes:
                yield f"the creation of {path} was said to have failed, and it is there"
            if outcome == UNKNOWN and nodes.get(path, value) != value:
                yield f"{path} is {nodes[path]!r}; {value!r} was written"
        for path in nodes:
            if path not in self._creates:
                yield f"nobody has created {path}"
        for path, counts in self._counts.items():
            yield from self._count_violations(path, counts, numbers[path])

    @staticmethod
    def _count_violations(path, counts, found):
        sure, unsure = counts[OK], len(counts[UNKNOWN])
        if not len(sure) <= found <= len(sure) + unsure:
            yield (f"{path} is {found}: {len(sure)} additions were acknowledged, of {unsure} more it is not known, "
                   f"{len(counts[FAILED])} failed")
        if len(set(sure)) != len(sure):
            twice = [value for value, times in collections.Counter(sure).items() if times > 1]
            yield f"{path}: two additions made the same number: {twice}"
