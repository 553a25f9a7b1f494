"""An ensemble whose members, and optionally clients, communicate through the test's network."""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from ensemble import Ensemble  # noqa: E402

QUICK_ELECTIONS = ("-Dzookeeper.fastleader.minNotificationInterval=100",
                   "-Dzookeeper.fastleader.maxNotificationInterval=400")


class Cluster:
    """`near`: the members' own addresses; `far`: through links that can fail. Start it from the main thread."""

    def __init__(self, network, tick=500, sync_limit=6, members=3):
        self.network = network
        self.tick, self.sync_limit = tick / 1000, sync_limit
        # A member that is cut off is to notice it soon; one of a busy machine is to be waited for. But not in an
        # election: a link takes a follower's connection before the new leader listens, and ends it then. The follower
        # asks for another election, which the leader joins once it has waited for initLimit ticks.
        config = {"tickTime": str(tick), "initLimit": str(math.ceil(5000 / tick)), "syncLimit": str(sync_limit)}
        self.ensemble = Ensemble(members, config, QUICK_ELECTIONS)
        self.servers = self.ensemble.servers
        self.links = {}  # (number, number) → links of the quorum and of elections
        for one in self.servers:
            for other in self.servers:
                if one is not other:
                    self._join(one, other)
        self.client_links = [network.link(server.port) for server in self.servers]

    def __enter__(self):
        self.ensemble.__enter__()
        return self

    def __exit__(self, *_):
        self.ensemble.remove()

    @property
    def near(self):
        return self.ensemble.connect_string

    @property
    def far(self):
        return ",".join(f"127.0.0.1:{link.port}" for link in self.client_links)

    @property
    def patience(self):
        """For so many seconds a leader and its followers take each other's silence."""
        return self.tick * self.sync_limit

    def quorum_link(self, follower, leader):
        """The link by which a follower follows: its pings' answers, acknowledgements and its clients' writes are
        the link's requests. Elections go another way, and can proceed while this one does not pass."""
        return self.links[follower.number, leader.number][0]

    def election_links(self, one, other):
        return [self.links[one.number, other.number][1], self.links[other.number, one.number][1]]

    def links_of(self, server):
        """Those with the other members, in both directions."""
        return [link for ends, both in self.links.items() if server.number in ends for link in both]

    def leader(self):
        return next((server for server in self.servers if server.process and server.mode() == "leader"), None)

    def followers(self):
        return [server for server in self.servers if server.process and server.mode() == "follower"]

    def all_serve(self):
        return all(server.process and server.mode() in ("leader", "follower") for server in self.servers)

    def _join(self, one, other):
        """`one` finds `other` through links."""
        key = f"server.{other.number}"
        _, quorum, election = self._address(other).split(":")
        # A member tells the others its address for elections, and they call back there: that goes
        # through a link, too.
        back = self.links.get((other.number, one.number))
        links = [self.network.link(int(quorum)), self.network.link(int(election))]
        self.links[one.number, other.number] = links
        one.config[key] = f"127.0.0.1:{links[0].port}:{links[1].port}"
        if back:
            links[1].told = self._told(one, back[1])
            back[1].told = self._told(other, links[1])

    def _address(self, server):
        """As its own configuration has it, which has the ports that it listens on."""
        return server.config[f"server.{server.number}"]

    def _told(self, server, back):
        """Its address for elections, and that of the link that leads there; both have five digits."""
        own = self._address(server).rpartition(":")[2]
        return f"127.0.0.1:{own}".encode(), f"127.0.0.1:{back.port}".encode()
