// Apache Curator's recipes as a peer: InterProcessMutex, InterProcessReadWriteLock, InterProcessSemaphoreV2.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

final class Curator extends Peer {
  private static final int CONNECTION_TIMEOUT_MS = 60_000;
  private final List<CuratorFramework> clients = new ArrayList<>();

  private Curator(String connect, int sessions) throws Exception {
    for (int i = 0; i < sessions; ++i) {
      clients.add(CuratorFrameworkFactory.newClient(connect, SESSION_TIMEOUT_MS,
          CONNECTION_TIMEOUT_MS, new ExponentialBackoffRetry(100, 3)));
      clients.get(i).start();
      if (!clients.get(i).blockUntilConnected(CONNECTION_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
        close();
        throw new Exception("no connection to " + connect);
      }
    }
  }

  public static void main(String[] words) {
    System.exit(serve(words, () -> new Curator(words[0], sessions(words))));
  }

  @Override
  Lock lock(String path, String kind, int number) {
    CuratorFramework client = clients.get(number % clients.size());
    String prefix = "semaphore:";
    if (kind.startsWith(prefix)) {
      return new Semaphore(new InterProcessSemaphoreV2(
          client, path, Integer.parseInt(kind.substring(prefix.length()))));
    }
    switch (kind) {
      case "mutex":
        return new Mutex(new InterProcessMutex(client, path));
      case "write":
        return new Mutex(new InterProcessReadWriteLock(client, path).writeLock());
      case "read":
        return new Mutex(new InterProcessReadWriteLock(client, path).readLock());
      default:
        throw new IllegalArgumentException("Curator has no lock of kind " + kind);
    }
  }

  @Override
  void close() throws InterruptedException {
    // All at once, since each takes its time.
    List<Thread> closing = new ArrayList<>();
    for (CuratorFramework client : clients) {
      closing.add(new Thread(client::close));
      closing.get(closing.size() - 1).start();
    }
    for (Thread thread : closing) {
      thread.join();
    }
  }

  private static final class Mutex implements Lock {
    private final InterProcessLock lock;

    Mutex(InterProcessLock lock) {
      this.lock = lock;
    }

    @Override
    public void acquire() throws Exception {
      lock.acquire();
    }

    @Override
    public void release() throws Exception {
      lock.release();
    }
  }

  private static final class Semaphore implements Lock {
    private final InterProcessSemaphoreV2 semaphore;
    private Lease lease;

    Semaphore(InterProcessSemaphoreV2 semaphore) {
      this.semaphore = semaphore;
    }

    @Override
    public void acquire() throws Exception {
      lease = semaphore.acquire();
    }

    @Override
    public void release() {
      semaphore.returnLease(lease);
    }
  }
}
