// ZooKeeper's own Java recipe, org.apache.zookeeper.recipes.lock.WriteLock, as a peer.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

final class JavaWriteLock extends Peer {
  private final String connect;
  private final List<ZooKeeper> sessions = new ArrayList<>();

  private JavaWriteLock(String connect) throws Exception {
    this.connect = connect;
    sessions.add(session());  // says early when there is no server
  }

  public static void main(String[] words) {
    System.exit(serve(words, () -> new JavaWriteLock(words[0])));
  }

  // WriteLock finds its node by the session's id, so that contenders cannot share a session.
  @Override
  Lock lock(String path, String kind, int number) throws Exception {
    if (!kind.equals("mutex")) {
      throw new IllegalArgumentException("WriteLock is a mutex, whatever its name says");
    }
    sessions.add(session());
    return new Contender(sessions.get(sessions.size() - 1), path);
  }

  @Override
  void close() throws Exception {
    for (ZooKeeper session : sessions) {
      session.close();
    }
  }

  private ZooKeeper session() throws Exception {
    var connected = new CountDownLatch(1);
    var session = new ZooKeeper(connect, SESSION_TIMEOUT_MS, event -> {
      if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
        connected.countDown();
      }
    });
    if (!connected.await(SESSION_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
      session.close();
      throw new Exception("no connection to " + connect);
    }
    return session;
  }

  private static final class Contender implements Lock {
    // WriteLock waits for ever when the contender ahead has gone between its reading of the queue
    // and its setting of the watch. Whoever uses it must ask again; lock() may be called again.
    private static final long ASK_AGAIN_MS = 20;

    private final ZooKeeper session;
    private final String path;
    private WriteLock lock;

    Contender(ZooKeeper session, String path) {
      this.session = session;
      this.path = path;
    }

    // A new WriteLock for each round: a late watch of the last one would queue again with it.
    @Override
    public void acquire() throws Exception {
      var acquired = new CountDownLatch(1);
      lock = new WriteLock(session, path, null, new LockListener() {
        @Override
        public void lockAcquired() {
          acquired.countDown();
        }

        @Override
        public void lockReleased() {}
      });
      do {
        lock.lock();
      } while (!acquired.await(ASK_AGAIN_MS, TimeUnit.MILLISECONDS));
    }

    @Override
    public void release() {
      synchronized (lock) {  // no watch of it comes between
        lock.unlock();
        lock.close();
      }
    }
  }
}
